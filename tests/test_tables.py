"""Tables in text files: read as they are meant, or refused in words; never read in a way that was not meant."""

import random

import pytest

from prepex import Bernoulli, Gaussian, InputError, Study
from prepex.instances import read_table
from prepex.instances.table import parse_table
from prepex.labels import Labels
from prepex.study.ingest import read_outcomes
from prepex.tables import parse_sheet, plain_number


@pytest.fixture
def study(tmp_path):
    given = {"arms": ("a", "b"), "objectives": ("x", "y"), "family": Gaussian(variance=1.0)}
    return Study.create(tmp_path / "x.db", "trial", **given)


@pytest.fixture
def put(study, tmp_path):
    """Import a text; what was told, in order."""

    def put(text, **options):
        path = tmp_path / "old.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        study.import_csv(path, **options)
        labels = study._session.state.experiment.labels
        return [
            (labels.arms[event.data["arm"]], *(event.data["outcome"][name] for name in labels.objectives))
            for event in study.events()
            if event.kind == "imported"
        ]

    return put


WANTED = [("a", 1.5, -2.0), ("b", 0.25, 3000.0)]


@pytest.mark.parametrize(
    "text",
    [
        "arm,x,y\na,1.5,-2\nb,.25,3e3\n",
        "arm;x;y\na;1.5;-2\nb;.25;3e3\n",
        "arm\tx\ty\na\t1.5\t-2\nb\t.25\t3e3\n",
        "arm;x;y\na;1,5;-2\nb;,25;3000,\n",  # decimal commas
        "arm\tx\ty\na\t1,5\t-2\nb\t0,25\t3e3\n",
        '"arm";"x";"y"\n"a";"1,5";"-2"\nb;0,25;"3000"\n',
        "\ufeffarm,x,y\r\na,1.5,-2\r\n\r\nb,+0.25,3000.\r\n",
        "arm,x,y\ra,1.5,-2\rb,0.25,3000",  # line ends of old
        "# from the lab\n\n#second comment\narm , x,y\n a, 1.5 ,-2\nb,0.25,3000\n\n\n",
        'y,note,"x",arm\n-2,"two\nlines, ""quoted""",1.5,a\n3000,,0.25,b\n',
        "arm;x;y;;\na;1.5;-2;;\nb;0.25;3000;;\n;;;;\n",  # what a spreadsheet leaves behind
        ",arm,x,y\n0,a,1.5,-2\n1,b,0.25,3000\n",  # the row numbers of pandas
        "arm;x;y;note, if any\na;1.5;-2;1,5\nb;0.25;3000;\n",
        "arm,x,y,n\na,1.5,-2,1\nb,0.25,3000,1.0\n",
    ],
)
def test_one_meaning_in_many_hands(put, text):
    assert put(text) == WANTED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "arm,x,y\na,1,5,2\n",
            "line 2: must have 3 columns as the header, got 4: is 1,5 a decimal comma? Write 1.5, or",
        ),
        ("arm,x,y\na,1,2\nb,1,2,\n", "line 3: must have 3 columns as the header, got 4"),
        ("arm,x,y\nx, or y,1,2\n", "; put a name that has a comma in quotes"),
        ("arm,x,y\nx, or y,p,q\n", "got 4: put a name that has a comma in quotes"),
        ("arm;x;y\na;1;2;3\n", "line 2: must have 3 columns as the header, got 4"),
        ("arm;x;y\na,1,2\n", "line 2: must have 3 columns as the header, got 1: is a cell missing? The semicolons"),
        ("arm,x,y,x\na,1,2,3\n", "line 1: columns must be different from each other, got 'x' 2 times"),
        ("# c\n\narm,x, x ,y\na,1,2,3\n", "line 3: columns must be different from each other, got 'x' 2 times"),
        ("arm,x,y\na,1_000,2\n", "line 2: x must be a number such as 0.31, in plain digits, got '1_000'"),
        ("arm,x,y\na,1,\u0661\u0662\n", "line 2: y must be a number such as 0.31, in plain digits, got '\u0661\u0662'"),
        ("arm,x,y\na,1,\uff11\n", "line 2: y must be a number"),
        ("arm,x,y\na,1,\u22121\n", "line 2: y must be a number"),
        ("arm,x,y\na,1,0x10\n", "line 2: y must be a number"),
        ("arm,x,y\na,1,inf\n", "line 2: y must be a number"),
        ("arm,x,y\na,1,2 mg\n", "line 2: y must be a number"),
        ("arm,x,y\na,1,1.000.000\n", "line 2: y must be a number"),
        ("arm,x,y\na,1,True\n", "line 2: y must be a number"),
        ("arm,x,y\na,1,1e400\n", "line 2: outcome 'y' must be finite"),
        ("arm,x,y\na,1,1e101\n", "line 2: outcome 'y' must be at most 1e+100"),
        ("arm,x,y\na,1,2\n\n\nb,,3\n", "line 5: x must be a number, got an empty cell: fill it in, or remove the line"),
        ("arm,x,y\n,1,2\n", "line 2: arm must be one of 'a', 'b', got ''"),
        (
            'arm,x,y\na,"1,5",2\n',
            "line 2: x must be a number with a decimal point and no separator of thousands, got '1,5'",
        ),
        ('arm,x,y\na,"1,500.5",2\n', "line 2: x must be a number"),
        ("arm;x;y\na;1,500;2\nb;2,250;3\n", "line 2: x must be clear: is '1,500' 1.500 or 1500? Write one of these"),
        ("arm;x;y\na;1,5;2\nb;2.5;3\n", "line 3: x must have the decimal mark of line 2, which has '1,5', got '2.5'"),
        ("arm;x;y\na;1;2.5\nb;2,5;3\n", "line 3: x must have the decimal mark of line 2, which has '2.5', got '2,5'"),
        ("arm;x;y\na;1.234,5;2\n", "line 2: x must be a number"),
        ('arm,x,y\na,1,2\nb,"1,2\na,3,4\n', "line 3: must be cells separated by commas, got one that cannot be read"),
        ('arm,x,y\n"a"b,1,2\n', "line 2: must be cells separated by commas"),
        (
            "arm,x,y\na,1," + "9" * 200_000 + "\n",
            "line 2: must be cells separated by commas, got one that cannot be read",
        ),
        ("arm,x,y\na,1,2\nb,\0,3\n", "line 3: must be text, got a NUL character"),
        (b"arm,x,y\na,1,2\nb\xe4,1,3\n", "line 3: "),
        ("arm,x,y\n".encode("utf-16"), "save it as 'CSV UTF-8'"),
        ("arm,x,y\n#a,1,2\nb,1,2\n", "line 2: must not begin with '#', got '#a': comments stand above the header"),
        ("# only\n#comments\n", "must have a header line, got an empty file"),
        ("arm,x,z\na,1,2\n", "must have a column 'y', got arm, x, z"),
    ],
)
def test_what_is_not_clear_is_refused_and_changes_nothing(study, put, text, message):
    before = study.head()
    with pytest.raises(InputError) as caught:
        put(text)
    assert message in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 500
    assert study.head() == before and study.status().events == 1


def test_an_import_that_fails_late_changes_nothing(study, put):
    """The single outcomes enter before the summary, which comes too soon, is refused."""
    before = study.head()
    with pytest.raises(InputError, match="line 3: a summary must come"):
        put("arm,x,y,n\na,1,2,1\nb,1,2,5\n")
    assert study.head() == before and study.status().n_pulls == 0 and study.verify().ok


def test_names_with_spaces_around_them_are_found(tmp_path):
    given = {"arms": (" a", "b"), "objectives": ("x ", "y"), "family": Bernoulli()}
    study = Study.create(tmp_path / "x.db", "trial", **given)
    (tmp_path / "old.csv").write_text("arm,x,y\na,1,0\n")
    assert study.import_csv(tmp_path / "old.csv") == 1 and study.status().counts == {" a": 1, "b": 0}
    with pytest.raises(InputError, match="must be columns of their own, got 'x' 2 times"):
        study.import_csv(tmp_path / "old.csv", arm="x")
    given["arms"] = ("a", "a ")
    with pytest.raises(InputError, match="more than spaces"):
        Study.create(tmp_path / "x.db", "other", **given)


def test_a_name_that_begins_like_a_comment_is_put_in_quotes():
    assert parse_sheet('arm,x\n"#1",2\n', "file").rows[0].cells == ("#1", "2")


def test_a_separator_in_a_quoted_header_does_not_count():
    sheet = parse_sheet('"speed; km/h; max";arm\n1,5;a\n', "file")
    assert sheet.columns == ("speed; km/h; max", "arm") and sheet.numbers(sheet.columns[:1]) == [[1.5]]


def test_tables_of_means_are_read_by_the_same_rules(tmp_path):
    path = tmp_path / "means.csv"
    path.write_text("name;x;y\na;1,5;2\nb;0,25;3\n")
    assert read_table(path).means.tolist() == [[1.5, 2.0], [0.25, 3.0]]
    for text in ("name,x\na,1_000\nb,2\n", "name,x\na,\u0661\nb,2\n", "name,x\na,1,5\nb,2\n"):
        path.write_text(text)
        with pytest.raises(InputError, match="line 2: "):
            read_table(path)


@pytest.mark.parametrize("path", [".", "", "no/such/file.csv", "\0", 5, None, b"x.csv"])
def test_what_is_no_file(study, path):
    for read in (study.import_csv, read_table):
        with pytest.raises(InputError, match="file must"):
            read(path)


def test_plain_numbers():
    """Whatever is read as a number is what Python reads there; and most of what Python reads besides is not read."""
    rng = random.Random(0)
    for _ in range(20_000):
        text = "".join(rng.choice("0123456789.,-+eE_ \u0661xn") for _ in range(rng.randint(0, 8)))
        value, other = plain_number(text), plain_number(text, comma=True)
        assert value is None or value == float(text)
        assert other is None or other == float(text.replace(",", "."))
    for text in ("", ".", "-", "1e", "1_0", " 1", "1 ", "1\n", "inf", "nan", "0x1", "\u0661", "1,5", "1.5.", "--1"):
        assert plain_number(text) is None


def test_no_text_ends_in_anything_but_a_table_or_an_input_error():
    labels, family = Labels.make((2, 1), arms=("a", "b"), objectives=("x",)), Gaussian(variance=1.0)
    rng, kept = random.Random(1), 0
    pieces = ["a", "b", "arm", "x", "1", "2.5", "1,5", "n", ",", ";", "\t", "\n", "\r\n"]
    pieces += ['"', "#", " ", "\0", "\ufeff", "\u2028", "\u0661", "e", "-", ":", "nan"]
    rows = ["a,1\n", "b,-2.5\n", "a;1,5\n", "b;2\n", "\n"]
    for _ in range(10_000):
        text = rng.choice(["", "arm,x\n", "arm;x\n", "arm\tx\n", "arm,x,n\n"])
        text += "".join(rng.choices(rng.choice([pieces, rows, pieces + rows]), k=rng.randint(0, 12)))
        for read in (
            lambda text: parse_table(text, source="file"),
            lambda text: read_outcomes(parse_sheet(text, "file"), "arm", labels, family),
        ):
            try:
                read(text)
                kept += 1
            except InputError:
                continue
    assert kept > 300
