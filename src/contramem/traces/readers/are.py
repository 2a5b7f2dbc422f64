"""ARE / GAIA2 runs: the `hf` trace of a run, its `lite` half beside it, and the verdicts of `output.jsonl`.

    {"version": "are_simulation_v1", "metadata": {...}, "completed_events": [
      {"event_type": "AGENT", "action": {"app": "Emails", "function": "send_email", "args": [...]}, "metadata": {...}}]}

Both halves are one run: `hf` has what was executed, `lite` has who asked for it and why. Either alone is read too.
`events` in an hf trace are the oracle's answers and are never read; a run of the oracle itself is skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from contramem.errors import TraceError
from contramem.traces.files import TraceFile, number, read_literal
from contramem.traces.normalize import Naming, Recorder
from contramem.traces.reader import Reading, ReadOptions, SkippedRun, each_run
from contramem.traces.readers.messages import whole
from contramem.traces.readers.records import label
from contramem.traces.trajectory import Effect, Ending, Event, Origin, Outcome, RunUsage, Trajectory

Record = dict[str, Any]
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


def is_are(file: TraceFile) -> bool:
    head = file.head
    return isinstance(head, dict) and (_is_hf(head) or _is_lite(head) or _is_outcomes(file, head))


def read_are(file: TraceFile, options: ReadOptions) -> Reading:
    def build(run: Record, position: str) -> Trajectory | SkippedRun | None:
        if "completed_events" in run:
            return _from_hf(run, file, options)
        return None if _twin(file, "lite", "hf") else _from_lite(run, file, options)

    def without_a_trace(row: Record, position: str) -> SkippedRun | None:
        """Counts the rows of `output.jsonl` whose run left no trace: a row is not a run."""
        return None if row["trace_id"] else SkippedRun(f"{file.origin}:{position}", "no trace was exported")

    return (
        each_run(file, file.lines(), without_a_trace) if file.is_lines else each_run(file, [("", file.document)], build)
    )


def _is_hf(head: Record) -> bool:
    # A scenario file has the same version, but nothing has happened in it yet.
    return str(head.get("version")).startswith("are_simulation") and bool(head.get("completed_events"))


def _is_lite(head: Record) -> bool:
    return "per_agent_interaction_histories" in head and "scenario_id" in head


def _is_outcomes(file: TraceFile, head: Record) -> bool:
    return file.name == "output.jsonl" and {"task_id", "trace_id", "score", "metadata"} <= head.keys()


def _from_hf(trace: Record, file: TraceFile, options: ReadOptions) -> Trajectory | SkippedRun:
    metadata = trace["metadata"]
    definition, simulation = metadata["definition"], metadata.get("simulation") or {}
    if (metadata.get("runner_config") or {}).get("oracle"):
        return SkippedRun(file.origin, "run of the oracle: answers, not an attempt")
    apps = {str(app["name"]): str(app["class_name"]) for app in trace.get("apps") or ()}
    recorder = Recorder(options.naming("are", apps or GAIA2_APPS))
    lite = _twin_document(file, "hf", "lite")
    _record(recorder, _check_times(trace["completed_events"]), _turns_of(lite) if lite else [])
    if lite:
        recorder.instruct(_system_prompt(lite))
    events = _mark_final(recorder.events(finalize=False))
    return Trajectory(
        environment="are",
        task_id=_scenario(definition),
        source=label(simulation.get("model_id") or simulation.get("agent_id"), "model_id") or "unknown",
        origin=Origin(file.origin),
        events=events,
        outcome=_outcome(file, events, definition, metadata.get("annotation") or {}, lite),
        run=label(definition.get("run_number"), "run_number") or "0",
        task=next((event.text for event in events if event.actor == "user"), ""),
        authored=True,
        ability=_ability(definition.get("tags") or []),
        apps=tuple(dict.fromkeys(apps.values())),
        usage=msgspec.structs.replace(
            _usage(lite) if lite else RunUsage(), agent_events=_count_events(trace["completed_events"], events)
        ),
        system=recorder.system,
    )


def _count_events(executed: list[Record], events: tuple[Event, ...]) -> int:
    """The paper's agent events (A.7): reads and writes of the apps, including those that a function makes itself, the
    agent's actions and its observations. About three per call, more if functions call others."""
    reads_and_writes = sum(1 for event in executed if event["event_type"] == "AGENT")
    actions = [event for event in events if event.actor == "agent" and event.function]
    return reads_and_writes + len(actions) + sum(action.result is not None for action in actions)


def _ability(tags: list[str]) -> str | None:
    return next((tag.lower() for tag in tags if tag.lower() in ABILITIES), None)


def _scenario(holder: Record) -> str:
    name = label(holder["scenario_id"], "scenario_id")
    if name is None:
        raise KeyError("scenario_id")
    return name


def _check_times(events: list[Record]) -> list[Record]:
    """The events with a time that can be compared; ARE gives every completed event one."""
    for event in events:
        if (time := number(event["event_time"])) is None:
            raise TraceError(f"has an event at {event['event_time']!r}, which is not a time", "Is the trace complete?")
        event["event_time"] = time
    return events


def _record(recorder: Recorder, events: list[Record], turns: list[Turn]) -> None:
    """Record the executed events in order, and between them what only the turns show."""
    issued = _match_turns(recorder.naming, events, turns)
    own = set(issued) if issued else _outer_calls(events)
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
            _record_call(recorder, event, issued.get(position))
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
        _tell_turn(recorder, turn)


def _record_environment(recorder: Recorder, event: Record) -> None:
    action, time = event["action"], event["event_time"]
    arguments = _arguments_in(action)
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


def _from_lite(lite: Record, file: TraceFile, options: ReadOptions) -> Trajectory:
    recorder = Recorder(options.naming("are", GAIA2_APPS))
    recorder.instruct(_system_prompt(lite))
    task = ""
    for turn in _turns_of(lite):
        if turn.role == "user" and (text := _task_in(turn.text)):
            task = task or text
            recorder.message("user", text, turn.time)
        elif turn.tool and turn.response is not None and not turn.failed:
            recorder.message("agent", turn.text, turn.time)
            recorder.call(turn.tool, turn.arguments, time=turn.time)
            recorder.result(value_of(turn.response), error=False)
        else:
            _tell_turn(recorder, turn)
    events = _mark_final(recorder.events(finalize=False))
    return Trajectory(
        environment="are",
        task_id=_scenario(lite),
        source=label(lite.get("model_id") or lite.get("main_agent_type"), "model_id") or "unknown",
        origin=Origin(file.origin),
        events=events,
        outcome=_outcome(file, events, {"scenario_id": lite["scenario_id"]}, {}, lite),
        task=task,
        authored=True,
        usage=_usage(lite),
        system=recorder.system,
    )


# Which events that ARE logs as the agent's are its own calls. A call that an app makes inside another call
# (`forward_email` reads the e-mail first) is logged like the agent's own, with no mark. With the `lite` half, the
# agent's turns distinguish them; without it, only the clock does.


NESTED_WITHIN_S = 0.001
"""A model cannot answer this fast: a second call of the same app so soon was made by the first one, inside the app."""

_EFFECTS: dict[str | None, Effect] = {"READ": "read", "WRITE": "write"}


def _match_turns(naming: Naming, events: list[Record], turns: list[Turn]) -> dict[int, Turn]:
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


def _outer_calls(events: list[Record]) -> set[int]:
    """Positions of the agent's events without those that follow another of the same app faster than a model can."""
    own: set[int] = set()
    outer: Record | None = None
    for position, event in enumerate(events):
        if event["event_type"] != "AGENT":
            continue
        if outer is None or not _inside(event, outer):
            own.add(position)
            outer = event
    return own


def _inside(event: Record, outer: Record) -> bool:
    inner_action, outer_action = event["action"], outer["action"]
    return bool(
        0 <= event["event_time"] - outer["event_time"] < NESTED_WITHIN_S
        and inner_action["app"] == outer_action["app"]
        and inner_action["function"] != outer_action["function"]
    )


def _record_call(recorder: Recorder, event: Record, turn: Turn | None) -> None:
    """Record one call of the agent: its arguments as written in `turn`, if there is one, and its result."""
    action, outcome = event["action"], event.get("metadata") or {}
    name = action["function"]
    effect: Effect | None = "wait" if name == "wait_for_notification" else _EFFECTS.get(action.get("operation_type"))
    # The turn has the arguments that the agent gave; the event has defaults filled in.
    given = turn.arguments if turn is not None and isinstance(turn.arguments, dict) else _arguments_in(action)
    recorder.call(name, given, app=action["app"] or "", effect=effect, time=event["event_time"])
    exception, value = outcome.get("exception"), outcome.get("return_value")
    if exception:
        recorder.result(None, error=str(exception))
    elif value is None and turn is not None and not turn.failed:
        recorder.result(value_of(turn.response), error=False)  # the event shows every falsy value as null
    else:
        recorder.result(value if outcome.get("return_value_type") == "str" else value_of(value), error=False)


def _arguments_in(action: Record) -> Record:
    """Arguments with their types restored, without nulls, which look the same as defaults."""
    return {
        argument["name"]: argument["value"] if argument.get("value_type") == "str" else value_of(argument["value"])
        for argument in action.get("args") or ()
        if argument["value"] is not None
    }


# The `lite` half: what the agent said and was shown, turn by turn. It alone has thoughts, rationale and token counts,
# and turns that never became a call: unknown tools, and calls that a memory held.


MAX_LITERAL = 65_536
"""Longer values stay text: parsing a literal is slow, and no rule is learned from the inside of a long listing."""

_ACTION = re.compile(r"(?:\A|\n)\s*Action:\s*")
_RESPONSE = re.compile(r"\s*\[OUTPUT OF STEP \d+(?: @ [^\]]*)?\] (Observation|ERROR):\n\*\*\*\n(.*)\n\*\*\*", re.DOTALL)
_EXCEPTION = re.compile(
    r"Exception: (?:Error in tool call execution: )?(.*?)(?:\nYou should only use|\nCategory:|\Z)", re.S
)
_SHOWN = re.compile(r"\s*Environment notifications updates:\n\*\*\*\n(.*?)\n\*\*\*", re.DOTALL)
_TASK = re.compile(r"\s*(?:\[TASK\]:|User messages updates:\n\*\*\*)\s*(.*)", re.DOTALL)
_MESSAGE = re.compile(r"^Message: (.*?)^(?:Attachments|Already read): ", re.DOTALL | re.MULTILINE)
_TOOL = re.compile(r"^- \w+: Acts on app .*?^ +Returns an output of type:.*?\n", re.DOTALL | re.MULTILINE)
_OBJECT = re.compile(r"[\[({\s]*[A-Z]\w*\(|.{0,200}<\w", re.DOTALL)

_decode_action = json.JSONDecoder(strict=False).raw_decode


@dataclass(slots=True, eq=False)
class Turn:
    """One thing the agent said or was shown."""

    role: str
    text: str
    """The thought of an agent's turn; the message of any other."""
    time: float | None
    tool: str = ""
    arguments: Any = None
    response: str | None = None
    """What the agent was shown after its action."""
    failed: bool = False


def _turns_of(lite: Record) -> list[Turn]:
    """The turns of every agent in the run, in the order in which they happened."""
    turns: list[Turn] = []
    for history in lite["per_agent_interaction_histories"].values():
        turns.extend(_turns(history))
    if len(lite["per_agent_interaction_histories"]) > 1:
        turns.sort(key=lambda turn: turn.time or 0.0)
    return turns


def _system_prompt(lite: Record) -> str:
    """What the main agent was told before the task, without the tools: they are nine tenths of it."""
    for history in lite["per_agent_interaction_histories"].values():
        for message in history:
            if message["role"] == "system":
                return _TOOL.sub("", message["content"] or "")
    return ""


def _turns(history: list[Record]) -> Iterator[Turn]:
    last: Turn | None = None
    for message in history:
        role, content, time = message["role"], message["content"] or "", number(message.get("timestamp"))
        if role == "assistant":
            if last is not None:
                yield last
            last = _spoken(content, time)
        elif role == "tool-response":
            match = _RESPONSE.match(content)
            if last is not None and last.tool and last.response is None:
                last.failed = match is not None and match[1] == "ERROR"
                last.response = match[2] if match else content
        elif role != "system":
            if last is not None:
                yield last
                last = None
            yield Turn("user", content, time)
    if last is not None:
        yield last


def _spoken(content: str, time: float | None) -> Turn:
    match = _ACTION.search(content)
    thought = content[: match.start()] if match else content
    turn = Turn("assistant", thought.strip().removeprefix("Thought:").strip(), time)
    try:
        action, _ = _decode_action(content, content.index("{", match.end())) if match else (None, 0)
    except (ValueError, RecursionError):
        action = None
    if isinstance(action, dict) and isinstance(action.get("action"), str):
        turn.tool, turn.arguments = action["action"], action.get("action_input")
    elif match:
        turn.text = content.strip()
    return turn


def _error_of(response: str) -> str:
    """The exception in an ERROR response, without the tool's documentation that ARE repeats after it."""
    match = _EXCEPTION.search(response)
    return (match[1] if match else response).strip() or "failed"


def value_of(text: str | None) -> Any:
    """The value behind the `str()` of a return value: JSON, else a Python literal, else the text itself."""
    if text is None or text == "None":
        return None
    if len(text) > MAX_LITERAL or _OBJECT.match(text):
        return text
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return read_literal(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return text


def _tell_turn(recorder: Recorder, turn: Turn) -> None:
    """Record what only this turn shows: a thought, a refused or held call, a notification."""
    if turn.role == "user":
        recorder.message("environment", _notice_in(turn.text), turn.time, kind="notification")
        return
    recorder.message("agent", turn.text, turn.time)
    if not turn.tool or turn.response is None:
        return
    if turn.failed:
        recorder.call(turn.tool, turn.arguments, time=turn.time)
        recorder.result(None, error=_error_of(turn.response))
    else:
        # A call that was answered and left no event did not run (a memory held it): what was said is all there is.
        recorder.result(turn.response, error=False, time=turn.time)


def _notice_in(text: str) -> str:
    """What a notification says, without the frame that ARE puts around it."""
    match = _SHOWN.match(text)
    return match[1].strip() if match else text.strip()


def _task_in(text: str) -> str:
    """The user's words in this turn; empty if it has none."""
    match = _TASK.match(text)
    if not match:
        return ""
    messages = [message.strip() for message in _MESSAGE.findall(match[1])]
    return "\n".join(messages) if messages else match[1].strip()


def _usage(lite: Record) -> RunUsage:
    """Token counts over all agents of the run."""
    stats = list((lite.get("per_agent_llm_usage_stats") or {}).values())
    if not stats:
        return RunUsage()
    calls = sum(whole(each.get("total_llm_calls")) or 0 for each in stats)
    return RunUsage(calls, _total(stats, "prompt_tokens"), _total(stats, "completion_tokens"))


def _total(stats: list[Record], key: str) -> int:
    return int(sum(number(count) or 0 for each in stats for count in each.get(key) or ()))


def _twin(file: TraceFile, ours: str, theirs: str) -> TraceFile | None:
    """The other half of the run: `stem.lite.json` for `stem.hf.json`, `lite/run.json` for `hf/run.json`."""
    name = file.path.name
    if f".{ours}." in name:
        return file.beside(name.replace(f".{ours}.", f".{theirs}."))
    if file.path.parent.name == ours:
        return file.beside(f"../{theirs}/{name}")
    return None


def _twin_document(file: TraceFile, ours: str, theirs: str) -> Record | None:
    """The content of the other half, or None. If it cannot be decoded, reading that file reports it."""
    other = _twin(file, ours, theirs)
    try:
        document = other.document if other else None
    except TraceError:
        return None
    return document if isinstance(document, dict) else None


# The verdict. ARE writes "Invalid" both for a run that its judge refused and for a run that nobody judged
# (`success=None`). Only a rationale, a person's annotation or a score in `output.jsonl` tells that it was a failure;
# without one it is unknown.


def _outcome(
    file: TraceFile,
    events: tuple[Event, ...],
    definition: Record,
    annotation: Record,
    lite: Record | None,
) -> Outcome:
    """The verdict of the run, from the trace and the files beside it."""
    row = _row(file, definition)
    rationale = _text((lite or {}).get("validation_rationale")) or _text(row.get("rationale"))
    feedback = rationale or _text(annotation.get("comment")) or _text(definition.get("exception_message"))
    raised = bool(definition.get("has_exception") or row.get("has_exception"))
    if "score" in row:
        reward = number(row["score"])
        passed = None if reward is None else reward >= 1
    else:
        decision = annotation.get("validation_decision") or (lite or {}).get("validation_decision")
        judged = bool(rationale or annotation.get("annotator")) and not raised
        passed = {"Valid": True, "Invalid": False if judged else None}.get(str(decision))
        reward = None
    return Outcome(passed, reward, feedback, _ending(events, raised, passed))


def _ending(events: tuple[Event, ...], raised: bool, passed: bool | None) -> Ending:
    if raised:
        return "interrupted"
    finished = passed or any(event.kind == "final" for event in events)
    # An ARE agent stops by writing to the user. One that never does ran out of turns or of time.
    return "complete" if finished else "limit"


def _text(value: object) -> str:
    return value if isinstance(value, str) and value != "None" else ""


def _row(file: TraceFile, definition: Record) -> Record:
    """The run's metadata and score in `output.jsonl`, beside the trace or beside its folder."""
    for place in ("output.jsonl", "../output.jsonl"):
        if (scores := file.beside(place)) is not None:
            stat = scores.path.stat()
            rows = _rows(scores.path, stat.st_mtime_ns, stat.st_size)
            run = (str(definition.get("scenario_id")), definition.get("run_number"))
            return rows.get(file.path.name) or rows.get(run) or {}
    return {}


@lru_cache(maxsize=4)
def _rows(path: Path, modified: int, size: int) -> dict[object, Record]:
    """Rows by the name of their trace, and by (scenario, run) for traces that were moved or renamed."""
    rows: dict[object, Record] = {}
    try:
        for _, row in TraceFile(path).lines():
            if isinstance(row, dict) and "score" in row:
                metadata = row.get("metadata") if isinstance(row.get("metadata"), dict) else {}
                verdict = {**(metadata or {}), "score": row["score"]}
                rows[(str(row.get("task_id")), verdict.get("run_number"))] = verdict
                if isinstance(row.get("trace_id"), str):
                    rows[Path(row["trace_id"]).name] = verdict
    except TraceError:
        pass  # it is reported where the file itself is read
    return rows
