"""Compares runs with and without memory, and measures on recorded runs what a memory knows.

compare.py     Comparison: runs paired by pairs.py, with the harmed tasks by name; stats.py has the statistics
attempt.py     one run, reduced to its outcome and cost; sides.py, scenarios.py and cards.py: further counts
verdict.py     the result in words; comparison_text.py for a terminal, report/ for a page
foresight.py   whether guards separate failing from passing runs; foresight_guards.py scores runs by guards,
               baselines.py has the scores to beat
contest.py     TaskContest: a task with passing and failing runs, and how well a score orders them
split.py       splits tasks into reference and held-out ones, without leaks
conditions/    eleven ways to build a memory from the same runs
"""
