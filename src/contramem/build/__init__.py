"""From observations and packets to Function Cards and Skill Cards, by an author: rules or a model.

    author.py     the three jobs of an author: build a function's card, reflect on a packet, curate a delta
    parts.py      a build, part by part: the cards of some functions, the Skill Cards of one ability;
                  single_runs.py: joins tasks with a single run each
    decide.py     one part: every proposal is checked, decided and recorded; recorder.py: what is recorded;
                  evidence.py: the runs behind a decision; learning.py: the cards that may change; reinstate.py: retired
                  lessons that are proposed again
    reassess.py   once all deltas are decided, every card is checked against all runs; own_words.py: cards that a model
                  or a person worded, judged only on tasks that triggers.py finds for them; reassessment.py: the
                  possible results; scopes.py: cards for every task, or for the end of one
    deltas.py     reuse the deltas of another ledger; recheck.py: check the cards in service again;
                  thin.py: why there are few cards

By rules: functions/ writes Function Cards, one file per field; rules/ writes Skill Cards, one file per kind of rule.

By a model: model/ asks packet by packet, as in the paper; agent/ lets it explore all runs with the tools of study/.
"""
