"""Random live runs, each made twice: interpreted and compiled."""

from dataclasses import dataclass

import numpy as np

from prepex import Bernoulli, Cone, Experiment, Exponential, Gaussian, Poisson, Product
from prepex._kernels import engine
from prepex.sampling import APE, PSIPS, AcceleratedPreTS, Auer, FraPPE, InformationDirected, Oracle, TnS, Uniform

FAMILIES = {
    "Gaussian": Gaussian(variance=[0.5, 1.3]),
    "correlated": Gaussian(covariance=[[1.0, 0.6], [0.6, 1.5]]),
    "per arm": Gaussian(covariance=[[[v, 0.3], [0.3, 1.0]] for v in (0.5, 1.0, 1.5, 2.0)]),
    "unknown": Gaussian(variance="unknown"),
    "shared": Gaussian(variance="unknown", shared=True),
    "Bernoulli": Bernoulli(),
    "Poisson": Poisson(),
    "Exponential": Exponential(),
    "Product": Product([Bernoulli(), Gaussian(variance="unknown")]),
}
RULES = {
    "InformationDirected": InformationDirected(),
    "FraPPE": FraPPE(),
    "paper": FraPPE(alternatives="paper"),
    "TnS": TnS(),
    "PreTS": AcceleratedPreTS(),
    "Uniform": Uniform(),
    "Oracle": Oracle(allocation=(0.2, 0.3, 0.1, 0.4)),
    "PSIPS": PSIPS(),
    "APE": APE(),
    "Auer": Auer(),
}
CONES = {
    "orthant": Cone.orthant(2),
    "acute": Cone.angle(60),
    "obtuse": Cone.angle(130),
    "three facets": Cone.from_facets([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
}
OWN = ("PSIPS", "APE", "Auer")
KNOWN = ("Gaussian", "correlated", "per arm")


@dataclass(frozen=True)
class Run:
    """What makes a run."""

    family: str
    rule: str
    threshold: str
    cone: str
    seed: int
    n_pulls: int
    tolerance: float | None = None
    at_least: float | None = None

    def open(self):
        return Experiment(
            4,
            2,
            family=FAMILIES[self.family],
            cone=CONES[self.cone],
            sampling=RULES[self.rule],
            threshold=self.threshold,
            minimise=(1,) if self.seed % 2 else (),
            seed=self.seed,
            delta=0.05,
            tolerance=self.tolerance,
            at_least=None if self.at_least is None else {"objective 0": self.at_least},
        )

    def rewards(self):
        """Means close to each other now and then, ties and outcomes on the border of the domain among them."""
        rng = np.random.default_rng(self.seed)
        spread = rng.choice([0.0, 0.1, 1.0, 5.0])
        centre = rng.normal(size=(4, 2)) * spread
        if self.family == "Bernoulli":
            chance = 1.0 / (1.0 + np.exp(-centre))
            return lambda k: (rng.random(2) < chance[k]).astype(float)
        if self.family == "Product":
            chance = 1.0 / (1.0 + np.exp(-centre[:, 0]))
            return lambda k: np.array([rng.random() < chance[k], rng.normal(centre[k, 1])], dtype=float)
        if self.family == "Poisson":
            return lambda k: rng.poisson(np.exp(np.minimum(centre[k], 3.0))).astype(float)
        if self.family == "Exponential":
            return lambda k: np.exp(np.clip(centre[k], -3.0, 3.0)) * rng.standard_exponential(2) + 1e-12
        whole = rng.random() < 0.3  # rounded outcomes tie
        return lambda k: np.round(rng.normal(centre[k], 1.0)) if whole else rng.normal(centre[k], 1.0)

    def first_difference(self):
        """The first pull after which the two states differ in a bit, with the arrays that do; None if none does."""
        interpreted, compiled, reward = self.open(), self.open(), self.rewards()
        for pull in range(1, self.n_pulls + 1):
            with engine.interpreting():
                arm = interpreted.choose(1, np.zeros(4, dtype=np.int64))[0]
            with engine.waiting():
                if compiled.choose(1, np.zeros(4, dtype=np.int64))[0] != arm:
                    return pull, "the next arm"
            outcome = reward(arm)
            with engine.interpreting():
                interpreted.tell(arm, outcome)
                one = interpreted.reached
            with engine.waiting():
                compiled.tell(arm, outcome)
                other = compiled.reached
            if interpreted.snapshot() != compiled.snapshot():
                return pull, "the state"
            if np.float64(one).tobytes() != np.float64(other).tobytes():
                return pull, f"what is reached: {one!r} and {other!r}"
        return None


def random_runs(seed, rounds, n_pulls=60, **asked):
    """Every family, rule and threshold that go together, `rounds` times, under cones in turn."""
    rng = np.random.default_rng(seed)
    runs = []
    for _ in range(rounds):
        for family in FAMILIES:
            for rule in RULES:
                if rule in OWN and asked:
                    thresholds = []
                elif rule in OWN:
                    thresholds = ["own"] if family in KNOWN else []
                else:
                    thresholds = ["certified", "heuristic"]
                    if family not in ("unknown", "shared", "Product"):
                        thresholds.append("kaufmann_koolen")
                for threshold in thresholds:
                    cone = list(CONES)[rng.integers(len(CONES))]
                    runs.append(Run(family, rule, threshold, cone, int(rng.integers(2**31)), n_pulls, **asked))
    return runs
