"""All runs of a domain, and every value of their calls. Read in this order:

slots.py        Slot: one value of a call; what is public, known or usual is a count over slots
results.py      what a call returned, as data: JSON, Python and `key: value` lines
"""
