"""Serves a bank over MCP: tools, resources and a prompt.

The server cannot see calls of other servers' tools, so it only answers when asked; its instructions tell clients when
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
MAX_RUNS = 1000
"""How many runs are remembered for a report of their outcome; older ones are dropped."""
NO_SUCH_RUN = "There is no such run: call get_guidance first."
READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)


def server(memory: Memory, profile: str | None = None) -> MCPServer:
    """The server, ready to run. Every request for guidance starts a run, because MCP does not say when a task ends."""
    serves = MCPServer("contramem", version=version("contramem"), instructions=INSTRUCTIONS, log_level="WARNING")
    runs = _Runs(memory, profile)
    _add_guidance(serves, runs)
    _add_reports(serves, runs)
    _add_cards(serves, runs)
    return serves


class _Runs:
    """The runs that a client has started."""

    def __init__(self, memory: Memory, profile: str | None) -> None:
        self.memory = memory
        self._profile = profile_named(profile or memory.bank.header.profile)
        self._runs: dict[str, Run] = {}

    def start(self, task: str, ability: str | None = None, apps: list[str] | None = None) -> Run:
        # A client cannot know the ability labels of the bank, so an unknown one is ignored.
        labels = map(str.casefold, self.memory.retriever.abilities)
        label = ability if ability and ability.casefold() in labels else None
        run = self.memory.start(task, ability=label, apps=apps, profile=self._profile)
        self._runs[run.run_id] = run
        while len(self._runs) > MAX_RUNS:
            del self._runs[next(iter(self._runs))]
        return run

    def find(self, run_id: str = "") -> Run | None:
        """The run with this id; without an id, the latest."""
        return self._runs.get(run_id or next(reversed(self._runs), ""))

    def read_card(self, function: str) -> str:
        card = (self.find() or self.start("")).look_up(function)
        return card.text if card else ""


# Tools return plain text, because structured output reaches Claude Code and Codex as one line of escaped JSON.


def _add_guidance(serves: MCPServer, runs: _Runs) -> None:
    @serves.tool(structured_output=False, annotations=READS)
    def get_guidance(task: str, ability: str | None = None, apps: list[str] | None = None) -> str:
        """Rules from earlier runs at tasks like this one. Call it once, with the whole task, before the first step."""
        run = runs.start(task, ability, apps)
        text = run.guidance.text or f"Nothing is known that fits this task ({run.guidance.note})."
        hint = f"\n\n(run {run.run_id}; tell how it ended with report_outcome)" if runs.memory.recording else ""
        return text + hint

    @serves.prompt()
    def start_task(task: str) -> str:
        """The task, with what earlier runs showed about tasks like it."""
        run = runs.start(task)
        return f"{run.guidance.text}\n\n{task}" if run.guidance else task


def _add_reports(serves: MCPServer, runs: _Runs) -> None:
    @serves.tool(structured_output=False)
    def report_outcome(passed: bool, run: str = "", feedback: str = "") -> str:
        """How a task ended, once that is known: later runs learn from it. `run` is the id that get_guidance gave; left
        out, the latest."""
        ended = runs.find(run)
        if ended is None:
            return NO_SUCH_RUN
        ended.finish(Outcome(passed=passed, feedback=feedback))
        return f"Noted: run {ended.run_id} {'passed' if passed else 'failed'}."

    @serves.tool(structured_output=False)
    def report_call(
        function: str,
        arguments: dict[str, Any],
        result: str | dict[str, Any] | list[Any] = "",
        error: str = "",
        run: str = "",
    ) -> str:
        """A tool call that you made, and what came of it. Only useful where runs are recorded (`--record`)."""
        caller = runs.find(run)
        if caller is None:
            return NO_SUCH_RUN
        GuidedRun(caller).tell(function, arguments, result, error or None)
        return "Noted."


def _add_cards(serves: MCPServer, runs: _Runs) -> None:
    @serves.tool(structured_output=False, annotations=READS)
    def get_function_card(function: str) -> str:
        """What earlier calls of a function showed: arguments, mistakes to avoid, what it changes. Call it before the
        first call of that function."""
        return runs.read_card(function) or f"Nothing is known about {function}."

    @serves.resource("contramem://functions/{name}", mime_type="text/markdown")
    def function_card(name: str) -> str:
        """The card of one function."""
        text = runs.read_card(name)
        if not text:
            raise ResourceNotFoundError(f"the bank has no card of {name!r}.")
        return text

    @serves.resource("contramem://functions", mime_type="text/plain")
    def functions() -> str:
        """The functions that have a card, one a line."""
        return "\n".join(sorted(card.tool for card in runs.memory.bank.functions))
