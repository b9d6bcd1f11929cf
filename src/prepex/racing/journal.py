"""What a race keeps beside its study, a JSON object a line: what it is, the first rounds, failures, reference runs."""

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prepex.errors import InputError


class Journal:
    """Lines are only ever added. Without a path they are kept in memory.

    watching   only look, also while a race is running; what is added is not written

    >>> journal = Journal(None)
    >>> journal.add("failed", option="a", words="no such file")
    >>> journal.of("failed")
    [{'option': 'a', 'words': 'no such file'}]
    """

    def __init__(self, path: Path | None, *, watching: bool = False) -> None:
        self.path = path
        self._lines: list[tuple[str, dict[str, Any]]] = []
        self._file = None if path is None or watching else path.open("a+b")
        if self._file is not None:
            self._lock()
            self._file.seek(0)
            text = self._file.read()
            self._read(text)
            if text and not text.endswith(b"\n"):
                self._file.write(b"\n")
                self._file.flush()
        elif path is not None and path.exists():
            self._read(path.read_bytes())

    def _lock(self) -> None:
        """One race at a time: two would run the same trials."""
        assert self._file is not None
        with contextlib.suppress(ImportError):  # no locks on Windows
            import fcntl

            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                self._file.close()
                raise InputError(f"this race must not be running already, got another that uses {self.path}") from None

    def _read(self, text: bytes) -> None:
        for line in text.splitlines():
            # The last line of a race that was killed may be cut.
            with contextlib.suppress(ValueError, AttributeError):
                entry = json.loads(line)
                self._lines.append((entry.pop("kind"), entry))

    def add(self, kind: str, /, **entry: Any) -> None:
        """One more line, on the disk before this returns."""
        self._lines.append((kind, entry))
        if self._file is not None:
            self._file.write(json.dumps({"kind": kind, **entry}).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def of(self, kind: str) -> list[dict[str, Any]]:
        """All lines of a kind."""
        return [entry for found, entry in self._lines if found == kind]

    def last(self, kind: str) -> Mapping[str, Any] | None:
        """The last of them."""
        return next((entry for found, entry in reversed(self._lines) if found == kind), None)

    def close(self) -> None:
        """Let another race have it."""
        if self._file is not None:
            self._file.close()


def beside(storage: str, name: str) -> Path:
    """The journal of a race, beside its database.

    >>> str(beside("out/race.db", "race")), str(beside("race.db", "two words"))
    ('out/race.jsonl', 'race.two_words.jsonl')
    """
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
    stem = storage.removesuffix(".db")
    return Path(f"{stem}.jsonl" if safe == Path(stem).name else f"{stem}.{safe}.jsonl")
