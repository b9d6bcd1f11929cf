"""Results as they were when they were last written on purpose, bit for bit: `python tests/golden "why"` writes them."""

import pytest

from prepex._kernels import engine

import golden_cases

RUNS = golden_cases.live_runs()


@pytest.mark.parametrize("family", golden_cases.twice.FAMILIES)
def test_live_runs(family):
    kept = golden_cases.read("live")
    assert set(kept) == set(RUNS)
    with engine.waiting():
        for name, run in RUNS.items():
            if run.family == family:
                assert golden_cases.difference(golden_cases.live(run), kept[name]) is None, name


def test_live_runs_interpreted():
    # One of each family; that both ways agree on all is tested in test_engine.py.
    kept = golden_cases.read("live")
    with engine.interpreting():
        for name, run in RUNS.items():
            if run.rule == "FraPPE" and run.threshold == "certified":
                assert golden_cases.difference(golden_cases.live(run), kept[name]) is None, name


@pytest.mark.parametrize("name", golden_cases.PROBLEMS)
def test_simulated_runs(name):
    found = golden_cases.simulated(name)
    assert golden_cases.difference(found, golden_cases.read("simulated")[name]) is None


@pytest.mark.parametrize("how", [engine.waiting, engine.interpreting])
def test_evidence_and_its_pieces(how):
    kept = golden_cases.read("evidence")
    with how():
        found = golden_cases.all_evidence()
    assert golden_cases.difference(found, kept) is None


def test_bounds():
    assert golden_cases.difference(golden_cases.bounds(), golden_cases.read("bounds")) is None


def test_a_difference_is_noticed(monkeypatch):
    kept = golden_cases.read("live")
    name = next(iter(kept))
    other = kept[name] | {"evidence": (1.5).hex()}
    monkeypatch.setattr(golden_cases, "SAME_MACHINE", False)
    assert golden_cases.difference(other, kept[name])[0] == "/evidence"
    near = kept[name] | {"evidence": (float.fromhex(kept[name]["evidence"]) * (1 + 1e-12)).hex()}
    assert golden_cases.difference(near, kept[name]) is None
    monkeypatch.setattr(golden_cases, "SAME_MACHINE", True)
    assert golden_cases.difference(near, kept[name])[0] == "/evidence"
    assert golden_cases.difference(kept[name] | {"arms": "0"}, kept[name])[0] == "/arms"
