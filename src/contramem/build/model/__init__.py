"""The author that asks a model: the paper's Builder, Reflector and Curator.

author.py      ModelAuthor: the three jobs, each a request, a reply and the checks of that reply
view.py        renders a packet for a model: step_text.py and step_clock.py render a step, conversation.py what is said;
               remarks.py, nearest.py and choices.py add lines about differences
hint_lines.py  renders hints; across_hints.py and opposites.py find those from other tasks
neighbours.py  finds and renders the cards that a request shows; twins.py: cards with the same rule
prompts.py     the wording of a request: templates and focus blocks of one suite, in prompts/
focus.py       the focus block of a packet; signature.py chooses it for code agents
replies.py     parses replies strictly
rounds.py      a build as rounds of independent requests
answering.py   answers a round by asking a model or from a file; batches.py: by a provider's batch service
estimate.py    estimates the cost of a build before any call is made
"""
