"""Inspect logs (`.eval`, `.json`), through the `inspect-ai` package: only it reads every version and compression.

A log is one task and one model; a run is one sample in one epoch. Samples are read one at a time.
"""

from __future__ import annotations

import importlib
import zipfile
from collections.abc import Iterator
from typing import Any

from contramem.errors import TraceError
from contramem.traces.decoding import number
from contramem.traces.files import TraceFile
from contramem.traces.normalize import Recorder
from contramem.traces.reader import Problem, ReadOptions, SkippedRun, each_run
from contramem.traces.readers.inspect_events import record, tools_in
from contramem.traces.trajectory import Ending, Origin, Outcome, RunUsage, Trajectory

_VALUES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


class InspectReader:
    name = "inspect"

    def claims(self, file: TraceFile) -> bool:
        if file.ending == ".eval":
            return _is_log_archive(file)
        head = file.head if file.ending == ".json" else None
        return isinstance(head, dict) and isinstance(head.get("eval"), dict) and {"version", "status"} <= head.keys()

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        log = _log_module()
        header, samples = _translate_errors(_of_archive if file.ending == ".eval" else _of_document, log, file)

        def build(sample: Any, position: str) -> Trajectory:
            return _trajectory(sample, header, Origin(file.origin, position), options)

        return each_run(file, samples, build)


def _is_log_archive(file: TraceFile) -> bool:
    try:
        with zipfile.ZipFile(file.path) as archive:
            names = set(archive.namelist())
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return False
    # A log whose evaluation was killed has a journal and no header.
    return bool(names & {"header.json", "_journal/start.json"})


def _log_module() -> Any:
    try:
        return importlib.import_module("inspect_ai.log")
    except ImportError as error:
        if "inspect_ai" in str(error.name):
            raise TraceError("is an Inspect log", "To read those, install contramem[inspect].") from None
        raise TraceError(f"cannot be read because inspect-ai does not import ({error})", "Reinstall it.") from None


class LogHeader:
    """What a log says about all its samples."""

    def __init__(self, task: str, model: str, scorers: list[str]) -> None:
        self.task = task
        self.model = model
        self.scorers = scorers


def _of_archive(log: Any, file: TraceFile) -> tuple[LogHeader, Iterator[tuple[str, Any]]]:
    path = str(file.path)
    header = log.read_eval_log(path, header_only=True, format="eval")
    scorers = [score.name for score in header.results.scores] if header.results else []
    header = LogHeader(header.eval.task, str(header.eval.model), scorers)
    summaries = log.read_eval_log_sample_summaries(path, format="eval")

    def samples() -> Iterator[tuple[str, Any]]:
        for summary in summaries:
            yield (
                _position(summary.id, summary.epoch),
                _attempt(
                    log.read_eval_log_sample,
                    path,
                    id=summary.id,
                    epoch=summary.epoch,
                    resolve_attachments=True,
                    format="eval",
                    exclude_fields={"store", "timelines"},
                ),
            )

    return header, samples()


def _of_document(log: Any, file: TraceFile) -> tuple[LogHeader, Iterator[tuple[str, Any]]]:
    """A `.json` log is one document, so it is decoded once; its samples are then taken one by one."""
    document = file.document
    scores = (document.get("results") or {}).get("scores") or []
    about = document["eval"] if isinstance(document.get("eval"), dict) else {}
    header = LogHeader(str(about.get("task")), str(about.get("model")), [score.get("name") for score in scores])

    rows = list(document.get("samples") or ())

    def resolve(raw: Any) -> Any:
        sample = log.resolve_sample_events_data(log.EvalSample.model_validate(raw))
        return log.resolve_sample_attachments(sample, True)

    def samples() -> Iterator[tuple[str, Any]]:
        for index, raw in enumerate(rows):
            is_sample = isinstance(raw, dict) and "id" in raw
            yield _position(raw["id"], raw.get("epoch")) if is_sample else str(index), _attempt(resolve, raw)

    return header, samples()


def _position(sample_id: object, epoch: object) -> str:
    return f"{sample_id}_epoch_{epoch}"


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
    tools = tools_in(sample, recorder)
    model_calls = record(sample, recorder)
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
