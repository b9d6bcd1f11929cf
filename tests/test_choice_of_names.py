"""Names that are in no order, missing or alike are refused; so is a choice among one."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from prepex import Cone, Experiment, Gaussian, InputError, Problem, Study
from prepex.cli import app
from prepex.cli.wizard import parse_lease
from prepex.instances import read_table
from prepex.labels import Labels
from prepex.spoken import parse_variances

GAUSSIAN = Gaussian(variance=1.0)
GIVEN = {"objectives": ("x", "y"), "family": GAUSSIAN}


def fresh(arms=("a", "b")):
    return Experiment(arms, ("x", "y"), family=GAUSSIAN)


@pytest.mark.parametrize("kind", [set, frozenset])
def test_a_set_has_no_order(kind, tmp_path):
    experiment = fresh()
    for call in (
        lambda: Experiment(kind(("a", "b")), ("x", "y"), family=GAUSSIAN),
        lambda: Experiment(("a", "b"), kind(("x", "y")), family=GAUSSIAN),
        lambda: Study.create(tmp_path / "x.db", "s", arms=kind(("a", "b")), **GIVEN),
        lambda: Problem([[1.0], [2.0]], family=GAUSSIAN, cone=Cone.orthant(1), arms=kind(("a", "b"))),
        lambda: Cone.tradeoffs(kind(("x", "y"))),
        lambda: experiment.tell_log(kind(("a", "b")), [[1.0, 2.0], [3.0, 4.0]]),
        lambda: experiment.tell_many(kind((("a", (1.0, 2.0)), ("b", (3.0, 4.0))))),
    ):
        with pytest.raises(InputError, match="must come in an order, as in a list, got a set"):
            call()
    assert experiment.n_pulls == 0
    # Here no order is needed.
    assert Labels.make((1, 2), objectives=("x", "y"), minimise=kind(("y", "x"))).minimise == ("x", "y")
    assert Experiment(dict.fromkeys(("b", "a")).keys(), 1, family=GAUSSIAN).labels.arms == ("b", "a")


def test_reports_to_a_study_come_in_an_order(tmp_path):
    study = Study.create(tmp_path / "x.db", "s", arms=2, **GIVEN)
    first, second = study.ask(2)
    with pytest.raises(InputError, match="outcomes must come in an order"):
        study.tell_many({(first.token, (1.0, 2.0)), (second.token, (1.0, 2.0))})


@pytest.mark.parametrize(
    "missing", [None, float("nan"), np.float64("nan"), np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT")]
)
def test_what_is_missing_is_no_name(missing):
    experiment = fresh(("None", "nan", "<NA>", "NaT"))
    for call in (
        lambda: experiment.tell(missing, [1.0, 2.0]),
        lambda: experiment.tell_many([(missing, [1.0, 2.0])]),
        lambda: experiment.tell_log(["nan", missing], [[1.0, 2.0], [1.0, 2.0]]),
        lambda: experiment.ask(pending=[missing]),
        lambda: experiment.ask(pending={missing: 2}),
    ):
        with pytest.raises(InputError, match="must be one of 'None', 'nan'"):
            call()
    assert experiment.n_pulls == 0
    with pytest.raises(InputError, match=r"arms must be names, or how many, got .* among them"):
        fresh(("a", missing))
    with pytest.raises(InputError, match=r"arms must be names, got .*, which stands for a missing one"):
        Problem([[1.0], [2.0]], family=GAUSSIAN, cone=Cone.orthant(1), arms=("a", missing))


@pytest.mark.parametrize("pair", [("a", "a "), (" a", "a "), ("caf\u00e9", "cafe\u0301"), ("\u212b", "\u00c5 ")])
def test_names_that_look_alike_are_refused(pair, tmp_path):
    for call in (
        lambda: fresh(pair),
        lambda: Experiment(2, pair, family=GAUSSIAN),
        lambda: Study.create(tmp_path / "x.db", "s", arms=pair, **GIVEN),
        lambda: Problem([[1.0], [2.0]], family=GAUSSIAN, cone=Cone.orthant(1), arms=pair),
    ):
        with pytest.raises(InputError, match="must differ by more than spaces around them or the way in which letters"):
            call()
    assert fresh(("a b", "ab", "A", "a")).labels.arms == ("a b", "ab", "A", "a")


def test_a_study_has_a_choice(tmp_path):
    for arms in (1, ("low",)):
        with pytest.raises(InputError, match=r"arms must be at least 2, to choose from, got '.*' alone"):
            Study.create(tmp_path / "x.db", "s", arms=arms, **GIVEN)
    given = ("--objective", "x", "--variance", "1", "--storage", str(tmp_path / "x.db"))
    shown = CliRunner().invoke(app, ["study", "create", "s", "--arm", "low", *given])
    assert shown.exit_code == 2 and "arms must be at least 2" in shown.output


def test_minimise_is_a_name_as_a_whole():
    assert Labels.make((1, 2), objectives=("cost", "c"), minimise="cost").minimise == ("cost",)
    with pytest.raises(InputError, match="minimise must be one of 'c', 'o', 's', 't'"):
        Labels.make((1, 4), objectives=("c", "o", "s", "t"), minimise="cost")
    # Is it one, or not?
    with pytest.raises(InputError, match=r"minimise must be names of objectives that are costs, got {'cost': False}"):
        Labels.make((1, 2), objectives=("cost", "gain"), minimise={"cost": False})


def test_a_ticket_stands_for_its_token(tmp_path):
    study = Study.create(tmp_path / "x.db", "s", arms=2, **GIVEN)
    first, second, third = study.ask(3)
    assert study.tell(first, [1.0, 2.0]).token == first.token
    study.tell_many([(second, [1.0, 2.0]), (third.token, [3.0, 4.0])])
    study.correct(first, {"x": 5.0}, reason="misread")
    study.void(third, reason="power cut")
    assert study.status().means["arm 0"] == (5.0, 2.0) and study.verify().ok


def test_only_columns_of_numbers_are_offered_as_objectives(tmp_path):
    path = tmp_path / "means.csv"
    path.write_text("design,speed,cost\nA,3.0,1.5\nB,2.0,0.5\n")
    with pytest.raises(InputError, match="objectives must be columns of numbers, 'speed', 'cost', got 'sped'"):
        read_table(path, objectives=("sped",))


def test_a_lease_has_a_unit():
    for text in ("24", "24 ", "", "h", "24x"):
        with pytest.raises(InputError, match="lease must be a time with its unit: seconds, minutes, hours or days"):
            parse_lease(text)
    assert [parse_lease(text) for text in ("20s", "2m", "24h", "1d")] == [20.0, 120.0, 86400.0, 86400.0]


def test_a_variance_with_a_decimal_comma_is_told_about_the_point():
    with pytest.raises(InputError, match=r"with a decimal point \(a comma separates objectives\)"):
        parse_variances("0,5")


def test_an_import_says_what_it_did_not_use(tmp_path):
    place = str(tmp_path / "x.db")
    study = Study.create(place, "s", arms=("a", "b"), **GIVEN)
    path = tmp_path / "old.csv"
    path.write_text("arm,x,y,who,n\na,1,2,me,1\nb,1,2,you,1\n")
    assert study.import_csv(path).unused == ("who",)
    again = CliRunner().invoke(app, ["study", "import", "s", str(path), "--storage", place])
    assert again.exit_code == 2 and "--again" in again.output
    twice = CliRunner().invoke(app, ["study", "import", "s", str(path), "--storage", place, "--again"])
    assert twice.output == "imported 2 outcomes; not used: 1 column 'who'\n"
    path.write_text("arm,x,y\na,1,2\n")
    last = CliRunner().invoke(app, ["study", "import", "s", str(path), "--storage", place])
    assert last.output == "imported 1 outcome\n"
