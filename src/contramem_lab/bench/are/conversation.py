"""The conversation with a worker: answers what it asks while a scenario runs, and records what happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from contramem.counting import count_tokens
from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.guidance import Guidance
from contramem.inject.provider import MemoryProvider, MemoryRun, NotedRun
from contramem.inject.run import Run
from contramem.monitor.guard_monitor import Obligation
from contramem.traces.normalize import Naming, Recorder
from contramem.traces.trajectory import Outcome, RunUsage, ShownMemory, Tool
from contramem_lab.bench.are.scenarios import AreTask
from contramem_lab.bench.are.settings import AreEngine, TimeRuntime


@dataclass(frozen=True)
class Answer:
    """What is sent back to the worker."""

    text: str | None = None
    usage: Mapping[str, int] | None = None

    def as_json(self) -> dict[str, Any]:
        return {"text": self.text} | ({"usage": dict(self.usage)} if self.usage else {})


class AreConversation:
    """One run as this process sees it."""

    def __init__(
        self,
        task: AreTask,
        provider: MemoryProvider | None,
        engine: AreEngine | None,
        runtime: TimeRuntime,
        run_id: str,
    ) -> None:
        self._task, self._provider, self._engine = task, provider, engine
        self._runtime, self._run_id = runtime, run_id
        self._memory_run: MemoryRun | None = None
        self._guided: GuidedRun | None = None
        self._turn = 0
        self.recorder = Recorder(Naming("are"))
        self.shown: list[ShownMemory] = []
        self.usage = RunUsage(model_calls=0, tokens_in=0, tokens_out=0)
        self.wording = task.wording

    def answer(self, message: Mapping[str, Any]) -> Answer | None:
        """None: the worker only reported something."""
        what = message["what"]
        if what == "reply":
            return self._reply(message)
        if what == "called":
            self._record(message)
            return None
        if what == "usage":
            self._count(message["tokens_in"], message["tokens_out"])
            return None
        answers = {"start": self._start, "before_call": self._before_call, "tick": self._pending,
                   "pending": self._pending, "boundary": self._boundary}  # fmt: skip
        return Answer(answers[what](message))

    def finish(self, outcome: Outcome) -> None:
        if self._memory_run is not None:
            self._memory_run.finish(outcome)

    def _start(self, message: Mapping[str, Any]) -> str | None:
        self.wording = self._task.wording or str(message["task"])
        self.recorder = Recorder(Naming("are", aliases=message["apps"]))
        self.recorder.message("user", self.wording, message["time"])
        if self._provider is None:
            return None
        tools = [Tool(self.recorder.naming.function(name)) for name in message["tools"]]
        query = replace(
            self._task.query(tools), task=self.wording, task_id=self._task.id, scenario_id=self._task.family
        )
        self._memory_run = self._provider.begin(query, run_id=self._run_id)
        self._guided = GuidedRun(NotedRun(self._memory_run, self._note), hold="first_call")
        return self._note(self._memory_run.guidance)

    def _before_call(self, message: Mapping[str, Any]) -> str | None:
        if self._guided is None:
            return None
        function = self.recorder.naming.function(message["tool"])
        return self._guided.hold(function, message["arguments"], ends_run=False, turn=self._turn)

    def _pending(self, message: Mapping[str, Any]) -> str | None:
        """What the shown cards still demand."""
        if not self._runtime.guards or not isinstance(self._memory_run, Run):
            return None
        owed = [_describe(obligation, message["time"]) for obligation in self._memory_run.pending()]
        if not owed:
            return None
        text = "Still pending by the cards you were shown:\n" + "\n".join(f"- {line}" for line in owed)
        self.shown.append(ShownMemory(self._position(), text, "", (), count_tokens(text)))
        return text

    def _boundary(self, message: Mapping[str, Any]) -> str | None:
        if not isinstance(self._memory_run, Run):
            return None
        guidance = self._memory_run.before_final()
        return self._note(guidance) if guidance else None

    def _reply(self, message: Mapping[str, Any]) -> Answer:
        assert self._engine is not None, "the worker asks only when it was told to"
        self._turn += 1
        text = self._engine.complete(message["messages"])
        read = sum(count_tokens(str(each["content"])) for each in message["messages"])
        written = count_tokens(text)
        self._count(read, written)
        return Answer(text, {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written})

    def _count(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """Count one reply of the model. If a server does not report tokens, the sum is unknown."""
        used = self.usage
        self.usage = RunUsage(
            model_calls=(used.model_calls or 0) + 1,
            tokens_in=None if None in (used.tokens_in, tokens_in) else (used.tokens_in or 0) + (tokens_in or 0),
            tokens_out=None if None in (used.tokens_out, tokens_out) else (used.tokens_out or 0) + (tokens_out or 0),
        )

    def _record(self, message: Mapping[str, Any]) -> None:
        self._turn += 1
        self.recorder.call(message["tool"], message["arguments"], time=message["time"])
        self.recorder.result(message.get("content"), error=message.get("error") or False)
        if self._memory_run is not None:
            self._memory_run.observe(self.recorder.events(finalize=False)[-1])

    def _note(self, guidance: Guidance, function: str = "") -> str | None:
        if not guidance:
            return None
        cards, tokens = guidance.card_ids, guidance.tokens
        self.shown.append(ShownMemory(self._position(), guidance.text, function, cards, tokens))
        return guidance.text

    def _position(self) -> int:
        return len(self.recorder.events(finalize=False))


def _describe(obligation: Obligation, now: float) -> str:
    """What is pending, with its deadline on the agent's clock."""
    if obligation.due is None:
        return obligation.text
    left = round(obligation.due - now)
    moment = f"in {left} seconds" if left >= 0 else f"{-left} seconds ago"
    return f"{obligation.text} Due at {datetime.fromtimestamp(obligation.due, tz=UTC):%H:%M:%S} UTC, {moment}."
