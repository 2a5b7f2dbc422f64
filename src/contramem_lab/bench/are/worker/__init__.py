"""The worker: runs scenarios inside ARE's own environment, and asks contramem's process at every step over a socket.

It is started by the Python that ARE is installed for, and imports nothing but ARE and the standard library: ARE pins
versions that contramem cannot share. Each connection is a run, in a process of its own. One line of JSON each way: the
first line that a run reads is its job.

serve.py      waits for connections; one job in a child process for each
link.py       the line to contramem's process
scenario.py   loads the scenario and its judge
engines.py    the model under test: one that lives in contramem's process, or one that ARE asks
hooks.py      what happens before each step and around each call: memory and the temporal runtime
"""
