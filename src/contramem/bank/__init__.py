"""From patches to the bank and its ledger.

    card.py      FunctionCard, SkillDelta, SkillCard: the schemas of the paper
    fields.py    a table of the fields of a Skill Card: labels, readers, and what a model is asked to write
    patch.py     Patch: ADD, PATCH, MERGE, NARROW, NOOP
    bank.py      Bank: an immutable value; each decision gives a new one. support.py: the evidence of a card
    ledger.py    Decision: everything ever decided, accepted or refused; past.py: what builds ask about it
    store.py     the living bank in SQLite or PostgreSQL; database.py, migrations.py and model_calls.py
    frozen.py    the frozen bank, one file; locate.py opens a store or a frozen file, imported.py imports edits
    kept_banks.py  earlier frozen banks, and rollback to one of them
    check.py     checks a store; chain.py: the hash chain of the ledger
    forget.py    erases what some runs taught

For people: acts.py is what they can do; story.py, card_list.py, difference.py, summary.py and render.py what they see.
"""
