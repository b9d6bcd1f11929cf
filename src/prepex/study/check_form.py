"""The form of a certificate, for check.py: every field that there must be, no other, of the right type and range."""

from typing import Any

from prepex.study.check_facts import Design
from prepex.study.check_log import HEX, require_lease, require_name
from prepex.study.check_read import (
    FINITE,
    choice,
    fields,
    listing,
    number,
    numbers,
    refuse,
    same,
    whole,
    words,
)
from prepex.study.check_settings import require_settings

FORMAT, EARLIER = "prepex certificate 3", ("prepex certificate 1", "prepex certificate 2")
# Of an arm's test: on its own, and as one of all.
PRICES = ("plain", "closed")
TOP = (
    *("format", "study", "settings", "lease", "log", "answer", "theorem"),
    *("needed", "margin", "evidence", "binding", "arms"),
)
STATUSES = ("certified", "posterior", "heuristic", "inconclusive", "running")
# What is proven, by threshold.
THEOREMS = {
    "certified": "Ville's inequality for mixture e-processes, any sampling rule, any stopping time",
    "heuristic": "none: the convention of the literature's experiments",
    "kaufmann_koolen": "Kaufmann & Koolen (2021), Theorem 7, for the K L scalars of independent objectives",
    "own": "the rule's own, if it has one",
    "posterior": "the tower property: averaged over the prior, any sampling rule",
}
TESTS = (("better", "worse", "facet"), ("better", "worse", "limit"), ("arm", "limit"))


def require_form(given: Any) -> Design:
    """The settings of a certificate whose form is right, and whose statements about names fit each other."""
    form = given.get("format") if type(given) is dict else None
    if type(form) is str and form in EARLIER:
        refuse(
            "format",
            f"{FORMAT}: a study writes one at any time, and this one is checked by the version that wrote it",
            form,
        )
    choice("format", form, (FORMAT,))
    fields("certificate", given, TOP)
    require_name(given["study"])
    require_lease(given["lease"])
    require_settings(given["settings"])
    design = Design.read(given["settings"])
    log = fields("log", given["log"], ("events", "hash"))
    whole("events", log["events"], 1)
    if type(log["hash"]) is not str or not HEX.fullmatch(log["hash"]):
        refuse("hash", "64 hexadecimal digits", log["hash"])
    choice("theorem", given["theorem"], (THEOREMS[given["settings"]["threshold"]["name"]],))
    number("needed", given["needed"])
    for name in ("margin", "evidence"):
        if given[name] is not None:
            number(name, given[name], -FINITE, FINITE)
    if given["binding"] is not None:
        _require_test("binding", given["binding"], design)
    if (given["binding"] is None) != (given["margin"] is None):
        refuse("binding", "null where the margin is", given["binding"])
    _require_arms(given["arms"], design)
    _require_answer(given, design)
    return design


def _require_arms(arms: Any, design: Design) -> None:
    for arm, name in zip(listing("arms", arms, len(design.arms)), design.arms, strict=True):
        fields("arm", arm, ("name", "n", "mean"), ("pareto", "pilot", "after_pilot", "price", "test"))
        choice("name", arm["name"], (name,))
        whole("n", arm["n"])
        if (arm["mean"] is None) != (arm["n"] == 0):
            refuse("mean", "null without outcomes, and only then", arm["mean"])
        if arm["mean"] is not None:
            numbers("mean", arm["mean"], (len(design.objectives),))
        if type(arm.get("pareto", True)) is not bool:
            refuse("pareto", "true or false", arm["pareto"])
        if arm.keys() != arms[0].keys():
            refuse("arms", "alike", [*arm])
    tested = ("after_pilot", "price", "test") + (("pilot",) if design.laws is not None else ())
    if {*arms[0]} - {"name", "n", "mean", "pareto"} not in (set(), {*tested}):
        refuse("arm", f"an object with all or none of {', '.join(tested)}", [*arms[0]])
    for arm in arms if "test" in arms[0] else ():
        for name, price in fields("price", arm["price"], PRICES).items():
            number(name, price)
        if arm["test"] is not None:
            test = _require_test("test", arm["test"], design, ("e", "value"))
            number("value", test["value"], -FINITE, FINITE)
            number("e", test["e"], 0.0, FINITE)
        for part in ("pilot", "after_pilot"):
            if part in arm:
                _require_part(part, arm[part], design)
        if arm["after_pilot"]["n"] > arm["n"]:
            refuse("after_pilot", "no more than all outcomes", arm["after_pilot"]["n"])


def _require_part(where: str, part: Any, design: Design) -> None:
    m, L = design.W.shape
    shapes = {"scores": m}
    if design.laws is not None:
        shapes["means"] = L
    if any(design.unknown):
        shapes |= {"squares": L, "score_squares": m}
    fields(where, part, ("n", *shapes))
    whole(where, part["n"], 1)
    for name, size in shapes.items():
        if numbers(name, part[name], (size,), -FINITE, FINITE).min() < 0 and "squares" in name:
            refuse(name, "at least 0", part[name])


def _require_test(where: str, given: Any, design: Design, more: tuple[str, ...] = ()) -> Any:
    """Of two arms and a facet, of two arms and a limit of one of them, or of an arm and a limit of its own."""
    kinds = [kind for kind in TESTS if type(given) is dict and {*kind} <= {*given}]
    fields(where, given, (*(kinds or TESTS)[0], *more))
    for name in ("better", "worse", "arm"):
        if name in given:
            choice(name, given[name], design.arms)
    if "arm" not in given and given["better"] == given["worse"]:
        refuse("test", "of two arms", given["better"])
    if "facet" in given:
        whole("facet", given["facet"], 0, design.n_facets - 1)
    else:
        whole("limit", given["limit"], 0, len(design.W) - design.n_facets - 1)
    return given


def _require_answer(given: dict[str, Any], design: Design) -> None:
    answer, arms = given["answer"], given["arms"]
    fields("answer", answer, ("status", "arms", "decided", "undecided", "delta", "n_pulls"))
    choice("status", answer["status"], STATUSES)
    named = {name: words(name, answer[name]) for name in ("arms", "decided", "undecided")}
    sets = {name: {*given_names} for name, given_names in named.items()}
    for name, given_names in named.items():
        if given_names != [arm for arm in design.arms if arm in sets[name]]:
            refuse(name, "arms in their order", given_names)
    if [arm for arm in design.arms if (arm in sets["decided"]) == (arm in sets["undecided"])]:
        refuse("undecided", "the arms that are not decided", named["undecided"])
    if given["settings"]["threshold"]["name"] != "own" and named["arms"] != [
        arm["name"] for arm in arms if arm.get("pareto")
    ]:
        refuse("answer", "the arms that look Pareto optimal", named["arms"])
    if not same(answer["delta"], given["settings"]["delta"]):
        refuse("delta", "that of the settings", answer["delta"])
    if whole("n_pulls", answer["n_pulls"]) != sum(arm["n"] for arm in arms):
        refuse("n_pulls", "the sum of the counts", answer["n_pulls"])
