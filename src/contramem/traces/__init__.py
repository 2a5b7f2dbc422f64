"""From files of any agent framework to trajectories. Read in this order:

    trajectory.py   Trajectory and Event: one attempt at one task; everything else is made from these
    reader.py       what a reader of one format is; readers/ has the formats, with their table in its __init__.py
    read.py         finds files, knows their format, reads each, and loses nothing silently
    files.py        what readers are given: decompressed, decoded once (encodings.py helps), with what lies beside it;
                    remote.py brings what lies in object storage
    sanitize.py     the one door: no hidden characters, no label that is a sentence; characters.py helps it,
                    and identifying.py knows what identifies somebody by its form
    shorten.py      of a run with thousands of events, its beginning and its end
    secrets.py      values that their field calls a password, token or key are masked before a run is stored;
                    secret_names.py has the words, in many languages
    normalize.py    names, arguments, errors and order, the same for all readers; effects.py and shell.py help it
    write.py        contramem's own format

Beside them: verdicts.py finds verdicts that lie beside runs and verdict_files.py reads them, map.py takes fields from
where `--map` says, outcomes.py takes verdicts from a user's table, result_errors.py finds errors that results
admit to, tools.py what runs say about tools; report.py counts what was found, doctor.py says what is doubtful about it
and how to go on, unknown.py what a file looks like, discover.py lists own sessions and session_rules.py judges them.
"""
