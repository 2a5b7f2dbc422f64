"""Mining: what all runs of a domain teach without a model. Read in this order:

lesson.py       Lesson: what was mined, with its evidence and the text of its card
functions.py    Function Cards: what all calls of one function show, as counts
fwords.py       their sentences, and what may be quoted of errors
"""
