"""Mining: what all runs of a domain teach without a model. Read in this order:

lesson.py       Lesson: what was mined, with its evidence and the text of its card
facts.py        what was to be known in a task, whoever looked it up
matrix.py       Domain: the runs; Statement: what can be said of a run, as a column over runs
statements.py   everything that can be said, in guard syntax; sources.py: where values come from or how they are
                calculated; records.py: which of the listed records are meant
conditions.py   when a rule applies: facts as masks over tasks
kinds.py        kinds of tasks: by what was asked and looked up
search.py       the fewest rules that explain the failures, and what these runs cannot tell apart
chance.py       how strongly runs speak for a rule, and how strongly chance would have made them speak
replays.py      rules as guards, held against every run
cards.py        a rule as a lesson; words.toml has the sentences
fixes.py        what got past a refusal; fix.toml has the sentences
habits.py       what runs leave out, how they end, and calls that change nothing; habit.toml has the sentences
customs.py      what nearly every run does around a write, without verdicts; custom.toml has the sentences
curate.py       what was mined against the bank: what to add, refine, merge, narrow, retire
functions.py    Function Cards: what all calls of one function show, as counts
fwords.py       their sentences, and what may be quoted of errors
"""
