"""The check of the noise: false alarms over whole correct studies, and how soon a true one comes.

Alarms are kept once raised, so one look at the end is a look after every outcome.
"""

import numpy as np

from prepex import Gaussian
from prepex.labels import Labels
from prepex.noise import check_noise

ARMS, OUTCOMES, STUDIES = 5, 300, 1000


def outcomes(rng: np.random.Generator, sd: float, n: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Two objectives; arms that look best are tried more often, as in a study."""
    mean = rng.normal(size=(ARMS, 2))
    who, values = [], []
    sums, counts = np.zeros((ARMS, 2)), np.zeros(ARMS)
    for t in range(n):
        k = t % ARMS if t < 2 * ARMS or rng.random() < 0.5 else int(np.argmax((sums / counts[:, None]).sum(axis=1)))
        x = mean[k] + sd * rng.normal(size=2)
        sums[k] += x
        counts[k] += 1
        who.append(k)
        values.append(x)
    tellers = ["ann" if rng.random() < 0.5 else "bob" for _ in range(n)]
    return np.array(who), np.array(values), tellers


def main(studies: int = STUDIES) -> None:
    labels = Labels.make((ARMS, 2), None, ("x", "y"))
    for name, family in (("known", Gaussian(variance=1.0)), ("unknown", Gaussian(variance="unknown"))):
        false = 0
        for seed in range(studies):
            rng = np.random.default_rng(np.random.SeedSequence([15, 3, seed]))
            who, values, tellers = outcomes(rng, 1.0, OUTCOMES)
            false += bool(check_noise(who, values, labels=labels, family=family, tellers=tellers).alarms)
        print(f"variance {name}: false alarms in {false} of {studies} correct studies of {OUTCOMES} outcomes")
    for factor in (4.0, 36.0, 0.25):
        since = []
        for seed in range(studies // 5):
            rng = np.random.default_rng(np.random.SeedSequence([15, 4, seed]))
            who, values, _ = outcomes(rng, float(np.sqrt(factor)), OUTCOMES)
            found = check_noise(who, values, labels=labels, family=Gaussian(variance=1.0))
            own = [alarm.since for alarm in found.alarms if alarm.kind == "spread"]
            since.append(min(own, default=OUTCOMES + 1))
        within = np.mean(np.array(since) <= 200)
        middle = f"at outcome {int(np.median(since))} in the middle"
        print(f"true variance {factor:g} times the declared one: alarm within 200 in {within:.1%}, {middle}")
