"""From patches to the bank and its ledger.

    card.py      FunctionCard, SkillDelta, SkillCard: the schemas of the paper
    fields.py    one table: what each field of a Skill Card is called, who reads it, what a model is asked for
    patch.py     Patch: ADD, PATCH, MERGE, NARROW, NOOP
    bank.py      Bank: a value; a decision gives the next one. support.py is what a card rests on
    ledger.py    Decision: everything ever decided, accepted or refused
    store.py     the living bank in SQLite or PostgreSQL; database.py, migrations.py and calls.py (replies of models)
    frozen.py    the frozen bank, one file; locate.py opens whichever it is, imported.py takes edits back in
    kept_banks.py  the last frozen banks, and the way back to one of them
    check.py     is a store whole, and what is left of a damaged one; chain.py seals the ledger
    forget.py    erases what some runs taught

For people: acts.py is what they may do, story.py, card_list.py, difference.py, summary.py and
render.py what they look at.
"""
