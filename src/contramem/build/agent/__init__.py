"""The author that looks at all runs: a model that calls the instruments of study/, kind of task by kind of task.

topics.py        what each conversation is about
conversation.py  one conversation: what it asks next, what its tools answered, kept so that it can go on later
rounds.py        conversations side by side, until all have ended
estimate.py      what they will cost, before any call is made
prompts/         how a conversation begins
"""
