"""Meta's ARE, and GAIA2 in it: scenarios run in an environment of their own, memory and judgement stay here.

installation.py  creates and finds that environment
scenarios.py     scenarios as tasks: GAIA2's folders, files, built-in ones, your own classes; the list of tasks
unpack.py        GAIA2's Parquet files as such folders
settings.py      what can be chosen: model, judge, the parts of the temporal runtime
environment.py   AreEnvironment: one run from its scenario to its trajectory
conversation.py  answers what the worker asks while it runs, and remembers what happened
workers.py       the process that has ARE loaded, and one child of it for every run
worker/          runs inside ARE's environment; imports nothing of contramem
"""
