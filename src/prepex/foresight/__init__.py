"""How many more pulls: runs onwards from the present state, from truths that the outcomes leave possible.

onward.py     many runs from one state, side by side, until they stop or the work is done
forecast.py   what they say: median, range, chance to end within a budget, in numbers and words
"""
