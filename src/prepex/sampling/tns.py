"""TnS (Garivier et al., 2024), on the exact alternatives: one gradient step on the allocation a round.

w_{t+1}[k] ~ w_t[k] exp(eta_t g_k),  g the gradient of F at w_t,  eta_t = sqrt(log K) / (sqrt(1 + t) max |g| so far);
D-tracking: an arm with fewer than sqrt(t) - K/2 pulls first, else argmax_k t w_t[k] - N_k.
"""

from dataclasses import dataclass
from typing import ClassVar

from prepex._kernels.course import TNS
from prepex.sampling.rule import Rule


@dataclass(frozen=True)
class TnS(Rule):
    """Track-and-Stop with online gradient ascent.

    >>> TnS().name
    'TnS'
    """

    code: ClassVar[int] = TNS
    title: ClassVar[str] = "TnS"
