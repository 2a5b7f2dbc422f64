"""What of the runs may be read, said and kept: the trust rule (docs/security.md). Read in this order:

public.py       Public: interface, shared values, ordinary language; learned by a quorum over all runs
personal.py     what names a person, an account or a machine by its form
words_en.txt    ordinary English, a data file
"""
