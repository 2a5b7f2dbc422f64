"""From a task and a frozen bank to hits.

    hit.py         Query: what is known about the task. Hit: a card that fits it, and why
    retriever.py   ranks the cards of a bank; card_index.py those of one ability
    scorer.py      how well words fit a card: the protocol and every scorer; bm25.py is one, tokens.py makes words,
                   stems.py folds their forms, terms.py is what an index knows them by, requests.py keeps
                   those of requests that taught a card
    call_lists.py  the list of calls that a small model gets
    profiles.py    the frozen settings of every way to run agents

apps.py and intent.py tell what a task is about, names.py finds a card by any spelling, preview.py tries a bank on
tasks.
"""
