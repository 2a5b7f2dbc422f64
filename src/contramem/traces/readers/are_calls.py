"""Which events that ARE logs as the agent's are its own calls, with their arguments and results.

A call that an app makes inside another call (`forward_email` reads the e-mail first) is logged like the agent's own,
with no mark. With the `lite` half, the agent's turns distinguish them; without it, only the clock does.
"""

from __future__ import annotations

from typing import Any

from contramem.traces.normalize import Naming, Recorder
from contramem.traces.readers.are_lite import Turn, value_of
from contramem.traces.trajectory import Effect

NESTED_WITHIN_S = 0.001
"""A model cannot answer this fast: a second call of the same app so soon was made by the first one, inside the app."""

_EFFECTS: dict[str | None, Effect] = {"READ": "read", "WRITE": "write"}


def match_turns(naming: Naming, events: list[dict[str, Any]], turns: list[Turn]) -> dict[int, Turn]:
    """Which turn asked for which event: the first event of the turn's function before the next turn.

    Everything else that is logged as the agent's in that time was called inside an app, not by the agent. If the two
    halves use different clocks, nothing matches and they are not joined."""
    issued: dict[int, Turn] = {}
    actions = iter([(turn.time, turn) for turn in turns if turn.tool and turn.time is not None])
    current: Turn | None = None
    following = next(actions, None)
    for position, event in enumerate(events):
        if event["event_type"] != "AGENT":
            continue
        while following is not None and following[0] <= event["event_time"]:
            current, following = following[1], next(actions, None)
        action = event["action"]
        if current is not None and naming.function(current.tool) == naming.function(action["function"], action["app"]):
            issued[position] = current
            current = None
    return issued


def outer_calls(events: list[dict[str, Any]]) -> set[int]:
    """Positions of the agent's events without those that follow another of the same app faster than a model can."""
    own: set[int] = set()
    outer: dict[str, Any] | None = None
    for position, event in enumerate(events):
        if event["event_type"] != "AGENT":
            continue
        if outer is None or not _inside(event, outer):
            own.add(position)
            outer = event
    return own


def _inside(event: dict[str, Any], outer: dict[str, Any]) -> bool:
    inner_action, outer_action = event["action"], outer["action"]
    return bool(
        0 <= event["event_time"] - outer["event_time"] < NESTED_WITHIN_S
        and inner_action["app"] == outer_action["app"]
        and inner_action["function"] != outer_action["function"]
    )


def record_call(recorder: Recorder, event: dict[str, Any], turn: Turn | None) -> None:
    """Record one call of the agent: its arguments as written in `turn`, if there is one, and its result."""
    action, outcome = event["action"], event.get("metadata") or {}
    name = action["function"]
    effect: Effect | None = "wait" if name == "wait_for_notification" else _EFFECTS.get(action.get("operation_type"))
    # The turn has the arguments that the agent gave; the event has defaults filled in.
    given = turn.arguments if turn is not None and isinstance(turn.arguments, dict) else arguments_in(action)
    recorder.call(name, given, app=action["app"] or "", effect=effect, time=event["event_time"])
    exception, value = outcome.get("exception"), outcome.get("return_value")
    if exception:
        recorder.result(None, error=str(exception))
    elif value is None and turn is not None and not turn.failed:
        recorder.result(value_of(turn.response), error=False)  # the event shows every falsy value as null
    else:
        recorder.result(value if outcome.get("return_value_type") == "str" else value_of(value), error=False)


def arguments_in(action: dict[str, Any]) -> dict[str, Any]:
    """Arguments with their types restored, without nulls, which look the same as defaults."""
    return {
        argument["name"]: argument["value"] if argument.get("value_type") == "str" else value_of(argument["value"])
        for argument in action.get("args") or ()
        if argument["value"] is not None
    }
