"""What every sampling rule must keep to, on every family. A new rule, or a new family, is one more name here."""

import numpy as np

from prepex import Bernoulli, Cone, Experiment, Exponential, Gaussian, LogNormal, Poisson, Problem, Product
from prepex.instances import bernoulli, correlated
from prepex.sampling import APE, PSIPS, AcceleratedPreTS, Auer, FraPPE, InformationDirected, Oracle, TnS, Uniform
from prepex.simulation import noise_of, pay_first

RULES = {
    "frappe": FraPPE(),
    "information": InformationDirected(),
    "information_evidence": InformationDirected(follow="evidence"),
    "prets": AcceleratedPreTS(gap=0.1),
    "tns": TnS(),
    "oracle": Oracle(allocation=(0.3, 0.1, 0.1, 0.25, 0.25)),
    "uniform": Uniform(),
    "psips": PSIPS(),
    "ape": APE(),
    "auer": Auer(),
}
# These go only where their own test needs a pull, and are for Gaussian rewards of known covariance.
UNFORCED = ("psips", "ape", "auer")

RATES = [[5.0, 1.0], [1.0, 5.0], [3.5, 3.5], [0.4, 0.3], [0.5, 0.8]]
TIMES = [[0.5, 9.0], [9.0, 0.5], [2.0, 2.0], [9.0, 15.0], [20.0, 8.0]]
CORNERS = [[1.0, 0.0], [0.0, 1.0], [0.7, 0.7], [-0.2, 0.1], [-0.3, -0.3]]
# All of five arms, so that one allocation serves the oracle on each.
PROBLEMS = {
    "gaussian": correlated(0.3),
    "gaussian, cone": correlated(0.3).with_cone(Cone.angle(110)),
    "bernoulli": bernoulli(),
    "poisson": Problem(RATES, family=Poisson(), cone=Cone.orthant(2)),
    "exponential": Problem(TIMES, family=Exponential(), cone=Cone.orthant(2), minimise=(0, 1)),
    "product": Problem(
        [[0.95, -2.0], [0.05, 2.0], [0.6, 0.5], [0.2, -2.0], [0.1, -1.0]],
        family=Product([Bernoulli(), Gaussian(variance=0.3)]),
        cone=Cone.angle(100),
    ),
    "unknown variance": Problem(CORNERS, family=Gaussian(variance="unknown", noise=0.1), cone=Cone.orthant(2)),
    "shared variance": Problem(
        CORNERS, family=Gaussian(variance="unknown", shared=True, noise=0.1), cone=Cone.orthant(2)
    ),
    "lognormal": Problem(TIMES, family=LogNormal(noise=0.1), cone=Cone.orthant(2), minimise=(0, 1)),
}
GAUSSIAN = ("gaussian", "gaussian, cone")
THRESHOLDS = ("heuristic", "certified")
# Every rule on every family that it is for.
PAIRS = [(rule, problem) for problem in PROBLEMS for rule in RULES if problem in GAUSSIAN or rule not in UNFORCED]


def live(rule, problem, threshold="certified", seed=3, **options):
    """A fresh experiment, as a user would open it."""
    labels = problem.labels
    return Experiment(
        labels.arms,
        labels.objectives,
        family=problem.family,
        cone=problem.cone,
        minimise=labels.minimise,
        sampling=rule,
        threshold=threshold,
        seed=seed,
        **options,
    )


def world(experiment, problem, seed):
    """arm -> outcome in the user's signs, from the noise that a simulation draws."""
    setting = experiment.setting
    roots, draw = noise_of(setting, np.random.default_rng(seed))
    truth = np.array(problem.inner_means)

    def pay(arm):
        reward = draw(1)[0]
        pay_first(setting, truth, roots, arm, reward)
        return problem.units.outer(reward)

    return pay


def play(experiment, problem, n, seed):
    """Pull n times what is asked for; returns the arms."""
    pay = world(experiment, problem, seed)
    arms = []
    for _ in range(n):
        arm = experiment.labels.arms.index(experiment.ask())
        experiment.tell(arm, pay(arm))
        arms.append(arm)
    return arms
