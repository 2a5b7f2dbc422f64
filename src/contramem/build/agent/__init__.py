"""The author that explores all runs: a model that calls the instruments of study/, one kind of task after another.

topics.py        what each conversation is about
conversation.py  one conversation: the next request, and the answers of its tools, recorded so that it can go on later
rounds.py        conversations side by side, until all have ended
estimate.py      what they will cost, before any call is made
prompts/         how a conversation begins
"""
