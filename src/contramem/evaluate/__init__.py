"""From runs with and without memory to a comparison, and from recorded runs to what a memory knows.

compare.py     Comparison: paired by pairs.py, with the harmed tasks named; stats.py has the statistics
attempt.py     what a comparison knows of one run; sides.py, scenarios.py, cards.py what it counts beside success
verdict.py     what it all says, in words; table.py for a terminal, report/ for a page
foresight.py   do guards tell failing runs from passing ones? foresight_guards.py judges; to beat: baselines.py
contest.py     one task with passing and failing runs: what orders are measured on
split.py       which tasks teach, which are held out, and what may never be on both sides
conditions/    eleven ways to remember the same runs
"""
