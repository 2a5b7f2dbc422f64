"""A bank as an MCP server: tools, resources and a prompt, for clients that speak MCP and nothing of contramem.

The server cannot see the calls of other servers' tools: it gives cards when it is asked, and its instructions say when
to ask.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.types import ToolAnnotations

from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.run import Memory, Run
from contramem.retrieve.profiles import profile_named
from contramem.traces.trajectory import Outcome

INSTRUCTIONS = (
    "Notes that earlier runs at similar tasks left. Call get_guidance with the task before the first step, and "
    "get_function_card with the name of a tool before its first call, and again after it failed. Where runs are "
    "recorded, tell your calls with report_call and how the task ended with report_outcome. The notes are soft "
    "guidance: what you observe is the truth, and nothing is to be copied from them."
)
MANY = 1000
"""Runs whose outcome can still be told; older ones are forgotten."""
READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)


def server(memory: Memory, profile: str | None = None) -> MCPServer:
    """The server, ready to run. Every guidance asked for is a run of its own: MCP does not say where a task ends."""
    serves = MCPServer("contramem", version=version("contramem"), instructions=INSTRUCTIONS, log_level="WARNING")
    chosen = profile_named(profile or memory.bank.header.profile)
    runs: dict[str, Run] = {}

    def start(task: str, ability: str | None = None, apps: list[str] | None = None) -> Run:
        # A client cannot know the labels of the bank. One that it does not have is no reason to show nothing.
        label = ability if ability and ability.casefold() in map(str.casefold, memory.retriever.abilities) else None
        run = memory.start(task, ability=label, apps=apps, profile=chosen)
        runs[run.run_id] = run
        while len(runs) > MANY:
            del runs[next(iter(runs))]
        return run

    def started(run_id: str = "") -> Run | None:
        return runs.get(run_id or next(reversed(runs), ""))

    def card_of(name: str) -> str:
        card = (started() or start("")).look_up(name)
        return card.text if card else ""

    # Plain text: what is structured reaches Claude Code and Codex as one line of escaped JSON.
    @serves.tool(structured_output=False, annotations=READS)
    def get_guidance(task: str, ability: str | None = None, apps: list[str] | None = None) -> str:
        """Rules from earlier runs at tasks like this one. Call it once, with the whole task, before the first step."""
        run = start(task, ability, apps)
        text = run.guidance.text or f"Nothing is known that fits this task ({run.guidance.note})."
        return f"{text}\n\n(run {run.run_id}; tell how it ended with report_outcome)" if memory.recording else text

    @serves.tool(structured_output=False)
    def report_outcome(passed: bool, run: str = "", feedback: str = "") -> str:
        """How a task ended, once that is known: later runs learn from it. `run` is the id that get_guidance gave; left
        out, the latest."""
        ended = started(run)
        if ended is None:
            return "There is no such run: call get_guidance first."
        ended.finish(Outcome(passed=passed, feedback=feedback))
        return f"Noted: run {ended.run_id} {'passed' if passed else 'failed'}."

    @serves.tool(structured_output=False)
    def report_call(function: str, arguments: dict[str, Any], result: str = "", error: str = "", run: str = "") -> str:
        """A tool call that you made, and what came of it. Only useful where runs are recorded (`--record`)."""
        made = started(run)
        if made is None:
            return "There is no such run: call get_guidance first."
        GuidedRun(made).tell(function, arguments, result, error or None)
        return "Noted."

    @serves.tool(structured_output=False, annotations=READS)
    def get_function_card(function: str) -> str:
        """What earlier calls of a function showed: arguments, mistakes to avoid, what it changes. Call it before the
        first call of that function."""
        return card_of(function) or f"Nothing is known about {function}."

    @serves.resource("contramem://functions/{name}", mime_type="text/markdown")
    def function_card(name: str) -> str:
        """The card of one function."""
        text = card_of(name)
        if not text:
            raise ResourceNotFoundError(f"the bank has no card of {name!r}.")
        return text

    @serves.resource("contramem://functions", mime_type="text/plain")
    def functions() -> str:
        """The functions that have a card, one a line."""
        return "\n".join(sorted(card.tool for card in memory.bank.functions))

    @serves.prompt()
    def start_task(task: str) -> str:
        """The task, with what earlier runs showed about tasks like it."""
        run = start(task)
        return f"{run.guidance.text}\n\n{task}" if run.guidance else task

    return serves
