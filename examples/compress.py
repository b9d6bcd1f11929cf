"""Which compressor, at which level? Seconds vary, and are compared by factors; bytes do not vary. [number of words]"""

import bz2
import gzip
import lzma
import random
import sys
import time

from prepex import Exact, Experiment, LogNormal, Product

random.seed(1)
words = ["".join(random.choices("etaoinshrdlu", k=random.randint(2, 9))) for _ in range(2000)]
count = int(sys.argv[1]) if sys.argv[1:] else 20_000
text = " ".join(random.choices(words, weights=[1 / k for k in range(1, 2001)], k=count)).encode()
tools = {f"gzip {n}": lambda n=n: gzip.compress(text, n) for n in (1, 6, 9)}
tools |= {f"bzip2 {n}": lambda n=n: bz2.compress(text, n) for n in (1, 9)}
tools |= {f"xz {n}": lambda n=n: lzma.compress(text, preset=n) for n in (0, 6)}
family, limits = Product([LogNormal(), Exact()]), {"tolerance": {"seconds": "25%"}, "max_pulls": 2000}
experiment = Experiment(tools, ("seconds", "bytes"), family=family, minimise=(0, 1), **limits)
while not experiment.done:
    tool, start = experiment.ask(), time.process_time()
    size = len(tools[tool]())
    experiment.tell(tool, {"seconds": time.process_time() - start, "bytes": size})
print(experiment.why(), *zip(tools, experiment.means.round(6).tolist(), strict=True), sep="\n")
