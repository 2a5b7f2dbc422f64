"""Environments by name, and what each of them needs."""

from __future__ import annotations

from contramem.errors import UsageError
from contramem_lab.bench.environment import Environment

NAMES = (
    "agentdojo/banking",
    "agentdojo/slack",
    "agentdojo/travel",
    "agentdojo/workspace",
    "bfcl",
    "bfcl/base",
    "bfcl/long_context",
    "bfcl/miss_func",
    "bfcl/miss_param",
)

_NOT_HERE = {
    "are": "ARE has an agent loop of its own. Run its scenarios with `contramem lab bench are`, or name `are` in the "
    "[environment] of an experiment.",
    "appworld": "AppWorld has an agent loop of its own. Run its tasks with `contramem lab bench appworld`, or name "
    "`appworld` in the [environment] of an experiment.",
    "tau2": "tau2-bench is not run by contramem: it needs its repository and Python 3.12. Run it there, and give "
    "contramem its results (`--format tau2`).",
}


def open_environment(name: str) -> Environment:
    """The environment called `name`, with all its tasks. Its packages are imported here, and named if missing."""
    benchmark, _, part = name.partition("/")
    if benchmark == "agentdojo" and part:
        from contramem_lab.bench.agentdojo import AgentDojoEnvironment

        return AgentDojoEnvironment(part)
    if benchmark == "bfcl":
        from contramem_lab.bench.bfcl_tasks import official_environment

        return official_environment(part or None)
    if benchmark in _NOT_HERE:
        raise UsageError(_NOT_HERE[benchmark])
    raise UsageError(f"there is no environment {name!r} (environments: {', '.join(NAMES)}).")
