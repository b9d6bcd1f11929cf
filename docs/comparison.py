"""Write comparison.md from results/compare.csv, which `python -m benchmarks compare --save` makes.

python -m benchmarks compare 100 0.1 --save docs/results/compare.csv
python docs/comparison.py
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from benchmarks.compare import MOST, SEED, header, line, stored  # noqa: E402

HEAD = f"""# Guarantees compared

What does a guarantee cost, in pulls? Mean pulls over the floor T\\* kl(delta, 1 - delta), and wrong answers of all runs
with their 95 % interval, seed {SEED}:

```console
$ python -m benchmarks compare 100 0.1 --save docs/results/compare.csv
$ python docs/comparison.py    # writes this page
```

`certified`, `posterior` and `heuristic` pull by `InformationDirected`; PSIPS and APE have stopping rules of their own,
for Gaussians of known covariance; TnS stops by the heuristic threshold. *20 random*: 3 to 8 arms, 2 or 3 objectives,
orthant and other cones, 20 runs each. Runs that did not end within {MOST:,} pulls are counted with these, so that
their means are lower bounds (≥).

`certified` is proven for every truth, and pays for it. `posterior` lies below the floor at times: that is a floor for
methods which are wrong with probability at most delta whatever the truth is, and `posterior` promises this on average
over its prior ({{doc}}`posterior`). Where means are close it errs more. `heuristic` has no proof.
"""


def page(results: dict) -> str:
    """The whole page."""
    tables = [
        f"## delta {delta:g}\n\n{header()}\n" + "".join(f"{line(rows)}\n" for rows in instances.values())
        for delta, instances in results.items()
    ]
    return "\n".join([HEAD, *tables, "All numbers: {download}`compare.csv <results/compare.csv>`.\n"])


if __name__ == "__main__":
    (HERE / "comparison.md").write_text(page(stored(HERE / "results" / "compare.csv")), encoding="utf-8")
