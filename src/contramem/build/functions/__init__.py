"""Function Cards by rules: what all observed calls of one function show.

    card.py        a card, field by field; each of the others makes one field
    calls.py       the calls of one function: which worked, which failed, what was tried next
    arguments.py   form, vocabulary, whether required, and where values come from; forms.py: which forms work
    returns.py     what comes back
    errors.py      one template per complaint, its count, and what helped; blame.py: what a complaint is about;
                   remedies.py: what helped
    rules.py       how to call it, and how not to; order.py: what has to come first
    effects.py     what it changes, and what repeating the call does
    requests.py    what people ask for when it is needed
    facts.py       what calls show about arguments, as values kept beside the card

words.py has the English, and calls_text.py shows the same calls to a construction model.
"""
