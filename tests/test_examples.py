"""The scripts of examples/ run, in a short form."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_compressors():
    """Seconds are the machine's, bytes are known: whatever it takes, a smallest file is in the answer."""
    script = EXAMPLES / "compress.py"
    assert len(script.read_text().splitlines()) <= 25
    shown = subprocess.run([sys.executable, script, "3000"], capture_output=True, text=True, check=True).stdout
    first, *rows = shown.splitlines()
    sizes = {row.split("'")[1]: float(row.split(", ")[-1].strip("])")) for row in rows}
    assert len(sizes) == 7 and sizes["gzip 1"] > sizes["gzip 9"] > sizes["bzip2 9"]
    assert first.startswith("Stopped after") and "certified" in first
    answer = first.partition("Pareto optimal within the tolerance: ")[2].partition(".")[0].split(", ")
    assert any(sizes[name] == min(sizes.values()) for name in answer)
