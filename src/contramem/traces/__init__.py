"""From files of any agent framework to trajectories. Read in this order:

    trajectory.py   Trajectory and Event: one attempt at one task; everything else is made from these
    reader.py       what a reader of one format is; readers/ has the formats, with their table in its __init__.py
    read.py         finds files, knows their format, reads each, and loses nothing silently
    files.py        what readers are given: decompressed, decoded once, with what lies beside it; archives, storage
    sanitize.py     the one door: no hidden characters, no label that is a sentence; characters.py helps it
    normalize.py    names, arguments, errors and order, the same for all readers; effects.py and shell.py help it
    outcomes.py     verdicts in records, in files beside runs, in a user's table, and by a rule
    doctor.py       the verdict on a reading: what is doubtful about it, and how to go on
    write.py        contramem's own format

Beside them: map.py takes fields from where `--map` says, report.py counts what was found, unknown.py says what a file
looks like that nobody knows, result_errors.py finds errors that results admit to, tools.py what runs say about tools.
"""
