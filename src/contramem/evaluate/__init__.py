"""Compares runs with and without memory.

compare.py     Comparison: runs paired by pairs.py, with the harmed tasks by name; stats.py has the statistics
attempt.py     one run, reduced to its outcome and cost; sides.py, scenarios.py and cards.py: further counts
verdict.py     the result in words; comparison_text.py for a terminal, report/ for a page
"""
