"""What an agent did, as guards see it: the same for a step of a packet and for an event of a run in progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from contramem.contrast.form import parse
from contramem.traces.trajectory import Effect, Event, Result, Trajectory

if TYPE_CHECKING:
    from contramem.contrast.flow import Flow
    from contramem.contrast.packet import Step

# What tells forms and origins of values is imported when a guard asks for them: most agents that only want to know what
# they still owe need not wait for it.

ActionKind: TypeAlias = Literal["call", "ask", "final"]


class Action:
    """A call, a question to the user, or the final answer. What costs time to find out is found out when asked."""

    __slots__ = ("arguments", "effect", "function", "kind", "worked")

    def __init__(
        self,
        kind: ActionKind,
        function: str = "",
        arguments: Mapping[str, Any] | None = None,
        effect: Effect = "unknown",
        worked: bool = True,
    ) -> None:
        self.kind, self.function, self.arguments = kind, function, arguments or {}
        self.effect, self.worked = effect, worked

    def origin(self, argument: str) -> str | None:
        """Where the argument's value had been seen before; None where that cannot be told."""
        return None

    def form(self, argument: str) -> str:
        from contramem.contrast.values import form_of_value

        return form_of_value(self.arguments[argument], argument)

    def returned_values(self, field: str) -> frozenset[str] | None:
        """The values that the call returned under `field`; None where the run does not keep them."""
        return None

    def values(self, argument: str) -> frozenset[str]:
        """The values given for an argument: one, or those of a list."""
        from contramem.contrast.vocabulary import scalars

        return frozenset(_plain(scalar) for _, scalar in scalars(self.arguments.get(argument)) if scalar is not None)

    def key(self) -> object:
        """Equal for two calls with the same arguments."""
        return repr(sorted(self.arguments.items(), key=lambda item: item[0]))


class StepAction(Action):
    """A step of a packet: redacted, so that what came back is not known."""

    __slots__ = ("_step",)

    def __init__(self, kind: ActionKind, step: Step) -> None:
        super().__init__(kind, step.function, step.arguments, step.effect, not step.error)
        self._step = step

    def origin(self, argument: str) -> str | None:
        return self._step.origins.get(argument)

    def form(self, argument: str) -> str:
        return self._step.forms.get(argument, "")


class EventAction(Action):
    """A call as it was made."""

    __slots__ = ("_event", "_origins", "_seen")

    def __init__(self, event: Event, seen: SeenValues) -> None:
        super().__init__("call", event.function, event.arguments, event.effect, _is_success(event.result))
        self._event, self._seen = event, seen
        self._origins: dict[str, str | None] = {}

    def origin(self, argument: str) -> str | None:
        if argument not in self._origins:
            self._origins[argument] = self._seen.origin(self._event, argument)
        return self._origins[argument]

    def returned_values(self, field: str) -> frozenset[str] | None:
        result = self._event.result
        if result is None or result.content is None:
            return None
        return frozenset(_plain(leaf.value) for leaf in parse(result.content).leaves if leaf.field == field)


class SeenValues:
    """What a run has seen, looked through only when somebody asks: most calls have no argument that is guarded."""

    def __init__(self, task: str) -> None:
        self._task = task
        self._flow: Flow | None = None
        self._waiting: list[Event] = []

    def add(self, event: Event) -> None:
        self._waiting.append(event)

    def origin(self, event: Event, argument: str) -> str | None:
        from contramem.contrast.flow import Flow

        self._flow = self._flow or Flow(self._task)
        for earlier in self._waiting:
            self._flow.observe(earlier)
        self._waiting.clear()
        only = msgspec.structs.replace(event, arguments={argument: event.arguments.get(argument)})
        return self._flow.origins(only).get(argument)


class ActionStream:
    """Turns the events of one run, as they come, into actions."""

    def __init__(self, task: str) -> None:
        self.seen = SeenValues(task)
        self._spoke = False

    def take(self, event: Event) -> Action | None:
        """What the event is, or shows to have been: an agent's message is a question when the user answers it."""
        spoke, self._spoke = self._spoke, event.actor == "agent" and event.kind == "message" and not event.function
        if event.actor == "user" and not event.function:
            return Action("ask") if spoke else None
        if event.actor != "agent":
            return None
        if event.function:
            return EventAction(event, self.seen)
        return Action("final") if event.kind == "final" else None

    def close(self, event: Event) -> None:
        """The event is past: what it showed has been seen."""
        self.seen.add(event)


def actions_of_run(run: Trajectory) -> Iterator[Action]:
    """The actions of a recorded run. Look at each before taking the next."""
    stream = ActionStream(run.task)
    for event in run.events:
        if action := stream.take(event):
            yield action
        stream.close(event)


def actions_of_steps(steps: Iterable[Step]) -> Iterator[Action]:
    """The actions among the steps of a packet's run."""
    for step in steps:
        if step.actor == "agent" and step.function:
            yield StepAction("call", step)
        elif step.actor == "agent" and step.kind == "final":
            yield StepAction("final", step)
        elif step.asks:
            yield StepAction("ask", step)


def _is_success(result: Result | None) -> bool:
    return result is None or result.error is None


def _plain(value: object) -> str:
    return str(value).strip().casefold()
