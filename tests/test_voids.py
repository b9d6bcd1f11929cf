"""A void is harmless if its reason was known without any outcome, not just its own."""

import pytest
from scipy.stats import binom

from benchmarks.voids import DELTA, false_stops

RUNS = 30


@pytest.mark.parametrize("reason", ["no outcome", "those before"])
def test_a_reason_without_outcomes_that_come_later_keeps_the_guarantee(reason):
    # More than this many of 30 would show an error above delta.
    assert false_stops(reason, per_day=100, runs=RUNS) <= binom.ppf(0.999, RUNS, DELTA)


@pytest.mark.parametrize("reason", ["others", "its own"])
def test_a_reason_from_outcomes_breaks_it_even_those_of_others(reason):
    assert false_stops(reason, per_day=100, runs=RUNS) > binom.ppf(0.999, RUNS, DELTA)
