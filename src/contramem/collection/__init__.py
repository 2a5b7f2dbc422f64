"""All runs of a domain, and every value of their calls. Read in this order:

runs.py         Collection: every run once, by task, in one SQLite file; masking.py masks its secrets
collect.py      reads files into it, side by side, and not again if they did not change
browse.py       the runs of a person who looks at them: lists, filters, neighbours and labels, in a file of its own
cache.py        what was computed from runs, by a digest of what it was computed from
slots.py        Slot: one value of a call; what is public, known or usual is a count over slots
results.py      what a call returned, as data: JSON, Python and `key: value` lines
"""
