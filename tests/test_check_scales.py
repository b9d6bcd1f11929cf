"""Genuine certificates pass their check in any unit, and at any delta."""

import numpy as np
import pytest

from prepex import Bernoulli, Cone, Exact, Gaussian, Poisson, Product, Study
from prepex.stopping import Heuristic, KaufmannKoolen
from prepex.study.check import check, level
from prepex.study.check_laws import to_border

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
