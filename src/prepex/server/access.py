"""Bearer tokens with roles. Only their hashes are kept, in a file that its owner alone may read."""

import hashlib
import hmac
import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

# Each may do what those before it may: observers read, workers ask and tell, owners correct and void.
ROLES = ("observer", "worker", "owner")


@dataclass(frozen=True)
class Holder:
    """Who a token belongs to. Tokens are 256 random bits, so a plain hash of one tells nothing about it."""

    name: str
    role: str
    hash: str

    def may(self, role: str) -> bool:
        """Is the role enough?

        >>> Holder("ada", "worker", "").may("observer"), Holder("ada", "worker", "").may("owner")
        (True, False)
        """
        return ROLES.index(self.role) >= ROLES.index(role)


class Keys:
    """A file of tokens' hashes.

    >>> import tempfile
    >>> keys = Keys(Path(tempfile.mkdtemp()) / "keys.json")
    >>> token = keys.add("ada", "worker")
    >>> keys.find(token).name, keys.find("another")
    ('ada', None)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def holders(self) -> list[Holder]:
        """Everyone with a token."""
        if not self.path.exists():
            return []
        try:
            return [Holder(**entry) for entry in json.loads(self.path.read_text(encoding="utf-8"))]
        except (ValueError, TypeError) as error:
            raise ValueError(f"{self.path} must be a file of tokens, got a damaged one: {error}") from None

    def add(self, name: str, role: str) -> str:
        """A new token, shown once."""
        if role not in ROLES:
            raise ValueError(f"role must be one of {', '.join(ROLES)}, got {role!r}")
        known = self.holders()
        if not name or not name.isprintable() or len(name) > 200 or name in {holder.name for holder in known}:
            raise ValueError(f"name must be new and of 1 to 200 printable characters, got {name!r}")
        token = f"prepex_{secrets.token_urlsafe(32)}"
        self._write([*known, Holder(name, role, _hash(token))])
        return token

    def remove(self, name: str) -> None:
        """Take a token away."""
        known = self.holders()
        if name not in {holder.name for holder in known}:
            raise ValueError(f"name must have a token, got {name!r}")
        self._write([holder for holder in known if holder.name != name])

    def find(self, token: str) -> Holder | None:
        """Who it belongs to."""
        wanted = _hash(token)
        for holder in self.holders():
            if hmac.compare_digest(holder.hash, wanted):
                return holder
        return None

    def _write(self, holders: list[Holder]) -> None:
        new = self.path.with_name(self.path.name + ".new")
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump([asdict(holder) for holder in holders], file, indent=1)
        new.replace(self.path)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
