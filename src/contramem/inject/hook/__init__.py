"""The hook of Claude Code and Codex: a process per event, which asks a resident one, or answers by itself.

client.py      the process per event: asks the resident one, in hardly more time than Python takes to start
__main__.py    goes on where nobody answers it: starts a resident process, or answers; never stands in the agent's way
place.py       the options of a hook, and the files it keeps
wire.py        where the resident process listens: a Unix socket, or a port of this machine
server.py      the resident process: holds the bank, answers, ends by itself
journal.py     the events of each session, so that any process can go on with it
sessions.py    what events are answered with
install.py     the settings of the clients
"""
