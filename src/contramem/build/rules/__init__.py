"""Skill Cards by rules: a rule is a value, and the words of its card are generated from it.

rule.py          what every kind of rule can do, and how a rule becomes the text of a card; kinds/ has the kinds
mine.py          which rules the runs of one task teach, and which of them tools enforce or chance explains
across.py        which rules the runs of many tasks teach together; unfinished.py: what failing runs left out altogether
curate.py        what one lesson means for the cards that are there already
author.py        RuleAuthor, who does both

support.py       how runs fared under guards; significance.py: how likely by chance it may be
steps.py         what runs did; values.py: where their values came from; companions.py: what they did together
phrases.py       functions, errors, paths and tasks in words
"""
