"""Bearer tokens with roles. Only their hashes are kept, in a file that its owner alone may read."""

import hashlib
import hmac
import json
import os
import secrets
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from prepex.errors import InputError

# Each may do what those before it may: observers read, workers ask and tell, owners do everything.
ROLES = ("observer", "worker", "owner")


@dataclass(frozen=True)
class Holder:
    """Who a token belongs to. Tokens are 256 random bits, so a plain hash of one tells nothing about it.

    studies   the only ones that exist for this holder; None: all
    expires   when the token ends, as an ISO time; None: never
    """

    name: str
    role: str
    hash: str
    studies: tuple[str, ...] | None = None
    expires: str | None = None

    def may(self, role: str) -> bool:
        """Is the role enough?

        >>> Holder("ada", "worker", "").may("observer"), Holder("ada", "worker", "").may("owner")
        (True, False)
        """
        return ROLES.index(self.role) >= ROLES.index(role)

    def sees(self, study: str) -> bool:
        """Is the study one of those that the token is for?

        >>> Holder("ada", "worker", "", studies=("dose",)).sees("dose"), Holder("ada", "worker", "").sees("any")
        (True, True)
        """
        return self.studies is None or study in self.studies

    def expired(self, now: datetime) -> bool:
        """Has the token ended?"""
        return self.expires is not None and datetime.fromisoformat(self.expires) <= now


class Keys:
    """A file of tokens' hashes. It is read again when it changes, so a token that is taken away ends at once.

    >>> keys = Keys(Path(tempfile.mkdtemp()) / "keys.json")
    >>> token = keys.add("ada", "worker", studies=["dose"])
    >>> keys.find(token).name, keys.find("another")
    ('ada', None)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._seen: tuple[int, int, int] | None = None
        self._known: tuple[Holder, ...] = ()

    def holders(self) -> tuple[Holder, ...]:
        """Everyone with a token."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return ()
        now = found.st_ino, found.st_mtime_ns, found.st_size
        if now != self._seen:
            self._known, self._seen = self._read(), now
        return self._known

    def _read(self) -> tuple[Holder, ...]:
        try:
            entries = json.loads(self.path.read_text(encoding="utf-8"))
            return tuple(_holder(**entry) for entry in entries)
        except (ValueError, TypeError, RecursionError) as error:
            raise InputError(f"{self.path} must be a file of tokens, got a damaged one: {error}") from None

    def add(
        self, name: str, role: str, *, studies: Iterable[str] | None = None, expires: datetime | None = None
    ) -> str:
        """A new token, shown once. `studies`: for these alone; `expires`: until then."""
        if role not in ROLES:
            raise InputError(f"role must be one of {', '.join(ROLES)}, got {role!r}")
        known = self.holders()
        if not name or not name.isprintable() or len(name) > 200 or name in {holder.name for holder in known}:
            raise InputError(f"name must be new and of 1 to 200 printable characters, got {name!r}")
        if expires is not None and expires <= datetime.now(UTC):
            raise InputError(f"expires must be in the future, got {expires.isoformat()}")
        token = f"prepex_{secrets.token_urlsafe(32)}"
        until = None if expires is None else expires.isoformat(timespec="seconds")
        only = None if studies is None else tuple(studies)
        self._write([*known, Holder(name, role, _hash(token), only, until)])
        return token

    def remove(self, name: str) -> None:
        """Take a token away."""
        known = self.holders()
        if name not in {holder.name for holder in known}:
            raise InputError(f"name must have a token, got {name!r}")
        self._write([holder for holder in known if holder.name != name])

    def find(self, token: str) -> Holder | None:
        """Who it belongs to. Every hash is compared in full, so the time taken tells nothing."""
        wanted, now, found = _hash(token), datetime.now(UTC), None
        for holder in self.holders():
            if hmac.compare_digest(holder.hash, wanted):
                found = holder
        return None if found is None or found.expired(now) else found

    def check_private(self) -> None:
        """Nobody else may write the file: who can, can make tokens."""
        mode = self.path.stat().st_mode & 0o777
        if os.name == "posix" and mode & 0o022:
            raise InputError(f"{self.path} must be writable by its owner alone, got the mode {mode:o}: chmod 600")

    def _write(self, holders: Iterable[Holder]) -> None:
        # mkstemp: a new file, for this user alone.
        handle, new = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump([asdict(holder) for holder in holders], file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            Path(new).replace(self.path)
        except BaseException:
            Path(new).unlink(missing_ok=True)
            raise


def _holder(name: str, role: str, hash: str, studies: list[str] | None = None, expires: str | None = None) -> Holder:
    if role not in ROLES or not isinstance(name, str) or not isinstance(hash, str):
        raise InputError(f"not a role: {role!r}")
    if expires is not None and datetime.fromisoformat(expires).tzinfo is None:
        raise InputError(f"a time without a zone: {expires!r}")
    return Holder(name, role, hash, None if studies is None else tuple(studies), expires)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
