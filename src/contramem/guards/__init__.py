"""Guards: the rules of a card in a form that can be checked on a run. One tree, one evaluator for all who ask.

guard.py        Guard: a DECLARE template over functions, with a deadline and a condition; text to tree and back
templates.py    the table of templates: how each is written, worded and checked; Automaton: a guard on one run
conditions.py   which actions a guard applies to, and which runs: what follows `when`
arguments.py    what a condition can say about an argument of a call
values.py       how a value is compared, and with what: fields, sums, calculations
choices.py      which records of a result are meant; dates.py: dates and conditions on them
actions.py      Action: what an agent did, from an event or a step, and what it had seen; results.py reads one
watch.py        guards on a live or a recorded run: Obligation, what is still owed and what was broken
packets.py      a guard on the runs of one packet
"""
