"""A command for races: `drawn.py SEED GAIN SIZE NOISE` prints a gain drawn with the seed, and a size, as JSON."""

import random
import sys

if __name__ == "__main__":
    seed, gain, size, noise = map(float, sys.argv[1:5])
    print(f'{{"gain": {random.Random(int(seed)).gauss(gain, noise)!r}, "size": {size!r}}}')
