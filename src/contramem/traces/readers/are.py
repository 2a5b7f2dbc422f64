"""ARE / GAIA2 runs: the `hf` trace of a run, its `lite` half beside it, and the verdicts of `output.jsonl`.

    {"version": "are_simulation_v1", "metadata": {...}, "completed_events": [
      {"event_type": "AGENT", "action": {"app": "Emails", "function": "send_email", "args": [...]}, "metadata": {...}}]}

Both halves are one run: `hf` has what was executed, `lite` has who asked for it and why. Either alone is read too.
`events` in an hf trace are the oracle's answers and are never read; a run of the oracle itself is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from contramem.errors import TraceError
from contramem.traces.decoding import number
from contramem.traces.files import TraceFile
from contramem.traces.normalize import Recorder
from contramem.traces.reader import Problem, ReadOptions, SkippedRun, each_run
from contramem.traces.readers.are_calls import arguments_in, match_turns, outer_calls, record_call
from contramem.traces.readers.are_lite import (
    Turn,
    system_prompt,
    task_in,
    tell,
    turns_of,
    twin,
    twin_document,
    usage_of,
    value_of,
)
from contramem.traces.readers.are_outcome import outcome_of, outcomes_without_a_trace
from contramem.traces.readers.records import label
from contramem.traces.trajectory import Event, Origin, RunUsage, Trajectory

ABILITIES = ("execution", "search", "ambiguity", "adaptability", "time")

# ARE leaves `apps` out of GAIA2 traces; these are the names it gives there (`validation.constants.APP_ALIAS`).
GAIA2_APPS = {
    "Emails": "EmailClientV2",
    "Mail": "EmailClientV2",
    "Chats": "MessagingAppV2",
    "Messages": "MessagingAppV2",
    "Calendar": "CalendarApp",
    "Contacts": "ContactsApp",
    "Cabs": "CabApp",
    "Shopping": "ShoppingApp",
    "RentAFlat": "ApartmentListingApp",
    "Files": "SandboxLocalFileSystem",
}


class AreReader:
    name = "are"

    def claims(self, file: TraceFile) -> bool:
        head = file.head
        return isinstance(head, dict) and (_is_hf(head) or _is_lite(head) or _is_outcomes(file, head))

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        def build(run: dict[str, Any], position: str) -> Trajectory | SkippedRun | None:
            if "completed_events" in run:
                return _from_hf(run, file, options)
            return None if twin(file, "lite", "hf") else _from_lite(run, file, options)

        if file.is_lines:
            return outcomes_without_a_trace(file)
        return each_run(file, [("", file.document)], build)


def _is_hf(head: dict[str, Any]) -> bool:
    # A scenario file has the same version, but nothing has happened in it yet.
    return str(head.get("version")).startswith("are_simulation") and bool(head.get("completed_events"))


def _is_lite(head: dict[str, Any]) -> bool:
    return "per_agent_interaction_histories" in head and "scenario_id" in head


def _is_outcomes(file: TraceFile, head: dict[str, Any]) -> bool:
    return file.name == "output.jsonl" and {"task_id", "trace_id", "score", "metadata"} <= head.keys()


def _from_hf(trace: dict[str, Any], file: TraceFile, options: ReadOptions) -> Trajectory | SkippedRun:
    metadata = trace["metadata"]
    definition, simulation = metadata["definition"], metadata.get("simulation") or {}
    if (metadata.get("runner_config") or {}).get("oracle"):
        return SkippedRun(file.origin, "run of the oracle: answers, not an attempt")
    apps = {str(app["name"]): str(app["class_name"]) for app in trace.get("apps") or ()}
    recorder = Recorder(options.naming("are", apps or GAIA2_APPS))
    lite = twin_document(file, "hf", "lite")
    _record(recorder, _check_times(trace["completed_events"]), turns_of(lite) if lite else [])
    if lite:
        recorder.instruct(system_prompt(lite))
    events = _mark_final(recorder.events(finalize=False))
    return Trajectory(
        environment="are",
        task_id=_scenario(definition),
        source=label(simulation.get("model_id") or simulation.get("agent_id"), "model_id") or "unknown",
        origin=Origin(file.origin),
        events=events,
        outcome=outcome_of(file, events, definition, metadata.get("annotation") or {}, lite),
        run=label(definition.get("run_number"), "run_number") or "0",
        task=next((event.text for event in events if event.actor == "user"), ""),
        authored=True,
        ability=_ability(definition.get("tags") or []),
        apps=tuple(dict.fromkeys(apps.values())),
        usage=msgspec.structs.replace(
            usage_of(lite) if lite else RunUsage(), agent_events=_count_events(trace["completed_events"], events)
        ),
        system=recorder.system,
    )


def _count_events(executed: list[dict[str, Any]], events: tuple[Event, ...]) -> int:
    """The paper's agent events (A.7): reads and writes of the apps, including those that a function makes itself, the
    agent's actions and its observations. About three per call, more if functions call others."""
    reads_and_writes = sum(1 for event in executed if event["event_type"] == "AGENT")
    actions = [event for event in events if event.actor == "agent" and event.function]
    return reads_and_writes + len(actions) + sum(action.result is not None for action in actions)


def _ability(tags: list[str]) -> str | None:
    return next((tag.lower() for tag in tags if tag.lower() in ABILITIES), None)


def _scenario(holder: dict[str, Any]) -> str:
    name = label(holder["scenario_id"], "scenario_id")
    if name is None:
        raise KeyError("scenario_id")
    return name


def _check_times(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events with a time that can be compared; ARE gives every completed event one."""
    for event in events:
        if (time := number(event["event_time"])) is None:
            raise TraceError(f"has an event at {event['event_time']!r}, which is not a time", "Is the trace complete?")
        event["event_time"] = time
    return events


def _record(recorder: Recorder, events: list[dict[str, Any]], turns: list[Turn]) -> None:
    """Record the executed events in order, and between them what only the turns show."""
    issued = match_turns(recorder.naming, events, turns)
    own = set(issued) if issued else outer_calls(events)
    # Halves that do not join (other clocks) would tell each call twice, so then only the thoughts are taken.
    executed = set(issued.values()) if issued or not own else set(turns)
    waiting = _worth_telling(turns)
    turn = next(waiting, None)
    for position, event in enumerate(events):
        while turn is not None and (turn.time is None or turn.time <= event["event_time"]):
            _tell(recorder, turn, executed)
            turn = next(waiting, None)
        if event["event_type"] in ("ENV", "USER"):
            _record_environment(recorder, event)
        elif event["event_type"] == "AGENT" and position in own:
            record_call(recorder, event, issued.get(position))
    for rest in (turn, *waiting) if turn is not None else ():
        _tell(recorder, rest, executed)


def _worth_telling(turns: list[Turn]) -> Iterator[Turn]:
    # Of what the agent is shown, only a wait that ran out has no event of its own.
    for turn in turns:
        if turn.role == "assistant" or "SystemApp: " in turn.text:
            yield turn


def _tell(recorder: Recorder, turn: Turn, executed: set[Turn]) -> None:
    if turn in executed:
        recorder.message("agent", turn.text, turn.time)
    else:
        tell(recorder, turn)


def _record_environment(recorder: Recorder, event: dict[str, Any]) -> None:
    action, time = event["action"], event["event_time"]
    arguments = arguments_in(action)
    if action["function"] == "send_message_to_agent":
        recorder.message("user", str(arguments.get("content") or ""), time)
    else:
        name = recorder.naming.function(action["function"], action["app"])
        text = f"{name} {msgspec.json.encode(arguments).decode()}"
        recorder.message("environment", text, time, kind="notification")


def _mark_final(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """Marks the agent's last call as its answer if it is a message to the user; earlier messages only end a turn."""
    last = next((event for event in reversed(events) if event.function and event.actor == "agent"), None)
    if last is None or not last.function.endswith(".send_message_to_user"):
        return events
    text = str(last.arguments.get("content") or "")
    final = msgspec.structs.replace(last, kind="final", effect="finalize", text=text)
    return (*events[: last.position], final, *events[last.position + 1 :])


def _from_lite(lite: dict[str, Any], file: TraceFile, options: ReadOptions) -> Trajectory:
    recorder = Recorder(options.naming("are", GAIA2_APPS))
    recorder.instruct(system_prompt(lite))
    task = ""
    for turn in turns_of(lite):
        if turn.role == "user" and (text := task_in(turn.text)):
            task = task or text
            recorder.message("user", text, turn.time)
        elif turn.tool and turn.response is not None and not turn.failed:
            recorder.message("agent", turn.text, turn.time)
            recorder.call(turn.tool, turn.arguments, time=turn.time)
            recorder.result(value_of(turn.response), error=False)
        else:
            tell(recorder, turn)
    events = _mark_final(recorder.events(finalize=False))
    return Trajectory(
        environment="are",
        task_id=_scenario(lite),
        source=label(lite.get("model_id") or lite.get("main_agent_type"), "model_id") or "unknown",
        origin=Origin(file.origin),
        events=events,
        outcome=outcome_of(file, events, {"scenario_id": lite["scenario_id"]}, {}, lite),
        task=task,
        authored=True,
        usage=usage_of(lite),
        system=recorder.system,
    )
