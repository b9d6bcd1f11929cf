"""What the kernels do not know is refused, or watched from Python: never run as something else under its own name."""

import numpy as np
import pytest

from prepex import Cone, Experiment, Problem, evidence, simulate
from prepex import family as families
from prepex._kernels import course as course_kernels
from prepex._kernels.laws import law as kernels
from prepex._kernels.laws.instance import make_instance
from prepex.errors import InputError
from prepex.family import Bernoulli, Family, Laws
from prepex.instances import correlated
from prepex.sampling import RULES, FraPPE, Rule, Uniform
from prepex.stopping import Certified, Heuristic, Own, Threshold


class Mystery(Rule):
    code = 99
    title = "Mystery"


class Pretender(Rule):
    code = RULES["frappe"].code


class Stubborn(Uniform):
    own = "a test that nobody wrote"


def live(**options):
    return Experiment(5, 2, family=correlated().family, **options)


@pytest.mark.parametrize("rule", [Mystery(), Pretender(), Stubborn()])
def test_a_rule_that_the_kernels_do_not_know_is_refused(rule):
    message = f"sampling must be one of the rules of prepex .*, got {type(rule).__name__}"
    with pytest.raises(InputError, match=message):
        simulate(correlated(), sampling=rule, n_runs=1)
    with pytest.raises(InputError, match=message):
        live(sampling=rule)


def test_a_known_rule_with_a_name_of_its_own_runs_as_it_says():
    class Mine(FraPPE):
        pass

    ours, theirs = (simulate(correlated(), sampling=rule, n_runs=2, seed=1) for rule in (FraPPE(), Mine()))
    assert [row["stopping_time"] for row in ours.rows()] == [row["stopping_time"] for row in theirs.rows()]
    assert {row["rule"] for row in theirs.rows()} == {"Mine"}


def test_the_kernels_refuse_a_code_of_no_rule():
    numbers = (np.full(2, 0.5), 0.0, np.ones(1), 0, 0, True, 0, 1.0, 0, np.zeros(1))
    plan = course_kernels.Plan(99, 2, False, *numbers)
    with pytest.raises(ValueError, match="rule must be among the codes"):
        course_kernels.open_course(np.eye(1), np.eye(1)[None], np.ones(1), np.array([[0.0], [1.0]]), plan)


class Twice(Heuristic):
    """Grows twice as fast."""

    def growth(self, counts, shape):
        return 2.0 * super().growth(counts, shape)


class Flat(Threshold):
    """Says all that is needed, and nothing else."""

    def level(self, delta, shape):
        return 2.0 * shape[1] - np.log(delta)

    def growth(self, counts, shape):
        return 0.0


@pytest.mark.parametrize("threshold", [Twice(), Flat()])
def test_the_growth_of_a_subclass_counts(threshold):
    def same(counts, delta):
        return threshold.level(delta, (5, 2, 2)) + threshold.growth(counts, (5, 2, 2))

    problem = correlated()
    ours, theirs, plain = (
        [row["stopping_time"] for row in simulate(problem, sampling=Uniform(), threshold=t, n_runs=3, seed=2).rows()]
        for t in (threshold, same, "heuristic")
    )
    assert ours == theirs
    assert sum(ours) > sum(plain)
    experiment = live(threshold=threshold, delta=0.1)
    for arm in range(5):
        experiment.tell(arm, problem.means[arm])
    assert experiment.needed == pytest.approx(same(experiment.counts.astype(float), 0.1))


def test_nothing_is_proven_about_a_subclass_unless_it_says_so():
    class Early(Certified):
        def level(self, delta, shape):
            return -5.0

    assert Certified().proven and not Early().proven and Early().name == "Early"
    with pytest.raises(InputError, match="threshold must be one of the named ones to be written, got"):
        live(threshold=Early()).to_json()


def test_a_threshold_that_cannot_be_watched_is_refused():
    class Growing(Certified):
        def growth(self, counts, shape):
            return 1.0

    class Coded(Own):
        code = 17

    class Half(Threshold):
        def level(self, delta, shape):
            return 1.0

    for threshold, message in (
        (Growing(), "threshold must leave the code and the growth of Certified as they are, got Growing"),
        (Coded(), "threshold must leave the code and the growth of Own as they are, got Coded"),
        (Half(), "threshold must say both its level and its growth, got Half"),
    ):
        with pytest.raises(InputError, match=message):
            simulate(correlated(), sampling=Uniform(), threshold=threshold, n_runs=1)
        with pytest.raises(InputError, match=message):
            live(threshold=threshold)


def test_the_codes_of_the_laws_are_the_same_in_families_and_kernels():
    names = ("GAUSSIAN", "BERNOULLI", "POISSON", "EXPONENTIAL", "STUDENT", "EXACT")
    assert [getattr(families, name) for name in names] == [getattr(kernels, name) for name in names]
    assert families.LAWS == kernels.LAWS and len(set(kernels.LAWS)) == len(names)


class Odd(Family):
    """A family with a law that nobody knows, or with none."""

    def __init__(self, code):
        self.code = code

    def laws(self, n_arms, n_objectives):
        if self.code is None:
            return None
        return Laws(np.full(n_objectives, self.code), np.ones(n_objectives), ("Odd",) * n_objectives)


@pytest.mark.parametrize("code", [6, -1])
def test_an_unknown_law_is_refused(code):
    message = f"law must be one of the codes 0, 1, 2, 3, 4, 5, got {code}"
    with pytest.raises(InputError, match=message):
        Problem([[0.2, 0.4], [0.5, 0.1]], family=Odd(code), cone=Cone.orthant(2))
    with pytest.raises(InputError, match=message):
        evidence([[0.2], [0.5]], [1, 1], family=Odd(code), cone=Cone.orthant(1))


def test_a_family_without_laws_must_be_gaussian():
    with pytest.raises(InputError, match="family must have a law for each objective, or be Gaussian"):
        evidence([[0.2], [0.5]], [1, 1], family=Odd(None), cone=Cone.orthant(1))
    with pytest.raises(InputError, match="family must have a law for each objective, or be Gaussian"):
        Experiment(2, 1, family=Odd(None))


def test_the_kernels_know_every_law_and_no_other():
    arguments = {
        kernels.divergence: (0.4, 0.5, 1.0),
        kernels.tilted: (0.4, 0.1, 1.0),
        kernels.softness: (0.4, 0.5, 1.0),
        kernels.variance: (0.4, 1.0, 3.0),
        kernels.most_variance: (0.3, 0.6, 1.0),
        kernels.border: (1.0,),
    }
    for kernel, rest in arguments.items():
        for code in kernels.LAWS:
            assert not np.isnan(kernel(np.int64(code), *rest))
        assert np.isnan(kernel(np.int64(len(kernels.LAWS)), *rest)), kernel
    with pytest.raises(ValueError, match="law must be among the codes"):
        make_instance(np.array([7]), np.ones((2, 1)), np.eye(1), np.array([[0.1], [0.2]]), np.ones(2))


def test_a_subclass_of_a_known_family_is_that_family():
    class Coin(Bernoulli):
        pass

    one, other = (
        evidence([[0.2], [0.5]], [9, 9], family=family, cone=Cone.orthant(1)).value for family in (Coin(), Bernoulli())
    )
    assert one == other > 0
