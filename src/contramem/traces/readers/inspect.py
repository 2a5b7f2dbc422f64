"""Inspect logs (`.eval`, `.json`), through the `inspect-ai` package: only it reads every version and compression. Plain
`.json` logs are read without it as well.

A log is one task and one model; a run is one sample in one epoch. Samples are read one at a time.
"""

from __future__ import annotations

import importlib
import zipfile
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import takewhile
from typing import Any, NamedTuple

from contramem.errors import TraceError
from contramem.traces.files import TraceFile, number
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.reader import Reading, ReadOptions, each_run
from contramem.traces.trajectory import Ending, Origin, Outcome, RunUsage, Tool, Trajectory

_REFERENCES = ("attachment://", "tc://")
_VALUES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def is_inspect(file: TraceFile) -> bool:
    if file.ending == ".eval":
        return _is_log_archive(file)
    head = file.head if file.ending == ".json" else None
    return isinstance(head, dict) and isinstance(head.get("eval"), dict) and {"version", "status"} <= head.keys()


def read_inspect(file: TraceFile, options: ReadOptions) -> Reading:
    log = _log_module(is_needed=file.ending == ".eval")
    header, samples = _translate_errors(_of_archive if file.ending == ".eval" else _of_document, log, file)
    return each_run(file, samples, lambda sample, at: _trajectory(sample, header, Origin(file.origin, at), options))


def _is_log_archive(file: TraceFile) -> bool:
    try:
        with zipfile.ZipFile(file.path) as archive:
            names = set(archive.namelist())
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return False
    # A log whose evaluation was killed has a journal and no header.
    return bool(names & {"header.json", "_journal/start.json"})


def _log_module(is_needed: bool) -> Any:
    try:
        return importlib.import_module("inspect_ai.log")
    except ImportError as error:
        if "inspect_ai" in str(error.name):
            if not is_needed:
                return None
            raise TraceError("is an Inspect log", "To read those, install contramem[inspect].") from None
        raise TraceError(f"cannot be read because inspect-ai does not import ({error})", "Reinstall it.") from None


class LogHeader(NamedTuple):
    """What a log says about all its samples."""

    task: str
    model: str
    scorers: list[str]


def _of_archive(log: Any, file: TraceFile) -> tuple[LogHeader, Iterator[tuple[str, Any]]]:
    path = str(file.path)
    header = log.read_eval_log(path, header_only=True, format="eval")
    scorers = [score.name for score in header.results.scores] if header.results else []
    header = LogHeader(header.eval.task, str(header.eval.model), scorers)
    summaries = log.read_eval_log_sample_summaries(path, format="eval")

    options = {"resolve_attachments": True, "format": "eval", "exclude_fields": {"store", "timelines"}}
    return header, (
        (f"{found.id}_epoch_{found.epoch}",
         _attempt(log.read_eval_log_sample, path, id=found.id, epoch=found.epoch, **options))
        for found in summaries
    )  # fmt: skip


def _of_document(log: Any, file: TraceFile) -> tuple[LogHeader, Iterator[tuple[str, Any]]]:
    """A `.json` log is one document, so it is decoded once; its samples are then taken one by one."""
    document = file.document
    scores = (document.get("results") or {}).get("scores") or []
    about = document["eval"] if isinstance(document.get("eval"), dict) else {}
    header = LogHeader(str(about.get("task")), str(about.get("model")), [score.get("name") for score in scores])

    rows = list(document.get("samples") or ())

    def resolve(raw: Any) -> Any:
        if log is None:
            return _plain_sample(raw)
        sample = log.resolve_sample_events_data(log.EvalSample.model_validate(raw))
        return log.resolve_sample_attachments(sample, True)

    def samples() -> Iterator[tuple[str, Any]]:
        for index, raw in enumerate(rows):
            is_sample = isinstance(raw, dict) and "id" in raw
            yield f"{raw['id']}_epoch_{raw.get('epoch')}" if is_sample else str(index), _attempt(resolve, raw)

    return header, samples()


_RAW = ("arguments", "result", "value", "parameters")
"""Fields whose objects are values, not parts of a log."""


class _Plain(dict[str, Any]):
    """An object of a log as JSON has it, with its fields as the attributes that the package gives them."""

    def __getattr__(self, name: str) -> Any:
        if name == "text":
            return text_of(self.get("content"))
        value = self.get(name)
        if name == "timestamp" and isinstance(value, str):
            return datetime.fromisoformat(value)
        return value if name in _RAW else _wrap(value)


def _wrap(value: Any) -> Any:
    if isinstance(value, list):
        return [_wrap(item) for item in value]
    return (
        _Plain({key: _wrap(item) if key not in _RAW else item for key, item in value.items()})
        if isinstance(value, dict)
        else value
    )


def _plain_sample(raw: Any) -> Any:
    """A sample of a plain log, with the attachments in their places."""
    if raw.get("events_data"):
        raise TraceError("keeps its messages in a pool", "To read it, install contramem[inspect].")
    if "transcript" in raw:  # as the first versions kept them
        raw = {**(raw["transcript"] or {}), **raw}
    attached = raw.get("attachments") or raw.get("content") or {}
    return _wrap(_attach(raw, attached) if attached else raw)


def _attach(value: Any, attached: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _attach(item, attached) for key, item in value.items() if key != "attachments"}
    if isinstance(value, list):
        return [_attach(item, attached) for item in value]
    is_reference = isinstance(value, str) and value.startswith(_REFERENCES)
    return attached.get(value.partition("://")[2], value) if is_reference else value


def _translate_errors(function: Any, *arguments: Any, **options: Any) -> Any:
    try:
        return function(*arguments, **options)
    except TraceError:
        raise
    except Exception as error:  # other people's code on untrusted bytes: whatever it raises, the file is at fault
        what = f"inspect-ai cannot read it ({type(error).__name__}: {str(error)[:200]})"
        raise TraceError(what, "Is the log complete? `inspect log dump` tells more.") from None


def _attempt(function: Any, *arguments: Any, **options: Any) -> Any:
    try:
        return _translate_errors(function, *arguments, **options)
    except TraceError as error:
        return error


def _trajectory(sample: Any, header: LogHeader, origin: Origin, options: ReadOptions) -> Trajectory:
    recorder = Recorder(options.naming(header.task.rpartition("/")[2] or "general"))
    tools = _tools(sample, recorder)
    model_calls = _record(sample, recorder)
    ability = (sample.metadata or {}).get("ability")
    return Trajectory(
        environment=f"inspect/{header.task}",
        task_id=str(sample.id),
        source=header.model,
        origin=origin,
        events=recorder.events(),
        outcome=_outcome(sample, header, options.record_fields.get("outcome")),
        run=str(sample.epoch),
        task=_task(sample.input),
        authored=True,
        ability=ability if isinstance(ability, str) else header.task,
        tools=tools,
        usage=_usage(sample, header.model, model_calls),
        system=recorder.system,
    )


def _task(given: Any) -> str:
    """The sample's input: text, or the user's part of a conversation."""
    if isinstance(given, str):
        return given
    return "\n".join(message.text for message in given if message.role == "user")


def _outcome(sample: Any, header: LogHeader, wanted: str | None) -> Outcome:
    """Of the scorer that the user names, else of the log's first: the one Inspect itself reports first."""
    scores = sample.scores or {}
    name, _, key = wanted.partition(".") if wanted else (next((s for s in header.scorers if s in scores), ""), "", "")
    score = scores.get(name) if name else next(iter(scores.values()), None)
    value = score.value if score is not None else None
    if key and isinstance(value, dict):
        value = value.get(key)
    reward = _reward(value)
    feedback = (score.explanation if score is not None else None) or (sample.error.message if sample.error else "")
    return Outcome(None if reward is None else reward >= 1, reward, feedback or "", _ending(sample))


def _reward(value: Any) -> float | None:
    """C is 1, P is 0.5, I and N are 0; numbers stay numbers; a score of several parts is unknown."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and (value in _VALUES or value.lower() in _VALUES):
        return _VALUES.get(value, _VALUES.get(value.lower()))
    return number(value)


def _ending(sample: Any) -> Ending:
    if sample.error is not None or (sample.limit is not None and sample.limit.type == "operator"):
        return "interrupted"
    return "complete" if sample.limit is None else "limit"


def _usage(sample: Any, model: str, model_calls: int | None) -> RunUsage:
    """Of the model under test; graders and other roles are not its cost."""
    usages = sample.model_usage or {}
    counted = [usages[model]] if model in usages else list(usages.values())
    if not counted:
        return RunUsage(model_calls)
    costs = [cost for usage in counted if (cost := getattr(usage, "total_cost", None)) is not None]
    return RunUsage(
        model_calls,
        tokens_in=sum(usage.input_tokens for usage in counted),
        tokens_out=sum(usage.output_tokens for usage in counted),
        cost_usd=sum(costs) if costs else None,
    )


# What happened in one sample, from its events if they were logged, otherwise from its messages. Events come first,
# because agents tidy their messages: `react()` takes the `submit` call out, compaction drops turns.


def _record(sample: Any, recorder: Recorder) -> int | None:
    """Record the sample. Returns the number of model calls, if the events show it."""
    events = list(_before_scoring(sample.events or ()))
    calls = len([event for event in events if event.event == "model"])
    if not calls:
        _record_messages(sample.messages, recorder)
        return None
    _record_events(events, recorder)
    return calls


def _before_scoring(events: Any) -> Iterator[Any]:
    """The events before scoring: graders are models too, but not part of the run."""
    return takewhile(lambda event: not _opens_scoring(event), events)


def _opens_scoring(event: Any) -> bool:
    # Spans since 2025, steps in older logs.
    opens = event.event == "span_begin" or (event.event == "step" and event.action == "begin")
    return opens and event.type in ("scorer", "scorers")


def _record_events(events: list[Any], recorder: Recorder) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    asked: set[str] = set()
    for event in events:
        time = event.timestamp.timestamp() if event.timestamp is not None else None
        if event.event == "model":
            _record_turn(event, recorder, seen, time)
        elif event.event == "tool" and event.id not in asked:  # a retried event is logged again under its id
            asked.add(event.id)
            recorder.call(event.function, event.arguments, event.id, time=time)
            if not event.pending:
                recorder.result(_content(event.result), event.id, error=_error(event.error), time=time)


def _record_turn(event: Any, recorder: Recorder, seen: Counter[tuple[str, str]], time: float | None) -> None:
    """Record what the user and the system said since the last turn, and the model's reply."""
    here: Counter[tuple[str, str]] = Counter()
    for message in event.input:
        key = (message.role, message.text)
        here[key] += 1
        if here[key] <= seen[key]:
            continue
        if message.role == "user":
            recorder.message("user", message.text, time)
        elif message.role == "system":
            recorder.instruct(message.text)
        seen[key] = here[key]
    if event.output is not None and event.output.choices:
        recorder.message("agent", event.output.choices[0].message.text, time)


def _record_messages(messages: Any, recorder: Recorder) -> None:
    for message in messages:
        if message.role == "user":
            recorder.message("user", message.text)
        elif message.role == "assistant":
            recorder.message("agent", message.text)
            for call in message.tool_calls or ():
                recorder.call(call.function, call.arguments, call.id)
        elif message.role == "system":
            recorder.instruct(message.text)
        elif message.role == "tool":
            recorder.result(message.text, message.tool_call_id, error=_error(message.error))


def _error(error: Any) -> str | None:
    # Without a ToolCallError the tool itself may still have answered that it failed.
    return None if error is None else f"{error.type}: {error.message}"


def _content(result: Any) -> Any:
    """A tool's result: a value, or parts of which the text counts."""
    parts = result if isinstance(result, list) else [result]
    if all(isinstance(part, (str, int, float, bool)) or part is None for part in parts):
        return result
    return "\n".join(text for part in parts if (text := getattr(part, "text", "")))


def _tools(sample: Any, recorder: Recorder) -> tuple[Tool, ...]:
    """Every tool that a model was offered before scoring began."""
    tools: dict[str, Tool] = {}
    for event in _before_scoring(sample.events or ()):
        if event.event != "model":
            continue
        for info in event.tools:
            if info.name not in tools:
                given = info.parameters
                parameters = given if isinstance(given, dict) else given.model_dump(exclude_none=True, mode="json")
                tools[info.name] = recorder.naming.tool(info.name, info.description, parameters)
    return tuple(tools.values())
