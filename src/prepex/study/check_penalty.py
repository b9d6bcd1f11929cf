"""What a mean that is not known costs, for check_laws.py: the largest log-likelihood less the log of the likelihood
mixed over a prior (docs/certified.md, step 6), with many digits."""

from collections.abc import Callable
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import Any

# The pilot's likelihood enters a prior with this power.
TEMPER = 0.5
# Digits with which penalties are computed: they are small differences of numbers as large as the sum of all outcomes.
DIGITS = 60


def _log_gamma(z: Decimal) -> Decimal:
    """Stirling's series at z + 1, z + 2, ... from 40 on, exact to 1e-20, and back."""
    product = Decimal(1)
    while z < 40:
        product *= z
        z += 1
    series = sum((sign / (divisor * z**power) for sign, divisor, power in STIRLING), Decimal(0))
    return (z - HALF) * z.ln() - z + (2 * PI).ln() / 2 + series - product.ln()


HALF, PI = Decimal("0.5"), Decimal("3.14159265358979323846264338327950288419716939937510582097494")
STIRLING = tuple((Decimal((-1) ** k), n, 2 * k + 1) for k, n in enumerate((12, 360, 1260, 1680, 1188)))


def _exactly(function: Callable[..., Decimal]) -> Callable[..., float]:
    """With many digits, once for the same numbers. Numbers for which it is not defined are a ValueError."""

    @lru_cache(maxsize=4096)
    def compute(*given: Any) -> float:
        with localcontext() as context:
            context.prec = DIGITS
            try:
                return float(function(*(Decimal(value) if isinstance(value, float) else value for value in given)))
            except ArithmeticError:
                raise ValueError(f"no penalty for {given}") from None

    return compute


@_exactly
def penalty_of_law(law: str, n: Decimal, x: Decimal, n0: Decimal, m0: Decimal) -> Decimal:
    """Largest log-likelihood of n outcomes with mean x, less the log of their mixture over the prior of a pilot."""

    def times_log(a: Decimal, b: Decimal) -> Decimal:
        return a * b.ln() if a > 0 else Decimal(0)

    weight = n0 * Decimal(TEMPER)
    if law == "bernoulli":
        a, b = HALF + weight * m0, HALF + weight * (1 - m0)
        top = n * (times_log(x, x) + times_log(1 - x, 1 - x))
        before, after = ((one, two, one + two) for one, two in ((a, b), (a + n * x, b + n * (1 - x))))
        mixed = sum(
            (sign * (_log_gamma(q) - _log_gamma(p)) for sign, p, q in zip((1, 1, -1), before, after)), Decimal(0)
        )
        return top - mixed
    events, time = (n * x, n) if law == "poisson" else (n, n * x)
    a, b = (HALF + weight * m0, weight) if law == "poisson" else (HALF + weight, weight * m0)
    top = n * times_log(x, x) - n * x if law == "poisson" else -n * (x.ln() + 1)
    mixed = a * b.ln() - _log_gamma(a) + _log_gamma(a + events) - (a + events) * (b + time).ln()
    return top - mixed


@_exactly
def normal_gamma(ss: Decimal, alpha: Decimal, beta: Decimal, *arms: Decimal) -> Decimal:
    """The same of Gaussian samples with one variance; of each arm n, n0 and its mean less that of its pilot."""
    size, after, mixed = Decimal(0), beta + ss / 2, alpha * beta.ln()
    for n, n0, off in zip(arms[::3], arms[1::3], arms[2::3]):
        kappa = n0 * Decimal(TEMPER)
        size += n
        after += kappa * n / (kappa + n) * off**2 / 2
        mixed += (kappa / (kappa + n)).ln() / 2
    mixed += _log_gamma(alpha + size / 2) - _log_gamma(alpha) - (alpha + size / 2) * after.ln()
    return -size / 2 * ((ss / size).ln() + 1) - mixed
