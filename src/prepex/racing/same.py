"""Is the race that is kept the one that is to go on?"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prepex import document
from prepex.errors import InputError
from prepex.family import Family, Product
from prepex.racing.opening import Opening
from prepex.racing.question import Question, differences
from prepex.study.log import NoStudyError
from prepex.study.study import Study

# What a study may have that the question does not say.
LOOSE = ("max_pulls", "max_pending")
Place = str | os.PathLike[str]


def require_same_spec(opening: Opening, storage: Place, name: str, spec: Mapping[str, Any]) -> None:
    """What the journal says was run, and what is to be run now. Nothing was recorded yet: the new one counts."""
    there = opening.journal.last("race")
    found = [] if there is None else differences(spelled(there["spec"]), spelled(spec))
    if found and not opening.told and not (recorded := _recorded(storage, opening.name)):
        # A slip that the first run showed: nothing is lost by beginning anew.
        if recorded is not None:
            Study.delete(storage, opening.name, confirm=opening.name)
        there, found = None, []
    if there is None:
        opening.journal.add("race", spec=dict(spec))
    _refuse(storage, name, found)


def spelled(spec: Mapping[str, Any]) -> dict[str, Any]:
    """What is run, with what comes before a run, and the environments, under names of their own: said once for all
    options where it is the same for all.

    >>> spelled({"options": {"a": ["gzip a", "sync", {}], "b": ["gzip b", "sync", {}]}, "shell": True})
    {'options': {'a': 'gzip a', 'b': 'gzip b'}, 'prepare': 'sync', 'env of options': None, 'shell': True}
    """
    options = {name: (own if isinstance(own, list) else [own, None, {}]) for name, own in spec["options"].items()}
    parts = {"prepare": 1, "env of options": 2}
    said = {word: {name: own[place] or None for name, own in options.items()} for word, place in parts.items()}
    rest = {key: value for key, value in spec.items() if key != "options"}
    return {"options": {name: own[0] for name, own in options.items()}, **_once(said), **rest}


def _once(said: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    values = {word: [*of.values()] for word, of in said.items()}
    return {word: values[word][0] if _alike(values[word]) else of for word, of in said.items()}


def _alike(values: Sequence[Any]) -> bool:
    return all(value == values[0] for value in values)


def require_same_settings(study: Study, question: Question, storage: Place, name: str) -> None:
    """What the study has fixed, and what is asked now."""
    there = settings_of(study)
    known = families_of(there, question.objectives)
    here = question.settings({one: known[one] for one in question.open_families if one in known})
    said = json.loads(json.dumps(here.to_document()))
    pair = ({key: value for key, value in one.items() if key not in LOOSE} for one in (there, said))
    _refuse(storage, name, differences(*pair))


def _refuse(storage: Place, name: str, found: Sequence[str]) -> None:
    if found:
        raise InputError(
            f"the race {name!r} in {storage} must be this one to go on with it, got another: {'; '.join(found)}. "
            "Another name or another storage begins another race"
        )


def _recorded(storage: Place, name: str) -> int | None:
    """Outcomes in the study of this name; None: there is no study."""
    if "://" not in str(storage) and not Path(storage).exists():
        return None
    try:
        with Study.open(storage, name) as study:
            return sum(event.kind in ("told", "imported") for event in study.events())
    except NoStudyError:
        return None


def settings_of(study: Study) -> dict[str, Any]:
    """What was fixed when it was created."""
    return dict(next(iter(study.events(limit=1))).data["settings"])


def families_of(settings: Mapping[str, Any], objectives: Sequence[str]) -> dict[str, Family]:
    """One for each objective."""
    family = document.family(settings["family"])
    families = family.families if isinstance(family, Product) else (family,) * len(objectives)
    return dict(zip(objectives, families))
