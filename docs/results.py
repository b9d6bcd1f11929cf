"""Write results.md, with its pictures and raw rows in results/, from a folder of `prepex reproduce`.

prepex reproduce all --seed 0 --out DIR
python docs/results.py DIR
"""

import re
import sys
from pathlib import Path

from prepex.reproduce import Plan
from prepex.reproduce.figure import Table
from prepex.reproduce.pages import picture_bytes, write_csv

HERE = Path(__file__).parent


def main(folder: str) -> None:
    """All finished figures of the folder."""
    plan = Plan.stored(folder)
    (HERE / "results").mkdir(exist_ok=True)
    parts, total = [], 0.0
    for figure, rows, result, seconds in plan.results():
        (HERE / "results" / f"{figure.name}.svg").write_bytes(picture_bytes(result.picture, "svg"))
        write_csv(HERE / "results" / f"{figure.name}.csv", rows)
        total += seconds
        parts += [
            f"## {plain(figure.title)}\n",
            f"*The paper.* {plain(figure.paper)}\n",
            f"**{plain(result.verdict)}**\n",
            *(f"- {plain(line)}" for line in result.measured),
            "",
            f"```{{image}} results/{figure.name}.svg\n:alt: {figure.title}\n:width: 100%\n```\n",
            *(table_text(table) for table in result.tables),
            f"All rows: {{download}}`{figure.name}.csv <results/{figure.name}.csv>`. "
            f"`prepex reproduce {figure.name} --size {plan.size} --seed {plan.seed}`\n",
        ]
    head = (
        "# Results\n\n"
        "The figures and the table of the FraPPE paper (Das, Shukla and Basu, 2025), computed with prepex "
        f"{plan.manifest()['prepex']}. Stopping times and answers are the same on every machine; clocks are not, "
        "and single runs of FraPPE change with the version: they follow the last digits of its sums.\n\n"
        "```console\n"
        f"$ prepex reproduce all --size {plan.size} --seed {plan.seed} --out DIR   # {total:,.0f} core seconds\n"
        "$ python docs/results.py DIR    # writes this page\n"
        "```\n\n"
    )
    (HERE / "results.md").write_text(head + "\n".join(parts), encoding="utf-8")


def table_text(table: Table) -> str:
    """A table in Markdown, with what stands above and below it."""
    lines = [f"*{plain(table.title)}.* {plain(table.above)}".rstrip(), ""]
    lines += ["| " + " | ".join(map(plain, row)) + " |" for row in (table.header, ("---",) * len(table.header))]
    lines += ["| " + " | ".join(map(plain, row)) + " |" for row in table.rows]
    lines += ["", *(plain(note) + "\n" for note in table.notes)]
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    """Text without meaning to Markdown."""
    return re.sub(r"([*_`|<>\[\]$])", r"\\\1", text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
