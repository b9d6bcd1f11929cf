"""Write the golden results anew: `PYTHONPATH=src:. python tests/golden "why the numbers are others now"`.

They are what the kernels gave when they were last written on purpose, bit for bit. The reason is kept with them.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import golden_cases

if __name__ == "__main__":
    if len(sys.argv) != 2 or len(sys.argv[1].split()) < 3:
        sys.exit('say why: python tests/golden "the reason, in a sentence"')
    golden_cases.write(sys.argv[1])
