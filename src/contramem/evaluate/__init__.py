"""Compares runs with and without memory.

pairs.py    one run reduced to its outcome and cost; runs of the same tasks paired
compare.py  Comparison: what changed, with the harmed tasks by name; stats.py has the statistics, cards.py the cards
report/     the result in words, tables and charts: for a terminal, a page, a pull request
"""
