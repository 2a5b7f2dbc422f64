"""The hook of Claude Code and Codex: a process per event, which asks a resident one, or answers by itself.

__main__.py    the process per event: imports next to nothing, and never stands in the agent's way
place.py       the options of a hook, and the files it keeps
wire.py        how the two processes talk: a Unix socket, or a port of this machine
server.py      the resident process: holds the bank, answers, ends by itself
journal.py     the events of each session, so that any process can go on with it
sessions.py    what events are answered with
install.py     the settings of the clients
"""
