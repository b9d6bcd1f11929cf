"""Interpreted and compiled kernels are the same to the last bit; nothing waits for a compiler in live use."""

import ast
import inspect
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import prepex
from benchmarks import twice
from prepex import Cone, Experiment, Gaussian
from prepex._kernels import engine, gamma, jit, plain
from prepex._kernels.instance import find_front
from prepex._kernels.observe import observe_plain

SOURCE = Path(prepex.__file__).parent
LIVE = """
    import sys, time
    began = time.perf_counter()
    import numpy as np
    from prepex import Experiment, Gaussian
    experiment = Experiment(3, 2, family=Gaussian(variance={variance}), minimise=(1,), seed=1)
    rng = np.random.default_rng(0)
    for _ in range(100):
        arm = experiment.ask()
        experiment.tell(arm, np.array([[0.2, 0.1], [1.0, 0.3], [0.9, 1.0]])[experiment.labels.arms.index(arm)]
                        + 0.5 * rng.standard_normal(2))
    print([name for name in ("numba", "scipy") if name in sys.modules])
"""


@pytest.fixture(autouse=True)
def _as_users_have_it(monkeypatch):
    """Kernels are interpreted at first, and nobody waits for a compiler."""
    monkeypatch.setattr(engine.here, "waiting", 0)


@pytest.mark.parametrize("family", twice.FAMILIES)
def test_interpreted_and_compiled_states_agree_to_the_last_bit(family):
    # One run of every rule and threshold here; `make bench PARTS=bits` makes 200 and more.
    for run in twice.random_runs(seed=5, rounds=1, n_pulls=40):
        if run.family == family:
            assert run.first_difference() is None, run


@pytest.mark.parametrize("asked", [{"tolerance": 0.4}, {"at_least": 0.6}, {"tolerance": 0.3, "at_least": 0.5}])
@pytest.mark.parametrize("family", twice.FAMILIES)
def test_they_agree_with_tolerances_and_limits(family, asked):
    for run in twice.random_runs(seed=6, rounds=1, n_pulls=25, **asked):
        if (
            run.family == family
            and run.rule in ("InformationDirected", "FraPPE")
            and run.threshold != "kaufmann_koolen"
        ):
            assert run.first_difference() is None, run


def test_a_difference_is_noticed(monkeypatch):
    run = next(run for run in twice.random_runs(seed=5, rounds=1) if run.threshold == "certified")
    # numpy's logarithm differs from the C library's in the last bit, now and then.
    monkeypatch.setattr(plain.NUMPY, "log", lambda x: float(np.nextafter(np.log(x), np.inf)))
    pull, what = run.first_difference()
    assert pull <= run.n_pulls and what


def test_kernels_use_only_what_means_the_same_both_ways():
    modules = [module for name, module in sys.modules.items() if name.startswith("prepex._kernels")]
    kernels = {value.function for module in modules for value in vars(module).values() if isinstance(value, jit.Kernel)}
    assert len(kernels) > 50 and len(jit.PARTS) > 40
    for function in kernels | jit.PARTS:
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("np", "math"):
                known = plain.NUMPY if node.value.id == "np" else plain.MATH
                annotation = node.attr in ("float64", "bool_")
                assert annotation or hasattr(known, node.attr), f"{function.__name__}: {ast.unparse(node)}"
            assert not isinstance(node, ast.Pow), f"{function.__name__}: a power"


@pytest.mark.parametrize("name", ["exp", "log", "log1p", "sqrt"])
def test_where_compiled_code_gives_infinity_or_nan_so_does_the_interpreter(name):
    function = getattr(plain, name)
    with np.errstate(all="ignore"):
        for x in (-np.inf, -2.0, -1.0, -0.0, 0.0, 1e-300, 1.0, 800.0, np.inf, np.nan):
            np.testing.assert_allclose(function(x), getattr(np, name)(x), rtol=1e-15)


def test_log_gamma():
    from scipy.special import gammaln

    x = np.concatenate([np.exp(np.random.default_rng(0).uniform(-40, 20, 2000)), np.arange(1, 50) / 2])
    found = np.array([gamma.lgamma(float(value)) for value in x])
    np.testing.assert_allclose(found, gammaln(x), rtol=1e-14, atol=4e-15)
    assert gamma.lgamma(0.0) == np.inf


@pytest.mark.parametrize("variance", [0.25, "'unknown'"])
def test_live_use_loads_neither_numba_nor_scipy(variance):
    shown = run_script(LIVE.format(variance=variance))
    assert shown.stdout.strip() == "[]", shown


def test_a_kernel_that_is_slow_to_interpret_is_replaced_by_machine_code(monkeypatch):
    kernel = jit.Kernel(find_front.function)
    scores = np.random.default_rng(0).normal(size=(20, 3))
    first = np.zeros(20, dtype=np.bool_)
    monkeypatch.setattr(engine, "LOAD_AFTER", 0.0)
    monkeypatch.setattr(engine, "COMPILE_AFTER", 0.0)
    with engine.waiting():
        find_front(scores, first, np.zeros(20, dtype=np.int64))  # on disk now
    for _ in range(2):
        mask = np.zeros(20, dtype=np.bool_)
        kernel(scores, mask, np.zeros(20, dtype=np.int64))
        assert mask.tolist() == first.tolist()
    assert kernel.ready


def test_a_single_call_that_takes_too_long_compiles_what_it_calls(monkeypatch):
    modules = [module for name, module in sys.modules.items() if name.startswith("prepex._kernels")]
    kernels = {value for module in modules for value in vars(module).values() if isinstance(value, jit.Kernel)}
    for kernel in kernels:
        monkeypatch.setattr(kernel, "ready", {})
    # However slow the machine is.
    monkeypatch.setattr(engine, "LOAD_AFTER", np.inf)
    monkeypatch.setattr(engine, "PATIENCE", np.inf)
    experiment = Experiment(4, 2, family=Gaussian(variance=1.0), cone=Cone.angle(120))
    rng = np.random.default_rng(0)
    for k in range(4):
        experiment.tell(k, rng.normal(size=2))
    assert not any(kernel.ready for kernel in kernels)
    monkeypatch.setattr(engine, "PATIENCE", -1.0)
    engine.here.ticks = 1
    experiment.tell(0, rng.normal(size=2))
    assert any(kernel.ready for kernel in kernels) and not observe_plain.ready


def test_what_python_refuses_is_done_by_machine_code(monkeypatch):
    """A division by 0 of Python's own numbers, after something was written: all is taken back first."""
    kernel = jit.Kernel(find_front.function)
    scores, front = np.random.default_rng(0).normal(size=(6, 2)), np.zeros(6, dtype=np.int64)
    mask = np.full(6, True)

    def fails(scores, mask, front):
        mask[0] = not mask[0]
        return 1.0 / 0.0

    monkeypatch.setattr(kernel, "_plain", fails)
    with engine.interpreting(), pytest.raises(ZeroDivisionError):
        kernel(scores, mask, front)
    assert kernel(scores, mask, front) == find_front(scores, np.zeros(6, dtype=np.bool_), front)
    assert kernel.ready


def test_control_c_waits_for_the_end_of_a_kernel(monkeypatch):
    kernel = jit.Kernel(find_front.function)
    done = []

    def slow(scores):
        signal.raise_signal(signal.SIGINT)
        done.append(scores)

    monkeypatch.setattr(kernel, "_plain", slow)
    # A shell that starts the tests in the background lets them ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            kernel(1.0)
        assert done == [1.0] and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_much_work_waits_and_says_so_once(monkeypatch, tmp_path):
    said = []
    monkeypatch.setattr(engine, "announce", said.append)
    monkeypatch.setattr(engine.here, "told", False)
    for _ in range(2):
        engine.say()
    assert len(said) == 1 and "once" in said[0]
    points = np.zeros((engine.MANY_NUMBERS, 2))
    assert engine.large((points,)) and not engine.large((points[:10],))


def test_numba_can_be_switched_off():
    script = """
        import sys
        from prepex import characteristic_time
        from prepex.instances import correlated
        print(round(characteristic_time(correlated(0.0)).time, 3), "numba" in sys.modules)
    """
    assert run_script(script, NUMBA_DISABLE_JIT="1").stdout.split() == ["121.263", "False"]


def test_code_of_other_kernels_is_never_taken(copied):
    """The cached code of a kernel contains what it calls: an edit anywhere makes all of it new."""
    script = """
        import numpy as np
        from prepex._kernels import engine
        from prepex._kernels.laws.instance import make_instance
        with engine.waiting():
            inst = make_instance(np.array([1]), np.ones((1, 1)), np.eye(1), np.array([[0.2]]), np.ones(1))
        print(inst.V[0, 0])
    """
    law = copied / "prepex" / "_kernels" / "laws" / "law.py"
    assert float(run_script(script, copied).stdout) == pytest.approx(0.16)
    law.write_text(law.read_text().replace("max(mu * (1.0 - mu), 0.25 / (weight + 1.0))", "7.0"))
    assert float(run_script(script, copied).stdout) == 7.0


def test_a_folder_that_cannot_be_written_to(copied):
    """Machine code is then kept by this process alone."""
    script = """
        import numpy as np
        from numba.core import caching
        caching.CacheImpl._locator_classes = []
        from prepex._kernels import engine
        from prepex._kernels.instance import find_front
        with engine.waiting():
            print(find_front(np.eye(2), np.zeros(2, dtype=np.bool_), np.zeros(2, dtype=np.int64)))
    """
    assert run_script(script, copied).stdout.strip() == "2"


def test_two_processes_share_the_work_and_none_outlives_its_parent(copied):
    script = """
        import os, sys, time
        import numpy as np
        from prepex._kernels import engine, workshop
        from prepex._kernels.instance import find_front
        engine.LOAD_AFTER = engine.COMPILE_AFTER = 0.0
        args = np.eye(2), np.zeros(2, dtype=np.bool_), np.zeros(2, dtype=np.int64)
        began = time.monotonic()
        while not find_front.ready and time.monotonic() - began < 150:
            find_front(*args)
            time.sleep(0.05)
        assert find_front.ready, "the background process made nothing"
        from prepex._kernels.instance import make_known
        from prepex._kernels.ledger import open_ledger, refresh
        ledger = open_ledger(make_known(np.eye(2)[None], np.eye(2), np.ones(2)))
        refresh(ledger, 0.0)
        child = workshop._children[-1]
        print(child.pid, child.poll())
    """
    pid, state = run_script(script, copied).stdout.split()
    assert state == "None", "it should still be at work"
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


@pytest.fixture
def copied(tmp_path):
    """A package of its own, with nothing compiled."""
    shutil.copytree(SOURCE, tmp_path / "prepex", ignore=shutil.ignore_patterns("*.nb?", "__pycache__", "*.lock"))
    return tmp_path


def run_script(script, folder=SOURCE.parent, **environment):
    """In a fresh process."""
    clean = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
        env=clean | {"PYTHONPATH": str(folder)} | environment,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return done
