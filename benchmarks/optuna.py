"""The winner's curse: a noisy ZDT1 in Optuna, its front by the study's own values, and after `prepex.optuna.confirm`.

`python -m benchmarks optuna` prints the shares of wrong members over 20 seeds, `python -m benchmarks optuna-picture`
draws one of them into docs/images/optuna.svg.
"""

import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import optuna

import prepex.optuna

TRIALS, SEEDS, CANDIDATES, NOISE, TOLERANCE, BUDGET = 60, 20, 12, 0.15, 0.15, 2000
NAMES = ("f1", "f2")


def truth(params: dict[str, float]) -> np.ndarray:
    """Two objectives to be minimised (Zitzler, Deb and Thiele, 2000), with two further variables that only do harm."""
    x, *rest = params.values()
    g = 1.0 + 2.0 * float(np.mean(rest))
    return np.array([x, g * (1.0 - np.sqrt(x / g))])


def objective(seed: int, trial: Any) -> tuple[float, ...]:
    params = {name: trial.suggest_float(name, 0.0, 1.0) for name in ("x", "y", "z")}
    # Another noise in every evaluation: a re-evaluation has a number of its own.
    rng = np.random.default_rng(np.random.SeedSequence([33, seed, trial.number]))
    return tuple(truth(params) + NOISE * rng.normal(size=2))


def searched(seed: int) -> Any:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.NSGAIISampler(seed=seed, population_size=20)
    study = optuna.create_study(directions=["minimize"] * 2, sampler=sampler)
    study.optimize(partial(objective, seed), n_trials=TRIALS)
    return study


def confirmed(study: Any, seed: int) -> Any:
    return prepex.optuna.confirm(
        study,
        partial(objective, seed),
        candidates=CANDIDATES,
        tolerance=TOLERANCE,
        max_evaluations=BUDGET,
        seed=seed,
    )


def beaten(true: np.ndarray, k: int, by: float) -> bool:
    """Is some trial truly better than trial k, by so much in both objectives? (By 0: at least as good, and better.)"""
    ahead = true[k] - true
    return bool(np.any(np.all(ahead >= by, axis=1) & np.any(ahead > 0.0, axis=1)))


def main() -> None:
    shares: dict[str, list[list[float]]] = {"naive": [], "confirmed": []}
    n_new, certified = [], 0
    for seed in range(SEEDS):
        study = searched(seed)
        true = np.array([truth(trial.params) for trial in study.trials])
        optimal = {k for k in range(TRIALS) if not beaten(true, k, 0.0)}
        found = confirmed(study, seed)
        n_new.append(found.n_evaluations)
        print(f"seed {seed}: {found.n_evaluations} new evaluations, {found.status}", file=sys.stderr, flush=True)
        certified += found.settled
        for way, front in (("naive", found.naive), ("confirmed", found.front)):
            # Trials with the same parameters are one option.
            same = {k for k in optimal if any(np.array_equal(true[k], true[j]) for j in front)}
            shares[way].append(
                [
                    len(front),
                    sum(beaten(true, k, 0.0) for k in front),
                    sum(beaten(true, k, TOLERANCE) for k in front),
                    len(optimal - same) / len(optimal),
                ]
            )
    print(
        f"{SEEDS} seeds, {TRIALS} trials each (NSGA-II), noise of standard deviation {NOISE:g}, tolerance "
        f"{TOLERANCE:g}, {CANDIDATES} candidates;"
    )
    print(f"{np.mean(n_new):.0f} new evaluations on average, {certified} of {SEEDS} certified")
    print(f"front       members   wrong   share wrong   beaten by {TOLERANCE:g} in both   truly optimal, missed")
    for way, rows in shares.items():
        size, wrong, much, missed = np.array(rows).T
        print(
            f"{way:9}   {size.mean():7.1f}   {wrong.mean():5.1f}   {100 * wrong.sum() / size.sum():9.0f} %   "
            f"{int(much.sum()):7} of {int(size.sum())}            {100 * missed.mean():17.0f} %"
        )


def picture(seed: int = 0, path: str = "docs/images/optuna.svg") -> None:
    from matplotlib.figure import Figure

    study = searched(seed)
    found = confirmed(study, seed)
    own = {trial.number: np.array(trial.values) for trial in study.trials}
    true = {trial.number: truth(trial.params) for trial in study.trials}
    figure = Figure(figsize=(8.0, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, values, front, title in (
        (left, own, found.naive, "One evaluation each: the front of the study"),
        (right, {k: np.array(list(m.values())) for k, m in found.means.items()}, found.front, "After confirm"),
    ):
        every = np.array(list(values.values()))
        axes.scatter(*every.T, s=14, color="0.7", label="trials" if axes is left else "candidates, means")
        members = np.array([values[k] for k in front])
        at = np.array([true[k] for k in front])
        for shown, real in zip(members, at, strict=True):
            axes.plot(*np.array([shown, real]).T, color="tab:red", linewidth=0.8, zorder=1)
        axes.scatter(*members.T, s=28, color="tab:blue", label="on the front", zorder=3)
        axes.scatter(*at.T, s=28, facecolor="none", edgecolor="tab:red", label="where they truly are", zorder=2)
        axes.set(title=title, xlabel="f1 (min)", ylabel="f2 (min)" if axes is left else "")
        axes.title.set_fontsize(10)
        axes.legend(fontsize=8, frameon=False)
    # The same file from the same numbers.
    figure.savefig(Path(path), metadata={"Date": None})
    print(f"wrote {path}: seed {seed}, dropped {found.dropped}, added {found.added}")
