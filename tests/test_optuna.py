"""Studies of Optuna, the real package: which trials are evaluated again, what is settled, and what comes back."""

import json
import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import pytest
from typer.testing import CliRunner

import prepex
import prepex.optuna as bridge
from prepex import Cone, Exact, Gaussian, InputError, analyse, one
from prepex.cli import app

optuna = pytest.importorskip("optuna")
optuna.logging.set_verbosity(optuna.logging.WARNING)


def true_values(params):
    """On the line a + b = 1 if z is 0, and behind it else."""
    return np.array([params["x"] + params["z"], 1.0 - params["x"] + params["z"]])


def noisy(spread, trial):
    params = {"x": trial.suggest_float("x", 0.0, 1.0), "z": trial.suggest_float("z", 0.0, 1.0)}
    rng = np.random.default_rng(trial.number)
    return tuple(true_values(params) + spread * rng.normal(size=2))


def searched(points, spread=0.2, **options):
    """A study of these (x, z)."""
    study = optuna.create_study(directions=["minimize", "minimize"], **options)
    for x, z in points:
        study.enqueue_trial({"x": x, "z": z})
    study.optimize(partial(noisy, spread), n_trials=len(points))
    return study


POINTS = [(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (0.05, 0.6), (0.5, 0.6), (0.95, 0.6), (0.5, 1.0)]


@pytest.fixture(scope="module")
def confirmed():
    study = searched(POINTS)
    return study, bridge.confirm(study, partial(noisy, 0.2), candidates=6, tolerance=0.3, seed=1)


def test_the_front_is_settled(confirmed):
    study, found = confirmed
    assert found.settled and found.status == "certified" and found.delta == 0.05
    # Right within the tolerance: nobody in it is behind by more than that in both objectives.
    assert set(found.front) >= {0, 1, 2} and 4 not in found.front and 6 not in found.front
    assert found.naive == tuple(trial.number for trial in study.best_trials)
    assert set(found.dropped) == set(found.naive) - set(found.front)
    assert set(found.added) == set(found.front) - set(found.naive)
    assert len(found.trials) == 6 and found.n_evaluations == sum(found.counts.values()) == found.raced.n_trials
    for trial in found.trials:
        means = np.array(list(found.means[trial.number].values()))
        assert np.all(np.abs(means - true_values(trial.params)) < 6 * 0.2 / np.sqrt(found.counts[trial.number]))
        assert trial.params == study.trials[trial.number].params
    assert "The front of 6 candidates after" in str(found) and "certified at delta 0.05" in str(found)


def test_results_go_back(confirmed):
    study, found = confirmed
    kept = json.loads(json.dumps(study.user_attrs["prepex"]))
    assert kept["status"] == "certified" and kept["front"] == list(found.front) and kept["naive"] == list(found.naive)
    for trial in found.trials:
        own = trial.user_attrs["prepex"]
        assert own == kept["trials"][str(trial.number)]
        assert own["on_front"] == (trial.number in found.front) and own["evaluations"] == found.counts[trial.number]
    # Trials that have ended are as they were.
    assert all("prepex" not in trial.user_attrs for trial in study.trials) and len(study.trials) == len(POINTS)


def test_the_same_seed_gives_the_same():
    runs = []
    for _ in range(2):
        study = searched(POINTS[:4])
        runs.append(bridge.confirm(study, partial(noisy, 0.2), tolerance=0.4, seed=3, write=False))
        assert "prepex" not in study.user_attrs
    assert runs[0].means == runs[1].means and runs[0].front == runs[1].front and runs[0].counts == runs[1].counts


def test_who_is_a_candidate():
    study = searched([(0.0, 0.0), (1.0, 0.0), (0.5, 0.01), (0.5, 0.5), (0.5, 0.1), (0.9, 0.9)], spread=0.0)
    from prepex.optuna.candidates import find_candidates

    assert find_candidates(study, 2, None).naive == (0, 1, 2)
    few, all_but_one = find_candidates(study, 2, None), find_candidates(study, 5, None)
    assert [trial.number for trial in few.trials] == [0, 1, 2] and "more than candidates = 2" in few.notes[0]
    assert [trial.number for trial in all_but_one.trials] == [0, 1, 2, 3, 4] and all_but_one.notes == ()
    assert [trial.number for trial in find_candidates(study, 4, None).trials] == [0, 1, 2, 4], "the nearest first"
    names = "objective 0", "objective 1"
    first_counts = Cone.tradeoffs(names, one(names[0]).is_worth(at_least=3, of=names[1]))
    assert find_candidates(study, 2, first_counts).naive == (0,)


def test_failed_pruned_and_repeated_trials():
    def objective(trial):
        values = noisy(0.1, trial)
        if trial.number == 2:
            raise optuna.TrialPruned()
        if trial.number == 3:
            raise ValueError("no")
        return (float("nan"), 1.0) if trial.number == 4 else values

    study = optuna.create_study(directions=["minimize", "minimize"])
    for x, z in [(0.0, 0.0), (1.0, 0.0), (0.5, 0.0), (0.5, 0.1), (0.4, 0.1), (0.0, 0.0), (0.5, 0.9)]:
        study.enqueue_trial({"x": x, "z": z})
    study.optimize(objective, n_trials=7, catch=ValueError)
    found = bridge.confirm(study, partial(noisy, 0.1), tolerance=0.3)
    assert {trial.number for trial in found.trials} == {0, 1, 6} and set(found.front) >= {0, 1}
    assert "Trials left out: 1 pruned, 2 failed." in found.notes
    assert "1 trial with the parameters of an earlier one: they count as one option." in found.notes


def test_values_that_are_no_numbers():
    def objective(trial):
        x = trial.suggest_float("x", 0.0, 1.0)
        return x, float("inf") if x > 0.9 else 1.0 - x

    study = optuna.create_study(directions=["minimize", "minimize"])
    for x in (0.1, 0.95, 0.99):
        study.enqueue_trial({"x": x})
    study.optimize(objective, n_trials=3)
    with pytest.raises(InputError, match="2 or more trials with different parameters"):
        bridge.confirm(study, objective)
    from prepex.optuna.candidates import find_candidates

    study.enqueue_trial({"x": 0.5})
    study.optimize(objective, n_trials=1)
    assert find_candidates(study, 5, None).notes == ("Trials left out: 2 without finite values.",)


def test_names_directions_families_and_noiseless_objectives():
    def objective(trial):
        size = trial.suggest_int("size", 1, 4)
        kind = trial.suggest_categorical("kind", ["a", "b"])
        rng = np.random.default_rng(trial.number)
        return size + (kind == "b") + 0.1 * rng.normal(), 10.0 * size

    study = optuna.create_study(directions=["maximize", "minimize"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study.set_metric_names(["gain", "time"])
    for size, kind in [(1, "a"), (1, "b"), (4, "a"), (4, "b")]:
        study.enqueue_trial({"size": size, "kind": kind})
    study.optimize(objective, n_trials=4)
    found = bridge.confirm(study, objective, tolerance={"gain": 0.2}, family={"gain": Gaussian(variance=0.01)})
    # "time" is what a race measures itself: the study's is another one, under another name.
    assert found.front == (1, 3) and set(found.means[1]) == {"gain", "time value"}
    assert found.means[3]["time value"] == 40.0
    order = Cone.tradeoffs(("gain", "time value"), one("gain").is_worth(at_least=100, of="time value"))
    wide = bridge.confirm(
        study, objective, cone=order, family={"gain": Gaussian(variance=0.01), "time value": Exact()}, write=False
    )
    assert wide.front == (3,)


def test_a_budget_ends_it():
    study = searched([(0.5, 0.0), (0.5, 0.001), (0.0, 0.5)], spread=0.5)
    found = bridge.confirm(study, partial(noisy, 0.5), max_evaluations=12)
    assert not found.settled and found.status == "running" and found.n_evaluations == 12
    assert "not settled" in str(found) and "Still open: trial" in str(found)
    assert study.user_attrs["prepex"]["status"] == "running"


def test_it_goes_on(tmp_path):
    study = searched(POINTS[:4])
    again = partial(bridge.confirm, study, partial(noisy, 0.2), tolerance=0.4, seed=3, storage=tmp_path / "race.db")
    first = again(max_evaluations=14)
    last = again()
    assert first.n_evaluations == 14 and last.settled and last.n_evaluations > 14
    whole = bridge.confirm(study, partial(noisy, 0.2), tolerance=0.4, seed=3)
    assert last.front == whole.front and last.means == whole.means


def single():
    study = optuna.create_study()
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=2)
    return study


@pytest.mark.parametrize(
    ("study", "options", "words"),
    [
        (single, {}, "study must have several objectives, got one"),
        (lambda: optuna.create_study(directions=["minimize"] * 2), {}, "trials that ended with values, got no trials"),
        (lambda: searched([(0.5, 0.5)]), {}, "2 or more trials with different parameters"),
        (lambda: "study.db", {}, "study must be a study of Optuna"),
        (lambda: searched(POINTS[:3]), {"candidates": 1}, "candidates must be"),
        (lambda: searched(POINTS[:3]), {"max_evaluations": 5}, "max_evaluations must be at least 9"),
        (lambda: searched(POINTS[:3]), {"objective": 3}, "objective must be a function"),
        (lambda: searched(POINTS[:3]), {"tolerance": {"speed": 1}}, "tolerance"),
        (lambda: searched(POINTS[:3]), {"cone": Cone.orthant(3)}, "cone must be over 2"),
        (lambda: searched(POINTS[:3]), {"objective": lambda trial: 1.0}, "must return 2 values as in the study"),
    ],
)
def test_bad_input(study, options, words):
    given = {"objective": partial(noisy, 0.2)} | options
    with pytest.raises((InputError, TypeError), match=words):
        bridge.confirm(study(), **given)


def test_a_failing_evaluation_is_named():
    study = searched(POINTS[:3])

    def objective(trial):
        if trial.suggest_float("x", 0, 1) == 0.5:
            raise RuntimeError("out of memory")
        return noisy(0.2, trial)

    with pytest.raises(InputError, match=r"trial 1.*out of memory"):
        bridge.confirm(study, objective, tolerance=0.4)
    found = bridge.confirm(study, objective, tolerance=0.4, failed={"objective 0": 9.0, "objective 1": 9.0})
    assert set(found.front) == {0, 2}


# Storages


@pytest.fixture
def storage(tmp_path):
    path = tmp_path / "study.db"
    searched([*POINTS[:3], *POINTS[:3]], storage=f"sqlite:///{path}", study_name="first")
    return path


def run(*words, code=0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.output


def test_a_storage_is_analysed(storage):
    study = optuna.load_study(study_name="first", storage=f"sqlite:///{storage}")
    study.add_trial(optuna.trial.create_trial(state=optuna.trial.TrialState.FAIL))
    found = analyse(storage)
    assert found.minimise == ("objective 0", "objective 1") and [arm.n for arm in found.arms] == [2, 2, 2]
    assert [arm.name for arm in found.arms] == ["trial 0", "trial 1", "trial 2"]
    own = np.mean([study.trials[k].values for k in (0, 3)], axis=0)
    assert found.arms[0].mean == pytest.approx(tuple(own))
    shown = run("analyse", storage)
    assert "Study 'first' of Optuna: 6 trials, minimize objective 0, minimize objective 1." in " ".join(shown.split())
    assert "Left out: 1 failed." in shown
    document = json.loads(run("analyse", storage, "--objective", "objective 0", "--format", "json"))
    assert document["minimise"] == ["objective 0"]


def test_several_studies_and_names(storage):
    study = optuna.create_study(
        directions=["maximize", "minimize"], storage=f"sqlite:///{storage}", study_name="second"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study.set_metric_names(["n", "trial"])
    study.optimize(lambda trial: (trial.suggest_categorical("c", ["u", "v"]) == "u", trial.number), n_trials=6)
    assert "study must say which one" in run("analyse", storage, code=2)
    assert "'first', 'second', got 'third'" in run("analyse", storage, "--study", "third", code=2)
    found = analyse(storage, study="second")
    # Columns of such names are counts or numbers of trials in other tables.
    assert found.objectives == ("n", "trial") and found.minimise == ("trial",) and len(found.arms) == 2


def test_what_is_no_storage(tmp_path, storage):
    study = prepex.Study.create(
        tmp_path / "own.db", "mine", arms=("a", "b"), objectives=("gain",), family=Gaussian(variance=1.0)
    )
    assert "a storage of prepex" in run("analyse", tmp_path / "own.db", code=2)
    assert not study.done
    (tmp_path / "broken.db").write_bytes(storage.read_bytes()[:5000])
    assert "must be" in run("analyse", tmp_path / "broken.db", code=2)
    (tmp_path / "table.csv").write_text("arm,gain\na,1\nb,2\n")
    assert "study is for the SQLite file of Optuna" in run("analyse", tmp_path / "table.csv", "--study", "x", code=2)
    optuna.create_study(storage=f"sqlite:///{tmp_path / 'empty.db'}")
    assert "trials that ended with values, got none" in run("analyse", tmp_path / "empty.db", code=2)


def test_it_is_read_without_optuna_and_left_alone(storage):
    before = storage.read_bytes()
    script = (
        "import sys; sys.modules['optuna'] = None; import prepex; "
        f"print(prepex.analyse({str(storage)!r}).arms[0].name); "
        "import prepex.optuna; prepex.optuna.confirm(None, print)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "trial 0"
    assert done.stderr.strip().endswith("ImportError: studies of Optuna need an extra: pip install 'prepex[optuna]'")
    assert storage.read_bytes() == before


def test_the_real_package_is_not_shadowed():
    script = "import prepex, optuna; print(optuna.__name__, hasattr(optuna, 'create_study'), prepex.optuna.__name__)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["optuna", "True", "prepex.optuna"]
