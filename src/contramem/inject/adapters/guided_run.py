"""A run as adapters see it: guidance at the start, calls held once, results told. Each adapter is a layer over it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, TypedDict, TypeVar

from contramem.inject.provider import MemoryRun
from contramem.inject.run import Memory, Run
from contramem.prompts import render
from contramem.retrieve.profiles import Profile
from contramem.traces.result_errors import error_in  # so that a live failure is what a failure in a trace is
from contramem.traces.trajectory import Event, Result, Tool

HELD = "inject/adapters/prompts/held.jinja"
_MANY = 10_000
_Kept = TypeVar("_Kept")


class StartOptions(TypedDict, total=False):
    """What an adapter passes on to `Memory.start`, whose documentation has the meaning of each."""

    ability: str | None
    apps: Iterable[str] | None
    tools: Iterable[str | Tool] | None
    """Left out, the adapter names the tools that the framework gives the agent, where it can see them."""
    task_id: str | None
    scenario_id: str | None
    profile: str | Profile | None


@dataclass(frozen=True)
class _Decision:
    turn: Hashable
    call: str | None
    text: str | None
    """None: the call was let through."""


class GuidedRun:
    """One run: what is shown at its start, which calls are held, and what came of the others. Threads may share it."""

    def __init__(self, run: MemoryRun) -> None:
        self.run = run
        self._decisions: dict[str, _Decision] = {}
        self._told = 0
        self._lock = Lock()

    @property
    def guidance(self) -> str:
        """What to show before the first step; empty when there is nothing."""
        return self.run.guidance.text

    def hold(
        self,
        function: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        turn: Hashable = None,
        call: str | None = None,
    ) -> str | None:
        """What to answer this call with instead of making it. None: make it.

        `turn` names the model's reply that the call is from. An agent that calls one function several times in a reply
        has read nothing in between, so all of them are held, or none; the card is the answer to the first. Without a
        turn each call stands for itself. `call` names the call: asked again about the same one, the answer is the same.
        """
        with self._lock:
            decision = self._decisions.get(function)
            if decision is None or turn is None or decision.turn != turn:
                note = self.run.before_call(function, arguments)
                text = held_text(function, note.text) if note else None
                self._decisions[function] = _Decision(turn, call, text)
                return text
        if decision.text is None or (call is not None and call == decision.call):
            return decision.text
        return held_text(function)

    def tell(
        self, function: str, arguments: Mapping[str, Any] | None = None, content: object = None, error: object = None
    ) -> None:
        """What came of a call that was made: `content`, or the `error` it ended with (a message or an exception).

        A failure brings the card of the function back. Text that admits to an error counts as one.
        """
        message = error_in(content) if error is None else str(error) or type(error).__name__
        with self._lock:
            position, self._told = self._told, self._told + 1
        result = Result(content if isinstance(content, str | dict | list) else None, message)
        self.run.observe(
            Event(position, "agent", "call", function=function, arguments=dict(arguments or {}), result=result)
        )


@dataclass(frozen=True)
class Starter:
    """Starts the runs of one agent."""

    memory: Memory
    options: StartOptions
    on_start: Callable[[Run], None] | None = None
    """Told of every run that starts: keep it to say later how it ended (`run.finish`)."""

    def start(self, task: str, *, run_id: str | None = None, tools: Iterable[str] | None = None) -> GuidedRun:
        options: StartOptions = {"tools": tools}
        run = self.memory.start(task, run_id=run_id, **(options | self.options))
        if self.on_start is not None:
            self.on_start(run)
        return GuidedRun(run)


class Conversation:
    """A run in which more is asked as it goes on. Each prompt gets guidance of its own; what was held stays held, for
    its card is still in the conversation."""

    def __init__(self, starter: Starter, run_id: str | None) -> None:
        self._starter, self._run_id = starter, run_id
        self._asked: str | None = None
        self._latest: GuidedRun | None = None
        self._first: GuidedRun | None = None
        self._lock = Lock()

    def at(self, task: str, tools: Iterable[str] | None = None) -> tuple[GuidedRun, str]:
        """The run, and the guidance for `task`, which is all that was asked so far."""
        with self._lock:
            if self._first is None or self._latest is None or task != self._asked:
                self._asked, self._latest = task, self._starter.start(task, run_id=self._run_id, tools=tools)
                self._first = self._first or self._latest
            return self._first, self._latest.guidance


class Runs(Generic[_Kept]):
    """What is kept of the runs that go on now, by the framework's name for them. Of very many the longest unused is
    forgotten, for not every framework says when a run ends."""

    def __init__(self, many: int = _MANY) -> None:
        self._many = many
        self._runs: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, start: Callable[[], _Kept]) -> _Kept:
        """What is kept under `key`, made by `start` if there is nothing."""
        with self._lock:
            if key not in self._runs:
                self._runs[key] = start()
                if len(self._runs) > self._many:
                    self._runs.popitem(last=False)
            self._runs.move_to_end(key)
            return self._runs[key]

    def drop(self, key: Hashable) -> None:
        with self._lock:
            self._runs.pop(key, None)


def missing(adapter: str, package: str, extra: str, error: ImportError) -> ImportError:
    """What to raise when the `package` of an adapter does not import: how to get it, or what is wrong with it."""
    if error.name == package:
        return ImportError(f"{adapter} needs a package that is not installed: pip install 'contramem[{extra}]'")
    return ImportError(
        f"{adapter} cannot use the {package} installed here ({error}): pip install -U 'contramem[{extra}]'"
    )


def held_text(function: str, card: str = "") -> str:
    """The answer to a held call: the card, or, without one, that it is the answer to another call of the same reply."""
    return render(HELD, function=function, card=card, elsewhere=not card).text.strip()
