"""The hook of Claude Code and Codex: a process per event that asks a resident process, or answers by itself.

client.py      the process per event: asks the resident process, in little more time than Python takes to start
__main__.py    used if no resident process answers: starts one, or answers itself; never blocks the agent
place.py       the options of a hook, and its files
wire.py        where the resident process listens: a Unix socket, or a local port
server.py      the resident process: keeps the bank in memory, answers, exits when idle
journal.py     the events of each session, so that any process can continue it
sessions.py    the answers to events
install.py     installs the hook in the settings of the clients
codex_trust.py which hooks Codex was told to trust
"""
