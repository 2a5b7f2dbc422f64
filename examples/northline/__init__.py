"""Northline Supply: the back office of a made-up wholesaler, with house rules that only outcomes tell.

rules.py        the 14 house rules that no documentation mentions and no tool enforces
tools.py        the 20 tools, as an agent sees them; world.py is what they do
tasks.py        twelve kinds of requests; judge.py says which rules a run broke
agents.py       six scripted agents with known weaknesses: the runs to learn from
environment.py  all of it in contramem's `bench` protocol
compare.py      the held-out runs without memory and with two banks, side by side
"""
