"""Inside an experiment: from what is told to what is answered. Each file imports only from those above it.

told.py             outcomes by position
intake.py           names into positions: the only place that knows both; everything below takes positions
recommendation.py   the answer
conclusion.py       the answer at a moment: when it stops, and before
progress.py         what was told, and what it has come to
proposal.py         what to try next
explanation.py      why it goes on, or what it answered, in words
views.py            a table and a picture
saved.py            its state as bytes, and back
"""
