"""From patches to the bank and its ledger.

card.py        FunctionCard, SkillDelta, SkillCard: the schemas of the paper, and a table of the fields of a Skill Card
bank.py        Bank: an immutable value; Patch: the decision that gives the next one; CardSupport: evidence of a card
ledger.py      Decision: everything ever decided, accepted or refused, with a seal
tables.py      the tables of a store, its migrations, calls of models, copying
store.py       the living bank in SQLite or PostgreSQL
frozen.py      the frozen bank, one file; load_bank opens a store or a frozen file
settlement.py  what a Function Card says of an argument where a guard of a Skill Card says otherwise
acts.py        what people can do: judge, edit, merge, revert, import edits, roll back a served bank
forget.py      erases what some runs taught
check.py       checks a store
show.py        a bank for people at a terminal; rows.py for pages: rows of lists, and fields of a form
export.py      cards as Markdown
"""
