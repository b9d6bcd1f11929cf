"""`python -m benchmarks [core] [rules] [guarantee] [study] [families]`: by default the timings, core and rules."""

import sys

from benchmarks import core, families, guarantee, rules, study

PARTS = {
    "core": core.main,
    "rules": rules.main,
    "guarantee": guarantee.main,
    "study": study.main,
    "families": families.main,
}

for name in sys.argv[1:] or ["core", "rules"]:
    if name not in PARTS:
        sys.exit(f"benchmark must be one of {', '.join(PARTS)}, got {name!r}")
    PARTS[name]()
