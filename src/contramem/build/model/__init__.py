"""The author that asks a model: the paper's Builder, Reflector and Curator.

author.py       ModelAuthor: the three jobs, each a request, a reply and the checks of that reply; the cards beside it
packet_text.py  renders a packet for a model; step_text.py renders a step, and hints.py what points at differences, of
                which choices.py tells chosen records apart
prompts.py      the wording of a request: templates and focus blocks of one suite, in prompts/
replies.py      parses replies strictly
rounds.py       a build as rounds of independent requests; answering.py: by a model now, from a file, by a batch service
estimate.py     estimates the cost of a build before any call is made
"""
