"""Guards: the rules of a card in a form that can be checked on a run.

guard.py               Guard: a DECLARE template over functions, with a deadline and a condition
template.py            the table of templates: how each is written, what it demands, how it is worded
pattern.py             which actions a guard applies to; argument_condition.py: conditions on arguments
relation.py            what such a condition can say, in one table; choice.py: which of several records was chosen
source.py              what values are compared with; record_source.py: records, sums, counts; quantity.py: calculations
scope.py               which runs a guard applies to: what follows `when`
task_facts.py          facts that one run of a task looked up and that hold for all of its runs
comparison.py          how one value is compared with a number, a word or a written form
places.py              where a value was seen before a call
record_filter.py       which records of a result count; dates.py reads dates, date_relation.py has conditions on them
automaton.py           the state machine of a guard, fed one action at a time; action.py defines Action
history.py             what the calls of a run have returned so far; results.py decodes a result
guard_monitor.py       guards on a live run: Obligation, what is still owed and what was broken
replay.py              the same on a recorded run; packet_replay.py on the runs of one packet
names.py               suggestions for misspelled names
"""
