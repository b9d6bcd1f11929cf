"""Studies of Optuna: is their front real? (Needs the extra `prepex[optuna]`.)

candidates.py   the trials on the front, and those that nearly are
confirm.py      they are evaluated again until it is settled: `confirm`
"""

from prepex.optuna.confirm import Confirmed, confirm

__all__ = ["Confirmed", "confirm"]
