"""From hits and a running agent to guidance.

    run.py         Memory and Run: `memory.start(task)`, `run.guidance`, `run.before_call(...)`, `run.pending()`
    guidance.py    cards as texts within a budget: everything that fits, above that the best for the request
    shown.py       what a run was shown; run_monitor.py monitors the guards of those cards, and gives each reminder once
    log.py         logs what was shown and how runs ended, and summarizes it
    recording.py   records whole runs, which `contramem build` and `contramem watch` read
    loaded_bank.py the bank that is served, reloaded when its file changes; switch.py turns memory off
    provider.py    MemoryProvider: the interface between an agent loop and any memory
    remote.py      the same interface for a bank behind `contramem serve`
    adapters/      agent frameworks
    hook/          Claude Code and Codex

mcp_server.py is for MCP, export.py for files.
"""
