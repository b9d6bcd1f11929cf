"""One name for a Gaussian ledger and for one with laws.

Compiled code picks by the type of the ledger when it is compiled, so that a Gaussian run never compiles the laws.
"""

from collections.abc import Callable
from typing import Any

from numba.extending import overload

from prepex._kernels import ledger as gaussian
from prepex._kernels import weights
from prepex._kernels.branch import Pieces
from prepex._kernels.instance import Floats, Instance, Int, Ints, law
from prepex._kernels.jit import OPTIONS, kernel
from prepex._kernels.laws import ledger as laws
from prepex._kernels.laws.fresh import LawFresh, add_law_fresh, begin_fresh
from prepex._kernels.laws.ledger import LawLedger
from prepex._kernels.laws.margin import margin_law
from prepex._kernels.laws.reward import pay_law
from prepex._kernels.ledger import Ledger
from prepex._kernels.margin import Grid, Scratch, margin, write_grid

AnyLedger = Ledger | LawLedger
AnyFresh = Instance | LawFresh


def by_type(function: Callable[..., Any]) -> Callable[..., Any]:
    """How `overload` is used here: inlined, with the options of every kernel."""
    return overload(function, inline="always", strict=False, jit_options=OPTIONS)  # type: ignore[arg-type]


def has_laws(kind: Any) -> bool:
    """Is this numba type a named tuple of an instance with laws?"""
    return kind.instance_class in (LawLedger, LawFresh)


def refresh(ledger: AnyLedger, slack: float) -> float:
    """Bring the evidence up to date."""
    return laws.refresh_law(ledger, slack) if isinstance(ledger, LawLedger) else gaussian.refresh(ledger, slack)


@by_type(refresh)
def _refresh(ledger: Any, slack: Any) -> Any:
    if has_laws(ledger):
        return lambda ledger, slack: laws.refresh_law(ledger, slack)
    return lambda ledger, slack: gaussian.refresh(ledger, slack)


def standing(ledger: AnyLedger) -> float:
    """What a threshold on the evidence compares: Z, discounted where a shared variance is estimated."""
    return laws.discounted(ledger) if isinstance(ledger, LawLedger) else float(ledger.real[gaussian.VALUE])


@by_type(standing)
def _standing(ledger: Any) -> Any:
    if has_laws(ledger):
        return lambda ledger: laws.discounted(ledger)
    return lambda ledger: ledger.real[gaussian.VALUE]


def collect(ledger: AnyLedger, slack: float, pieces: Pieces) -> Int:
    """Every closest point within the slack."""
    if isinstance(ledger, LawLedger):
        return laws.collect_law(ledger, slack, pieces)
    return gaussian.collect(ledger, slack, pieces)


@by_type(collect)
def _collect(ledger: Any, slack: Any, pieces: Any) -> Any:
    if has_laws(ledger):
        return lambda ledger, slack, pieces: laws.collect_law(ledger, slack, pieces)
    return lambda ledger, slack, pieces: gaussian.collect(ledger, slack, pieces)


def move(ledger: AnyLedger, W: Floats, prec: Floats, a: Int, mean: Floats, shift: Floats, weight: float) -> None:
    """Arm a has moved."""
    if isinstance(ledger, LawLedger):
        laws.move_law(ledger, a, mean, shift, weight)
    else:
        gaussian.move(ledger, W, prec, a, mean, shift, weight)


@by_type(move)
def _move(ledger: Any, W: Any, prec: Any, a: Any, mean: Any, shift: Any, weight: Any) -> Any:
    if has_laws(ledger):
        return lambda ledger, W, prec, a, mean, shift, weight: laws.move_law(ledger, a, mean, shift, weight)
    return lambda ledger, W, prec, a, mean, shift, weight: gaussian.move(ledger, W, prec, a, mean, shift, weight)


def add_weight(ledger: AnyLedger, a: Int, more: float) -> None:
    """Arm a weighs more."""
    if isinstance(ledger, LawLedger):
        laws.add_law_weight(ledger, a, more)
    else:
        weights.add_weight(ledger, a, more)


@by_type(add_weight)
def _add_weight(ledger: Any, a: Any, more: Any) -> Any:
    if has_laws(ledger):
        return lambda ledger, a, more: laws.add_law_weight(ledger, a, more)
    return lambda ledger, a, more: weights.add_weight(ledger, a, more)


def put_weights(ledger: Any, near: Any, shares: Floats) -> None:
    """The means of `near` at other weights."""
    if isinstance(ledger, LawLedger):
        laws.put_law_weights(ledger, near, shares)
    else:
        weights.put_weights(ledger, near, shares)


@by_type(put_weights)
def _put_weights(ledger: Any, near: Any, shares: Any) -> Any:
    if has_laws(ledger):
        return lambda ledger, near, shares: laws.put_law_weights(ledger, near, shares)
    return lambda ledger, near, shares: weights.put_weights(ledger, near, shares)


def put_gradient(far: AnyLedger, pieces: Pieces, row: Int, slot: Ints, table: Floats, c: Int) -> None:
    """Add the gradient of a collected piece to a column of the table."""
    if isinstance(far, LawLedger):
        laws.put_law_gradient(far, pieces, row, slot, table, c)
    else:
        weights.put_gradient(far, pieces, row, slot, table, c)


@by_type(put_gradient)
def _put_gradient(far: Any, pieces: Any, row: Any, slot: Any, table: Any, c: Any) -> Any:
    if has_laws(far):
        return lambda far, pieces, row, slot, table, c: laws.put_law_gradient(far, pieces, row, slot, table, c)
    return lambda far, pieces, row, slot, table, c: weights.put_gradient(far, pieces, row, slot, table, c)


@kernel
def add_gaussian_fresh(fresh: Instance, grid: Grid, W: Floats, a: Int, reward: Floats, more: float) -> None:
    """`more` rewards of arm a, with the mean `reward`, that the certified margin may use."""
    fresh.N[a] += more
    own = law(fresh.gram, a)
    for f in range(W.shape[0]):
        score = 0.0
        for q in range(W.shape[1]):
            score += W[f, q] * reward[q]
        fresh.S[a, f] += more * (score - fresh.S[a, f]) / fresh.N[a]
        fresh.V[a, f] = fresh.gram[own, f, f] / fresh.N[a]
    write_grid(grid, a, fresh.N[a])


def add_fresh(fresh: AnyFresh, grid: Grid, W: Floats, a: Int, reward: Floats, more: float) -> None:
    """`more` rewards of arm a, with the mean `reward`, that the certified margin may use."""
    if isinstance(fresh, LawFresh):
        add_law_fresh(fresh, a, reward, more)
    else:
        add_gaussian_fresh(fresh, grid, W, a, reward, more)


@by_type(add_fresh)
def _add_fresh(fresh: Any, grid: Any, W: Any, a: Any, reward: Any, more: Any) -> Any:
    if has_laws(fresh):
        return lambda fresh, grid, W, a, reward, more: add_law_fresh(fresh, a, reward, more)
    return lambda fresh, grid, W, a, reward, more: add_gaussian_fresh(fresh, grid, W, a, reward, more)


def end_pilot(fresh: AnyFresh, near: Any) -> None:
    """What the pilot says becomes the prior of the laws; a Gaussian needs none."""
    if isinstance(fresh, LawFresh):
        begin_fresh(fresh, near.inst)


@by_type(end_pilot)
def _end_pilot(fresh: Any, near: Any) -> Any:
    if has_laws(fresh):
        return lambda fresh, near: begin_fresh(fresh, near.inst)
    return lambda fresh, near: None


def find_margin(fresh: AnyFresh, near: Any, grid: Grid, price: Floats, scratch: Scratch, binding: Ints) -> float:
    """The certified margin and its binding test."""
    if isinstance(fresh, LawFresh):
        return margin_law(fresh, near.inst, price, binding)
    return margin(fresh, near.inst, grid, price, scratch, binding)


@by_type(find_margin)
def _find_margin(fresh: Any, near: Any, grid: Any, price: Any, scratch: Any, binding: Any) -> Any:
    if has_laws(fresh):
        return lambda fresh, near, grid, price, scratch, binding: margin_law(fresh, near.inst, price, binding)
    return lambda fresh, near, grid, price, scratch, binding: margin(fresh, near.inst, grid, price, scratch, binding)


@kernel
def pay_gaussian(truth: Floats, roots: Floats, a: Int, reward: Floats) -> None:
    """Noise becomes a reward of arm a, in place, from the last entry: a root is lower triangular."""
    own = law(roots, a)
    for p in range(truth.shape[1] - 1, -1, -1):
        value = truth[a, p]
        for q in range(p + 1):
            value += roots[own, p, q] * reward[q]
        reward[p] = value


def pay(near: AnyLedger, truth: Floats, roots: Floats, a: Int, reward: Floats) -> None:
    """Noise becomes a reward of arm a, in place. With laws, roots[0, a] are deviations of the Gaussian objectives."""
    if isinstance(near, LawLedger):
        pay_law(near.inst.law, truth[a], roots[0, a], reward)
    else:
        pay_gaussian(truth, roots, a, reward)


@by_type(pay)
def _pay(near: Any, truth: Any, roots: Any, a: Any, reward: Any) -> Any:
    if has_laws(near):
        return lambda near, truth, roots, a, reward: pay_law(near.inst.law, truth[a], roots[0, a], reward)
    return lambda near, truth, roots, a, reward: pay_gaussian(truth, roots, a, reward)
