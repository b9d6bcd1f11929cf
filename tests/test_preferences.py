"""Statements about pairs of outcomes, the cone they make, and the dialogue."""

import json
import re
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.optimize import linprog, nnls
from typer.testing import CliRunner

import prepex as px
from prepex import ClashError, Cone, Dialogue, InputError, better, document, neither
from prepex.agreement import fitted
from prepex.cli import app
from prepex.labels import Labels
from prepex.preferences import find_clash, in_words
from prepex.units import Units


def clashes(d):
    """By its definition: a sum of the differences that is nowhere positive."""
    n, L = d.shape
    found = linprog(np.zeros(n), A_ub=d.T, b_ub=np.zeros(L), A_eq=np.ones((1, n)), b_eq=[1.0])
    return found.status == 0


def test_the_cone_is_the_smallest_that_agrees():
    rng = np.random.default_rng(1)
    for _ in range(40):
        L, n = int(rng.integers(2, 5)), int(rng.integers(1, 5))
        d = rng.normal(size=(n, L)) + 0.4
        said = [better(row, np.zeros(L)) for row in d]
        names = tuple(f"q{k}" for k in range(L))
        if clashes(d):
            with pytest.raises(ClashError):
                Cone.from_preferences(names, said)
            continue
        cone = Cone.from_preferences(names, said)
        for row in [*np.eye(L), *d]:
            assert cone.dominates(row, np.zeros(L))
        # A point is in it iff it is a sum of what was said and more of something.
        for x in rng.normal(size=(10, L)):
            sums = linprog(np.zeros(n), A_ub=d.T, b_ub=x).status == 0
            assert cone.contains(x) == sums


def test_a_clash_is_named_by_a_set_with_nothing_to_spare():
    rng = np.random.default_rng(2)
    seen = 0
    for _ in range(60):
        L = int(rng.integers(2, 4))
        d = rng.normal(size=(6, L)) + 0.25
        said = [better(tuple(row), (0.0,) * L) for row in d]
        found = find_clash(said, d)
        assert bool(found) == clashes(d)
        if found:
            seen += 1
            assert clashes(d[list(found)])
            smallest = next(n for n in range(1, 7) if any(clashes(d[list(s)]) for s in combinations(range(6), n)))
            assert len(found) == smallest
    assert seen > 5


def test_units_of_any_size_and_signs():
    said = [better((60e6, 15e-6), (55e6, 12e-6))]
    cone = Cone.from_preferences(("strength", "cost"), said, minimise=("cost",))
    assert cone.dominates(np.array([60e6, -15e-6]), np.array([55e6, -12e-6]))
    assert not cone.dominates(np.array([60e6, -16e-6]), np.array([55e6, -12e-6]))
    turned = cone.ordered(("cost", "strength"))
    assert turned.statements[0].one == (15e-6, 60e6)
    assert turned.dominates(np.array([-15e-6, 60e6]), np.array([-12e-6, 55e6]))


def test_factors_of_a_lognormal_objective():
    cone = Cone.from_preferences(("gain", "time"), [better((2.0, 4.0), (1.0, 1.0))], minimise=("time",), logs=("time",))
    assert cone.contains([1.0, -np.log(4.0)]) and not cone.contains([1.0, -np.log(4.1)])
    with pytest.raises(InputError, match="must be positive"):
        Cone.from_preferences(("gain", "time"), [better((2.0, 0.0), (1.0, 1.0))], logs=("time",))


REFUSED = [
    (["x"], "statement 1 must be a Statement"),
    ("better", "statements must be a list"),
    ([better((1, 2), (1, 2))], "two different outcomes"),
    ([better((1, 2, 3), (1, 2, 4))], "statement 1 must have shape"),
    ([better({"a": 1}, {"a": 2})], "statement 1 must have 'a', 'b', got no 'b'"),
    ([better((0, 0), (1, 1))], r"statement 1: .* says that what is worse in everything is better: take it back"),
    ([better((0, 1), (1, 1))], "says that what is worse wherever the two differ is better"),
    ([neither((1, 1), (0, 0))], "settled by the objectives"),
    ([better((1, 0), (0, 1)), neither((2, 0), (0, 2))], "contradict each other"),
]


@pytest.mark.parametrize(("said", "words"), REFUSED, ids=str)
def test_what_cannot_be_said(said, words):
    with pytest.raises(InputError, match=words):
        Cone.from_preferences(("a", "b"), said)


def test_worse_in_everything_is_more_of_a_cost():
    with pytest.raises(InputError, match="what is worse in everything"):
        Cone.from_preferences(("strength", "cost"), [better((50, 20), (60, 10))], minimise=("cost",))


def test_words_of_cones():
    assert (
        Cone.angle(60).words(("a", "b")).startswith("More a alone is not better: for 1 it takes at least 0.268 more b.")
    )
    three = Cone.tradeoffs(("a", "b", "c"), px.one("a").is_worth(at_least=3, of="c"))
    assert three.words(minimise=()) == "Accepts up to 3 less c for 1 more a. Nothing else is given up."
    assert in_words(neither((1.0,), (2.0,)), ("x",)) == "neither of (x 1) and (x 2) is clearly better"


FLIGHTS = ("speed", "range", "price")


def test_words_say_what_several_objectives_are_exchanged_for_together():
    """Pairs alone would call it the usual order, which it is not."""
    said = [better((10, 50, 5), (9, 60, 6))]
    cone = Cone.from_preferences(FLIGHTS, said, minimise=("price",))
    assert cone.words() == "Accepts up to 10 less range for 1 more speed together with 1 less price."
    more = [*said, better((10, 50, 5), (11, 40, 8)), better((8, 70, 5.5), (10, 50, 5))]
    words = Cone.from_preferences(FLIGHTS, more, minimise=("price",)).words()
    assert "Accepts up to 0.1 less speed for 1 more range." in words and "Nothing else" not in words
    assert "Accepts up to 0.1 less speed together with 0.025 more price for 1 more range." in words
    even = Cone.from_facets([[1, 0.2, 0.2], [0.2, 1, 0.2], [0.2, 0.2, 1]]).words("abc", minimise=())
    assert even.count("together") == 3
    assert even.endswith("Accepts up to 0.167 less a together with 0.167 less b for 1 more c.")
    wide = Cone.from_facets(np.eye(8) + 0.02).words()
    assert "And 2 more of this kind." in wide and " together for 1 more objective 0." in wide


def test_words_of_cones_without_the_objectives_themselves():
    """More of one alone need not be better: what comes with it is said only where that is enough."""
    narrow = Cone.from_facets([[1, -0.2, -0.2], [-0.2, 1, -0.2], [-0.2, -0.2, 1]]).words("abc")
    assert "at least" not in narrow and "Better is also 1 more a together with 0.25 more b" not in narrow
    assert "Better is also 1 more a, 0.25 more b and 0.25 more c together." in narrow
    slit = Cone.from_rays([[-0.2, 1.0], [-0.1, 1.0]]).words("ab")
    assert "Accepts 0.2 less a for 1 more b. Accepts 0.1 less a for 1 more b." in slit


def test_words_are_the_whole_cone():
    """Whatever a random cone calls better is made up of what its words say."""
    from prepex.cone_words import AS_GOOD, NOTHING_ELSE

    rng = np.random.default_rng(3)
    for _ in range(60):
        L = int(rng.integers(2, 5))
        rows = rng.random((L, L)) * (rng.random((L, L)) < 0.5) + np.eye(L)
        cone = Cone.from_facets(rows)
        words = cone.words(minimise=())
        pairs = list(np.eye(L))
        for a, b in permutations(range(L), 2):
            ends = [0.0, 1e6]
            while ends[1] - ends[0] > 1e-10 * max(ends[1], 1e-3):
                middle = sum(ends) / 2
                ends[not cone.contains(np.eye(L)[a] - middle * np.eye(L)[b])] = middle
            pairs.append(np.eye(L)[a] - ends[0] * np.eye(L)[b])
        made_up = all(nnls(np.array(pairs).T, ray)[1] < 1e-5 for ray in cone.rays)
        assert (words == AS_GOOD) == (cone.rays.min() > -1e-9)
        assert ("together" in words) == (not made_up)
        assert made_up or NOTHING_ELSE not in words


def test_words_of_many_statements(monkeypatch):
    """Facets may be so many and so close that no hull of them is found: what was said is known without."""
    from scipy.spatial import QhullError

    from prepex.cone_words import AS_GOOD, NOT_LISTED

    rng, n_made = np.random.default_rng(0), 0
    while n_made < 80:
        L = int(rng.integers(2, 7))
        names, unit = tuple(f"o{q}" for q in range(L)), 10.0 ** rng.uniform(-4, 4, L)
        pairs = [sorted(rng.random((2, L)).round(2), key=lambda x: -x.sum()) for _ in range(rng.integers(1, 9))]
        try:
            cone = Cone.from_preferences(names, [better(a * unit, b * unit) for a, b in pairs])
        except InputError:
            continue
        n_made += 1
        words = cone.words()
        assert (words == AS_GOOD) == all((a >= b).all() for a, b in pairs)
        assert document.cone(document.of_cone(cone)).words(names, minimise=())

    def fails(rows):
        raise QhullError("too close")

    monkeypatch.setattr("prepex.cone_words.dual_rays", fails)
    words = Cone.from_facets([[1, 0.2, 0.2], [0.2, 1, 0.2], [0.2, 0.2, 1]]).words("abc", minimise=())
    assert words.endswith(NOT_LISTED) and "Nothing else" not in words
    assert Cone.orthant(3).words() == AS_GOOD


def test_words_of_any_units():
    """In these units the rate is no more than rounding, and rounding would be a rate."""
    cone = Cone.from_preferences(("strength", "cost"), [better((60e6, 15e-6), (55e6, 12e-6))], minimise=("cost",))
    words = "Accepts up to 6e-13 more cost for 1 more strength. Nothing else is given up."
    assert cone.words() == cone.ordered(("cost", "strength")).words() == words


def test_a_cone_is_described_with_the_signs_that_it_was_made_with():
    from prepex.plot import draw_cone

    names, turned = ("strength", "cost"), "Every objective is counted so that more is better."
    cone = Cone.from_preferences(names, [better((60, 15), (55, 12))], minimise=("cost",))
    words = "Accepts up to 0.6 more cost for 1 more strength. Nothing else is given up."
    assert cone.words() == cone.words(minimise=("cost",)) == cone.words(minimise=(1,)) == words
    assert cone.words(("Festigkeit", "Preis")).startswith("Accepts up to 0.6 more Preis for 1 more Festigkeit.")
    assert cone.minimise == cone.ordered(("cost", "strength")).minimise == ("cost",)
    assert f"{words} Below, every objective is counted so that more is better." in cone._repr_html_()
    # Read from a document it has no names and no signs, until it meets objectives that have them.
    read = document.cone(document.of_cone(cone))
    assert read.words(names).endswith(turned)
    assert fitted(read, Labels.make((2, 2), objectives=names, minimise=("cost",)), Units()).words() == words
    rates = Cone.tradeoffs(names, px.one("strength").is_worth(at_least=2, of="cost"))
    assert rates.words() == f"Accepts up to 2 less cost for 1 more strength. Nothing else is given up. {turned}"
    assert rates.words(minimise=("cost",)).startswith("Accepts up to 2 more cost") and turned in rates._repr_html_()
    for made, given, low in ((cone, {}, -1.0), (cone, {"minimise": ()}, 0.0), (rates, {"minimise": "cost"}, -1.0)):
        figure = draw_cone(made, **given)
        better_at = next(text for text in figure.axes[0].texts if text.get_text() == "better").xy
        assert (better_at[1] < 0.0) == (low < 0.0) and figure.get_suptitle() == ""
    assert draw_cone(rates).get_suptitle() == turned
    with pytest.raises(InputError, match="minimise"):
        draw_cone(rates, minimise=("costs",))


def test_better_and_worse_stand_apart_in_pictures_of_wide_cones():
    from prepex.plot import draw_cone

    for degrees in (20, 90, 150, 179.9):
        cone = Cone.angle(degrees)
        places = re.findall(r'<text x="(-?\d+)" y="(-?\d+)">(?:better|worse)', cone._repr_html_())
        (x, y), (a, b) = [(int(across), int(up) - 3) for across, up in places]
        assert x > 15 and y < -15 and a < -15 and b > 15
        texts = {text.get_text(): text.xy for text in draw_cone(cone).axes[0].texts}
        assert min(texts["better"]) > 0.2 and max(texts["worse"]) < -0.2
        assert not cone.contains(texts["neither"]) and not cone.contains(-np.array(texts["neither"]))


def hidden(rng, L):
    tilt = rng.uniform(0.1, 0.5, (L, L))
    np.fill_diagonal(tilt, 0.0)
    return Cone.from_facets(np.eye(L) + tilt)


@pytest.mark.parametrize("L", [2, 3])
def test_the_dialogue_reaches_the_hidden_cones_set(L):
    rng = np.random.default_rng(L)
    for _ in range(3):
        x = np.abs(rng.normal(size=(10, L)))
        means, cone = x / np.linalg.norm(x, axis=1, keepdims=True), hidden(rng, L)
        talk, asked = Dialogue(means), 0
        while (pair := talk.question()) is not None:
            i, j = (talk.labels.arms.index(name) for name in pair)
            says = (
                "left"
                if cone.dominates(means[i], means[j])
                else "right"
                if cone.dominates(means[j], means[i])
                else "neither"
            )
            before = set(talk.left)
            talk.say(*pair, says)
            asked += 1
            assert set(pair) <= before and set(talk.left) <= before
        assert {talk.labels.arms.index(name) for name in talk.left} == set(np.flatnonzero(cone.pareto_mask(means)))
        assert asked <= 45


def test_a_contradiction_is_not_kept_and_can_be_taken_back():
    talk = Dialogue([[3, 0], [2, 2], [0, 3]], arms=("a", "b", "c"))
    talk.say("a", "c", "left")
    with pytest.raises(ClashError) as caught:
        talk.say("a", "c", "right")
    assert caught.value.statements == (0, 1) and len(talk.statements) == 1
    talk.take_back(0)
    talk.say("a", "c", "right")
    assert "a" not in talk.left
    with pytest.raises(InputError, match="answer must be"):
        talk.say("a", "b", "both")
    talk.take_back()
    with pytest.raises(InputError, match="to take back, got none"):
        talk.take_back()


def test_a_study_keeps_statements_and_its_certificate_is_right(tmp_path):
    from prepex.study.check import check

    cone = Cone.from_preferences(
        ("gain", "cost"), [better((2, 3), (1, 1)), neither((9, 99), (1, 1))], minimise=("cost",)
    )
    given = {"family": px.Gaussian(variance=0.01), "minimise": ("cost",), "cone": cone, "delta": 0.1}
    study = px.Study.create(tmp_path / "s.db", "s", arms=("a", "b"), objectives=("gain", "cost"), **given)
    assert study.picture()["design"]["cone"] == "preferences(gain, cost)"
    while not study.done:
        for ticket in study.ask(2):
            study.tell(ticket.token, [3.0, 2.0] if ticket.arm == "a" else [1.0, 1.0])
    written = study.certificate()
    said = written["settings"]["cone"]["statements"]
    assert said[0] == {"one": [2.0, 3.0], "other": [1.0, 1.0], "clear": True} and said[1]["clear"] is False
    study.export(tmp_path / "log")
    lines = (tmp_path / "log").read_text().splitlines(keepends=True)
    assert check(json.dumps(written), lines).ok
    # A pair of other numbers is another document.
    said[0]["one"][0] = "2"
    assert not check(json.dumps(written), lines).ok


def test_the_command_asks_saves_and_is_used(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("design,speed,cost\nA,4,3\nB,3,1\nC,1,0.5\n")
    options = ["cone", "t.csv", "--minimise", "cost"]
    run = CliRunner().invoke(app, [*options, "--save", "mine.json", "--plot", "c.png"], input="x\nn\nu\nl\nl\nl\n")
    assert run.exit_code == 0, run.output
    assert "Which would you rather have" in run.output and "Your cone: " in run.output and "Taken back" in run.output
    assert (tmp_path / "c.png").stat().st_size > 3000
    again = CliRunner().invoke(app, [*options, "--statements", "mine.json"], input="s\n")
    assert again.exit_code == 0, again.output
    used = CliRunner().invoke(app, ["pareto", "t.csv", "--minimise", "cost", "--cone", "file:mine.json"])
    assert used.exit_code == 0 and "preferences(speed, cost)" in used.output
    bad = CliRunner().invoke(app, ["pareto", "t.csv", "--cone", "file:t.csv"])
    assert bad.exit_code == 2 and "must be a file that `prepex cone --save` wrote" in bad.output


def test_pictures_of_cones():
    from prepex.plot import draw_cone

    assert len(draw_cone(Cone.orthant(3)).axes) == 1
    assert draw_cone(Cone.angle(100), ("a", "b"), minimise=("b",)).axes[0].get_ylabel() == "change of b"
    with pytest.raises(InputError, match="2 or 3 objectives"):
        draw_cone(Cone.orthant(4))


def test_a_cone_of_the_dialogue_is_taken_by_the_table_with_its_units(tmp_path, monkeypatch):
    """Units in brackets are part of a column's name in one place, and may be left out in another."""
    options = (("a", 1, 5), ("b", 2, 3), ("c", 9, 1))
    rows = [f"{name},{x + 0.1 * k},{y + 0.1 * k}" for k in range(8) for name, x, y in options]
    (tmp_path / "t.csv").write_text("option,gain [kg],ease\n" + "\n".join(rows) + "\n")
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(app, ["cone", "t.csv", "--save", "mine.json"], input="l\nl\nl\nl\nl\ns\n")
    assert run.exit_code == 0, run.output
    for cone, name in (("file:mine.json", "preferences"), ("tradeoffs:gain=0.5..2 ease", "tradeoffs")):
        run = CliRunner().invoke(app, ["analyse", "t.csv", "--cone", cone, "--format", "json"])
        assert run.exit_code == 0, run.output
        run = CliRunner().invoke(app, ["analyse", "t.csv", "--cone", cone])
        assert f"Asked: cone {name}(gain [kg], ease)" in " ".join(run.output.split()), run.output


def test_a_cone_goes_only_with_the_signs_and_scales_that_it_was_made_with(tmp_path):
    """Statements keep their units: with other signs or scales the cone would contradict them."""
    names, said = ("strength", "cost"), [better((60, 15), (55, 12)), neither((70, 30), (55, 12))]
    cone = Cone.from_preferences(names, said, minimise=("cost",))
    factors = Cone.from_preferences(names, said[:1], minimise=("cost",), logs=names)
    gauss = px.Gaussian(variance=1.0)
    one, other = ("a", "b"), ("cost", "strength")
    for order in (names, other):
        assert px.Experiment(one, order, family=gauss, cone=cone, minimise=("cost",)).fixed.cone.statements
        assert px.Experiment(one, order, family=px.LogNormal(), cone=factors, minimise=("cost",))
    for given in (
        {"cone": cone, "family": gauss},
        {"cone": cone, "family": gauss, "minimise": ("strength",)},
        {"cone": cone, "family": gauss, "minimise": names},
        {"cone": cone, "family": px.LogNormal(), "minimise": ("cost",)},
        {"cone": factors, "family": gauss, "minimise": ("cost",)},
    ):
        means = [[60.0, 15.0], [55.0, 12.0]]
        with pytest.raises(InputError, match=r"must be used with the minimise, and the logs .*'.*strength \d0, cost"):
            px.Experiment(one, names, **given)
        with pytest.raises(InputError, match="must be used with the minimise"):
            px.Study.create(tmp_path / "s.db", "s", arms=one, objectives=names, **given)
        with pytest.raises(InputError, match="must be used with the minimise"):
            px.Problem(means, objectives=names, **given)
        with pytest.raises(InputError, match="must be used with the minimise"):
            px.evidence(means, [5, 5], objectives=names, **given)
    study = px.Study.create(tmp_path / "s.db", "s", arms=one, objectives=names, family=gauss)
    with pytest.raises(InputError, match="must be used with the minimise"):
        study.under(cone)
    # Without a statement it is the usual order, and no rate depends on a sign.
    px.Experiment(one, names, family=gauss, cone=Cone.from_preferences(names, (), minimise=("cost",)))
    # A pilot's signs count when only its cone is changed.
    pilot = px.Experiment(one, names, family=gauss, minimise=("cost",), threshold="heuristic")
    for _ in range(3):
        pilot.tell("a", [60.0, 15.0])
        pilot.tell("b", [40.0, 15.0])
    assert px.plan(pilot, cone=cone, n_runs=20)


def test_a_cone_lists_the_objectives_of_what_it_is_given_to():
    made = Cone.tradeoffs(("a", "b"), px.one("a").is_worth(at_least=2, of="b"))
    for name in ("tradeoffs(x)", "preferences(foo, bar)"):
        with pytest.raises(InputError, match="name of a cone must list these objectives, a, b"):
            px.Experiment(2, ("a", "b"), family=px.Gaussian(variance=1.0), cone=Cone(made.facets, name))


def test_any_cone_from_preferences_is_taken_with_its_own_signs_whatever_the_units_and_order():
    rng = np.random.default_rng(5)
    n_made = 0
    while n_made < 60:
        L = int(rng.integers(2, 5))
        names, unit = tuple(f"o{q}" for q in range(L)), 10.0 ** rng.uniform(-4, 4, L)
        costs = tuple(name for name in names if rng.random() < 0.5)
        signs = np.array([-1.0 if name in costs else 1.0 for name in names])
        pairs = [sorted(rng.random((2, L)), key=lambda x: -(x * signs).sum()) for _ in range(rng.integers(1, 7))]
        said = [(better if rng.random() < 0.7 else neither)(a * unit, b * unit) for a, b in pairs]
        try:
            cone = Cone.from_preferences(names, said, minimise=costs)
        except ClashError:
            continue
        n_made += 1
        order = tuple(rng.permutation(names).tolist())
        px.Experiment(2, order, family=px.Gaussian(variance=1.0), cone=cone, minimise=costs)
        others = tuple(name for name in names if name not in costs)
        if any(entry.clear for entry in said) and cone.facets.min(axis=1).max() > 1e-6:
            with pytest.raises(InputError, match="must be used with the minimise"):
                px.Experiment(2, order, family=px.Gaussian(variance=1.0), cone=cone, minimise=others)


def test_the_signs_and_scales_of_a_saved_cone_are_those_of_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PREPEX_STORAGE", raising=False)
    (tmp_path / "t.csv").write_text("design,speed,cost\nA,4,3\nB,3,1\nC,1,0.5\n")
    asked = ["cone", "t.csv", "--minimise", "cost"]
    assert CliRunner().invoke(app, [*asked, "--save", "mine.json"], input="l\nl\nl\n").exit_code == 0
    scaled = ["--log", "speed", "--log", "cost"]
    run = CliRunner().invoke(app, [*asked, *scaled, "--save", "logs.json"], input="l\nl\nl\n")
    assert run.exit_code == 0 and "differences of logarithms" in run.output, run.output
    assert json.loads((tmp_path / "logs.json").read_text())["logs"] == ["speed", "cost"]
    create = ["study", "create", "s", "--arm", "A", "--arm", "B", "--objective", "speed"]
    create += ["--objective", "cost", "--cone"]
    least = ["--family", "speed=lognormal", "--family", "cost=lognormal", "--minimise", "cost"]
    for words in (
        ["pareto", "t.csv", "--cone", "file:mine.json"],
        ["pareto", "t.csv", "--minimise", "speed", "--cone", "file:mine.json"],
        ["pareto", "t.csv", "--minimise", "cost", "--cone", "file:logs.json"],
        ["cone", "t.csv", "--statements", "mine.json"],
        [*asked, *scaled, "--statements", "mine.json"],
        [*create, "file:mine.json", "--minimise", "speed"],
        [*create, "file:mine.json", *least],
    ):
        found = CliRunner().invoke(app, words)
        assert found.exit_code == 2 and "must be used with the minimise" in found.output, (words, found.output)
    again = CliRunner().invoke(app, [*asked, *scaled, "--statements", "logs.json"], input="s\n")
    assert again.exit_code == 0, again.output
    made = CliRunner().invoke(app, [*create, "file:logs.json", *least])
    assert made.exit_code == 0, made.output


def test_the_check_compares_statements_and_names_with_the_cone(tmp_path):
    """A log whose hashes are right, but whose statements are not those of its cone."""
    from benchmarks.mutations import sealed
    from prepex.study.check import check

    names, said = ("strength", "cost"), [better((60, 15), (55, 12)), neither((70, 30), (55, 12))]
    given = {"family": px.Gaussian(variance=0.01), "minimise": ("cost",), "delta": 0.1}
    cone = Cone.from_preferences(names, said, minimise=("cost",))
    study = px.Study.create(tmp_path / "s.db", "s", arms=("a", "b"), objectives=names, cone=cone, **given)
    while (ticket := study.ask()) is not None:
        study.tell(ticket, [60.0, 13.0] if ticket.arm == "a" else [50.0, 12.0])
    study.export(tmp_path / "log")
    events = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    right = study.certificate()
    held, forged = right["settings"]["cone"]["statements"], []
    forged += [{"statements": [{"one": [1.0, 9.0], "other": [5.0, 1.0], "clear": True}]}]
    forged += [{"statements": [held[0] | {"one": held[0]["other"], "other": held[0]["one"]}, held[1]]}]
    forged += [{"statements": [{"one": [1.0, 1.0], "other": [1.0, 1.0], "clear": True}]}]
    forged += [{"statements": [held[0], held[0] | {"clear": False}]}, {"name": "preferences(foo, bar)"}]
    forged += [{"name": "preferences(cost, strength)"}, {"name": "tradeoffs(x)"}]
    for place, change in enumerate([{}, *forged]):
        other = json.loads(json.dumps(events))
        other[0]["data"]["settings"]["cone"] |= change
        lines = sealed(other, 0)
        written = json.loads(json.dumps(right))
        written["settings"]["cone"] |= change
        written["log"]["hash"] = json.loads(lines[written["log"]["events"] - 1])["hash"]
        (tmp_path / "forged").write_text("".join(lines))
        assert check(json.dumps(written)).ok == check(json.dumps(written), lines).ok == (not change), change
        if change:
            with pytest.raises(InputError, match="got one that is not"):
                px.Study.restore(tmp_path / f"{place}.db", tmp_path / "forged")
        else:
            px.Study.restore(tmp_path / f"{place}.db", tmp_path / "forged")


def test_words_of_a_cone_of_many_facets_are_quick():
    """Of its rays there may be millions: they are not looked for."""
    cone = Cone.from_facets(np.abs(np.random.default_rng(0).normal(size=(60, 10))))
    assert "Several objectives may be exchanged together, too." in cone.words()
