"""What a table of measurements says already: which options are on the front, how sure that is, what to measure next.

reading.py   files and frames as columns of numbers and of text
optuna_storage.py   the SQLite file of Optuna as such columns
roles.py     which column names the option, which are objectives, and whether rows are trials or their means
guess.py     a family for each objective, with the reason
regions.py   in, out or open under any cone and tolerance, chosen after looking
analyse.py   all of it: analyse, Analysis
text.py      the same in words; page.py: as an HTML file
"""

from prepex.analysis.analyse import Analysis, analyse

__all__ = ["Analysis", "analyse"]
