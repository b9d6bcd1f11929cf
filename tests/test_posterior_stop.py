"""The threshold `posterior`: its bound, its draws, its stop, everywhere the same."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
import reference_posterior as reference

import prepex as px
from prepex import Cone, Experiment
from prepex._kernels import posterior as kernels
from prepex.posterior import _draws_of
from prepex.prior import Prior, whitened
from prepex.stopping import Posterior

KNOWN = px.Gaussian(variance=1.0)


def random_experiment(rng, prior=None, tolerance=None, limits=None, K=None, L=None):
    K, L = K or int(rng.integers(2, 6)), L or int(rng.integers(1, 4))
    root = rng.normal(size=(L, L)) / 2 + np.eye(L)
    cone = Cone.angle(float(rng.uniform(50, 140))) if L == 2 and rng.random() < 0.5 else None
    made = Experiment(
        K,
        L,
        family=px.Gaussian(covariance=root @ root.T),
        cone=cone,
        threshold=Posterior(prior=prior(L) if prior else None),
        delta=1e-9,
        tolerance=tolerance,
        seed=int(rng.integers(1000)),
        **({} if limits is None else {"at_least": {"objective 0": limits}}),
    )
    truth = rng.normal(size=(K, L))
    for n in range(int(rng.integers(1, 6))):
        made.tell_many([(k, truth[k] + root @ rng.normal(size=L)) for k in range(K) if n == 0 or rng.random() < 0.7])
    return made


def posterior_scores(made):
    """Means and variances of scores, by the precision of prior and data."""
    course = made.course
    inst, prior, cov = course.near.inst, made.setting.prior, made.setting.covariances[0]
    S, V = np.zeros(inst.S.shape), np.zeros(inst.S.shape)
    for k, n in enumerate(inst.N):
        precision, pulled = n * np.linalg.inv(cov), n * np.linalg.inv(cov) @ made.means[k]
        if prior is not None:
            own = np.linalg.inv(prior.covariance or np.diag(np.square(prior.spread)))
            precision, pulled = precision + own, pulled + own @ prior.mean
        mean, spread = np.linalg.solve(precision, pulled), np.linalg.inv(precision)
        S[k] = (mean - course.origin) @ inst.W.T - inst.level
        V[k] = np.einsum("fp,pq,fq->f", inst.W, spread, inst.W)
    return S, V


PRIORS = {
    "flat": None,
    "spread": lambda L: Prior(mean=[0.3] * L, spread=[0.8] * L),
    "matrix": lambda L: Prior(mean=np.arange(L), covariance=0.5 * np.eye(L) + 0.3),
}


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("asked", [{}, {"tolerance": 0.3}, {"limits": 0.1}, {"tolerance": 0.2, "limits": -0.1}])
def test_the_bound_is_its_definition_and_bounds(prior, asked):
    rng = np.random.default_rng(8)
    for _ in range(5):
        made = random_experiment(rng, PRIORS[prior], **asked)
        S, V = posterior_scores(made)
        inst = made.course.near.inst
        want = reference.bound(S, V, inst.slack, inst.n_facets, inst.mask)
        assert math.exp(-made.reached) == pytest.approx(want, rel=1e-9)
        # Whatever the shortcut says, it is on the right side.
        for level in (0.1, -math.log(max(want, 1e-9)) * 1.01 + 0.01, -math.log(max(want, 1e-9)) * 0.99 - 0.01):
            found = kernels.surety(made.course, level, 1.0)
            assert (found >= level) == (-math.log(want) >= level)
        drawn = _draws_of(made.setting, made.course, made.setting.prior)(rng, 200)
        on = inst.n_facets
        able = np.all(drawn[:, :, on:] >= 0.0, axis=2)
        wrong = np.mean(
            [not reference.right(d[:, :on], a, inst.slack[:on], inst.mask) for d, a in zip(drawn, able, strict=True)]
        )
        assert wrong <= want + 4.0 * math.sqrt(0.25 / 200)


def test_the_bound_without_noise_on_an_objective():
    made = Experiment(3, 2, family=px.Product([KNOWN, px.Exact()]), threshold="posterior", delta=0.1, seed=1)
    made.tell_many([(0, [0.0, 1.0]), (1, [5.0, 0.0]), (2, [-9.0, 0.5])])
    # The first is ahead in what is known, the second in what is not, the third in neither.
    assert made.recommendation.arms == ("arm 0", "arm 1") and made.probabilities[0] == 1.0


def test_tails():
    for z in (-9.0, -3.0, 0.0, 0.4, 2.0, 7.9, 8.1, 20.0, 37.0):
        exact = 0.5 * math.erfc(z / math.sqrt(2.0))
        assert kernels.tail(z) == pytest.approx(exact, rel=1e-11)
    assert kernels.tail(50.0) == 0.0


def test_most_wrong_is_the_largest_that_chernoff_allows():
    for n, p, risk in ((5000.0, 0.09, 14.0), (50000.0, 0.009, 16.0), (40.0, 0.5, 3.0)):
        c = kernels.most_wrong(n, p, risk)
        kl = [x * math.log(x / p) + (1 - x) * math.log((1 - x) / (1 - p)) for x in (c / n, (c + 1) / n)]
        assert n * kl[0] >= risk > n * kl[1]
    assert kernels.most_wrong(10.0, 0.1, 5.0) == -1.0


def test_gamma_draws_have_their_moments():
    stream = np.array([7], dtype=np.uint64)
    for shape in (0.4, 1.0, 3.5, 80.0):
        found = np.array([kernels.next_gamma(stream, shape) for _ in range(1500)])
        assert found.mean() == pytest.approx(shape, abs=5.0 * math.sqrt(shape / 1500))
        assert found.var() == pytest.approx(shape, rel=0.5)


@pytest.mark.parametrize(
    "family",
    [
        px.Bernoulli(),
        px.Poisson(),
        px.Exponential(),
        px.Gaussian(variance="unknown"),
        px.Gaussian(variance="unknown", shared=True),
        px.Product([KNOWN]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("own", [False, True])
def test_draws_of_kernels_are_those_of_the_posterior(family, own):
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 2, size=(24, 1)) if "Bern" in repr(family) else rng.integers(1, 9, size=(24, 1))
    prior = Prior(mean=[0.6], spread=[0.2], noise=[2.0], weight=3.0) if own else None
    made = Experiment(3, 1, family=family, threshold=Posterior(prior=prior), delta=1e-6)
    made.tell_many([(k % 3, row) for k, row in enumerate(rows)])
    course, n = made.course, 1200
    course.stream[0] = 5
    slow, fast = _draws_of(made.setting, course, made.setting.prior)(rng, 40_000)[:, :, 0], np.zeros((n, 3))
    for row in fast:
        kernels.draw_truth(course)
        row[:] = course.drawn[:, 0]
    error = slow.std(axis=0) * math.sqrt(1 / n + 1 / 40_000)
    assert np.all(np.abs(fast.mean(axis=0) - slow.mean(axis=0)) < 5.0 * error)
    assert np.allclose(fast.std(axis=0), slow.std(axis=0), rtol=0.3)


def test_a_wrong_answer_of_a_draw_by_definition():
    rng = np.random.default_rng(4)
    for case in range(20):
        tolerance = 0.4 if case % 2 else None
        made = Experiment(4, 2, family=px.Bernoulli(), threshold="posterior", tolerance=tolerance, at_least={1: 0.3})
        made.tell_many([(k, row) for k, row in enumerate(rng.integers(0, 2, size=(4, 2)))])
        inst = made.course.near.inst
        made.course.drawn[:] = rng.uniform(-0.5, 1.0, size=made.course.drawn.shape)
        S, able = made.course.drawn, np.all(made.course.drawn[:, 2:] >= 0.0, axis=1)
        assert kernels.wrong_for(made.course) != reference.right(S[:, :2], able, inst.slack[:2], inst.mask)


def test_looks_are_at_pulls_fixed_in_advance():
    numbers = [kernels.look_number(float(t)) for t in range(1, 3000)]
    looks = [t for t, (one, two) in enumerate(pairwise(numbers), 2) if one != two]
    assert looks[:5] == [2, 3, 4, 5, 6] and len([t for t in looks if 1500 <= t < 3000]) < 20


@pytest.mark.parametrize("family", [KNOWN, px.Bernoulli()], ids=repr)
def test_simulated_and_live_stop_alike(family):
    truth = px.Problem([[0.9, 0.5], [0.4, 0.8], [0.1, 0.1]], family=family, cone=Cone.orthant(2))
    from prepex.sampling import InformationDirected
    from prepex.simulation import noise_of, pay_first

    runs = px.simulate(
        truth, sampling=InformationDirected(), threshold="posterior", deltas=[0.3, 0.1], n_runs=2, seed=3
    )
    times = {(row["run"], row["delta"]): row["stopping_time"] for row in runs.rows()}
    for run in range(2):
        key = int(np.random.SeedSequence((3, run, 1)).generate_state(1, np.uint64)[0])
        made = Experiment(3, 2, family=family, threshold="posterior", delta=0.1)
        made._progress.setting = type(made.setting)(**{**vars(made.setting), "key": key})
        roots, draw = noise_of(made.setting, np.random.default_rng(np.random.SeedSequence((3, run, 0))))
        first = draw(3)
        noise = draw(4096)
        for k in range(3):
            pay_first(made.setting, truth.inner_means, roots, k, first[k])
            made.tell(k, first[k])
        used = 0
        while not made.done:
            arm = made.choose(1, [0, 0, 0])[0]
            pay_first(made.setting, truth.inner_means, roots, arm, noise[used])
            made.tell(arm, noise[used])
            used += 1
        assert made.n_pulls == times[run, 0.1] >= times[run, 0.3]
        assert made.recommendation.status == "posterior" and "open" not in made.states


def test_settings_and_snapshots_keep_the_prior():
    prior = {"gain": (1.0, 2.0)}
    made = Experiment(2, ("gain", "cost"), family=KNOWN, threshold=Posterior(prior=prior), delta=0.1)
    again = Experiment.from_json(made.to_json())
    assert again.setting.prior == Prior(mean=(1.0, 0.0), spread=(2.0, None))
    assert again.settings() == made.settings()
    assert whitened(again.setting.prior, again.setting.covariances).pull.tolist() == [[0.0, 0.25]]


def test_refusals():
    from prepex.sampling import InformationDirected

    with pytest.raises(px.InputError, match="follows the margin"):
        Experiment(2, 1, family=KNOWN, threshold="posterior", sampling=InformationDirected(follow="margin"))
    with pytest.raises(px.InputError, match=r"prior must be a Prior, or \{objective"):
        Posterior(prior=3.0)
    with pytest.raises(px.InputError, match="of a prior must be of"):
        Experiment(2, ("x",), family=KNOWN, threshold=Posterior(prior={"y": (0.0, 1.0)}))
    with pytest.raises(px.InputError, match="must be \\(mean, spread\\)"):
        Posterior(prior={"y": 0.0})
    with pytest.raises(px.InputError, match="covariance of a prior must come with"):
        Experiment(2, 1, family=px.Bernoulli(), threshold=Posterior(prior=Prior(mean=[0.5], covariance=[[0.01]])))


@pytest.mark.parametrize("family", [KNOWN, px.Bernoulli(), px.Gaussian(variance="unknown")], ids=repr)
def test_a_study_its_certificate_and_the_independent_check(tmp_path, family):
    import json

    from prepex.study.check import check

    prior = {"gain": (0.6, 0.3)} if family is KNOWN else None
    study = px.Study.create(
        tmp_path / "s.db", "s", arms=("a", "b"), objectives=("gain",), family=family, delta=0.2,
        threshold=Posterior(prior=prior),
    )  # fmt: skip
    rng = np.random.default_rng(2)
    for step in range(40):
        if study.done:
            break
        for ticket in study.ask(4, new=True):
            noise = rng.uniform() if family is not KNOWN else 0.0
            mean = 1.0 if ticket.arm == "a" else 0.0
            value = float(noise < 0.2 + 0.7 * mean) if isinstance(family, px.Bernoulli) else mean + noise
            study.tell(ticket.token, [value])
        if step == 0:
            early = study.certificate()
            assert check(early, open_log(study, tmp_path)).ok
    assert study.recommendation.status == "posterior" and study.recommendation.arms == ("a",)
    found, lines = study.certificate(), open_log(study, tmp_path)
    result = check(found, lines)
    assert result.ok, result.problems
    for change in (
        lambda c: c["answer"].update(status="certified"),
        lambda c: c["answer"].update(arms=["b"]),
        lambda c: c.update(evidence=9.0),
    ):
        forged = json.loads(json.dumps(found))
        change(forged)
        assert not check(forged, lines).ok
    assert "posterior" in study.why() and study.status().states == {"a": "in", "b": "out"}
    study.report(tmp_path / "r.html")
    assert "on average over the prior" in (tmp_path / "r.html").read_text()


def open_log(study, folder):
    study.export(folder / "log.jsonl")
    return (folder / "log.jsonl").read_text().splitlines(keepends=True)


@pytest.mark.parametrize(
    ("family", "prior", "change", "message"),
    [
        (px.Bernoulli(), (0.5, 0.1), {"mean": [5.0]}, "Bernoulli means: below 1"),
        (px.Bernoulli(), (0.5, 0.1), {"spread": [0.5]}, "Bernoulli means: below 1"),
        (px.Bernoulli(), (0.5, 0.1), {"mean": [0.0]}, "Bernoulli means, which are positive"),
        (px.Poisson(), (3.0, 1.0), {"mean": [-1.0]}, "Poisson means, which are positive"),
        (px.Exponential(), (3.0, 1.0), {"mean": [-1.0]}, "Exponential means, which are positive"),
        (px.LogNormal(), (3.0, 1.0), {"mean": [-1.0]}, "LogNormal means, which are positive"),
        (px.LogNormal(), (3.0, 1.0), {"noise": None}, "noise where the variance is unknown"),
        (px.Gaussian(variance="unknown"), (3.0, 1.0), {"noise": [None]}, "noise where the variance is unknown"),
        (px.Bernoulli(), (0.5, 0.1), {"spread": None, "covariance": [[1.0]]}, "for Gaussians of known covariance"),
        (px.Product([px.Exact()]), (-1.0, 0.1), {}, None),
        (px.Gaussian(variance=1.0), (-1.0, 0.1), {"spread": None, "covariance": [[1.0]]}, None),
    ],
)
def test_the_check_refuses_a_prior_that_is_none_of_its_family(tmp_path, family, prior, change, message):
    """In words, of a certificate alone."""
    from prepex.study.check import check

    given = px.Prior(mean=prior[:1], spread=prior[1:], noise=(1.0,))
    options = {"family": family, "threshold": Posterior(prior=given)}
    study = px.Study.create(tmp_path / "s.db", "s", arms=("a", "b"), objectives=("x",), **options)
    written = study.certificate()
    assert check(json.dumps(written)).ok
    written["settings"]["threshold"]["prior"] |= change
    found = check(json.dumps(written))
    assert found.ok if message is None else message in found.problems[0], found.problems
