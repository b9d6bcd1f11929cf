"""Execute the notebooks of this folder and keep what they show: `python docs/notebooks/run.py`."""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
NOTEBOOKS = sorted(HERE.glob("*.ipynb"))


def executed(path: Path, folder: str) -> Any:
    """The notebook, run from top to bottom in a folder, where it may write its files."""
    # One kernel of this Python, told nothing of the user's own settings.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": folder}},
        extra_arguments=["--log-level=ERROR"],
    )
    client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata.pop("language_info", None)
    return notebook


def main() -> None:
    """All of them."""
    for path in NOTEBOOKS:
        with tempfile.TemporaryDirectory() as folder:
            nbformat.write(executed(path, folder), path)
        print(path.name, file=sys.stderr)


if __name__ == "__main__":
    main()
