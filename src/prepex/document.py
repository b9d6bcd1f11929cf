"""Settings as JSON documents, and back."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import numpy as np

from prepex.cone import Cone
from prepex.errors import InputError
from prepex.family import FAMILIES, Family, Product
from prepex.labels import Labels
from prepex.preferences import Statement
from prepex.sampling import RULES, Rule
from prepex.stopping import THRESHOLDS, Threshold, UserThreshold


def read(form: str, text: str, keys: Sequence[str], extra: Sequence[str] = ()) -> dict[str, Any]:
    """A document of the given form, with exactly these keys, and of the `extra` ones any."""
    try:
        given = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"text must be what to_json wrote, got something else: {error}") from None
    if not isinstance(given, dict) or "format" not in given:
        raise InputError("text must be what to_json wrote, got no 'format'")
    if given["format"] != form:
        raise InputError(f"text must have the format {form!r}, got {given['format']!r}")
    for key in {*keys} ^ ({*given} - {*extra}):
        raise InputError(f"text must be what to_json wrote, got {'no' if key in keys else 'an unknown'} {key!r}")
    if not isinstance(given["log"], list):
        raise InputError(f"log must be a list of outcomes, got {type(given['log']).__name__}")
    return given


@contextmanager
def damaged() -> Iterator[None]:
    """What only a damaged document can cause, in one clear line: prepex writes none that fails in these ways."""
    try:
        yield
    except InputError:
        raise
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, ArithmeticError, RecursionError) as error:
        raise InputError(f"text must be what to_json wrote, got a damaged document: {error!r}") from None


def of_labels(labels: Labels) -> dict[str, Any]:
    """Names and signs."""
    return asdict(labels)


def of_family(family: Family) -> dict[str, Any]:
    """Its name and parameters."""
    name = type(family).__name__
    if isinstance(family, Product):
        return {"name": name, "families": [of_family(single) for single in family.families]}
    given = ((key, getattr(family, key, None)) for key in ("variance", "covariance", "noise", "shared"))
    return {"name": name} | {
        key: value if isinstance(value, str) else np.asarray(value).tolist()
        for key, value in given
        if value is not None and value is not False
    }


def family(given: dict[str, Any]) -> Family:
    """Back."""
    if given["name"] not in FAMILIES:
        raise InputError(f"family must be one of {', '.join(FAMILIES)}, got {given['name']!r}")
    if given["name"] == "Product":
        return Product([family(single) for single in given["families"]])
    return FAMILIES[given["name"]](**{key: value for key, value in given.items() if key != "name"})


def of_cone(cone: Cone) -> dict[str, Any]:
    """The facets as they are: no digit is lost."""
    written: dict[str, Any] = {"facets": cone.facets.tolist(), "name": cone.name}
    if cone.statements:
        written["statements"] = [
            {"one": list(entry.one), "other": list(entry.other), "clear": entry.clear} for entry in cone.statements
        ]
    return written


def cone(given: dict[str, Any]) -> Cone:
    """Back, without normalising again."""
    Cone.from_facets(given["facets"])
    facets = np.array(given["facets"], dtype=np.float64)
    facets.flags.writeable = False
    said = tuple(
        Statement(tuple(entry["one"]), tuple(entry["other"]), entry["clear"]) for entry in given.get("statements", ())
    )
    return Cone(facets, given["name"], statements=said)


def of_rule(rule: Rule) -> dict[str, Any]:
    """Name and parameters."""
    known = [name for name, kind in RULES.items() if type(rule) is kind]
    if not known:
        raise InputError(f"sampling must be one of the rules of prepex to be written, got {rule!r}")
    return {"name": known[0], **_plain(asdict(rule))}


def rule(given: dict[str, Any]) -> Rule:
    """Back."""
    if given["name"] not in RULES:
        raise InputError(f"sampling must be one of {', '.join(RULES)}, got {given['name']!r}")
    parameters: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items() if k != "name"}
    return RULES[given["name"]](**parameters)


def of_threshold(threshold: Threshold) -> dict[str, Any]:
    """Name and parameters."""
    known = [name for name, kind in THRESHOLDS.items() if type(threshold) is kind]
    if not known:
        what = "a function" if isinstance(threshold, UserThreshold) else repr(threshold)
        raise InputError(f"threshold must be one of the named ones to be written, got {what}")
    return {"name": known[0], **_plain(asdict(threshold))}


def _plain(value: Any) -> Any:
    """Numbers of numpy and pandas as Python's own, which JSON can write."""
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return _plain(value.tolist()) if hasattr(value, "tolist") else value


def threshold(given: dict[str, Any]) -> Threshold:
    """Back."""
    if given["name"] not in THRESHOLDS:
        raise InputError(f"threshold must be one of {', '.join(THRESHOLDS)}, got {given['name']!r}")
    parameters: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items() if k != "name"}
    if given["name"] == "certified":
        # Documents of earlier versions do not say it: their rule was the plain one.
        parameters.setdefault("closed", False)
    return THRESHOLDS[given["name"]](**parameters)
