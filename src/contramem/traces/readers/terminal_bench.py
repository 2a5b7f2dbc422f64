"""terminal-bench before Harbor: a trial's `results.json` with the terminal log `sessions/agent.log` beside it.

    results.json         {"trial_name": "t1.1-of-1", "task_id": "t1", "instruction": "...", "is_resolved": true}
    sessions/agent.log   root@box:/app# ls
                         a.py

The log is what a terminal showed. Commands are recognised by its prompts; if the agent printed its own event stream
there (Claude Code), that is read instead. A trial whose log shows no command is counted as skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from contramem.errors import TraceError
from contramem.traces.decoding import number
from contramem.traces.files import TraceFile
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.reader import Problem, ReadOptions, SkippedRun, each_run
from contramem.traces.readers.messages import record_content
from contramem.traces.readers.records import label
from contramem.traces.trajectory import Actor, Ending, Origin, Outcome, RunUsage, Trajectory

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[=>])")
_PROMPT = re.compile(r"^(?:\([\w.-]+\) )?[\w.-]+@[\w.-]+:[^\s#$]*[#$] ?(.*)$", re.MULTILINE)
_HARNESS = ("asciinema ", "clear", "exit", "tmux ", "bash /tests/", "bash /installed-agent", "source /installed-agent")
"""What the harness types itself."""


class TerminalBenchReader:
    name = "terminal-bench"

    def claims(self, file: TraceFile) -> bool:
        head = file.head
        return isinstance(head, dict) and (_is_trial(head) or _lists_trials(head))

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        document = file.document
        trials: Iterable[tuple[object, Any]] = [("", document)]
        if not _is_trial(document):
            if not isinstance(document, dict) or not _lists_trials(document):
                raise TraceError("names no trial", "Is this terminal-bench's results.json?")
            trials = enumerate(document["results"])

        def build(trial: Mapping[str, Any], position: str) -> Trajectory | SkippedRun | None:
            folder = "" if _is_trial(document) else f"{trial['task_id']}/{trial['trial_name']}/"
            if folder and file.beside(f"{folder}results.json") is not None:
                return None  # the trial's own file tells it
            return _trajectory(trial, folder, Origin(file.origin, position), file, options)

        return each_run(file, trials, build)


def _is_trial(head: Any) -> bool:
    return isinstance(head, dict) and {"trial_name", "task_id", "is_resolved"} <= head.keys()


def _lists_trials(head: Mapping[str, Any]) -> bool:
    results = head.get("results")
    return isinstance(results, list) and bool(results) and _is_trial(results[0])


def _trajectory(
    trial: Mapping[str, Any], folder: str, origin: Origin, file: TraceFile, options: ReadOptions
) -> Trajectory | SkippedRun:
    log = file.beside(f"{folder}sessions/agent.log")
    recorder = Recorder(options.naming("terminal"))
    task = text_of(trial.get("instruction"))
    recorder.message("user", task)
    if log is not None:
        _record_log(recorder, _ESCAPES.sub("", log.content.decode("utf-8", "replace")).replace("\r", ""))
    events = recorder.events()
    if not any(event.function for event in events):
        return SkippedRun(str(origin), "trial whose log shows no command")
    return Trajectory(
        environment="terminal-bench",
        task_id=label(trial["task_id"], "task_id") or "unknown",
        source=_source(file),
        origin=origin,
        events=events,
        outcome=_outcome(trial),
        run=label(trial.get("trial_name"), "trial_name") or "0",
        task=task,
        authored=bool(task),
        usage=RunUsage(
            tokens_in=_count(trial.get("total_input_tokens")), tokens_out=_count(trial.get("total_output_tokens"))
        ),
    )


def _record_log(recorder: Recorder, text: str) -> None:
    streamed = [entry for line in text.splitlines() if line.startswith('{"type"') and (entry := _entry(line))]
    if streamed:
        for entry in streamed:
            actor: Actor = "agent" if entry["type"] == "assistant" else "user"
            record_content(recorder, actor, entry["message"].get("content"), unmarked=False)
        return
    prompts = list(_PROMPT.finditer(text))
    for prompt, following in zip(prompts, [*prompts[1:], None], strict=True):
        command = prompt[1].strip()
        if command and not command.startswith(_HARNESS):
            recorder.call("bash", {"command": command})
            recorder.result(text[prompt.end() : following.start() if following else len(text)].strip())


def _entry(line: str) -> dict[str, Any] | None:
    try:
        entry = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    usable = entry.get("type") in ("user", "assistant") and isinstance(entry.get("message"), dict)
    return entry if usable else None


def _source(file: TraceFile) -> str:
    """The run's metadata up to three folders above, else the folder that holds the run."""
    for above in ("", "../", "../../", "../../../"):
        try:
            metadata = file.beside(f"{above}run_metadata.json")
            about = metadata.document if metadata is not None else None
        except TraceError:
            about = None
        if isinstance(about, dict):
            names = [about.get("agent_name"), about.get("model_name")]
            return "/".join(name for name in names if isinstance(name, str) and name) or "unknown"
    return file.parts[-4] if len(file.parts) >= 4 else "unknown"


def _outcome(trial: Mapping[str, Any]) -> Outcome:
    resolved, mode = trial.get("is_resolved"), str(trial.get("failure_mode") or "")
    ended: Ending = "complete"
    if "timeout" in mode:
        ended = "limit"
    elif mode not in ("", "unset", "none", "None"):
        ended = "interrupted"
    tests = trial.get("parser_results")
    failed = [name for name, status in tests.items() if status != "passed"] if isinstance(tests, dict) else []
    return Outcome(resolved if isinstance(resolved, bool) else None, None, ", ".join(map(str, failed))[:2000], ended)


def _count(value: object) -> int | None:
    amount = number(value)
    return None if amount is None else int(amount)
