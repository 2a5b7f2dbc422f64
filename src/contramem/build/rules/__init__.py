"""Skill Cards by rules: a rule is a value, and the words of its card are generated from it.

rule.py       what every kind of rule can do, and how a rule becomes the text of a card; kinds/ has the kinds
mine.py       which rules the runs of one task teach, and which of them are enforced by tools or explained by chance
across.py     which rules the runs of many tasks teach together; shared_lesson.py: such a lesson, with all tasks that
              show it; lesson_checks.py: which differences are worth a card;
              unfinished.py: what failing runs omitted entirely; endings.py: how runs ended;
              proxies.py: rules that only go along with others
curate.py     how a new lesson changes the existing cards
author.py     RuleAuthor, which mines and curates

support.py    how runs ended with and without a guard; significance.py: how likely chance explains it
steps.py      what runs did; value_origins.py: where their values came from; companions.py: calls that belong together
phrases.py    functions, errors, paths and tasks in words; convention_words.py: conventions; form_names.py: forms
"""
