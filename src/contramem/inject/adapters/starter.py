"""Starting runs, and keeping those that go on: what adapters of frameworks share beside `GuidedRun`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypedDict, TypeVar

from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.run import Memory, Run
from contramem.retrieve.profiles import Profile
from contramem.traces.trajectory import Tool

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
    """A run in which more is asked as it goes on.

    What was shown is never rewritten, so that a provider can cache the prompt: a later request brings only cards that
    the conversation has not seen, and these stand beside that request from then on.
    """

    def __init__(self, starter: Starter, run_id: str | None) -> None:
        self._starter, self._run_id = starter, run_id
        self.steps_left: int | None = None
        """How many steps the framework allowed at the last reply; None if it has no limit that an adapter can see."""
        self._run: Run | None = None
        self._guided: GuidedRun | None = None
        self._notes: dict[int, str] = {}
        self._requests = 0
        self._lock = Lock()

    def at(self, requests: Sequence[str], tools: Iterable[str] | None = None) -> GuidedRun:
        """The run, after all that the user has asked so far. `notes` has what to show."""
        with self._lock:
            if self._guided is None:
                self._guided = self._starter.start(_join(requests), run_id=self._run_id, tools=tools)
                self._notes = {0: self._guided.guidance}
            elif len(requests) > self._requests and isinstance(self._guided.run, Run):
                self._notes[len(requests) - 1] = self._guided.run.more(requests[-1]).text
            elif len(requests) < self._requests:  # the conversation was compacted: its notes move to its beginning
                self._notes = {0: "\n\n".join(filter(None, self._notes.values()))}
            self._requests = len(requests)
            return self._guided

    @property
    def notes(self) -> dict[int, str]:
        """What to show, by the number of the request it stands beside: 0 is the beginning of the conversation."""
        return {number: text for number, text in self._notes.items() if text}


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


def _join(requests: Sequence[str]) -> str:
    return "\n\n".join(filter(None, requests))
