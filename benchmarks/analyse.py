"""Tables of measurements: is what is said right, is the family guessed, how long do 100,000 rows take?"""

import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from prepex import Cone, analyse
from prepex.analysis.guess import name_of

DELTA, ARMS, FEWEST, MOST = 0.1, 5, 20, 1000


def table(kind: str, rng: np.random.Generator) -> tuple[dict, np.ndarray]:
    """Two objectives of one family, and the true Pareto mask. Means are close: errors would be seen."""
    mean = rng.uniform(2.0, 4.0, (ARMS, 2))
    n = int(np.exp(rng.uniform(np.log(FEWEST), np.log(MOST))))
    shape = ARMS, n, 2
    middle = mean[:, None, :]
    values = {
        "unknown": lambda: middle + rng.normal(0.0, 1.0, shape),
        "lognormal": lambda: middle * np.exp(rng.normal(0.0, 0.5, shape)),
        "bernoulli": lambda: (rng.random(shape) < middle / 5.0).astype(float),
        "poisson": lambda: rng.poisson(middle, shape).astype(float),
        "exponential": lambda: rng.exponential(middle, shape),
        "exact": lambda: np.repeat(middle, n, axis=1),
    }[kind]()
    who = np.repeat(np.arange(ARMS), n)
    flat = values.reshape(-1, 2)
    rows = {"arm": [f"arm {k}" for k in who], "x": flat[:, 0], "y": flat[:, 1]}
    return rows, np.asarray(Cone.orthant(2).pareto_mask(mean))


def families(n: int) -> None:
    print(f"{n} tables a family, {ARMS} arms, {FEWEST} to {MOST:,} trials an arm, delta {DELTA}")
    print("family        guess: right  unsure  wrong    tables with a wrong state   arms settled")
    for place, kind in enumerate(("unknown", "lognormal", "bernoulli", "poisson", "exponential", "exact")):
        rng = np.random.default_rng(np.random.SeedSequence([15, place]))
        guesses, wrong, settled = Counter(), 0, 0
        for _ in range(n):
            rows, truth = table(kind, rng)
            found = analyse(rows, delta=DELTA)
            for guess in found.families:
                right = name_of(guess.family) == kind
                guesses["unsure" if not guess.sure else "right" if right else "wrong"] += 1
            if any(name_of(guess.family) != kind for guess in found.families):
                found = analyse(rows, delta=DELTA, family=kind)
            states = [arm.state for arm in found.arms]
            wrong += any(s != "open" and (s == "in") != truth[k] for k, s in enumerate(states))
            settled += sum(s != "open" for s in states)
        total = sum(guesses.values())
        shares = "  ".join(f"{guesses[key] / total:6.1%}" for key in ("right", "unsure", "wrong"))
        print(f"{kind:12}        {shares}    {wrong:3} of {n}                  {settled / n / ARMS:6.1%}")


def rows(n: int = 100_000) -> None:
    rng = np.random.default_rng(15)
    who = rng.integers(0, 12, n)
    mean = rng.normal(size=(12, 2))
    values = mean[who] + rng.normal(size=(n, 2))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.csv"
        lines = "".join(
            f"design {k};{x:.6f};{y:.6f}\n".replace(".", ",") for k, (x, y) in zip(who, values, strict=True)
        )
        path.write_text("design;x;y\n" + lines)
        for _ in range(2):
            start, busy = time.perf_counter(), time.process_time()
            found = analyse(path)
            took, used = time.perf_counter() - start, time.process_time() - busy
        print(f"{n:,} rows: {took:.2f} s ({used:.2f} s of CPU), {len(found.arms)} options, settled: {found.settled}")


def main(n: int = 200) -> None:
    rows()
    families(n)
