"""Penalties and divergences by definition, with 90 digits: the judge of what survives in a double."""

from decimal import Decimal, localcontext
from functools import wraps

DIGITS = 90
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
# Bernoulli numbers B_2, B_4, ...
NUMBERS = ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510), (43867, 798))


def precise(function):
    """Computed with all digits; arguments are taken as the doubles they are."""

    @wraps(function)
    def inner(*given):
        with localcontext() as context:
            context.prec = DIGITS
            return float(function(*(Decimal(x) if isinstance(x, float) else x for x in given)))

    return inner


def log_gamma(z):
    """Stirling's series at z + 1000, and back: exact to 1e-55."""
    product = Decimal(1)
    while z < 1000:
        product *= z
        z += 1
    series = sum(Decimal(p) / q / (2 * k * (2 * k - 1)) / z ** (2 * k - 1) for k, (p, q) in enumerate(NUMBERS, 1))
    return (z - Decimal("0.5")) * z.ln() - z + (2 * PI).ln() / 2 + series - product.ln()


def xlogy(x, y):
    return x * y.ln() if x > 0 else Decimal(0)


def log_beta(a, b):
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b)


def gamma_mixture(a, b, events, time):
    return a * b.ln() - log_gamma(a) + log_gamma(a + events) - (a + events) * (b + time).ln()


@precise
def penalty(law, n, x, n0, m0):
    """Largest log-likelihood less log of the mixture: n outcomes with mean x, a pilot of n0 with mean m0."""
    half, t = Decimal("0.5"), n0 / 2
    if law == "bernoulli":
        a, b = half + t * m0, half + t * (1 - m0)
        top = xlogy(n * x, x) + xlogy(n * (1 - x), 1 - x)
        return top - log_beta(a + n * x, b + n * (1 - x)) + log_beta(a, b)
    if law == "poisson":
        return xlogy(n * x, x) - n * x - gamma_mixture(half + t * m0, t, n * x, n)
    return -n * (x.ln() + 1) - gamma_mixture(half + t, t * m0, n, n * x)


@precise
def student_penalty(n, mean, ss, n0, m0, ss0, spread):
    """The same of a Gaussian of unknown variance."""
    half, kappa = Decimal("0.5"), n0 / 2
    alpha, beta = half + (n0 - 1) / 4, (spread + ss0 / 2) / 2
    after = beta + ss / 2 + kappa * n / (kappa + n) * (mean - m0) ** 2 / 2
    mixed = log_gamma(alpha + n / 2) - log_gamma(alpha) + alpha * beta.ln()
    mixed += (kappa / (kappa + n)).ln() / 2 - (alpha + n / 2) * after.ln()
    return -n / 2 * ((ss / n).ln() + 1) - mixed


@precise
def divergence(law, mu, x):
    """d(mu, x)."""
    if law == "bernoulli":
        return xlogy(mu, mu / x) + xlogy(1 - mu, (1 - mu) / (1 - x))
    return xlogy(mu, mu / x) + x - mu if law == "poisson" else mu / x - 1 - (mu / x).ln()


@precise
def pooled_cost(law, n, x, m, y):
    """min_z n d(x, z) + m d(y, z): at the pooled mean."""
    z = (n * x + m * y) / (n + m)

    def d(mu):
        if law == "bernoulli":
            return xlogy(mu, mu / z) + xlogy(1 - mu, (1 - mu) / (1 - z))
        return xlogy(mu, mu / z) + z - mu if law == "poisson" else mu / z - 1 - (mu / z).ln()

    return n * d(x) + m * d(y)
