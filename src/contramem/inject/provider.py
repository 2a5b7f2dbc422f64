"""MemoryProvider: whatever helps a running agent with text. `Memory` is one; the same text for every task is another.

An agent loop knows only this, so that it runs alike with cards, with other memories and with none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from contramem.counting import ENCODING, count_tokens
from contramem.inject.guidance import Guidance
from contramem.retrieve.hit import Query
from contramem.traces.trajectory import Event, Outcome


class MemoryRun(Protocol):
    """One run with an provider. `inject.run.Run` says more about each moment."""

    @property
    def guidance(self) -> Guidance:
        """What to show before the first step. False: show nothing."""

    def before_call(self, function: str, arguments: Mapping[str, Any] | None = None) -> Guidance | None:
        """What to show before this call."""

    def describe(self, function: str) -> str:
        """What to put after the description of a tool. Empty: nothing."""

    def before_harm(
        self, function: str, arguments: Mapping[str, Any] | None = None, *, repeats: bool = False
    ) -> Guidance | None:
        """What to say before a call that would do harm. `repeats`: it failed before, with the same arguments."""

    def observe(self, event: Event) -> object:
        """Tell what happened."""

    def after_call(self, event: Event) -> Guidance | None:
        """Tell what came of a call; what to show beside its result."""

    def before_final(self) -> Guidance | None:
        """What to show before the run ends."""

    def finish(self, outcome: bool | Outcome | None = None) -> None:
        """Tell how the run ended."""


class MemoryProvider(Protocol):
    """Helps any number of runs."""

    def begin(self, query: Query, *, run_id: str | None = None) -> MemoryRun:
        """Begin a run at the task of `query`."""


@dataclass(frozen=True)
class TextMemoryRun:
    """A run that gets one text at its start and nothing afterwards."""

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
    """Gives each task the text that `write` has for it, at its start."""

    write: Callable[[Query], str]

    def begin(self, query: Query, *, run_id: str | None = None) -> TextMemoryRun:
        return TextMemoryRun.of(self.write(query))


class ForwardingRun:
    """Passes everything on to another run. What notes or changes something overrides the method in question."""

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

    def observe(self, event: Event) -> object:
        return self.run.observe(event)

    def after_call(self, event: Event) -> Guidance | None:
        return self.run.after_call(event)

    def before_final(self) -> Guidance | None:
        return self.run.before_final()

    def finish(self, outcome: bool | Outcome | None = None) -> None:
        self.run.finish(outcome)
