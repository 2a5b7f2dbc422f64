"""Guards: what a card says must hold, in a form that can be checked on a run.

guard.py       Guard: a DECLARE template over functions; pattern.py is which actions it speaks about
automaton.py   a guard that watches, action by action; action.py is what it sees
guard_monitor.py       guards on a run that goes on: Obligation, what is owed and what was broken
replay.py      the same on a recorded run; packet_replay.py on the runs of one packet
names.py       what was perhaps meant by a name that is not there
"""
