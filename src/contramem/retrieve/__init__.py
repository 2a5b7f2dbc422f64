"""From a task and a frozen bank to hits.

hit.py         Query: what is known about the task. Hit: a retrieved card, and why it was retrieved
retriever.py   ranks the cards of a bank; card_index.py indexes the cards of one ability
scorer.py      scores cards against the words of a task: the protocol and every scorer, of which bm25.py is one;
               keeps the index of a large bank in a file
tokens.py      words, stems and terms; requests.py keeps the words of requests that taught a card
intent.py      what a task is about: intents, subjects and apps
profiles.py    the fixed settings for each way of running agents
"""
