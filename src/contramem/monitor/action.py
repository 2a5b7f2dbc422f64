"""Action: what an agent did, in the form that guards check. Made from steps of a packet or events of a live run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from contramem.contrast.form import parse
from contramem.contrast.speech import asks, speech_of
from contramem.monitor.history import RunHistory
from contramem.monitor.results import decode_result, field_values, list_records
from contramem.traces.argument_parts import name_parts
from contramem.traces.trajectory import Effect, Event, Result, Trajectory

if TYPE_CHECKING:
    from contramem.contrast.flow import Flow
    from contramem.contrast.step import Step

# The modules that compute forms and origins of values are imported on first use: most agents only ask for what is still
# owed, and need not wait for those imports.

ActionKind: TypeAlias = Literal["call", "ask", "final"]

_NO_HISTORY = RunHistory("")


class Action:
    """A call, a question to the user, or the final answer. Expensive properties are computed on demand."""

    __slots__ = ("arguments", "asks", "effect", "function", "history", "kind", "order", "time", "worked")

    def __init__(
        self,
        kind: ActionKind,
        function: str = "",
        arguments: Mapping[str, Any] | None = None,
        effect: Effect = "unknown",
        worked: bool = True,
        time: float | None = None,
        history: RunHistory = _NO_HISTORY,
    ) -> None:
        self.kind, self.function, self.arguments = kind, function, name_parts(arguments or {})
        self.effect, self.worked, self.time = effect, worked, time
        self.history, self.order = history, len(history)
        self.asks = kind == "ask"
        """A question to the user; also a call that ends the run with one."""

    def origin(self, argument: str) -> str | None:
        """Where the argument's value was seen before this action; None if unknown."""
        return None

    def form(self, argument: str) -> str:
        from contramem.contrast.values import form_of_value

        return form_of_value(self.arguments[argument], argument)

    def result(self) -> Any:
        """The decoded result of the call (lists, records, scalars); None if the run does not record it."""
        return None

    def returned_values(self, field: str) -> frozenset[str] | None:
        """The values that the call returned under `field`; None if the run does not record them."""
        return None

    def values(self, argument: str) -> frozenset[str]:
        """The values of an argument: a single one, or the items of a list."""
        from contramem.contrast.vocabulary import scalars

        return frozenset(_plain(scalar) for _, scalar in scalars(self.arguments.get(argument)) if scalar is not None)

    def seen_values(self, function: str, field: str) -> frozenset[str]:
        """The values that earlier calls of `function` returned under `field`."""
        return self.history.values(function, field, self.order)

    def seen_records(self, function: str, inside: str = "") -> Iterator[list[dict[str, Any]]]:
        """The records that earlier calls of `function` returned, perhaps `inside` a named list; latest result first."""
        return self.history.records(function, self.order, inside)

    def task_numbers(self) -> tuple[float, ...]:
        """The numbers that the request names."""
        return self.history.task_numbers

    def key(self) -> object:
        """Equal for two calls with the same arguments."""
        return repr(sorted(self.arguments.items(), key=lambda item: item[0]))


NO_ACTION = Action("call")
"""Nothing was seen before it."""


class AfterCall(Action):
    """A call once its result is known: what it returned counts as seen, too."""

    __slots__ = ("_call",)

    def __init__(self, call: Action) -> None:
        super().__init__(call.kind, call.function, call.arguments, call.effect, call.worked, call.time, call.history)
        self.order, self._call = call.order, call

    def seen_values(self, function: str, field: str) -> frozenset[str]:
        seen = super().seen_values(function, field)
        own = field_values(self._call.result(), field) if function == self.function else ()
        return seen.union(map(_plain, own))

    def seen_records(self, function: str, inside: str = "") -> Iterator[list[dict[str, Any]]]:
        if function == self.function:
            yield list_records(self._call.result(), inside)
        yield from super().seen_records(function, inside)


class EventAction(Action):
    """A call of a live or recorded run."""

    __slots__ = ("_event", "_origins", "_seen")

    def __init__(self, event: Event, seen: SeenValues) -> None:
        worked = _is_success(event.result)
        super().__init__("call", event.function, event.arguments, event.effect, worked, event.time, seen.history)
        self._event, self._seen = event, seen
        self.asks = event.kind == "final" and asks(speech_of(event))
        self._origins: dict[str, str | None] = {}

    def origin(self, argument: str) -> str | None:
        if argument not in self._origins:
            self._origins[argument] = self._seen.origin(self._event, argument)
        return self._origins[argument]

    def result(self) -> Any:
        return result_of(self._event)

    def returned_values(self, field: str) -> frozenset[str] | None:
        return _values_returned(self._event, field)


class StepAction(Action):
    """A step of a packet. Forms and origins come from the step. Values come from the recorded event, if the packet has
    it: steps are redacted, and a condition on an amount cannot be checked on a placeholder."""

    __slots__ = ("_event", "_step")

    def __init__(self, kind: ActionKind, step: Step, event: Event | None = None, history: RunHistory = _NO_HISTORY):
        arguments = step.arguments if event is None else event.arguments
        if kind != "call" and event is not None and event.text:
            arguments = {"text": event.text}
        time = None if event is None else event.time
        super().__init__(kind, step.function, arguments, step.effect, not step.error, time, history)
        self._step, self._event = step, event
        self.asks = step.asks and (kind == "ask" or step.kind == "final")

    def origin(self, argument: str) -> str | None:
        return self._step.origins.get(argument)

    def form(self, argument: str) -> str:
        known = self._step.forms.get(argument)
        return super().form(argument) if known is None and argument in self.arguments else known or ""

    def result(self) -> Any:
        return None if self._event is None else result_of(self._event)

    def returned_values(self, field: str) -> frozenset[str] | None:
        return None if self._event is None else _values_returned(self._event, field)


class SeenValues:
    """The values a run has seen so far. Analyzed lazily, because guards ask about few arguments."""

    def __init__(self, task: str) -> None:
        self.history = RunHistory(task)
        self._task = task
        self._flow: Flow | None = None
        self._waiting: list[Event] = []

    def add(self, event: Event) -> None:
        self._waiting.append(event)
        self.history.add(event)

    def origin(self, event: Event, argument: str) -> str | None:
        from contramem.contrast.flow import Flow

        self._flow = self._flow or Flow(self._task)
        for earlier in self._waiting:
            self._flow.observe(earlier)
        self._waiting.clear()
        only = msgspec.structs.replace(event, arguments={argument: event.arguments.get(argument)})
        return self._flow.origins(only).get(argument)


class ActionStream:
    """Turns the events of one run into actions, one event at a time."""

    def __init__(self, task: str, make: Callable[[Event, SeenValues], EventAction] = EventAction) -> None:
        """`make`: makes the action of a call."""
        self.seen = SeenValues(task)
        self._make = make
        self._last_message = ""

    def take(self, event: Event) -> Action | None:
        """The action that the event is, if any. An agent's message becomes a question once the user answers it."""
        message, self._last_message = self._last_message, _message_of(event)
        if event.actor == "user" and not event.function:
            return Action("ask", arguments={"text": message}, time=event.time) if message else None
        if event.actor != "agent":
            return None
        if event.function:
            return self._make(event, self.seen)
        if event.kind != "final":
            return None
        return Action("final", arguments={"text": event.text}, time=event.time, history=self.seen.history)

    def close(self, event: Event) -> None:
        """Count what the event showed as seen from now on."""
        self.seen.add(event)


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
            yield StepAction("call", step, event, history)
        elif step.actor == "agent" and step.kind == "final":
            yield StepAction("final", step, event, history)
        if step.asks and step.kind != "final":
            yield StepAction("ask", step, event, history)
        if event is not None:
            history.add(event)


def _message_of(event: Event) -> str:
    """The text of an agent's message, or of a call that talks to the user; empty for anything else."""
    if event.function:
        return speech_of(event)
    return event.text if event.actor == "agent" and event.kind == "message" else ""


def result_of(event: Event) -> Any:
    return None if event.result is None else decode_result(event.result.content)


def _values_returned(event: Event, field: str) -> frozenset[str] | None:
    if event.result is None or event.result.content is None:
        return None
    return frozenset(_plain(leaf.value) for leaf in parse(event.result.content).leaves if leaf.field == field)


def _is_success(result: Result | None) -> bool:
    return result is None or result.error is None


def _plain(value: object) -> str:
    return str(value).strip().casefold()
