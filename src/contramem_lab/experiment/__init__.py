"""An experiment: one file that defines everything, and one folder with the results; resumable.

config.py          what the file may contain; load.py reads it and reports errors
experiment.py      from file to report, in the order it happens
opened.py          what the file names, opened; needs.py: what is missing
self_running.py    ARE and AppWorld, which have their own agent loops
folds.py           which tasks teach; leakage.py: whether anything that teaches knows what is held out
memory_builder.py  makes the memories; authors.py opens their authors, memory.py freezes them
controls.py        what memories are compared with, besides each other
batch.py           runs of one target in one environment, without an experiment file
plan.py            the runs to make; jobs.py makes them
paper_tables.py    the paper's tables for your own runs; paper_figures.py: its figures
results.py         the results; report.py, manifest.py and state.py present them; folder.py stores them
"""
