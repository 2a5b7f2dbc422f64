"""Function Cards by rules: what all observed calls of one function show.

    card.py        one card, field by field; the others make a field each
    calls.py       the calls of one function: which worked, which failed, what was tried next
    arguments.py   form, vocabulary, need, and where values come from; forms.py tells which forms work
    returns.py     what comes back
    errors.py      one template for one complaint, how often, and what helped; blame.py says what it speaks of,
                   recovery.py what followed it
    rules.py       how to call it, and how not to; order.py what has to come first
    effects.py     what it changes, and what the same call does a second time

words.py is the English for it, text.py the same calls as a construction model reads them.
"""
