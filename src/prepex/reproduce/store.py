"""The folder of a reproduction: finished cells, and a manifest that says whose they are."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

from prepex.errors import InputError
from prepex.reproduce.cell import Cell, Row

MANIFEST, CELLS = "manifest.json", "cells"


class Store:
    """A folder of finished cells. A file is written under another name first: a cell is there whole, or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def claim(self, manifest: dict[str, Any], *, force: bool = False) -> None:
        """Make the folder ours, or continue in it; refuse another run's unless `force`, which forgets its cells."""
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"out must be a folder, got the file {str(self.folder)!r}")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            reason = self._foreign(manifest)
            if reason and not force:
                raise InputError(f"{reason}; give another --out, or --force to start afresh in it")
            if reason:
                self._forget()
            write_whole(self.folder / MANIFEST, json.dumps(manifest, indent=2) + "\n")
        except OSError as error:
            raise InputError(f"out must be a writable folder, got {str(self.folder)!r}: {error}") from None

    def _foreign(self, manifest: dict[str, Any]) -> str:
        """Why the folder is not ours; empty if it is."""
        if not (self.folder / MANIFEST).exists():
            if any(self.folder.iterdir()):
                return f"out must be empty or an earlier run of this command, got {str(self.folder)!r} with other files"
            return ""
        found = self.manifest()
        other = [f"{key} {found.get(key)} (here {value})" for key, value in manifest.items() if found.get(key) != value]
        if not other:
            return ""
        return f"out holds the results of another run, got {str(self.folder)!r} with {', '.join(other)}"

    def _forget(self) -> None:
        """Delete the cells and the manifest of an earlier run, and nothing of anybody else."""
        if (self.folder / MANIFEST).exists():
            shutil.rmtree(self.folder / CELLS, ignore_errors=True)
        elif (self.folder / CELLS).exists():
            raise InputError(f"out must not hold a folder {CELLS!r} of something else, got {str(self.folder)!r}")

    def manifest(self) -> dict[str, Any]:
        """What the folder says about itself."""
        path = self.folder / MANIFEST
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError(f"folder must hold a run of prepex reproduce, got {str(self.folder)!r}") from None
        except (OSError, ValueError):
            found = None
        return found if isinstance(found, dict) else {"manifest": "damaged"}

    def read(self, cell: Cell) -> tuple[list[Row], float] | None:
        """The rows of a finished cell and the seconds it took; None if it is not finished, or its file is damaged."""
        try:
            found = json.loads(self._path(cell).read_text(encoding="utf-8"))
            return found["rows"], found["seconds"]
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, cell: Cell, rows: list[Row], seconds: float) -> None:
        """Store a finished cell."""
        path = self._path(cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps({"seconds": round(seconds, 3), "rows": rows}))

    def _path(self, cell: Cell) -> Path:
        return self.folder / CELLS / f"{cell.key}.json"


def write_whole(path: Path, text: str) -> None:
    """Write under another name and rename: a reader never sees half a file."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
