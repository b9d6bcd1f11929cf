"""FraPPE (Das, Shukla & Basu, 2025), on the exact and complete alternatives.

    x_{t+1} = argmax_{x in simplex} min_{h in H} <x - w_t, h>,   H = gradients at w_t of all pieces below F(w_t) + r_t,
    w_{t+1} = (t w_t + x_{t+1}) / (t + 1),   r_t = t^-0.9 / K;   x = uniform when sqrt(t / K) is whole;
    C-tracking: pull argmin_k N_k - sum_s x_s[k].

Paper: a linear programme a round. Here: the same game, solved by a small simplex in the kernel.
Pieces within r_t can be exponentially many: the 48 cheapest make up H.
"""

from dataclasses import dataclass
from typing import ClassVar

from prepex._kernels.course import FRAPPE
from prepex.sampling.rule import Rule


@dataclass(frozen=True)
class FraPPE(Rule):
    """Frank-Wolfe steps towards the optimal allocation, one a pull.

    >>> FraPPE().name
    'FraPPE'
    """

    code: ClassVar[int] = FRAPPE
    title: ClassVar[str] = "FraPPE"
