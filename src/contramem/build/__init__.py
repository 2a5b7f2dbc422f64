"""From observations and packets to Function Cards and Skill Cards, by an Author: rules, or a model.

    author.py        the three jobs of an author: build a function's card, reflect on a packet, curate a delta
    decide.py        one build: every proposal is checked, decided and recorded; recorder.py: what is recorded;
                     learning.py: the cards that may change; reinstate.py: retired lessons that are proposed again
    reassess.py      when all deltas are decided, every card held against all runs; own_words.py: those in an author's
                     own words, judged where triggers.py says they are for; reassessment.py: what may become of a card;
                     scopes.py: which are for all tasks or for the end of one
    deltas.py        the deltas of another ledger; recheck.py: a later look at the cards in service;
                     call_lists.py: what passing runs called, for small models

By rules: functions/ writes Function Cards, a file for each field; rules/ writes Skill Cards, a file for each kind of
rule.

By a model: model/ asks packet by packet, as the paper does; agent/ lets it look at all runs with the tools of study/.
"""
