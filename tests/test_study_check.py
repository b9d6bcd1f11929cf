"""The independent check of certificates: it agrees with the engine, and finds every lie."""

import ast
import copy
import json
from pathlib import Path

import numpy as np
import pytest

from prepex import (
    Bernoulli,
    Cone,
    Exact,
    Experiment,
    Exponential,
    Gaussian,
    InputError,
    LogNormal,
    Poisson,
    Product,
    Study,
)
from prepex.labels import Labels
from prepex.limits import Limit, limits_of
from prepex.stopping import Certified, Heuristic, KaufmannKoolen
from prepex.study import check as module
from prepex.study.certificate import make_certificate
from prepex.study.check import check, level
from prepex.study.check_evidence import arm_values
from prepex.study.check_facts import Design, Facts
from prepex.study.check_tests import log_half_normal
from prepex.study.config import Config
from prepex.study.events import GENESIS, seal

SOURCE = Path(module.__file__)
# What may be asked beyond the Pareto set.
ASKED = {
    "exact": {},
    "tolerance": {"lenient": True},
    "limits": {"limited": True},
    "both": {"lenient": True, "limited": True},
}


def random_tolerance(rng, cone):
    """In the cone, above 0 somewhere, and below 1 for outcomes that are 0 or 1."""
    while True:
        size = np.where(rng.random(cone.n_objectives) < 0.3, 0.0, rng.uniform(0.0, 0.9, cone.n_objectives))
        size *= 10.0 ** rng.uniform(-1.5, 0.0)
        if size.max() > 0.0 and (cone.facets @ size).min() >= 0.0:
            return tuple(size.tolist())


def random_limits(rng, kinds):
    """One to three that means can meet together, on one objective or a sum; those of LogNormal ones are on it alone."""
    L = len(kinds)
    while True:
        limits = []
        for _ in range(int(rng.integers(1, 4))):
            weights = np.zeros(L)
            weights[rng.integers(L)] = rng.choice([1.0, -2.0])
            if rng.random() < 0.4 and not any("times" in kind for kind in kinds):
                weights = rng.normal(size=L)
            near = np.where([kind == "bernoulli" for kind in kinds], rng.uniform(0.1, 0.8, L), rng.uniform(0.3, 2.5, L))
            side = str(rng.choice(["at_most", "at_least"]))
            named = {f"objective {q}": float(weights[q]) for q in np.flatnonzero(weights)}
            limits.append(Limit(named, **{side: float(weights @ near)}))
        labels = Labels.make((2, L))
        families = [FAMILIES.get(kind) or Gaussian(variance=1.0) for kind in kinds]
        try:
            limits_of(labels, limits=limits, family=families[0] if L == 1 else Product(families))
        except InputError:
            continue
        return limits


def random_experiment(rng, threshold=None, keep=None, lenient=False, limited=False):
    """A random design in a random state: near-ties, far arms, large offsets, every kind of noise and cone."""
    K, L = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    kind = rng.integers(4)
    if kind == 0:
        family = Gaussian(variance=rng.uniform(0.1, 3.0, size=L))
    elif kind == 1:
        family = Gaussian(variance=float(rng.uniform(0.1, 3.0)))
    else:
        root = rng.normal(size=(K, L, L) if kind == 2 else (L, L))
        family = Gaussian(covariance=root @ np.swapaxes(root, -1, -2) + 0.3 * np.eye(L))
    cone = Cone.angle(float(rng.uniform(40, 150))) if L == 2 and rng.random() < 0.5 else Cone.orthant(L)
    pilot = [None, 0, 1, 3][rng.integers(4)]
    grid = Certified().grid if rng.random() < 0.7 else tuple(rng.uniform(0.5, 500.0, size=3))
    settings = {
        "family": family,
        "cone": cone,
        "delta": float(10.0 ** rng.uniform(-3, -0.5)),
        "minimise": tuple(int(q) for q in np.flatnonzero(rng.random(L) < 0.3)),
        "threshold": threshold or Certified(grid=grid, pilot=pilot),
        "tolerance": random_tolerance(rng, cone) if lenient else None,
        "limits": random_limits(rng, ["gaussian"] * L) if limited else (),
    }
    means = rng.normal(size=(K, L)) * 10.0 ** rng.uniform(-1, 1) + rng.choice([0.0, 50.0])
    sizes = np.linalg.cholesky(family.covariances(K, L))
    arms = np.concatenate([np.arange(K), rng.integers(K, size=int(rng.integers(5 * K, 60)) + 20)])
    noise = np.einsum("npq,nq->np", sizes[arms if len(sizes) > 1 else 0 * arms], rng.standard_normal((len(arms), L)))
    outcomes = means[arms] + noise
    experiment = Experiment(K, L, **settings)
    experiment.tell_log(arms, outcomes)
    stop = experiment.recommendation.n_pulls
    if experiment.done:
        # Again, only as far as the stop.
        experiment = Experiment(K, L, **settings)
        experiment.tell_log(arms[:stop], outcomes[:stop])
    if keep is not None:
        keep += zip(arms[:stop].tolist(), outcomes[:stop].tolist(), [1] * stop, strict=True)
    return experiment


@pytest.mark.parametrize("asked", ASKED)
def test_it_agrees_with_the_engine_on_random_states(asked):
    rng, statuses, tested, many = np.random.default_rng(0), {}, 0, 300 if ASKED[asked] else 1000
    for _ in range(many):
        experiment = random_experiment(rng, **ASKED[asked])
        config = Config.make("x", experiment, None, None)
        certificate = json.loads(json.dumps(make_certificate(config, experiment, 0, "0" * 64)))
        result = check(certificate)
        assert result.ok, result.problems
        status = experiment.recommendation.status
        statuses[status] = statuses.get(status, 0) + 1
        if certificate["margin"] is not None:
            tested += 1
            assert certificate["margin"] == pytest.approx(experiment.reached, rel=1e-9, abs=1e-9)
    assert min(statuses["certified"], statuses["running"]) > 0.1 * many and tested > 0.25 * many


FAMILIES = {
    "bernoulli": Bernoulli(),
    "poisson": Poisson(),
    "exponential": Exponential(),
    "unknown": Gaussian(variance="unknown"),
    "shared": Gaussian(variance="unknown", shared=True),
    "times": LogNormal(),
    "shared times": LogNormal(shared=True),
    "price": Exact(),
}


def random_law_experiment(rng, threshold=None, keep=None, lenient=False, limited=False):
    """A design with a family for each objective, in a random state, under the orthant or another cone."""
    K, L = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    kinds = [str(kind) for kind in rng.choice([*FAMILIES, "gaussian"], size=L)]
    if rng.random() < 0.3:
        kinds = [kinds[0]] * L
    families = [FAMILIES.get(kind) or Gaussian(variance=float(rng.uniform(0.3, 2.0))) for kind in kinds]
    family = families[0] if L == 1 and kinds[0] != "gaussian" else Product(families)
    cone = Cone.orthant(L) if rng.random() < 0.5 else Cone.from_facets(np.eye(L) + rng.uniform(0.1, 0.6))
    settings = {
        "family": family,
        "cone": cone,
        "delta": float(10.0 ** rng.uniform(-2, -0.3)),
        "minimise": tuple(int(q) for q in np.flatnonzero(rng.random(L) < 0.3)),
        "threshold": threshold or Certified(pilot=[None, 2, 3][rng.integers(3)]),
        "tolerance": [
            # Of what is compared by factors, a share.
            f"{100 * np.expm1(size):.6f}%" if "times" in kind else size
            for size, kind in zip(random_tolerance(rng, cone), kinds, strict=True)
        ]
        if lenient
        else None,
        "limits": random_limits(rng, kinds) if limited else (),
    }
    draws = {
        "bernoulli": lambda p: float(rng.random() < p / 3),
        "poisson": lambda p: float(rng.poisson(p)),
        "exponential": lambda p: float(rng.exponential(p)),
        "times": lambda p: float(np.exp(rng.normal(p, 0.8))),
        "shared times": lambda p: float(np.exp(rng.normal(p, 0.8))),
        "price": lambda p: float(round(p)),
    }
    truth = rng.uniform(0.2, 2.8, (K, L))
    arms = [*range(K), *rng.integers(K, size=int(rng.integers(10 * K, 300)))]
    experiment = Experiment(K, L, **settings)
    for arm in arms:
        if experiment.done:
            break
        means = zip(kinds, truth[arm], strict=True)
        outcome = [draws[kind](p) if kind in draws else rng.normal(p, 0.8) for kind, p in means]
        experiment.tell(arm, outcome)
        if keep is not None:
            keep.append((int(arm), outcome, 1))
    return experiment


@pytest.mark.parametrize("asked", ASKED)
def test_it_agrees_with_the_engine_on_other_families(asked):
    rng, certified, tested = np.random.default_rng(1), 0, 0
    for _ in range(120):
        experiment = random_law_experiment(rng, **ASKED[asked])
        made = make_certificate(Config.make("x", experiment, None, None), experiment, 0, "0" * 64)
        certificate = json.loads(json.dumps(made))
        result = check(certificate)
        assert result.ok, (result.problems, experiment.family)
        certified += experiment.recommendation.status == "certified"
        tested += sum(arm.get("test") is not None for arm in certificate["arms"])
        if certificate["margin"] is not None:
            same = pytest.approx(experiment.reached, rel=1e-7, abs=1e-7)
            # Until it ends, the answer that is shown is that of the means, where the pilot's may be closer to its end.
            pilots = experiment.course.scratch.own[0] == 1 and not experiment.done
            assert certificate["margin"] == same or (pilots and certificate["margin"] < experiment.reached)
    assert certified > 10 and tested > 150


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("make", [random_experiment, random_law_experiment])
def test_the_evidence_is_that_of_the_engine(make, asked):
    rng, undecided = np.random.default_rng(2), 0
    for _ in range(100):
        blocks = []
        experiment = make(rng, "heuristic", blocks, **ASKED[asked])
        design = Design.read(json.loads(json.dumps(experiment.settings())))
        facts, front = Facts.observed(blocks, design), np.array(experiment.course.near.inst.mask)
        values, reached = arm_values(design, facts, front, experiment.needed, paper=False)
        assert reached == pytest.approx(experiment.reached, rel=1e-8, abs=1e-8), experiment.family
        names = [name for name, value in zip(experiment.labels.arms, values, strict=True) if value > experiment.needed]
        assert experiment.done or names == list(experiment.recommendation.decided)
        undecided += len(experiment.recommendation.undecided)
    assert undecided > 50


@pytest.mark.parametrize(
    "family",
    [Bernoulli(), Product([Gaussian(variance="unknown"), Bernoulli()]), Gaussian(variance="unknown", shared=True)],
    ids=("bernoulli", "mixed", "shared"),
)
def test_a_study_of_another_family_is_certified_and_checked(family, tmp_path):
    truth, rng = {"a": (0.9, 0.1), "b": (0.1, 0.9), "c": (0.05, 0.05)}, np.random.default_rng(2)
    study = Study.create(
        *(tmp_path / "x.db", "doses"),
        arms=tuple(truth),
        objectives=("cured", "safe"),
        family=family,
        cone=Cone.angle(100),
    )
    codes = family.laws(3, 2).codes
    ticket = study.ask()
    if codes[0] == codes[1] == 1:
        assert study.tell(ticket.token, {"cured": True}).new and not study.tell(ticket.token, {"cured": 1}).new
        assert study.tell(ticket.token, [True, False]).missing == ()
        ticket = study.ask()
    if codes[1] == 1:
        with pytest.raises(ValueError, match=r"reward of .safe. must be 0 or 1 for Bernoulli"):
            study.tell(ticket.token, {"safe": 0.5})
    while ticket is not None:
        means = zip(codes, truth[ticket.arm], strict=True)
        study.tell(ticket.token, [float(rng.random() < p) if code == 1 else rng.normal(p, 0.3) for code, p in means])
        ticket = study.ask()
    assert study.verify().ok and study.recommendation.status == "certified"
    assert study.recommendation.arms == ("a", "b")
    study.export(tmp_path / "log.jsonl")
    lines = (tmp_path / "log.jsonl").read_text().splitlines(keepends=True)
    certificate = json.loads(json.dumps(study.certificate()))
    assert check(certificate).ok and check(certificate, lines).ok
    again = Study.open(tmp_path / "x.db", "doses")
    assert again.certificate() == study.certificate()
    for part in ("pilot", "after_pilot"):
        lie = copy.deepcopy(certificate)
        lie["arms"][0][part]["means"][0] += 0.05
        lie["arms"][0][part]["scores"][0] += 0.05
        assert not check(lie).ok


def test_the_half_normal_function():
    from scipy.special import log_ndtr

    z = np.linspace(-40.0, 40.0, 3001)
    value, slope = log_half_normal(z)
    exact = np.log(2) + log_ndtr(z) + z**2 / 2
    np.testing.assert_allclose(value, exact, atol=1e-12 * 800, rtol=1e-12)
    np.testing.assert_allclose(slope[1:-1], (exact[2:] - exact[:-2]) / (z[2:] - z[:-2]), rtol=2e-3, atol=1e-4)


def test_it_is_small_and_alone():
    allowed = {"hashlib", "json", "math", "re", "datetime", "decimal", "functools", "collections", "dataclasses"}
    allowed |= {"fractions", "heapq", "typing", "unicodedata", "numpy"}
    paths = [*SOURCE.parent.glob("check*.py")]
    parts = {f"prepex.study.{path.stem}" for path in paths}
    assert len(parts) == 15
    for path in paths:
        text = path.read_text()
        assert len(text.splitlines()) < 400
        tree = ast.parse(text)
        # A linear program, for the few cones that need one.
        late = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node not in tree.body}
        assert late <= {"scipy.optimize"}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in late:
                continue
            if isinstance(node, ast.Import):
                assert {alias.name.split(".")[0] for alias in node.names} <= allowed
            elif isinstance(node, ast.ImportFrom):
                whole = {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
                assert node.module.split(".")[0] in allowed or whole & parts


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """(certificate, lines of the log) of a certified study with corrections, voids, late reports and imports."""
    folder = tmp_path_factory.mktemp("study")
    truth, rng = {"a": (1.0, 0.0), "b": (0.0, 1.0), "c": (-0.5, -0.5)}, np.random.default_rng(5)

    def draw(arm):
        return (np.array(truth[arm]) + 0.6 * rng.standard_normal(2)).tolist()

    study = Study.create(
        *(folder / "x.db", "certify me"), arms=tuple(truth), objectives=("u", "v"), family=Gaussian(variance=0.36)
    )
    (folder / "old.csv").write_text("arm,u,v\n" + "".join(f"{k},{u},{v}\n" for k in "abcab" for u, v in [draw(k)]))
    study.import_csv(folder / "old.csv")
    tokens, turn = [], 0
    while not study.done:
        for ticket in reversed(study.ask(4)):
            turn += 1
            u, v = draw(ticket.arm)
            study.tell(ticket.token, {"u": u if turn % 7 else u + 5.0})
            if turn % 7 == 0:
                study.correct(ticket.token, {"u": u}, reason="wrong unit")
            if turn % 11 == 0:
                study.void(ticket.token, reason="tube lost")
            else:
                study.tell(ticket.token, {"v": v})
                tokens.append((ticket.token, [u, v]))
        if turn == 12:
            study.correct(tokens[2][0], [tokens[2][1][0], tokens[2][1][1] + 0.01], reason="rounding")
            study.void(tokens[3][0], reason="wrong label")
    study.export(folder / "log.jsonl")
    assert study.recommendation.status == "certified" and study.verify().ok
    return json.loads(json.dumps(study.certificate())), (folder / "log.jsonl").read_text().splitlines(keepends=True)


def test_a_right_certificate(finished):
    certificate, lines = finished
    assert check(certificate).ok
    result = check(certificate, lines)
    assert result.ok, result.problems
    assert f"{len(lines)} events of the log checked" in result.notes


def test_outcomes_told_after_the_certificate_do_not_matter(finished):
    certificate, lines = finished
    assert not check(certificate, lines[:-1]).ok, "the certificate's last event is gone"


LIES = {
    "an answer": lambda c: c["answer"].update(arms=["a"]),
    "a delta": lambda c: c["answer"].update(delta=0.01),
    "a smaller delta everywhere": lambda c: (c["answer"].update(delta=1e-9), c["settings"].update(delta=1e-9)),
    "a mean": lambda c: c["arms"][0]["mean"].__setitem__(0, 9.0),
    "a count": lambda c: c["arms"][0].update(n=c["arms"][0]["n"] + 1),
    "a score": lambda c: c["arms"][2]["after_pilot"]["scores"].__setitem__(0, -9.0),
    "a price": lambda c: c["arms"][0]["price"].update(closed=0.0),
    "a price on its own": lambda c: c["arms"][0]["price"].update(plain=0.0),
    "the rule": lambda c: c["settings"]["threshold"].update(closed=False),
    "a test": lambda c: c["arms"][0]["test"].update(value=99.0),
    "the margin": lambda c: c.update(margin=99.0),
    "the variance": lambda c: c["settings"]["family"].update(variance=0.01),
    "the status": lambda c: c["answer"].update(status="running"),
    "the format": lambda c: c.update(format="other"),
    "a missing part": lambda c: c.pop("arms"),
    "the pilot": lambda c: c["settings"]["threshold"].update(pilot=0),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_found(finished, lie):
    certificate, lines = finished
    wrong = copy.deepcopy(certificate)
    LIES[lie](wrong)
    assert not check(wrong).ok
    assert not check(wrong, lines).ok


@pytest.mark.parametrize("change", [{"study": "other"}, {"log": {"events": 3, "hash": "0" * 64}}, {"lease": 5.0}])
def test_a_certificate_of_another_log_is_found(finished, change):
    certificate, lines = finished
    assert not check({**certificate, **change}, lines).ok


def test_any_flipped_byte_of_the_log_is_found(finished):
    certificate, lines = finished
    whole, rng = "".join(lines).encode(), np.random.default_rng(6)
    for at, bit in zip(rng.integers(len(whole), size=200), rng.integers(8, size=200), strict=True):
        wrong = bytearray(whole)
        wrong[at] ^= 1 << bit
        damaged = wrong.decode("latin-1").splitlines(keepends=True)
        assert not check(certificate, damaged).ok, (at, bit)


@pytest.mark.parametrize(("threshold", "status"), [("heuristic", "heuristic"), ("kaufmann_koolen", "certified")])
def test_other_thresholds_are_recomputed(tmp_path, threshold, status):
    study = Study.create(
        *(tmp_path / "x.db", "x"), arms=2, objectives=1, family=Gaussian(variance=1.0), threshold=threshold
    )
    while (ticket := study.ask()) is not None:
        study.tell(ticket.token, [1.0 if ticket.arm == "arm 0" else 0.0])
        assert check(study.certificate()).ok
    certificate = study.certificate()
    result = check(certificate)
    assert result.ok and certificate["answer"]["status"] == status
    assert result.notes[-1].startswith(f"evidence {certificate['evidence']:.6g}")
    other = "heuristic" if status == "certified" else "certified"
    for change in (
        lambda c: c.update(needed=c["needed"] - 0.01),
        lambda c: c.update(evidence=c["needed"] - 0.01),
        lambda c: c.update(evidence=c["evidence"] * (1 + 1e-6)),
        lambda c: c["answer"].update(status=other),
        lambda c: c["answer"].update(status="running"),
        lambda c: c["settings"]["sampling"].update(alternatives="paper") if status == "certified" else c.clear(),
    ):
        wrong = copy.deepcopy(certificate)
        change(wrong)
        assert not check(wrong).ok


def test_the_level_is_that_of_the_engine():
    rng = np.random.default_rng(0)
    for _ in range(200):
        K, L, delta = int(rng.integers(1, 50)), int(rng.integers(1, 6)), 10.0 ** rng.uniform(-12, -0.01)
        N = rng.integers(1, 10**6, size=K).astype(float) + (K == 1)
        for threshold in (Heuristic(), KaufmannKoolen()):
            expected = threshold.level(delta, (K, L, L)) + threshold.growth(N, (K, L, L))
            assert level(threshold.name, N, L, delta) == pytest.approx(expected, rel=1e-9)


def test_one_arm_is_certain(tmp_path):
    """No study is created with one; a log that has one is read nevertheless."""
    given = {"objectives": 1, "family": Gaussian(variance=1.0)}
    first = next(iter(Study.create(tmp_path / "two.db", "x", arms=2, **given).events()))
    first.data["settings"]["labels"]["arms"] = ["arm 0"]
    made = {"time": first.time, "actor": "", "version": first.version}
    (tmp_path / "one.jsonl").write_text(seal(0, GENESIS, "config", pull=None, data=first.data, **made).line + "\n")
    study = Study.restore(tmp_path / "x.db", tmp_path / "one.jsonl")
    while (ticket := study.ask()) is not None:
        study.tell(ticket.token, [1.0])
    certificate = json.loads(json.dumps(study.certificate(), allow_nan=False))
    assert check(certificate).ok and certificate["answer"]["status"] == "certified"
    study.report(tmp_path / "report.html")


@pytest.mark.parametrize("family", [Gaussian(variance=1.0), Bernoulli()], ids=["bound", "draws"])
def test_what_a_posterior_has_not_decided_is_not_called_decided(family, tmp_path):
    study = Study.create(
        tmp_path / "s.db", "s", arms=("a", "b"), objectives=("x",), family=family, threshold="posterior", max_pulls=4
    )
    while (ticket := study.ask()) is not None:
        study.tell(ticket.token, [1.0 if ticket.arm == "a" else 0.0])
    genuine = study.certificate()
    assert genuine["answer"]["status"] == "inconclusive" and check(genuine).ok
    forged = json.loads(json.dumps(genuine))
    forged["answer"] |= {"decided": ["a", "b"], "undecided": []}
    problems = check(forged).problems
    assert any(problem.startswith("decided: all options at the stop and none before it") for problem in problems)
