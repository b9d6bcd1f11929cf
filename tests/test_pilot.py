"""The length of a pilot, what ends it, and documents of the rule before it could choose: engine and checker agree."""

import numpy as np
import pytest

from prepex import Experiment, Gaussian, Study
from prepex._kernels import course as kernels
from prepex._kernels.deal import CLOSED, SEEN
from prepex.document import of_threshold, threshold
from prepex.errors import InputError
from prepex.stopping import Certified
from prepex.study.check import check
from prepex.study.check_facts import Design, Facts
from prepex.study.config import Config

EASY = np.array([[2.0, 0.0], [0.0, 2.0], [-2.0, -2.0]])
HARD = np.array([[0.2, 0.0], [0.19, 0.01], [0.0, 0.2]])


def told(truth, n, seed, **options):
    """(An experiment after n outcomes in turn, its rows)."""
    rng = np.random.default_rng(seed)
    arms = np.arange(n) % len(truth)
    rows = rng.normal(truth[arms])
    experiment = Experiment(len(truth), 2, family=Gaussian(variance=1.0), delta=1e-9, **options)
    experiment.tell_log(arms, rows)
    return experiment, list(zip(arms.tolist(), rows.tolist(), strict=True))


def pilot_of(experiment):
    return int(experiment.course.whole[kernels.PILOT])


def test_an_easy_pilot_is_short_and_a_hard_one_long():
    assert [pilot_of(told(EASY, 30, seed)[0]) for seed in range(5)] == [9] * 5
    lengths = {pilot_of(told(HARD, 240, seed)[0]) for seed in range(12)}
    assert max(lengths) == 192 and lengths <= {9 * 2**k for k in range(5)} | {192}
    assert pilot_of(told(HARD, 30, 0, threshold=Certified(pilot=2))[0]) == 6, "a length that is given is kept"
    assert pilot_of(told(HARD, 30, 0, threshold=Certified(closed=False))[0]) == 9


@pytest.mark.parametrize("truth", [EASY, HARD], ids=("easy", "hard"))
def test_the_checker_finds_the_same_length(truth):
    for seed in range(6):
        for n in (12, 40, 100, 230):
            experiment, rows = told(truth, n, seed)
            design = Design.read(dict(Config.make("x", experiment, None).settings))
            facts = Facts.observed([(arm, row, 1) for arm, row in rows], design)
            over = n >= pilot_of(experiment)
            assert (facts.pilot is not None) == over
            assert not over or facts.pilot.n.sum() == pilot_of(experiment)


def test_a_summary_ends_the_pilot():
    """It cannot be cut: what came before it chooses, from it on all counts."""
    longer = next(seed for seed in range(20) if pilot_of(told(HARD, 10, seed)[0]) > 12)
    experiment, rows = told(HARD, 12, longer)
    assert not experiment.course.deal.flag[SEEN] and experiment.missing_before_summary == 0
    experiment.tell_summary(0, 40, [0.3, 0.1])
    assert experiment.course.deal.flag[SEEN] and pilot_of(experiment) == 12
    assert experiment.course.fresh.N.tolist() == [40.0, 0.0, 0.0]
    design = Design.read(dict(Config.make("x", experiment, None).settings))
    facts = Facts.observed([*((arm, row, 1) for arm, row in rows), (0, [0.3, 0.1], 40)], design)
    assert facts.pilot.n.sum() == 12 and facts.late.n.tolist() == [40.0, 0.0, 0.0]


def test_certificates_with_their_log(tmp_path):
    rng = np.random.default_rng(4)
    for name, truth, options in (
        ("easy", EASY, {}),
        ("hard", HARD, {}),
        ("lenient", HARD, {"tolerance": 0.5}),
        ("earlier", EASY, {"threshold": Certified(closed=False)}),
    ):
        path = f"sqlite:///{tmp_path / name}.db"
        study = Study.create(path, name, arms=3, objectives=2, family=Gaussian(variance=1.0), delta=0.1, **options)
        rows = ["arm,objective 0,objective 1"]
        rows += [",".join(map(str, [f"arm {k}", *rng.normal(truth[k])])) for k in np.arange(300) % 3]
        (tmp_path / f"{name}.csv").write_text("\n".join(rows) + "\n")
        study.import_csv(tmp_path / f"{name}.csv")
        study.export(tmp_path / f"{name}.jsonl")
        certificate = study.certificate()
        assert check(certificate).ok
        result = check(certificate, (tmp_path / f"{name}.jsonl").read_text().splitlines(keepends=True))
        assert result.ok, (name, result.problems)


def test_a_document_of_an_earlier_version_means_the_rule_it_was_made_with():
    new = of_threshold(Certified())
    assert new["closed"] is True and threshold(new) == Certified()
    old = {key: value for key, value in new.items() if key != "closed"}
    assert threshold(old) == Certified(closed=False)
    assert threshold(old).pilot_pulls(30) == 600 and threshold(old).longest_pilot(30) == 600
    experiment, _ = told(EASY, 60, 1, threshold=threshold(old))
    assert not experiment.course.deal.flag[CLOSED]
    with pytest.raises(InputError, match="closed must be True or False, got 'yes'"):
        Certified(closed="yes")
