"""The outcome of a simulation: rows, summaries, error curves, and files."""

import csv
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prepex import markup
from prepex._checks import Floats
from prepex.bound import Bound, characteristic_time, check_tol
from prepex.errors import InputError
from prepex.extras import need
from prepex.judge import Judge
from prepex.limits import Limits
from prepex.numerals import measured, plural
from prepex.problem import Problem
from prepex.tolerance import Size

FORMATS = (".csv", ".json", ".parquet")
# Relative gap of T* for a floor: a floor of 10,000 pulls is at most one too low.
FLOOR_TOL = 1e-4


@dataclass(frozen=True, eq=False)
class Record:
    """One trajectory: (T thresholds, D deltas)."""

    rule: str
    thresholds: tuple[str, ...]
    deltas: tuple[float, ...]
    run: int
    time: NDArray[np.int64]
    answer: NDArray[np.bool_]
    wrong: NDArray[np.bool_]
    moments: tuple[int, ...]
    n_pulls: int
    seconds: float


@dataclass(frozen=True)
class Summary:
    """One rule, threshold and delta. A run that hit its pull limit counts with that limit, and as censored.

    error_upper   upper end of the one-sided Clopper-Pearson interval at confidence 0.99
    floor         T* kl(delta, 1 - delta); not a number with a tolerance, where several answers are right
    rate          T* log(1 / delta): what the mean is compared with as delta falls, tolerance or not; no floor
    below_floor   the mean lies below what any (1 - delta)-correct algorithm can reach, by three standard errors
                  and with no run censored: look at the error
    """

    rule: str
    threshold: str
    delta: float
    n_runs: int
    mean: float
    standard_error: float
    median: float
    q10: float
    q90: float
    n_censored: int
    error_rate: float
    error_lower: float
    error_upper: float
    floor: float
    ratio_to_floor: float
    rate: float
    us_per_round: float
    below_floor: bool


@dataclass(frozen=True, eq=False)
class Runs:
    """All trajectories of a simulation. T* and the floors are computed when they are asked for, not before.

    tolerance   as given, one entry an objective, or None; an answer is correct if it is right within it
    limits      what an option must satisfy, or None
    """

    problem: Problem
    deltas: tuple[float, ...]
    records: tuple[Record, ...] = field(repr=False)
    tolerance: tuple[Size, ...] | None = None
    limits: Limits | None = None
    # The best bound so far and the tolerance that it was asked for.
    _bound: list[tuple[float, Bound]] = field(default_factory=list, repr=False)

    def bound(self, tol: float = FLOOR_TOL) -> Bound:
        """T* of the problem to a certified relative gap of at most `tol`; kept, until a smaller one is asked for.

        >>> from prepex import simulate
        >>> from prepex.instances import correlated
        >>> from prepex.sampling import Uniform
        >>> runs = simulate(correlated(), sampling=Uniform(), n_runs=1)
        >>> round(runs.bound(1e-6).time, 3)
        121.263
        """
        tol = check_tol(tol)
        if not self._bound or self._bound[0][0] > tol:
            limits = () if self.limits is None else self.limits.given
            found = characteristic_time(self.problem, tol, tolerance=self.tolerance, limits=limits)
            self._bound[:] = [(tol, found)]
        return self._bound[0][1]

    @property
    def judge(self) -> Judge:
        """Who says whether an answer is right."""
        return Judge.of(self.problem, self.tolerance, self.limits)

    def floor(self, delta: float, tol: float = FLOOR_TOL) -> float:
        """T* kl(delta, 1 - delta), by the certified lower bound of T*. With a tolerance there is none."""
        return self.bound(tol).floor(delta)

    def rate(self, delta: float, tol: float = FLOOR_TOL) -> float:
        """T* log(1 / delta): to what the best mean comes down to as delta falls. No floor."""
        return -self.bound(tol).time * float(np.log(delta))

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row for each rule, threshold, delta and run."""
        judge = self.judge
        for record in self.records:
            for i, threshold in enumerate(record.thresholds):
                for d, delta in enumerate(record.deltas):
                    stopped = bool(record.time[i, d] > 0)
                    yield {
                        "rule": record.rule,
                        "threshold": threshold,
                        "delta": delta,
                        "run": record.run,
                        "stopping_time": int(record.time[i, d]) if stopped else record.n_pulls,
                        "stopped": stopped,
                        "correct": judge.right(record.answer[i, d]) if stopped else None,
                        "recommended": tuple(int(k) for k in np.flatnonzero(record.answer[i, d])),
                    }

    def to_frame(self) -> Any:
        """The rows as a pandas data frame (needs pandas)."""
        rows = list(self.rows())
        return markup.frame({name: [row[name] for row in rows] for name in rows[0]})

    def _repr_html_(self) -> str:
        """The summary, with a floor only if T* is known: it may take long."""
        known = self._bound[0][1] if self._bound and self.tolerance is None else None
        cells = self._summaries(lambda delta: math.nan if known is None else known.floor(delta), lambda delta: math.nan)
        heads = ["rule", "threshold", "delta", "runs", "pulls (mean)", "median", "10-90 %", "wrong", "99 % bound"]
        rows: list[list[Any]] = []
        for cell in cells:
            mean = measured(cell.mean, cell.standard_error, digits=1)
            middle = f"{cell.q10:,.0f} to {cell.q90:,.0f}"
            wrong = f"{cell.error_rate:.1%}" if cell.n_censored < cell.n_runs else "-"
            row = [cell.rule, cell.threshold, f"{cell.delta:g}", cell.n_runs, mean, round(cell.median), middle, wrong]
            rows.append([*row, f"{cell.error_upper:.1%}", *([] if known is None else [round(cell.floor)])])
        title = f"{plural(len(self.records), 'trajectory', 'trajectories')} of {self.problem!r}"
        stopped = sum(cell.n_censored for cell in cells)
        note = f"{plural(stopped, 'run')} ended at the pull limit and count with it." if stopped else ""
        table = markup.table([*heads, *([] if known is None else ["floor"])], rows)
        return markup.block(title, table, markup.line(note, soft=True))

    def summary(self, tol: float = FLOOR_TOL) -> list[Summary]:
        """Mean, spread and error rate of each rule, threshold and delta, in the order they were asked for.

        The floors take a T* to the relative gap `tol`, by its certified lower bound. With many arms that is most of
        the work: a `tol` of 0.01 is quicker.
        """
        if self.tolerance is None:
            return self._summaries(lambda delta: self.floor(delta, tol), lambda delta: self.rate(delta, tol))
        return self._summaries(lambda delta: math.nan, lambda delta: self.rate(delta, tol))

    def _summaries(self, floor: Callable[[float], float], rate: Callable[[float], float]) -> list[Summary]:
        cells: dict[tuple[str, str, float], list[dict[str, Any]]] = {}
        for row in self.rows():
            cells.setdefault((row["rule"], row["threshold"], row["delta"]), []).append(row)
        speed: dict[tuple[str, str], list[Record]] = {}
        for record in self.records:
            for threshold in record.thresholds:
                speed.setdefault((record.rule, threshold), []).append(record)
        return [
            summarise(
                rows,
                floor=floor(key[2]),
                rate=rate(key[2]),
                us_per_round=_speed(speed[key[:2]]),
            )
            for key, rows in cells.items()
        ]

    def error_curve(self) -> dict[str, tuple[Floats, Floats]]:
        """For each rule: the moments, and the share of runs whose answer was wrong then."""
        curves = {}
        for rule in dict.fromkeys(record.rule for record in self.records):
            mine = [record for record in self.records if record.rule == rule]
            # A rule that samples for one delta has a trajectory for each: the first one asked for.
            mine = [record for record in mine if record.deltas[0] == mine[0].deltas[0]]
            wrong = np.mean([record.wrong for record in mine], axis=0)
            curves[rule] = np.array(mine[0].moments, dtype=float), np.asarray(wrong, dtype=float)
        return curves

    def save(self, path: str | Path) -> None:
        """Write the rows; the ending of `path` gives the format: csv, json or parquet."""
        path = check_ending(path, FORMATS)
        try:
            if path.suffix == ".parquet":
                need_parquet()
                self.to_frame().to_parquet(path)
            elif path.suffix == ".json":
                path.write_text(json.dumps(list(self.rows())))
            else:
                with path.open("w", newline="") as file:
                    rows = list(self.rows())
                    writer = csv.DictWriter(file, fieldnames=list(rows[0]))
                    writer.writeheader()
                    writer.writerows(
                        row | {"recommended": " ".join(str(k) for k in row["recommended"])} for row in rows
                    )
        except OSError as error:
            raise InputError(f"path must be writable, got {str(path)!r}: {error}") from None


def _speed(records: list[Record]) -> float:
    """Microseconds a round."""
    return 1e6 * sum(record.seconds for record in records) / max(sum(record.n_pulls for record in records), 1)


def summarise(
    rows: Sequence[Mapping[str, Any]], *, floor: float, us_per_round: float, rate: float = float("nan")
) -> Summary:
    """The summary of rows (as of `Runs.rows`) that share rule, threshold and delta.

    >>> rows = [
    ...     {"rule": "X", "threshold": "own", "delta": 0.1, "stopping_time": t, "stopped": True, "correct": t > 5}
    ...     for t in (4, 8)
    ... ]
    >>> cell = summarise(rows, floor=3.0, us_per_round=1.0)
    >>> cell.mean, cell.error_rate, cell.below_floor
    (6.0, 0.5, False)
    """
    times = np.array([row["stopping_time"] for row in rows], dtype=float)
    stopped = [row for row in rows if row["stopped"]]
    wrong = sum(not row["correct"] for row in stopped)
    lower, upper = clopper_pearson(wrong, len(stopped))
    mean = float(times.mean())
    spread = float(times.std(ddof=1) / np.sqrt(len(times))) if len(times) > 1 else float("nan")
    return Summary(
        rule=rows[0]["rule"],
        threshold=rows[0]["threshold"],
        delta=rows[0]["delta"],
        n_runs=len(rows),
        mean=mean,
        standard_error=spread,
        median=float(np.median(times)),
        q10=float(np.quantile(times, 0.1)),
        q90=float(np.quantile(times, 0.9)),
        n_censored=len(rows) - len(stopped),
        error_rate=wrong / len(stopped) if stopped else float("nan"),
        error_lower=lower,
        error_upper=upper,
        floor=floor,
        ratio_to_floor=mean / floor if floor > 0 else float("nan"),
        rate=rate,
        us_per_round=us_per_round,
        below_floor=len(stopped) == len(rows) > 1 and mean + 3 * spread < floor,
    )


def need_parquet() -> None:
    """Files of this kind are written by others."""
    need("frame", "parquet files need", "pandas", "pyarrow")


def check_ending(path: str | Path, endings: tuple[str, ...]) -> Path:
    """A path with one of these endings."""
    checked = Path(str(path))
    if checked.suffix not in endings:
        raise InputError(f"path must end in {', '.join(endings)}, got {str(path)!r}")
    return checked


def clopper_pearson(wrong: int, total: int, confidence: float = 0.99) -> tuple[float, float]:
    """One-sided bounds of a binomial rate, each at the given confidence.

    >>> lower, upper = clopper_pearson(0, 100)
    >>> lower, round(upper, 4)
    (0.0, 0.045)
    """
    from scipy.special import betaincinv  # scipy.stats has it too, but takes a second to import

    right = total - wrong
    lower = betaincinv(wrong, right + 1, 1.0 - confidence) if wrong else 0.0
    upper = betaincinv(wrong + 1, right, confidence) if right else 1.0
    return float(lower), float(upper)
