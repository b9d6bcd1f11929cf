"""The studies of a storage, and who may do what with them."""

import threading
from collections import OrderedDict
from typing import Annotated

from fastapi import Depends, HTTPException, Request

from prepex.server.access import Holder
from prepex.server.crew import Runner
from prepex.server.served import Served
from prepex.study.config import LONGEST_NAME
from prepex.study.log import NoStudyError
from prepex.study.storage import Storage

# Studies whose last answers are kept; the one that was used least recently goes.
MOST_OPEN = 300
# The same words whether there is no such study, or it is not for this token.
UNKNOWN = "there is no such study, or not for this token"


class Studies:
    """Studies by name. All share the connections of one storage, and those who compute."""

    def __init__(self, storage: Storage, runner: Runner) -> None:
        self.storage, self.runner = storage, runner
        self._open: OrderedDict[str, Served] = OrderedDict()
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> Served:
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise NoStudyError(UNKNOWN)
        with self._lock:
            if name in self._open:
                self._open.move_to_end(name)
                return self._open[name]
        # Not under the lock: a slow database must not stop the other studies.
        found = Served(self.storage, name, self.runner)
        with self._lock:
            found = self._open.setdefault(name, found)
            while len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
        return found

    def forget(self, name: str) -> None:
        """It has been deleted."""
        with self._lock:
            self._open.pop(name, None)


class Needs:
    """A dependency: who asks, if the role is enough, and the study in the path is one of theirs."""

    def __init__(self, role: str) -> None:
        self.role = role

    async def __call__(self, request: Request) -> Holder:
        """The holder of the token."""
        holder: Holder | None = getattr(request.state, "holder", None)
        if holder is None:
            raise HTTPException(401, "a bearer token is needed", headers={"WWW-Authenticate": "Bearer"})
        name = request.path_params.get("name")
        if name is not None and not holder.sees(name):
            raise HTTPException(404, UNKNOWN)
        if not holder.may(self.role):
            raise HTTPException(403, f"this needs the role {self.role}, got {holder.role}")
        return holder


def needs(role: str) -> Needs:
    """Who may do something."""
    return Needs(role)


Observer = Annotated[Holder, Depends(needs("observer"))]
Worker = Annotated[Holder, Depends(needs("worker"))]
Owner = Annotated[Holder, Depends(needs("owner"))]
