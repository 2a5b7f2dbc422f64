"""Harbor and ATIF, and terminal-bench before Harbor: trials of agents in a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from contramem.errors import TraceError
from contramem.traces.files import TraceFile, number
from contramem.traces.map import at
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.reader import Reading, ReadOptions, SkippedRun, each_run
from contramem.traces.readers.messages import record_content, sum_numbers, whole
from contramem.traces.readers.records import label, tools_of
from contramem.traces.readers.swe import MINI_BLOCK, SUBMIT
from contramem.traces.trajectory import Ending, Origin, Outcome, RunUsage, Trajectory, digest

Document = dict[str, Any]
_MAX_PARTS = 100
"""Continuations of one trajectory. More is a loop."""


def is_harbor(file: TraceFile) -> bool:
    head = file.head
    return isinstance(head, dict) and (_is_atif(head) or _is_result(head))


def harbor(document: Document, file: TraceFile, options: ReadOptions) -> Trajectory | SkippedRun | None:
    """Harbor trials and bare ATIF files (`schema_version: ATIF-v1.*`).

    {"schema_version": "ATIF-v1.6", "agent": {"name": "...", "model_name": "..."}, "steps": [
      {"source": "user", "message": "Fix it."},
      {"source": "agent", "message": "", "tool_calls": [{"tool_call_id": "c1", "function_name": "bash", ...}],
       "observation": {"results": [{"source_call_id": "c1", "content": "a.py"}]}}]}

    ATIF has neither task nor verdict: they are in the trial's `result.json`, one folder up. A trajectory that is
    continued in another file (`continued_trajectory_ref`) is one run with it."""
    if not _is_atif(document):
        # Its own trajectory, or a session of its agent that another reader reads (outcomes.py links it to the trial).
        sessions = (path.is_file() for path in (file.path.parent / "agent").rglob("*.jsonl*"))
        is_told = file.beside("agent/trajectory.json") is not None or any(sessions)
        return None if is_told else SkippedRun(file.origin, "trial has no trajectory")
    for mark in (".cont-", ".summarization-"):  # the main file reads its continuations itself
        stem, divider, _ = file.path.name.partition(mark)
        if divider and file.beside(f"{stem}.json") is not None:
            return None if mark == ".cont-" else SkippedRun(file.origin, "sub-agent of another run")
    return _trajectory(document, file, options)


def _is_atif(head: Document) -> bool:
    return str(head.get("schema_version")).startswith("ATIF-") and "steps" in head


def _is_result(head: Document) -> bool:
    return {"trial_name", "task_name", "agent_info"} <= head.keys()


def _parts(document: Document, file: TraceFile) -> Iterator[Document]:
    """The trajectory and its continuations. If one of them is missing, that is an error: half a run is misleading."""
    yield document
    for part in range(1, _MAX_PARTS):
        reference = document.get("continued_trajectory_ref")
        if not reference:
            return
        following = _continuation(str(reference), part, file)
        if following is None:
            raise TraceError(f"is continued in {str(reference)[:200]!r}, not found beside it", "Put the file there.")
        document = following.document
        yield document
    raise TraceError(f"is continued in more than {_MAX_PARTS} files", "Do they refer to each other in a circle?")


def _continuation(reference: str, part: int, file: TraceFile) -> TraceFile | None:
    """The file of that name beside this one, or of the usual name if files were renamed. Never one elsewhere."""
    bare = len(reference) < 200 and not set(reference) & set("/\\\0")
    usual = f"{file.path.name.removesuffix('.json')}.cont-{part}.json"
    return (file.beside(reference) if bare else None) or file.beside(usual)


def _trajectory(document: Document, file: TraceFile, options: ReadOptions) -> Trajectory:
    beside = (file.beside(place) for place in ("../result.json", "result.json"))
    documents = (found.document for found in beside if found is not None)
    result: Document = next((found for found in documents if isinstance(found, dict) and _is_result(found)), {})
    agent = document["agent"]
    recorder = Recorder(options.naming(agent["name"]))
    tools = tools_of(agent.get("tool_definitions"), recorder.naming)
    parts = list(_parts(document, file))
    for part in parts:
        for step in _own_steps(part, continued=part is not document):
            _record(recorder, step)
    events = recorder.events()
    task = next((event.text for event in events if event.actor == "user"), "")
    trial = result.get("trial_name") or document.get("trajectory_id") or document.get("session_id")
    return Trajectory(
        environment=f"harbor/{result['source']}" if result.get("source") else "harbor",
        task_id=label(result.get("task_name"), "task_name") or f"prompt-{digest(task)}",
        source=_source(result, agent),
        origin=Origin(file.origin),
        events=events,
        outcome=_outcome(result),
        run=label(trial, "trial_name") or "0",
        task=task,
        # Agents wrap the task in prompts of their own, so the text does not say whether two tasks are the same.
        authored=False,
        tools=tools,
        usage=_usage(parts),
    )


def _own_steps(part: Document, continued: bool) -> list[Document]:
    """The steps that happened in this file: a continuation opens with copies and with the prompts that hand over."""
    steps = [step for step in part["steps"] if not step.get("is_copied_context")]
    opening = next((i for i, step in enumerate(steps) if step["source"] == "agent"), 0) if continued else 0
    return steps[opening:]


def _source(result: Document, agent: Document) -> str:
    info = result.get("agent_info") or {}
    name, model = info.get("name") or agent["name"], info.get("model_info") or {}
    prefix = f"{model['provider']}/" if model.get("provider") else ""
    full = f"{prefix}{model['name']}" if model.get("name") else agent.get("model_name")
    return f"{name}/{full}" if full else str(name)


def _record(recorder: Recorder, step: Document) -> None:
    source, text, time = step["source"], text_of(step.get("message")), _time(step.get("timestamp"))
    if source == "user":
        recorder.message("user", text, time)
    elif source == "agent":
        recorder.message("agent", step.get("reasoning_content") or "", time)
        recorder.message("agent", text, time)
    elif source != "system":
        raise TraceError(f"has a step with the unknown source {source!r}", "Is this an ATIF trajectory?")
    calls = step.get("tool_calls") or []
    for call in calls:
        recorder.call(call["function_name"], call.get("arguments"), call["tool_call_id"], time=time)
    results = (step.get("observation") or {}).get("results") or []
    in_order = len(calls) == len(results) and all(result.get("source_call_id") is None for result in results)
    for index, result in enumerate(results):
        call_id = calls[index]["tool_call_id"] if in_order else result.get("source_call_id")
        if (content := result.get("content")) is None and call_id is None:
            continue  # a reference to a sub-agent's own trajectory
        failed = (result.get("extra") or {}).get("tool_result_is_error")
        recorder.result(text_of(content), call_id, error=failed if isinstance(failed, bool) else None, time=time)


def _time(timestamp: object) -> float | None:
    try:
        return datetime.fromisoformat(str(timestamp)).timestamp() if timestamp else None
    except (ValueError, OverflowError, OSError):
        return None


def _outcome(result: Document) -> Outcome:
    """Several rewards: `reward` if there is one of that name, else all must reach 1."""
    rewards = (result.get("verifier_result") or {}).get("rewards") or {}
    values = [value for value in map(number, rewards.values()) if value is not None]
    reward = number(rewards.get("reward"))
    reward = min(values, default=None) if reward is None else reward
    exception = result.get("exception_info") or {}
    kind = str(exception.get("exception_type")).lower()
    limit: Ending = "limit" if "timeout" in kind or "limit" in kind else "interrupted"
    passed = None if reward is None else reward >= 1
    why = str(exception.get("exception_message") or "")[:2000]
    return Outcome(passed, reward, why, limit if exception else "complete")


def _usage(parts: list[Document]) -> RunUsage:
    """The usage of the steps, or the totals of the file if its steps have none."""
    steps = [step for part in parts for step in _own_steps(part, continued=False) if step["source"] == "agent"]
    metrics = [step.get("metrics") or {} for step in steps]
    totals = [part.get("final_metrics") or {} for part in parts]
    counts = [whole(step.get("llm_call_count")) for step in steps]
    return RunUsage(
        model_calls=sum(1 if count is None else count for count in counts),
        tokens_in=whole(sum_numbers(metrics, "prompt_tokens") or sum_numbers(totals, "total_prompt_tokens")),
        tokens_out=whole(sum_numbers(metrics, "completion_tokens") or sum_numbers(totals, "total_completion_tokens")),
        cost_usd=sum_numbers(metrics, "cost_usd") or sum_numbers(totals, "total_cost_usd"),
    )


# terminal-bench before Harbor

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[=>])")
_PROMPT = re.compile(r"^(?:\([\w.-]+\) )?[\w.-]+@[\w.-]+:[^\s#$]*[#$] ?(.*)$", re.MULTILINE)
_HARNESS = ("asciinema ", "clear", "exit", "tmux ", "bash /tests/", "bash /installed-agent", "source /installed-agent")
"""What the harness types itself."""
_INSTALLED = b"/installed-agent"
"""Where the harness puts an agent that then works on its own: all that is typed in such a terminal is the harness's."""
_MINI_STEP = re.compile(r"^mini-swe-agent \(step \d+, \$[\d.]+\):\s*$", re.MULTILINE)
_MINI_ANSWER = re.compile(
    r"^User:\s*(?:<returncode>(-?\d+)</returncode>)?\s*(.*?)(?=^─|^Saved trajectory|\Z)", re.MULTILINE | re.DOTALL
)
_SPINNER = re.compile(r"[⠀-⣿] Waiting for the LM to respond\.\.\.")


def is_terminal_bench(file: TraceFile) -> bool:
    return _is_trial(file.head) or _lists_trials(file.head)


def read_terminal_bench(file: TraceFile, options: ReadOptions) -> Reading:
    """A trial's `results.json` with the terminal log `sessions/agent.log` beside it.

    results.json         {"trial_name": "t1.1-of-1", "task_id": "t1", "instruction": "...", "is_resolved": true}
    sessions/agent.log   root@box:/app# ls
                         a.py

    The log is what a terminal showed. Commands are recognised by its prompts. An agent that was installed in the box
    was only started there: what it did is read from what it printed itself (Claude Code's events, mini-swe-agent's
    steps). A trial whose log shows nothing of that is counted as skipped."""
    document = file.document
    trials: Iterable[tuple[object, Any]] = [("", document)]
    if not _is_trial(document):
        if not _lists_trials(document):
            raise TraceError("names no trial", "Is this terminal-bench's results.json?")
        trials = enumerate({**trial, **_listed_verdict(trial, document)} for trial in document["results"])

    def build(trial: Mapping[str, Any], position: str) -> Trajectory | SkippedRun | None:
        folder = "" if _is_trial(document) else f"{trial['task_id']}/{trial['trial_name']}/"
        if folder and file.beside(f"{folder}results.json") is not None:
            return None  # the trial's own file tells it
        return _trial(trial, folder, Origin(file.origin, position), file, options)

    return each_run(file, trials, build)


def _listed_verdict(trial: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, bool]:
    """What the lists of a whole run say of a trial that says nothing itself: it crashed before it was judged."""
    lists = {True: document.get("resolved_ids"), False: document.get("unresolved_ids")}
    said = [verdict for verdict, ids in lists.items() if isinstance(ids, list) and trial["task_id"] in ids]
    return {"is_resolved": said[0]} if trial.get("is_resolved") is None and len(said) == 1 else {}


def _is_trial(head: Any) -> bool:
    return isinstance(head, dict) and {"trial_name", "task_id", "is_resolved"} <= head.keys()


def _lists_trials(head: Any) -> bool:
    results = head.get("results") if isinstance(head, dict) else None
    return isinstance(results, list) and bool(results) and _is_trial(results[0])


def _trial(
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
        return SkippedRun(str(origin), _why_empty(log))
    resolved, mode, tests = trial.get("is_resolved"), str(trial.get("failure_mode") or ""), trial.get("parser_results")
    ended: Ending = "complete" if mode in ("", "unset", "none", "None") else "interrupted"
    failed = [str(name) for name, status in tests.items() if status != "passed"] if isinstance(tests, dict) else []
    return Trajectory(
        environment="terminal-bench",
        task_id=label(trial["task_id"], "task_id") or "unknown",
        source=_trial_source(file),
        origin=origin,
        events=events,
        outcome=Outcome(
            passed=resolved if isinstance(resolved, bool) else None,
            feedback=", ".join(failed)[:2000],
            ended="limit" if "timeout" in mode else ended,
        ),
        run=label(trial.get("trial_name"), "trial_name") or "0",
        task=task,
        authored=bool(task),
        usage=RunUsage(
            tokens_in=whole(trial.get("total_input_tokens")), tokens_out=whole(trial.get("total_output_tokens"))
        ),
    )


def _why_empty(log: TraceFile | None) -> str:
    if log is None:
        return "trial without a log of what its agent did"
    is_started = _INSTALLED in log.content
    return "trial whose log shows only how its agent was started" if is_started else "trial whose log shows no command"


def _record_log(recorder: Recorder, text: str) -> None:
    streamed = [entry for line in text.splitlines() if line.startswith('{"type"') and (entry := _entry(line))]
    if streamed:
        for entry in streamed:
            is_agent = entry["type"] == "assistant"
            record_content(recorder, "agent" if is_agent else "user", entry["message"].get("content"), unmarked=False)
    elif _INSTALLED.decode() in text:
        for step in _MINI_STEP.split(text)[1:]:
            _record_mini_step(recorder, _SPINNER.sub("", step))
    else:
        _record_prompts(recorder, text)


def _record_prompts(recorder: Recorder, text: str) -> None:
    prompts = list(_PROMPT.finditer(text))
    for prompt, following in zip(prompts, [*prompts[1:], None], strict=True):
        command = prompt[1].strip()
        if command and not command.startswith(_HARNESS):
            recorder.call("bash", {"command": command})
            recorder.result(text[prompt.end() : following.start() if following else len(text)].strip())


def _record_mini_step(recorder: Recorder, step: str) -> None:
    """One step of mini-swe-agent as its console shows it: a thought, one block of shell, and what came back."""
    block, answer = MINI_BLOCK.search(step), _MINI_ANSWER.search(step)
    recorder.message("agent", (step[: block.start()] if block else step).strip())
    if block is None or SUBMIT in block[1]:
        return
    recorder.call("bash", {"command": block[1]})
    if answer and answer[2].strip():
        output = answer[2].strip()
        recorder.result({"exit_code": int(answer[1]), "output": output} if answer[1] else output)


def _entry(line: str) -> dict[str, Any] | None:
    try:
        entry = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    usable = entry.get("type") in ("user", "assistant") and isinstance(entry.get("message"), dict)
    return entry if usable else None


def _trial_source(file: TraceFile) -> str:
    """The run's metadata up to three folders above, else the folder that holds the run."""
    for above in ("", "../", "../../", "../../../"):
        try:
            metadata = file.beside(f"{above}run_metadata.json")
            about = metadata.document if metadata is not None else None
        except TraceError:
            about = None
        if isinstance(about, dict):
            names = (at(about, "agent_name"), at(about, "model_name"))
            return "/".join(name for name in names if isinstance(name, str)) or "unknown"
    return file.parts[-4] if len(file.parts) >= 4 else "unknown"
