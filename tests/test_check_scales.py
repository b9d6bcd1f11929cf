"""Genuine certificates pass their check in any unit, and at any delta."""

import copy
import json

import numpy as np
import pytest

from prepex import Bernoulli, Cone, Exact, Gaussian, InputError, Poisson, Product, Study, one
from prepex.settings import Settings
from prepex.stopping import Heuristic, KaufmannKoolen, Posterior
from prepex.study.check import check, level
from prepex.study.check_laws import to_border
from prepex.study.check_read import RefusedError
from prepex.study.check_settings import require_settings

SCALES = [10.0**power for power in (-30, -24, -12, -9, 0, 9, 18, 24, 30)]


def finished(path, outcomes, **options):
    """(certificate, lines of the log) of a study whose arms have one outcome each, at its end."""
    study = Study.create(path / "x.db", "x", arms=[*outcomes], delta=0.1, **options)
    while (ticket := study.ask()) is not None:
        study.tell(ticket.token, outcomes[ticket.arm])
    study.export(path / "log.jsonl")
    certificate = study.certificate()
    study.close()
    return certificate, (path / "log.jsonl").read_text().splitlines(keepends=True)


@pytest.mark.parametrize("scale", SCALES)
def test_a_tolerance_in_any_unit(tmp_path, scale):
    outcomes, family = {"a": [5.0 * scale], "b": [0.0]}, Product([Gaussian(variance=scale**2)])
    certificate, lines = finished(
        tmp_path, outcomes, objectives=("farad",), family=family, tolerance=0.1 * scale, threshold="certified"
    )
    assert certificate["answer"]["status"] == "certified"
    assert certificate["margin"] == pytest.approx(5.70399230, rel=1e-7)
    assert check(certificate, lines).problems == []


@pytest.mark.parametrize("scale", SCALES)
def test_a_cone_that_mixes_noise_with_none_in_any_unit(tmp_path, scale):
    outcomes = {"a": [5.0 * scale, 1.0 * scale], "b": [0.0, 0.5 * scale]}
    family, cone = Product([Gaussian(variance=scale**2), Exact()]), Cone.from_facets([[1, 0.3], [0.1, 1]])
    certificate, lines = finished(tmp_path, outcomes, objectives=("u", "v"), family=family, cone=cone)
    assert certificate["answer"]["status"] == "certified" and check(certificate, lines).problems == []


@pytest.mark.parametrize("scale", SCALES)
def test_a_limit_on_a_sum_in_any_unit(scale):
    # n off^2 / (2 g' Sigma g)
    laws, g = [("gaussian", scale**2), ("gaussian", 4.0 * scale**2)], np.array([1.0, 2.0])
    with np.errstate(all="ignore"):
        found = to_border(laws, 3.0, [5.0 * scale, 1.0 * scale], g, 4.0 * scale, 3.0 * scale, np.inf)
    assert found == pytest.approx(0.5 * 3.0 * 16.0 / 17.0, rel=1e-12)


@pytest.mark.parametrize("delta", [5e-324, 1e-300, 0.5, 0.999, 0.999999, 1.0 - 1e-9, 1.0 - 2.0**-53])
def test_the_level_of_an_extreme_delta_is_that_of_the_engine(delta):
    for K, L in ((2, 1), (3, 2)):
        N = np.full(K, 4.0)
        for threshold in (Heuristic(), KaufmannKoolen()):
            expected = threshold.level(delta, (K, L, L)) + threshold.growth(N, (K, L, L))
            assert level(threshold.name, N, L, delta) == pytest.approx(expected, rel=1e-12)


BESIDE = {"bernoulli": Product([Bernoulli(), Exact()]), "poisson": Product([Poisson(), Exact()])}
MIXED = Cone.from_facets([[1, 0.3], [0.1, 1]])


@pytest.mark.parametrize("known", [100.0, 1e7])
@pytest.mark.parametrize("outcomes", [{"a": 0.0, "b": 1.0}, {"a": 1.0, "b": 0.0}])
@pytest.mark.parametrize("law", BESIDE)
def test_means_at_the_end_of_their_range_beside_what_has_no_noise(tmp_path, law, outcomes, known):
    rows = {arm: [value, known if arm == "a" else 0.5] for arm, value in outcomes.items()}
    options = {"family": BESIDE[law], "cone": MIXED, "threshold": "heuristic"}
    certificate, lines = finished(tmp_path, rows, objectives=("u", "v"), **options)
    # No chance makes up for this; a number does, d(0, x) = x.
    assert (certificate["evidence"] is None) == (law == "bernoulli")
    assert check(certificate, lines).problems == []


@pytest.mark.parametrize(
    ("family", "size"),
    [
        (Gaussian(variance=1e-90), 1e10),
        (Gaussian(variance=1.0), 1e99),
        (Gaussian(variance="unknown"), 1e60),
        (Gaussian(variance="unknown", shared=True), 1e100),
    ],
)
def test_margins_and_squares_may_be_any_number(tmp_path, family, size):
    """Outcomes are bounded so that their squares are numbers; these are not."""
    rng, study = (
        np.random.default_rng(0),
        Study.create(tmp_path / "x.db", "x", arms=("a", "b"), objectives=("u", "v"), family=family, delta=0.1),
    )
    while (ticket := study.ask()) is not None:
        study.tell(ticket, (size * (1.0 if ticket.arm == "a" else 0.3) * (1.0 - 0.1 * rng.random(2))).tolist())
    study.export(tmp_path / "log.jsonl")
    given, lines = study.certificate(), (tmp_path / "log.jsonl").read_text().splitlines(keepends=True)
    squares = [
        value for part in ("pilot", "after_pilot") for value in given["arms"][0].get(part, {}).get("squares", ())
    ]
    assert given["answer"]["status"] == "certified" and max([given["margin"], *squares]) > 1e100
    assert check(given, lines).problems == [] and check(given).problems == []
    Study.restore(tmp_path / "again.db", tmp_path / "log.jsonl")
    for name, value in (("margin", 1.7e308), ("margin", 2.0 * given["margin"]), ("evidence", -1.7e308)):
        assert not check({**given, name: value}, lines).ok
    for part in [name for name in ("squares", "score_squares", "scores") if name in given["arms"][0]["after_pilot"]]:
        forged = copy.deepcopy(given)
        forged["arms"][0]["after_pilot"][part][0] = 1.7e308
        assert not check(forged, lines).ok


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"known": {"y": {"a": 1e200}}}, "of 'a' must be at most 1e.100 in size"),
        ({"prior": {"x": (1e150, 1.0)}}, "mean of a prior must be at most 1e.100 in size"),
        ({"prior": {"x": (0.0, 1e150)}}, "spread of a prior must be from 1e-100 to 1e.100"),
        ({"prior": {"x": (0.0, 1e-150)}}, "spread of a prior must be from 1e-100 to 1e.100"),
        ({"prior": {"mean": [0, 0], "spread": [1, 1], "noise": [1e-120, 1]}}, "noise of a prior must be from 1e-100"),
        ({"prior": {"mean": [0, 0], "spread": [1, 1], "weight": 1e120}}, "weight of a prior must be at most 1e.100"),
    ],
)
def test_what_the_check_would_refuse_is_not_created(options, message):
    family = Product([Gaussian(variance=1.0), Exact()])
    with pytest.raises(InputError, match=message):
        given = {"threshold": Posterior(prior=options["prior"])} if "prior" in options else options
        Settings.make(("a", "b"), ("x", "y"), family=family, **given)


def test_the_name_of_a_cone_is_as_long_as_the_check_takes_it(tmp_path):
    for count, size in ((10, 980), (11, 999)):
        names = [chr(97 + k) * size for k in range(count)]
        rate = one(names[0]).is_worth(between=(0.5, 2), of=names[1])
        if count == 11:
            with pytest.raises(InputError, match="must have at most 10,000 characters together, got 11,020"):
                Cone.tradeoffs(names, rate)
            continue
        outcomes = {"a": [2.0] * count, "b": [0.0] * count}
        given = {"family": Gaussian(variance=0.1), "cone": Cone.tradeoffs(names, rate)}
        assert check(*finished(tmp_path, outcomes, objectives=names, **given)).problems == []


@pytest.mark.parametrize("far", [1e6, 1e13, 1e15])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_arm_that_is_far_away_makes_no_others_level(tmp_path, far, place):
    values = {"a": 5.0, "b": 0.0}
    outcomes = {name: [values.get(name, far)] for name in [("c", "a", "b"), ("a", "c", "b"), ("a", "b", "c")][place]}
    given = {"objectives": ("u",), "minimise": ("u",), "family": Gaussian(variance=1.0)}
    certificate, lines = finished(tmp_path, outcomes, **given, max_pulls=3)
    assert certificate["answer"]["arms"] == ["b"] and check(certificate, lines).ok
    forged = copy.deepcopy(certificate)
    forged["answer"]["arms"] = ["a"]
    for arm in forged["arms"]:
        arm["pareto"] = arm["name"] == "a"
    assert not check(forged, lines).ok
    for threshold in ("heuristic", "kaufmann_koolen"):
        (tmp_path / threshold).mkdir()
        certificate, lines = finished(tmp_path / threshold, outcomes, **given, threshold=threshold)
        assert certificate["answer"]["status"] != "running" and check(certificate, lines).problems == []


def test_settings_that_no_study_can_have_are_refused(tmp_path):
    prior = {"mean": [0.0, 0.0], "spread": None, "covariance": [[1.0, 0.0], [0.0, 1.0]], "noise": None, "weight": 1.0}
    made = Settings.make(("a", "b"), ("u", "v"), family=Gaussian(variance=1.0), threshold=Posterior(prior=prior))
    require_settings(json.loads(json.dumps(made.to_document())))
    for change in (
        lambda given: given["labels"].update(arms=["a", "a "]),
        lambda given: given["labels"].update(objectives=["\u00e9", "e\u0301"]),
        lambda given: given["threshold"]["prior"].update(covariance=[[1e-300, 0.0], [0.0, 1.0]]),
    ):
        given = json.loads(json.dumps(made.to_document()))
        change(given)
        with pytest.raises(RefusedError):
            require_settings(given)
