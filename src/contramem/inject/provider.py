"""MemoryProvider: the interface between an agent loop and a memory, such as `Memory` or a fixed text for every task.

An agent loop uses only this interface, so that it runs the same way with cards, with other memories and with none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from contramem.counting import ENCODING, count_tokens
from contramem.inject.enforcement import Stop
from contramem.inject.guidance import Guidance
from contramem.retrieve.hit import Query
from contramem.traces.trajectory import Event, Outcome


class MemoryRun(Protocol):
    """One run with a provider. `inject.run.Run` documents the methods in detail."""

    @property
    def guidance(self) -> Guidance:
        """What to show before the first step; False if there is nothing."""

    def before_call(self, function: str, arguments: Mapping[str, Any] | None = None) -> Guidance | None:
        """What to show before this call."""

    def describe(self, function: str) -> str:
        """What to append to the description of a tool; may be empty."""

    def before_harm(
        self, function: str, arguments: Mapping[str, Any] | None = None, *, repeats: bool = False
    ) -> Guidance | None:
        """What to say before a harmful call. `repeats` means that it failed before with the same arguments."""

    def stop(self, function: str, arguments: Mapping[str, Any] | None = None) -> Stop | None:
        """Whether this call has to wait for a person, or is not to be made."""

    def observe(self, event: Event) -> object:
        """Report an event of the run."""

    def after_call(self, event: Event) -> Guidance | None:
        """Report a call with its result. Returns what to show beside the result."""

    def before_final(self) -> Guidance | None:
        """What to show before the run ends."""

    def finish(self, outcome: bool | Outcome | None = None) -> None:
        """Report how the run ended."""


class MemoryProvider(Protocol):
    """Guides any number of runs."""

    def begin(self, query: Query, *, run_id: str | None = None) -> MemoryRun:
        """Start a run for the task of `query`."""


@dataclass(frozen=True)
class TextMemoryRun:
    """A run that gets one text at its start and nothing later."""

    guidance: Guidance

    @classmethod
    def of(cls, text: str) -> TextMemoryRun:
        return cls(Guidance(text, count_tokens(text), ENCODING, ()))

    def before_call(self, function: str, arguments: Mapping[str, Any] | None = None) -> Guidance | None:
        return None

    def describe(self, function: str) -> str:
        return ""

    def before_harm(
        self, function: str, arguments: Mapping[str, Any] | None = None, *, repeats: bool = False
    ) -> Guidance | None:
        return None

    def stop(self, function: str, arguments: Mapping[str, Any] | None = None) -> Stop | None:
        return None

    def observe(self, event: Event) -> object:
        return None

    def after_call(self, event: Event) -> Guidance | None:
        return None

    def before_final(self) -> Guidance | None:
        return None

    def finish(self, outcome: bool | Outcome | None = None) -> None:
        return None


@dataclass(frozen=True)
class TextMemory:
    """Shows the text that `write` returns at the start of each task."""

    write: Callable[[Query], str]

    def begin(self, query: Query, *, run_id: str | None = None) -> TextMemoryRun:
        return TextMemoryRun.of(self.write(query))


class ForwardingRun:
    """Forwards everything to another run. Subclasses override the methods that they change."""

    run: MemoryRun

    def __init__(self, run: MemoryRun) -> None:
        self.run = run

    @property
    def guidance(self) -> Guidance:
        return self.run.guidance

    def before_call(self, function: str, arguments: Mapping[str, Any] | None = None) -> Guidance | None:
        return self.run.before_call(function, arguments)

    def describe(self, function: str) -> str:
        return self.run.describe(function)

    def before_harm(
        self, function: str, arguments: Mapping[str, Any] | None = None, *, repeats: bool = False
    ) -> Guidance | None:
        return self.run.before_harm(function, arguments, repeats=repeats)

    def stop(self, function: str, arguments: Mapping[str, Any] | None = None) -> Stop | None:
        return self.run.stop(function, arguments)

    def observe(self, event: Event) -> object:
        return self.run.observe(event)

    def after_call(self, event: Event) -> Guidance | None:
        return self.run.after_call(event)

    def before_final(self) -> Guidance | None:
        return self.run.before_final()

    def finish(self, outcome: bool | Outcome | None = None) -> None:
        self.run.finish(outcome)


class NotedRun(ForwardingRun):
    """Passes on what it shows before calls to `note`, with the function that is about to be called."""

    def __init__(self, run: MemoryRun, note: Callable[[Guidance, str], object]) -> None:
        super().__init__(run)
        self._note = note

    def before_call(self, function: str, arguments: Mapping[str, Any] | None = None) -> Guidance | None:
        guidance = super().before_call(function, arguments)
        if guidance:
            self._note(guidance, function)
        return guidance
