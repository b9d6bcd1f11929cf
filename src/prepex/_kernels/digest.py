"""A name for what machine code depends on."""

import hashlib
import os
import platform
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path


@cache
def digest() -> str:
    """Of the sources of all kernels, of numba, and of the processor."""
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        found.update(path.read_bytes())
    chosen = sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith("NUMBA_CPU"))
    for text in (version("numba"), version("llvmlite"), sys.version, processor(), *chosen):
        found.update(text.encode())
    return found.hexdigest()[:10]


def processor() -> str:
    """As much as the system says about it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    return "".join(dict.fromkeys(line for line in lines if line.startswith(("model name", "flags", "Features"))))


def perhaps_on_disk() -> bool:
    """May there be machine code of these kernels? False only if there surely is none; numba is not needed to say so."""
    folder = Path(__file__).parent / "__pycache__"
    if "NUMBA_CACHE_DIR" in os.environ or not os.access(folder if folder.exists() else folder.parent, os.W_OK):
        return True
    return any(folder.glob(f"*{digest()}*.nbc"))
