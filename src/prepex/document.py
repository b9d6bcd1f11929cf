"""Settings as JSON documents, and back."""

import json
from dataclasses import asdict
from typing import Any

import numpy as np

from prepex.cone import Cone
from prepex.family import Gaussian
from prepex.labels import Labels
from prepex.sampling import RULES, Rule
from prepex.stopping import THRESHOLDS, Threshold, UserThreshold


def read(form: str, text: str) -> dict[str, Any]:
    """A document of the given form."""
    try:
        given = json.loads(text)
    except (TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"text must be what to_json wrote, got something else: {error}") from None
    if not isinstance(given, dict) or "format" not in given:
        raise ValueError("text must be what to_json wrote, got no 'format'")
    if given["format"] != form:
        raise ValueError(f"text must have the format {form!r}, got {given['format']!r}")
    return given


def of_labels(labels: Labels) -> dict[str, Any]:
    """Names and signs."""
    return asdict(labels)


def of_family(family: Gaussian) -> dict[str, Any]:
    """Its one parameter."""
    name = "variance" if family.covariance is None else "covariance"
    return {"name": "Gaussian", name: np.asarray(getattr(family, name)).tolist()}


def family(given: dict[str, Any]) -> Gaussian:
    """Back."""
    return Gaussian(**{key: value for key, value in given.items() if key != "name"})


def of_cone(cone: Cone) -> dict[str, Any]:
    """The facets as they are: no digit is lost."""
    return {"facets": cone.facets.tolist(), "name": cone.name}


def cone(given: dict[str, Any]) -> Cone:
    """Back, without normalising again."""
    Cone.from_facets(given["facets"])
    facets = np.array(given["facets"], dtype=np.float64)
    facets.flags.writeable = False
    return Cone(facets, given["name"])


def of_rule(rule: Rule) -> dict[str, Any]:
    """Name and parameters."""
    return {"name": next(name for name, kind in RULES.items() if type(rule) is kind), **asdict(rule)}


def rule(given: dict[str, Any]) -> Rule:
    """Back."""
    return RULES[given["name"]](**{key: value for key, value in given.items() if key != "name"})


def of_threshold(threshold: Threshold) -> dict[str, Any]:
    """Name and parameters."""
    if isinstance(threshold, UserThreshold):
        raise ValueError("threshold must be one of the named ones to be written, got a function")
    return {"name": threshold.name, **asdict(threshold)}


def threshold(given: dict[str, Any]) -> Threshold:
    """Back."""
    parameters = {key: tuple(value) for key, value in given.items() if key != "name"}
    return THRESHOLDS[given["name"]](**parameters)
