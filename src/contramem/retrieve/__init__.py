"""From a task and a frozen bank to hits.

    hit.py         Query: what is known about the task. Hit: a retrieved card, and why it was retrieved
    retriever.py   ranks the cards of a bank; card_index.py indexes the cards of one ability
    scorer.py      scores cards against the words of a task: the protocol and every scorer, of which bm25.py is one;
                   tokens.py splits text into words, stems.py stems them, terms.py hashes them for the index,
                   requests.py keeps the words of requests that taught a card
    profiles.py    the fixed settings for each way of running agents

apps.py, intent.py and families.py infer what a task is about, names.py finds a card by any spelling of its function,
and stored_index.py keeps the index of a large bank in a file.
"""
