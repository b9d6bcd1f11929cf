"""Races: commands or functions as options, run by prepex itself until it is settled which are worth keeping.

amounts.py    times and sizes with their units: 30s, 10m, 2GB
options.py    commands, templates with parameters, names
measures.py   what is measured of a run, and which family it has
question.py   what is asked of the outcomes, of commands and functions alike
plan.py       all of a race of commands, checked: from a shell or a TOML file
trial.py      one run of a command; launcher.py: in between where the peak of memory is measured
journal.py    beside the study: the first rounds, failures, reference runs
opening.py    how the study begins: the first rounds and the families that they decide
same.py       is the race that is kept the one that is to go on?
book.py       tasks out of the study, results into it; nothing is lost or counted twice
drift.py      does the machine become slower?
loop.py       as many trials out as there are workers
commands.py   trials of commands
calls.py      functions in place of commands: `px.race`, `px.race_async`; grid.py, returned.py, answer.py
view.py       how it stands; screen.py: the same, live; words.py, sketch.py, export.py: at the end
"""
