"""Tables of measurements: what is read, guessed, refused and said."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import prepex as px
from prepex import InputError
from prepex.analysis.guess import guess_families, name_of
from prepex.analysis.reading import read_columns
from prepex.analysis.roles import find_trials
from prepex.analysis.text import sentences
from prepex.any_cone import Regions, least_tolerance, states_under
from prepex.cli import app

NAMES, STRENGTH, COST = ("Alu A", "Alu B", "Steel"), (61.0, 55.0, 70.0), (12.0, 9.0, 20.0)


def trials(n=12, seed=0, sd=1.0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        for k in rng.permutation(3):
            yield NAMES[k], STRENGTH[k] + sd * rng.normal(), COST[k] + 0.5 * sd * rng.normal()


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def german(rows):
    cells = "".join(f"{a};{x:.4f};{y:.4f}\r\n".replace(".", ",") for a, x, y in rows)
    return "Legierung;Stärke [MPa];Kosten (€)\r\n" + cells


FILES = {
    "german": (lambda rows: "\ufeff" + german(rows), "utf-8", "Kosten"),
    "windows": (german, "cp1252", "Kosten"),
    "r_csv": (
        lambda rows: (
            '"","alloy","strength","cost"\n'
            + "".join(f'"{i}","{a}",{x!r},{y!r}\n' for i, (a, x, y) in enumerate(rows, 1))
        ),
        "utf-8",
        "cost",
    ),
    "r_table": (
        lambda rows: (
            '"alloy" "strength" "cost"\n' + "".join(f'"{i}" "{a}" {x!r} {y!r}\n' for i, (a, x, y) in enumerate(rows, 1))
        ),
        "utf-8",
        "cost",
    ),
    "pandas": (
        lambda rows: ",alloy,strength,cost\n" + "".join(f"{i},{a},{x!r},{y!r}\n" for i, (a, x, y) in enumerate(rows)),
        "utf-8",
        "cost",
    ),
    "units": (
        lambda rows: (
            "# of March\nalloy,strength (MPa),cost [EUR]\n-,MPa,EUR\n"
            + "".join(f"{a},{x!r},{y!r}\n{'# new sensor' if i == 5 else ''}\n" for i, (a, x, y) in enumerate(rows))
        ),
        "utf-8",
        "cost",
    ),
    "cells": (
        lambda rows: "alloy\tstrength\tcost\n" + "".join(f"{a}\t{x:.3f} MPa\t{y:.3f} EUR\n" for a, x, y in rows),
        "utf-16",
        "cost",
    ),
    "units_twice": (
        lambda rows: (
            "# operator: K\nalloy, strength, cost\n-, MPa, EUR\n"
            + "".join(f"{a}, {x:.3f} MPa, {y:.3f} EUR\n" for a, x, y in rows)
        ),
        "utf-8",
        "cost",
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_files_of_many_programs_say_the_same(kind, tmp_path):
    text, encoding, cost = FILES[kind]
    found = px.analyse(write(tmp_path / "table.csv", text(trials()), encoding), minimise=[cost], family="unknown")
    expected = px.analyse(
        [{"alloy": a, "strength": x, "cost": y} for a, x, y in trials()], minimise=["cost"], family="unknown"
    )
    assert found.pareto_set == expected.pareto_set
    assert found.states == expected.states
    for one, other in zip(found.arms, expected.arms, strict=True):
        assert one.n == other.n == 12
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-4)
        np.testing.assert_allclose(one.spread, other.spread, rtol=1e-2)


def test_means_and_spreads_are_those_of_the_rows():
    table = list(trials())
    found = px.analyse([{"alloy": a, "strength": x, "cost": y} for a, x, y in table], minimise=["cost"])
    for arm in found.arms:
        own = np.array([(x, y) for a, x, y in table if a == arm.name])
        np.testing.assert_allclose(arm.mean, own.mean(axis=0))
        np.testing.assert_allclose(arm.spread, own.std(axis=0, ddof=1))
    assert all(arm.state == "in" for arm in found.arms) and found.settled and not found.next_trials


def test_the_order_of_options_in_a_file_does_not_matter():
    table = [{"alloy": a, "strength": x, "cost": y} for a, x, y in trials()]
    ordered = sorted(table, key=lambda row: row["alloy"])
    assert px.analyse(table).states == px.analyse(ordered).states


def test_means_with_spreads_count_as_their_trials():
    rows = [
        {"alloy": n, "n": 30, "strength_mean": s, "strength_sd": 2.0, "cost_mean": c, "cost_se": 0.1}
        for n, s, c in zip(NAMES, STRENGTH, COST, strict=True)
    ]
    found = px.analyse(rows, minimise=["cost_mean"])
    assert [arm.n for arm in found.arms] == [30] * 3
    np.testing.assert_allclose([arm.spread for arm in found.arms], [[2.0, 0.1 * np.sqrt(30)]] * 3, rtol=1e-6)
    experiment = found.experiment()
    assert experiment.n_pulls == 90
    np.testing.assert_allclose(experiment.means, np.column_stack([STRENGTH, COST]))
    split = [row | {"n": 10} for row in rows] + [row | {"n": 20} for row in rows]
    assert [arm.n for arm in px.analyse(split, minimise=["cost_mean"]).arms] == [30] * 3


def test_shares_need_no_spread():
    found = px.analyse({"drug": ["a", "b"], "n": [200, 200], "cured": [0.75, 0.3]})
    assert found.states == {"a": "in", "b": "out"}
    np.testing.assert_allclose(found.experiment().means[:, 0], [0.75, 0.3])
    with pytest.raises(InputError, match="spreads of 'time' must be given beside its means, as a column 'time_sd'"):
        px.analyse({"drug": ["a", "b"], "n": [200, 200], "time": [7.5, 3.0]})


def test_one_row_an_option_says_what_cannot_be_known():
    found = px.analyse({"alloy": NAMES, "strength": STRENGTH, "cost": COST}, minimise=["cost"])
    assert found.pareto_set == NAMES and set(found.states.values()) == {None}
    assert "one trial of each option" in str(found)
    with pytest.raises(InputError, match="several trials"):
        found.experiment()


def test_rows_that_lack_something_are_counted():
    found = px.analyse({"arm": ["a", "b", None] * 8, "gain": [1.0, 2.0, 3.0] * 7 + [1.5, None, 2.0]})
    assert "8 rows without an option are left out." in found.notes
    assert "1 row without a value of gain is left out." in found.notes
    assert [arm.n for arm in found.arms] == [8, 7]


REFUSED = {
    "mixed": ("arm,x\na,1\nb,two\na,3\nb,4\n", {}, "line 3: x must be a number as in 3 other lines, got 'two'"),
    "marks": ("arm;x\na;1,5\nb;2.5\n", {}, "decimal mark"),
    "case": ("arm,x\nAlloy,1\nalloy,2\n", {}, "'Alloy' and 'alloy': are they the"),
    "spaces": ("arm,x\na b,1\na  b,2\n", {}, "white space, case"),
    "numbers": ("arm,x\n1,1\n2,2\n1.0,1\n", {}, "how a number is written, got '1' and '1.0'"),
    "which": ("site,colour,x\nu,r,1\nu,g,2\nv,r,3\nv,g,3\n", {}, "arm must say which column"),
    "no numbers": ("arm,x\na,b\nc,d\n", {}, "column of numbers for each objective"),
    "unknown": ("arm,x\na,1\na,2\n", {"objectives": ["y"]}, "objectives must be a column"),
    "text": ("arm,x,z\na,1,u\na,2,v\n", {"arm": "arm", "objectives": ["z"]}, "columns of numbers"),
    "minimise": ("arm,x\na,1\na,2\n", {"minimise": ["cost"]}, "minimise must name objectives"),
    "family": ("arm,x\na,1\na,2\n", {"family": {"x": "gauss"}}, "family of 'x' must be"),
    "header": ("1,2\n3,4\n", {}, "names of the columns"),
    "alone": ("arm,x\n", {}, "got a header alone"),
    "count": ("arm,n,x,x_sd\na,0.5,1,1\nb,3,1,1\n", {}, "line 2: n must be a whole number"),
    "names": ("arm,x\na,1\n", {"names": "perhaps"}, "names must be"),
    "thousands": ("arm;x;€\na;1,5;13.350,02\nb;2;9.800,5\n", {}, "line 2: € must be .*'13.350,02': write 13350,02,"),
    "some thousands": ("arm;x\na;1,5\nb;2\nb;9.800,5\n", {}, "line 4: x must be .* write 9800,5$"),
    "thousands alone": ('arm,x\na,"9,800"\nb,"13,350.5"\n', {}, "line 2: x must be .*write 9800,"),
    "thousands or mark": ("arm;x;y\na;1,5;9.800\nb;2;9.100\n", {}, "if its . keeps thousands apart, write 9800"),
    "minimise text": (
        "arm,x,z\na,1,\na,2,v\n",
        {"arm": "arm", "minimise": ["z"]},
        "line 3: z must be a number",
    ),
    "minimise id": ("arm,x,seed\na,1,3\na,2,5\n", {"minimise": ["seed"]}, "--objective 'seed'"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_bad_tables_are_refused_in_words(kind, tmp_path):
    text, options, words = REFUSED[kind]
    with pytest.raises(InputError, match=words):
        px.analyse(write(tmp_path / "table.csv", text), **options)


def test_what_is_not_used_is_said(tmp_path):
    text = "# oven 3\narm,x,batch,mass / g,run\na,1,u,3,4\nb,3,u,4,4\n# pause\na,1.5,v,3.5,4\nb,2.5,v,5,4\n"
    path = write(tmp_path / "table.csv", text)
    found = px.analyse(path, minimise=["mass"])
    assert found.minimise == ("mass / g",)
    notes = (
        "2 comment lines (beginning with #) are left out.",
        "Not used: 'run' (with --objective it would be).",
        "Not used: 'batch' (has cells that are no numbers).",
    )
    for words in notes:
        assert words in found.notes and words in str(found) and words in found.to_document()["notes"]
    assert "Not used: 'mass / g', 'run'." in px.analyse(path, objectives=["x"]).notes


def test_a_comma_that_could_be_thousands_is_asked_for(tmp_path):
    path = write(tmp_path / "table.csv", "arm;x\na;1,500\nb;2,500\na;1,250\n")
    with pytest.raises(InputError, match=r"is '1,500' 1\.500 or 1500.*decimal=','"):
        px.analyse(path)
    assert px.analyse(path, decimal=",").arms[1].mean == (2.5,)
    with pytest.raises(InputError, match="decimal must be"):
        px.analyse(path, decimal="'")


def test_names_merge_or_stay_apart():
    table = {"arm": ["Alloy", "alloy", "b"] * 5, "x": np.arange(15.0)}
    assert px.analyse(table, names="merge").arms[0].n == 10
    assert len(px.analyse(table, names="keep").arms) == 3
    with pytest.raises(InputError, match="data must be"):
        px.analyse(3)


def sample(kind, rng, arms=5, n=40):
    mean = rng.uniform(2.0, 9.0, arms)[:, None]
    draws = {
        "unknown": lambda: mean + rng.normal(0.0, 3.0, (arms, n)),
        "lognormal": lambda: mean * np.exp(rng.normal(0.0, 0.5, (arms, n))),
        "bernoulli": lambda: (rng.random((arms, n)) < mean / 10.0).astype(float),
        "poisson": lambda: rng.poisson(mean, (arms, n)).astype(float),
        "exponential": lambda: rng.exponential(mean, (arms, n)),
        "exact": lambda: np.repeat(mean, n, axis=1),
    }
    return draws[kind]()


@pytest.mark.parametrize("kind", ["unknown", "lognormal", "bernoulli", "poisson", "exponential", "exact"])
def test_families_are_guessed_or_called_unsure(kind):
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(40):
        x = sample(kind, rng)
        (guess,) = guess_families(np.repeat(np.arange(5), 40), x.reshape(-1, 1), 5)
        wrong += guess.sure and name_of(guess.family) != kind
    assert wrong <= 2


def test_states_by_regions_follow_the_definition():
    rng = np.random.default_rng(2)
    for _ in range(20):
        K, L = 5, 2
        centre, half = rng.normal(size=(K, L)), rng.uniform(0.02, 0.6, (K, L))
        regions = Regions(centre, None, None, np.stack([centre - half, centre + half], axis=2))
        cone, signs = px.Cone.angle(float(rng.uniform(50, 150))), np.array([1.0, -1.0])
        found = states_under(regions, cone, signs)
        # Truths at random, and at the corners, never contradict what is said.
        for _ in range(60):
            truth = centre + half * rng.choice([-1.0, 1.0, 0.3], (K, L))
            mask = cone.pareto_mask(truth * signs)
            assert all(state == "open" or (state == "in") == mask[k] for k, state in enumerate(found))
        # The least tolerance makes the answer right at all of them.
        unit = np.array([1.0, 2.0])
        orthant = px.Cone.orthant(2)
        eps = (least_tolerance(regions, orthant, signs, unit) + 1e-9) * unit
        answer = orthant.pareto_mask(centre * signs)
        for _ in range(60):
            truth = (centre + half * rng.choice([-1.0, 1.0], (K, L))) * signs
            for i in range(K):
                if answer[i]:
                    assert not any(np.all(truth[j] - truth[i] > eps) for j in range(K))
                else:
                    assert any(np.all(truth[a] - truth[i] >= -eps) for a in np.flatnonzero(answer))


def test_the_command_prints_writes_and_goes_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, encoding, _ = FILES["german"]
    write(tmp_path / "table.csv", text(trials(sd=6.0)), encoding)
    run = CliRunner().invoke(
        app, ["analyse", "table.csv", "--minimise", "Kosten", "--report", "out.html", "--plot", "out.png"]
    )
    assert run.exit_code == 0, run.output
    for words in ("Looks Pareto optimal", "Measure next", "What was assumed", "Alu A"):
        assert words in run.output
    assert (tmp_path / "out.png").stat().st_size > 5000
    assert "<svg" in (tmp_path / "out.html").read_text()
    plain = CliRunner().invoke(app, ["analyse", "table.csv", "--minimise", "Kosten", "--format", "json"])
    found = json.loads(plain.output)
    assert found["minimise"] == ["Kosten (€)"] and {arm["name"] for arm in found["arms"]} == set(NAMES)
    bad = CliRunner().invoke(app, ["analyse", "table.csv", "--minimise", "Preis"])
    assert bad.exit_code == 2 and "minimise must name objectives" in bad.output
    made = CliRunner().invoke(app, ["study", "create", "go", "--from", "table.csv", "--minimise", "Kosten"])
    assert made.exit_code == 0, made.output
    for words in ("Imported from table.csv: 36 outcomes of 3 options, 2 objectives", "Stärke [MPa]: Gaussian of unk"):
        assert words in made.output
    assert "Product(" not in made.output
    study = px.Study.open("prepex.db", "go")
    analysis = px.analyse("table.csv", minimise=["Kosten"])
    assert study.status().n_pulls == 36
    assert study.ask(1)[0].arm == analysis.experiment().ask()


def test_print_and_report_say_what_was_asked_and_what_the_spreads_are(tmp_path):
    rows = [{"alloy": a, "strength": x, "time": abs(y)} for a, x, y in trials()]
    options = {"minimise": ["time"], "family": {"time": "lognormal", "strength": "unknown"}}
    found = px.analyse(rows, tolerance={"strength": 0.5, "time": "5%"}, at_most={"time": 30}, delta=0.1, **options)
    found.report(tmp_path / "out.html")
    for text in (str(found), (tmp_path / "out.html").read_text()):
        for words in (
            "Asked: cone orthant(2) (better is only what is at least as good in everything), "
            "tolerance 0.5 in strength and 5% in time, limits time at most 30, delta 0.1",
            "Behind ± is the standard deviation of single trials; behind times/over is the same as a factor",
        ):
            assert words in text
    assert "bars are one standard error of the mean" in (tmp_path / "out.html").read_text()
    plain = px.analyse(rows, cone=px.Cone.angle(120), **options)
    assert "cone angle(120) (accepts up to 0.268 more time for 1 more strength. Accepts" in str(plain)
    assert "no tolerance (every difference matters), no limits, delta 0.05" in str(plain)
    assert found.to_document()["tolerance"] == {"strength": 0.5, "time": "5%"}


def test_many_closest_changes_are_cut_with_a_word_and_none_is_empty():
    rng = np.random.default_rng(1)
    rows = [
        {"arm": f"o{k}", "x": k % 5 + 2 * rng.normal(), "y": k % 7 + 2 * rng.normal()}
        for _ in range(8)
        for k in range(17)
    ]
    found = px.analyse(rows, family="unknown")
    n = sum(arm.change is not None for arm in found.arms)
    assert n > 12 and f"- and {n - 12} more (--format json has all)" in str(found)
    assert f"<li>and {n - 12} more" in found._repr_html_()
    vague = [arm.change for arm in found.arms if arm.change and "instead of" not in arm.change]
    assert vague and all("off by the spread of its single trials" in words for words in vague)


def test_frames_and_notebooks():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(list(trials()), columns=["alloy", "strength", "cost"])
    found = px.analyse(frame, minimise=["cost"])
    again = px.analyse(frame.set_index("alloy"), arm="alloy", minimise=["cost"])
    assert found.states == again.states
    assert list(found.to_frame().index) == [arm.name for arm in found.arms]
    assert "<table" in found._repr_html_() and "Looks Pareto optimal" in str(found)


def test_columns_that_number_trials_are_not_objectives():
    table = {"seed": [1, 1, 2, 2], "arm": ["a", "b"] * 2, "x": [1.0, 2.0, 3.0, 4.0], "note": ["p", "q", "r", "s"]}
    found = find_trials(read_columns(table), arm=None, objectives=None)
    assert found.objectives == ("x",) and any("Not used: 'seed'" in words for words in found.notes)
    assert find_trials(read_columns(table), arm=None, objectives=["seed"]).objectives == ("seed",)


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        ({"arm": "aloy"}, "alloy"),
        ({"objectives": ["strenght"]}, "strength"),
        ({"minimise": ["Cots"]}, "cost"),
        ({"tolerance": {"strenth": 1.0}}, "strength"),
        ({"family": {"cst": "unknown"}}, "cost"),
        ({"at_most": {"csot": 3.0}}, "cost"),
    ],
)
def test_a_misspelt_column_is_guessed(options, meant):
    rows = [{"alloy": a, "strength [MPa]": x, "cost": y} for a, x, y in trials(4)]
    with pytest.raises(InputError, match=rf"did you mean '{meant}'\?$"):
        px.analyse(rows, **options)
    with pytest.raises(InputError, match=r"got 'colour'$"):
        px.analyse(rows, arm="colour")


@pytest.mark.parametrize(
    ("means", "words"),
    [
        ((1.0, 1.1, 1.2, 9.0), "already."),
        ((1.0, 1.1, 1.2, 1.4), "already; but that is most differences here."),
        ((1.0, 1.1, 1.2, 1.3), "already; but that is nearly every difference here."),
    ],
)
def test_a_tolerance_that_is_as_large_as_what_differs_is_flagged(means, words):
    table = {"arm": list("abcd") * 6, "x": [mean + 0.01 * k for k in range(6) for mean in means]}
    found = px.analyse(table)
    found = replace(found, tolerance={"x": 0.25}, arms=tuple(replace(arm, state="open") for arm in found.arms))
    assert f"If differences of up to 0.25 in x do not matter, the front is settled {words}" in sentences(found)


@pytest.mark.parametrize("words", [("analyse",), ("study", "create", "s", "--storage", "s.db", "--from")])
def test_who_waits_for_a_compiler_is_told(words, tmp_path, monkeypatch):
    from prepex._kernels import engine

    def compiles(self, *args, **options):
        monkeypatch.setattr(engine.here, "told", False)
        engine.say()
        return before(self, *args, **options)

    before = px.Experiment._replay
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(engine, "announce", None)
    monkeypatch.setattr(px.Experiment, "_replay", compiles)
    (tmp_path / "t.csv").write_text("arm,x\n" + "".join(f"{'ab'[k % 2]},{k * k % 7}\n" for k in range(40)))
    found = CliRunner().invoke(app, [*words, "t.csv", "--family", "x=unknown"])
    assert found.exit_code == 0, found.output
    assert "Compiling this kind of problem for this machine" in found.stderr


SHARES = "opt,n,cured,strength,strength_se\nA,30,0.5,5,0.3\nB,30,0.2667,6,0.3\nC,30,{},8,0.3\n"


@pytest.mark.parametrize("family", [None, {"cured": "bernoulli"}, {"cured": "poisson"}])
def test_rounded_shares_are_the_counts_that_they_were(family, tmp_path):
    found = px.analyse(write(tmp_path / "t.csv", SHARES.format("0.3333")), family=family)
    assert [arm.mean[0] for arm in found.arms] == pytest.approx([0.5, 8 / 30, 1 / 3], abs=1e-12)
    assert "Rounded means of cured are taken for counts: 0.2667 for 8 of 30, 0.3333 for 10 of 30." in found.notes
    whole = px.analyse(write(tmp_path / "u.csv", SHARES.format("0.4").replace("0.2667", "0.3")), family=family)
    assert not [note for note in whole.notes if "Rounded" in note]


@pytest.mark.parametrize("family", [None, "bernoulli", "poisson", "unknown"])
def test_a_share_of_no_whole_number_says_which_row(family, tmp_path):
    path = write(tmp_path / "t.csv", SHARES.format("0.35"))
    given = None if family is None else {"cured": family}
    with pytest.raises(InputError) as error:
        px.analyse(path, family=given)
    words = str(error.value)
    if family != "unknown":
        assert "line 4: cured of 'C'" in words and "got 0.35 = 10.5 of 30" in words
        assert "the nearest is 0.333333 (10 of 30) or 0.366667 (11 of 30)" in words
    if family in (None, "unknown"):
        assert "spreads of 'cured' must be given beside its means, as a column 'cured_sd'" in words
    # What is advised is looked at.
    assert px.analyse(path, family={"cured": "gaussian(0.2)"}).arms[2].mean[0] == pytest.approx(0.35)


def test_a_share_that_could_be_two_counts_is_asked_for(tmp_path):
    path = write(tmp_path / "t.csv", SHARES.replace("C,30", "C,31").format("0.5"))
    with pytest.raises(InputError, match=r"could be .* or 0.483871 \(15 of 31\) or .*: give it with more digits"):
        px.analyse(path, family={"cured": "bernoulli"})


def test_means_of_counts_are_poisson_only_where_they_can_be(tmp_path):
    text = "opt,n,faults\nA,3,3.33\nB,3,5\n"
    with pytest.raises(InputError, match="faults=poisson"):
        px.analyse(write(tmp_path / "t.csv", text))
    assert px.analyse(write(tmp_path / "t.csv", text), family="poisson").arms[0].mean[0] == pytest.approx(10 / 3)
    with pytest.raises(InputError, match=r"faults=gaussian\(VARIANCE\)"):
        px.analyse(write(tmp_path / "t.csv", text.replace("3.33", "3.4")))


def test_a_line_of_units_is_read_as_units_in_the_header(tmp_path):
    rows = "".join(f"{'ab'[k % 2]};{1 + k % 2 + k * k % 7 / 10};{k % 5}\n" for k in range(40))
    below = px.analyse(write(tmp_path / "b.csv", f"arm;strength;time / s\n;[MPa];s\n{rows}"), minimise="time")
    beside = px.analyse(write(tmp_path / "h.csv", f"arm;strength [MPa];time / s\n{rows}"), minimise="time")
    assert below.objectives == beside.objectives == ("strength [MPa]", "time / s")
    assert below.to_document()["arms"] == beside.to_document()["arms"] and "Line 2 is taken for units" in below.notes[0]
    assert below.states == px.analyse(tmp_path / "b.csv", objectives=["strength", "time"], minimise="time").states
    axes = below.plot().axes[0]
    assert "strength [MPa]" in axes.get_xlabel() + axes.get_ylabel()


def test_units_below_stand_beside_counts_and_spreads_too(tmp_path):
    text = "arm,n,gain,gain_sd\n,runs,g,g\na,5,1,0.5\nb,6,2,0.4\n"
    found = px.analyse(write(tmp_path / "t.csv", text))
    assert found.objectives == ("gain [g]",) and [arm.n for arm in found.arms] == [5, 6]
