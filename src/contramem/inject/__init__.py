"""From hits and a running agent to guidance.

    run.py         Memory and Run: `memory.start(task)`, `run.guidance`, `run.before_call(...)`, `run.pending()`
    guidance.py    the text, within its budget; budget.py writes cards and cuts them between fields
    log.py         what was shown and how runs ended; injections.py sums it up
    recording.py   whole runs, as lines that `contramem build` and `contramem watch` read back
    loaded_bank.py      the bank that is served now, reloaded when its file changes; switch.py turns memory off
    run_monitor.py    the guards of the cards that were shown, and of which of them the agent was reminded
    provider.py         what an agent loop knows of a memory, whichever it is
    remote.py      the same interface for a bank behind `contramem serve`
    adapters/      other people's frameworks
    hook/          Claude Code and Codex

mcp_server.py is for MCP, export.py for files.
"""
