"""Before the first trial: how many it will take, under what may be true.

belief.py     what is thought before: a guess with its uncertainty, or the outcomes of a pilot
scenarios.py  named truths: the guess, a near-tie, no difference, the worst of some draws, your own
designs.py    the study as it is set up, and what-ifs
trials.py     simulated studies, one after the other or in processes
table.py      what they say: rows of pulls, errors and chances
inverse.py    which delta or tolerance a budget affords; calibration
command.py    the `prepex study create` of a plan
plan.py       plan, Plan
report.py     one HTML file
"""
