"""Northline Supply: the back office of a made-up wholesaler, with house rules that only outcomes tell.

rules.py        the 14 house rules that no documentation mentions and no tool enforces, each a function of a run
tasks.py        twelve kinds of requests; judge.py says which rules a run broke, from its calls (calls.py)
tools.py        the 20 tools, as an agent sees them and what they do; toolbox.py checks their arguments
world.py        what the tools read and change; records.py has the records
agents.py       six scripted agents with known weaknesses; scripts.py has what they do, record.py writes their runs
environment.py  all of it in contramem's `bench` protocol
compare.py      the held-out runs without memory and with two banks, side by side
"""
