"""Mining: what all runs of a domain teach without a model. Read in this order:

lesson.py       Lesson: what was mined, with its evidence and the text of its card
"""
