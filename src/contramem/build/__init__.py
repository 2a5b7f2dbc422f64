"""From observations and packets to Function Cards and Skill Cards, by an Author: rules, or a model.

    author.py        the three jobs of an author: build a function's card, reflect on a packet, curate a delta
    construction.py  one build: every proposal is checked, decided and recorded. checks.py has what it asks, recorder.py
                     what it records, upkeep.py what follows when all deltas are decided, reinstate.py retired lessons;
                     curriculum.py the order of packets, deltas.py those of another ledger, recheck.py a later look

By rules (rules.py), Function Cards: functions/, a file for each field.

By rules, Skill Cards: lessons.py makes deltas of what mining.py finds (candidates.py, significance.py, enforcing.py,
sources.py), of errors (recoveries.py) and of writes that are due for every item (every_item.py), in the words of
wordings.py and phrases.py. curation.py decides on them, generalizing.py joins rules; settling.py holds cards against
all runs, by what record.py counts and narrowing.py proposes; drop_refused_guards.py takes refused guards away.

By a model: model/.
"""
