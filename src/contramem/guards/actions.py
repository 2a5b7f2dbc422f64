"""Action: what an agent did, as guards see it: one view of an event of a run or of a step of a packet."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import msgspec

from contramem.collection.results import decode_result
from contramem.contrast.form import parse
from contramem.contrast.speech import asks, speech_of
from contramem.guards.dates import WRITTEN_DATE, read_time
from contramem.guards.results import field_values, list_records, nested_lists
from contramem.guards.values import plain_text, read_numbers
from contramem.traces.argument_parts import name_parts
from contramem.traces.trajectory import Effect, Event, Trajectory

if TYPE_CHECKING:
    from contramem.contrast.flow import Flow
    from contramem.contrast.step import Step

# The modules that compute forms and origins of values are imported on first use: most agents only ask for what is still
# owed, and need not wait for those imports.

ActionKind: TypeAlias = Literal["call", "ask", "final"]
FindOrigin: TypeAlias = Callable[[Event, str], str | None]
"""Where the value of an argument was seen before the event; None if unknown."""

_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w])|(?<![\w.])\d+(?:\.\d+)?(?![\w])")


class RunHistory:
    """What one run has shown so far. Analyzed only when a guard asks, because guards ask about little of it."""

    def __init__(self, task: str) -> None:
        self.task = task
        self._results: list[tuple[str, Any]] = []
        self._values: dict[tuple[str, str], list[tuple[int, frozenset[str]]]] = {}
        self._flow: Flow | None = None
        self._waiting: list[Event] = []

    def __len__(self) -> int:
        return len(self._results)

    def add(self, event: Event) -> None:
        """Count what the event showed as seen from now on; only calls that worked return results."""
        self._waiting.append(event)
        if event.function and event.result is not None and event.result.error is None:
            self._results.append((event.function, event.result.content))

    def find_origin(self, event: Event, argument: str) -> str | None:
        """Where the argument's value was first seen."""
        from contramem.contrast.flow import Flow

        self._flow = self._flow or Flow(self.task)
        for earlier in self._waiting:
            self._flow.observe(earlier)
        self._waiting.clear()
        only = msgspec.structs.replace(event, arguments={argument: event.arguments.get(argument)})
        return self._flow.origins(only).get(argument)

    def results(self, start: int, end: int) -> list[tuple[str, Any]]:
        """The function and content of each result from `start` up to `end`."""
        return self._results[start:end]

    def values(self, function: str, field: str, before: int) -> frozenset[str]:
        """The values under `field` in the results of `function`, among the first `before` calls."""
        listed = self._values.setdefault((function, field), [])
        for order in range(listed[-1][0] + 1 if listed else 0, len(self._results)):
            name, content = self._results[order]
            if name == function:
                values = _read_text(content, field) if isinstance(content, str) else _read_values(content, field)
                listed.append((order, values))
        return frozenset().union(*(values for order, values in listed if order < before))

    def records(self, function: str, before: int, inside: str = "") -> Iterator[list[dict[str, Any]]]:
        """The records in those results, latest result first; `inside` a named list, those of one list at a time."""
        for name, content in reversed(self._results[:before]):
            if name == function and inside:
                lists = nested_lists(decode_result(content), inside)
                yield from ([item for item in items if isinstance(item, dict)] for items in lists)
            elif name == function:
                yield list_records(decode_result(content))

    @cached_property
    def task_numbers(self) -> tuple[float, ...]:
        """The numbers that the request names."""
        return tuple(read_numbers(match[0] for match in _NUMBER.finditer(self.task)))

    @cached_property
    def plain_task(self) -> str:
        """The request in lower case."""
        return plain_text(self.task)

    @cached_property
    def task_date(self) -> datetime | None:
        """The date that the request names; None if there are several or none."""
        dates = [date for text in WRITTEN_DATE.findall(self.task) if (date := read_time(text)) is not None]
        return dates[0] if len(dates) == 1 else None


def _read_values(content: Any, field: str) -> frozenset[str]:
    return frozenset(plain_text(value) for value in field_values(decode_result(content), field))


_read_text = lru_cache(maxsize=1 << 12)(_read_values)  # runs of one task mostly get the same results
_NO_HISTORY = RunHistory("")


class Action:
    """A call, a question to the user, or the final answer. What takes long is computed on demand."""

    __slots__ = (
        "_find_origin",
        "_is_after",
        "_origins",
        "_step",
        "arguments",
        "asks",
        "effect",
        "event",
        "function",
        "history",
        "kind",
        "order",
        "time",
        "worked",
    )

    def __init__(
        self,
        kind: ActionKind,
        function: str = "",
        arguments: Mapping[str, Any] | None = None,
        effect: Effect = "unknown",
        worked: bool = True,
        time: float | None = None,
        history: RunHistory = _NO_HISTORY,
        event: Event | None = None,
    ) -> None:
        """`event`: as it was recorded, with its result."""
        self.kind, self.function, self.arguments = kind, function, name_parts(arguments or {})
        self.effect, self.worked, self.time, self.event = effect, worked, time, event
        self.history, self.order = history, len(history)
        self.asks = kind == "ask"
        """A question to the user; also a call that ends the run with one."""
        self._step: Step | None = None
        self._find_origin: FindOrigin | None = None
        self._origins: dict[str, str | None] = {}
        self._is_after = False

    @classmethod
    def of_call(cls, event: Event, history: RunHistory, find_origin: FindOrigin | None = None) -> Self:
        """A call of a live or recorded run."""
        worked = event.result is None or event.result.error is None
        action = cls("call", event.function, event.arguments, event.effect, worked, event.time, history, event)
        action.asks = event.kind == "final" and asks(speech_of(event))
        action._find_origin = find_origin or history.find_origin
        return action

    @classmethod
    def of_step(cls, kind: ActionKind, step: Step, event: Event | None, history: RunHistory) -> Self:
        """A step of a packet. Forms and origins come from the step. Values come from the recorded event, if the packet
        has it: steps are redacted, and a condition on an amount cannot be checked on a placeholder."""
        arguments = step.arguments if event is None else event.arguments
        if kind != "call" and event is not None and event.text:
            arguments = {"text": event.text}
        time = None if event is None else event.time
        action = cls(kind, step.function, arguments, step.effect, not step.error, time, history, event)
        action._step = step
        action.asks = step.asks and (kind == "ask" or step.kind == "final")
        return action

    def after(self) -> Action:
        """The same call once its result is known: what it returned counts as seen, too."""
        action = copy.copy(self)
        action._is_after = True
        return action

    def origin(self, argument: str) -> str | None:
        """Where the argument's value was seen before this action; None if unknown."""
        if self._step is not None:
            return self._step.origins.get(argument)
        if argument not in self._origins and self._find_origin and self.event is not None:
            self._origins[argument] = self._find_origin(self.event, argument)
        return self._origins.get(argument)

    def form(self, argument: str) -> str:
        from contramem.contrast.values import form_of_value

        known = self._step.forms.get(argument) if self._step is not None else None
        if known is not None or (self._step is not None and argument not in self.arguments):
            return known or ""
        return form_of_value(self.arguments[argument], argument)

    @property
    def content(self) -> Any:
        """What the call returned, as recorded; None if the run does not record it."""
        return None if self.event is None or self.event.result is None else self.event.result.content

    def result(self) -> Any:
        """The decoded result of a call that worked (lists, records, scalars)."""
        return decode_result(self.content) if self.worked and self.content is not None else None

    def returned_values(self, field: str) -> frozenset[str] | None:
        """The values that the call returned under `field`; None if the run does not record them."""
        if self.content is None:
            return None
        return frozenset(plain_text(leaf.value) for leaf in parse(self.content).leaves if leaf.field == field)

    def values(self, argument: str) -> frozenset[str]:
        """The values of an argument: a single one, or the items of a list."""
        from contramem.contrast.vocabulary import scalars

        found = scalars(self.arguments.get(argument))
        return frozenset(plain_text(scalar) for _, scalar in found if scalar is not None)

    def seen_values(self, function: str, field: str) -> frozenset[str]:
        """The values that earlier calls of `function` returned under `field`."""
        seen = self.history.values(function, field, self.order)
        if self._is_after and function == self.function:
            return seen.union(map(plain_text, field_values(self.result(), field)))
        return seen

    def seen_records(self, function: str, inside: str = "") -> Iterator[list[dict[str, Any]]]:
        """The records that earlier calls of `function` returned, perhaps `inside` a named list; latest result first."""
        if self._is_after and function == self.function:
            yield list_records(self.result(), inside)
        yield from self.history.records(function, self.order, inside)

    def key(self) -> object:
        """Equal for two calls with the same arguments."""
        return repr(sorted(self.arguments.items(), key=lambda item: item[0]))


NO_ACTION = Action("call")
"""Nothing was seen before it."""


class ActionStream:
    """Turns the events of one run into actions, one event at a time."""

    def __init__(self, task: str, find_origin: FindOrigin | None = None) -> None:
        """`find_origin`: if origins are known better than from the history."""
        self.history = RunHistory(task)
        self._find_origin = find_origin
        self._last_message = ""

    def take(self, event: Event) -> Action | None:
        """The action that the event is, if any. An agent's message becomes a question once the user answers it."""
        message, self._last_message = self._last_message, _message_of(event)
        if event.actor == "user" and not event.function:
            return Action("ask", arguments={"text": message}, time=event.time) if message else None
        if event.actor != "agent":
            return None
        if event.function:
            return Action.of_call(event, self.history, self._find_origin)
        if event.kind != "final":
            return None
        return Action("final", arguments={"text": event.text}, time=event.time, history=self.history)

    def close(self, event: Event) -> None:
        """Count what the event showed as seen from now on."""
        self.history.add(event)


def actions_of_run(run: Trajectory) -> Iterator[Action]:
    """The actions of a recorded run. Use each action before advancing: it shares the history of the run."""
    stream = ActionStream(run.task)
    for event in run.events:
        if action := stream.take(event):
            yield action
        stream.close(event)


def actions_of_steps(steps: Iterable[Step], recorded: Trajectory | None = None) -> Iterator[Action]:
    """The actions among the steps of a packet's run; `recorded` is the run that was redacted into them."""
    events = {event.position: event for event in recorded.events} if recorded else {}
    history = RunHistory(recorded.task) if recorded else _NO_HISTORY
    for step in steps:
        event = events.get(step.position)
        if step.actor == "agent" and step.function:
            yield Action.of_step("call", step, event, history)
        elif step.actor == "agent" and step.kind == "final":
            yield Action.of_step("final", step, event, history)
        if step.asks and step.kind != "final":
            yield Action.of_step("ask", step, event, history)
        if event is not None:
            history.add(event)


def _message_of(event: Event) -> str:
    """The text of an agent's message, or of a call that talks to the user; empty for anything else."""
    if event.function:
        return speech_of(event)
    return event.text if event.actor == "agent" and event.kind == "message" else ""
