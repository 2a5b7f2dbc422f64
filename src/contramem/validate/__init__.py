"""The checks that every card, delta and patch passes before it changes a bank, whoever wrote it.

    validator.py   all checks, one after the other; verdict.py has Refusal, case.py what a text is checked against
    schema.py      fields, lengths, functions that exist
    evidence.py    each claim maps to events or calls; counts.py checks counts, guards.py replays the guards
    closure.py     a patch adds nothing; lexicon.py has the words that carry no content
    privacy.py     no person, account or secret, and nothing that is not public
    poison.py      no planted text becomes a rule
    dates.py       dates of a task become the form they are written in

packet_contents.py holds what one packet contains, made once; by_hand.py checks what a person wrote.
"""
