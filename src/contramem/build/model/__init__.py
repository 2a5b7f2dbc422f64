"""The author that asks a model: the paper's Builder, Reflector and Curator.

author.py      ModelAuthor: the three jobs, each a request, a reply and the checks of that reply
view.py        how a packet is written for a model: step_text.py and step_clock.py write a step, remarks.py what is
               worth a line of its own, across_hints.py what other tasks say
neighbours.py  which cards of the bank a request shows; twins.py: which of them say the very same
prompts.py     the wording of a request: templates and focus blocks of one suite, in prompts/
focus.py       the focus block of a packet; signature.py is the rule that chooses it for code agents
replies.py     what a model may answer, parsed strictly
rounds.py      a build as rounds of requests that do not depend on each other
answering.py   who answers a round: a model now, or a file; batches.py: a provider's batch service
estimate.py    what a build will cost, before any call is made
"""
