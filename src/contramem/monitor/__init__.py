"""Guards: what a card says must hold, in a form that can be checked on a run.

guard.py               Guard: a DECLARE template over functions, with a deadline and a condition
template.py            the templates, a value each: how one is written, what it demands, how it is put into words
pattern.py             which actions it speaks about; argument_condition.py and choice.py: what their arguments must be
scope.py               which runs it speaks about: what follows `when`
task_facts.py          what one run of a task was shown is true for all of its runs
comparison.py          how one value is compared with a number, a word or a written form
places.py              where a value had stood before a call
record_filter.py       which records of a result count; date_relation.py: when a date falls
automaton.py           a guard that watches, action by action; action.py is what it sees
history.py             what the calls of a run have returned so far; results.py takes a result apart
guard_monitor.py       guards on a run that goes on: Obligation, what is owed and what was broken
replay.py              the same on a recorded run; packet_replay.py on the runs of one packet
names.py               what was perhaps meant by a name that is not there
"""
