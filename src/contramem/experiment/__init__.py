"""One file that says it all, and one folder with the results; resumable.

config.py      what the file may say; load.py reads it and says what is wrong
experiment.py  from file to report, in the order it happens
opened.py     what the file names, opened; needs.py what is missing
self_running.py  ARE and AppWorld, which have agent loops of their own
folds.py       which tasks teach; leakage.py whether anything that teaches knows what is held out
memory_builder.py  makes the memories, authors.py opens who writes them, memory.py freezes them
controls.py    what is compared with memories and is none
batch.py       runs of one target in one environment, without an experiment file
plan.py        the runs there are to make; jobs.py makes them
paper_tables.py  the paper's tables, paper_figures.py its figures, for one's own runs
results.py     what came out; report.py, manifest.py and state.py tell it; folder.py keeps it
"""
