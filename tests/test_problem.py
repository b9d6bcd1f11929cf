"""Families, problems, instances and tables."""

import numpy as np
import pytest

from prepex import Cone, Gaussian, Problem
from prepex.instances import INSTANCES, correlated, covboost, load, read_table, snw


def test_covboost_is_the_printed_table():
    problem = covboost()
    assert problem.means.shape == (20, 3)
    assert problem.pareto_set == (8, 18)
    assert problem.pareto_names == ("m1273 (BNT/BNT)", "m1273 (ChAd/ChAd)")
    assert problem.means[14].tolist() == [8.71, 7.20, 4.91]
    assert problem.family.covariances(20, 3)[0].diagonal().tolist() == [0.70, 0.83, 1.54]


def test_snw_fronts_are_nested():
    right, wide = snw().pareto_set, snw(Cone.angle(120)).pareto_set
    assert len(right) == 26 and len(wide) == 14 and set(wide) < set(right)
    assert snw().labels.minimise == ("area",)
    deviation = np.sqrt(snw().family.covariances(206, 2)[0].diagonal())
    np.testing.assert_allclose(deviation, 0.1 * np.ptp(snw().means, axis=0))
    assert snw(noise=(0.5, 2.0)).family.covariances(206, 2)[0].diagonal().tolist() == [0.25, 4.0]


def test_data_files_carry_their_citation():
    from importlib.resources import files

    for name in ("covboost.csv", "correlated.csv", "snw.csv"):
        assert (files("prepex.instances") / "data" / name).read_text().startswith("# ")


def test_instances_load_by_name():
    assert load("correlated:-0.5").family.covariances(5, 2)[0, 0, 1] == -0.5
    for name in INSTANCES:
        sizes = {"covboost": 20, "correlated": 5, "snw": 206, "bernoulli": 5, "dose_finding": 5}
        assert load(name).n_arms == sizes[name]
    with pytest.raises(ValueError, match="instance must be one of covboost, correlated"):
        load("covid")
    with pytest.raises(ValueError, match="takes no argument, got '3'"):
        load("covboost:3")
    with pytest.raises(ValueError, match="needs a number in"):
        load("correlated:high")
    with pytest.raises(ValueError, match=r"rho must be in \(-1, 1\), got 1"):
        correlated(1)
    with pytest.raises(ValueError, match="noise must be in"):
        snw(noise=0)


def test_gaussian_divergence():
    family = Gaussian(covariance=[np.eye(2), [[2.0, 1.0], [1.0, 2.0]]])
    assert family.divergence([0, 0], [1, 1]) == pytest.approx(1.0)
    assert family.divergence([0, 0], [1, 1], arm=1) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one of variance= and covariance="),
        ({"variance": 1.0, "covariance": np.eye(2)}, "exactly one"),
        ({"variance": 0.0}, r"variance must be in \(0, inf\), got 0.0"),
        ({"variance": [1.0, -1.0]}, r"variance must be positive, got -1.0 at position \(1,\)"),
        ({"variance": np.nan}, "variance must be in"),
        ({"variance": "big"}, "variance must be a number"),
        ({"covariance": [[1.0, 2.0], [2.0, 1.0]]}, "positive definite, got smallest eigenvalue -1"),
        ({"covariance": [[1.0, 0.5], [0.2, 1.0]]}, "must be symmetric"),
        ({"covariance": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]}, "covariance must have shape"),
        ({"covariance": [np.eye(2), -np.eye(2)]}, r"covariance \(arm 1\) must be positive definite"),
        ({"covariance": [[1.0, np.inf], [np.inf, 1.0]]}, "covariance must be finite"),
        ({"covariance": 2.0}, "covariance must have shape"),
    ],
)
def test_gaussian_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        Gaussian(**arguments)


def test_problem_refusals():
    fine = {"family": Gaussian(variance=1.0), "cone": Cone.orthant(2)}
    with pytest.raises(ValueError, match=r"means must have shape \(n_arms, 2 = n_objectives\), got \(2, 3\)"):
        Problem(np.zeros((2, 3)), **fine)
    with pytest.raises(ValueError, match="arms must be different"):
        Problem(np.zeros((2, 2)), arms=("x", "x"), **fine)
    with pytest.raises(ValueError, match="minimise must be one of"):
        Problem(np.zeros((2, 2)), minimise=("price",), **fine)
    with pytest.raises(TypeError, match="cone must be a Cone"):
        Problem(np.zeros((2, 2)), family=fine["family"], cone=None)


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "means.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_tables_are_read(write, separator):
    text = "# a comment\nname,x,y\n\nfirst,1,2.5\nsecond,-3e2,4\n".replace(",", separator)
    table = read_table(write(text))
    assert table.arms == ("first", "second") and table.objectives == ("x", "y")
    assert table.means.tolist() == [[1.0, 2.5], [-300.0, 4.0]]
    assert read_table(write(text), objectives=("y",)).means.tolist() == [[2.5], [4.0]]


def test_tables_without_names(write):
    assert read_table(write("x,y\n1,2\n3,4\n")).arms == ("arm 0", "arm 1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must have a header line, got an empty file"),
        ("x,y\n", "a header line and a line for each arm, got a header alone"),
        ("x,y\n1,2\n3\n", "line 3: must have 2 columns as the header, got 1"),
        ("name,x\na,1\na,2\n", "must be different from each other, got 'a' 2 times"),
        ("x,x\n1,2\n3,4\n", "line 1: columns must be different from each other, got 'x' 2 times"),
        ("name,other\na,b\nc,d\n", "a column of numbers for each objective"),
        ("name,x\na,1\nb,nan\n", "line 3: x must be a number as in other lines, got 'nan'"),
        ("x: poisson,x\n1,2\n3,4\n", "objectives in .* must be different"),
        (",x\n0,2\n1,4\n", "line 1: column 1 must have a name, got none"),
        ("name,x,y\na,1,2\nb,,3\n", "line 3: x must be a number as in other lines, got ''"),
        ('name,x,y\na,"1,5",2\nb,"2,5",3\n', "line 2: x must use decimal points, got '1,5'"),
        ("4,2\n3,1\n", "line 1: must be the names of the columns, got '4,2'"),
    ],
)
def test_unreadable_tables(write, text, message):
    with pytest.raises(ValueError, match=message):
        read_table(write(text))


def test_unreadable_files(tmp_path):
    with pytest.raises(ValueError, match="file must exist, got"):
        read_table(tmp_path / "nothing.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00x,y\n")
    with pytest.raises(ValueError, match="readable UTF-8"):
        read_table(tmp_path / "binary.csv")
    with pytest.raises(ValueError, match="readable UTF-8"):
        read_table(tmp_path)


def test_a_named_column_must_be_numbers(write):
    with pytest.raises(ValueError, match=r"line 3: x must be a number such as 0\.31, in plain digits, got 'two'"):
        read_table(write("name,x,y\na,1,1\nb,two,2\n"), objectives=("x",))
    with pytest.raises(ValueError, match="objectives must be columns of numbers, 'x', 'y', got 'z'"):
        read_table(write("x,y\n1,2\n3,4\n"), objectives=("z",))
