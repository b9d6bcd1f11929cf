"""Sampling rules, one a file: its step after a pull, the arm that it proposes, and when it stops by itself.

Their names, parameters and papers are in `prepex/sampling`, files of the same names.
"""
