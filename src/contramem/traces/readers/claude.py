"""Claude Code: the sessions it keeps, and the stream that `claude -p` prints.

Neither holds a verdict; `--outcomes` or `--rule` supplies it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from contramem.traces.files import TraceFile, number
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.reader import CODING_SESSION, ReadOptions, SkippedRun
from contramem.traces.readers.messages import Meter, has_anthropic_blocks, record_content
from contramem.traces.readers.records import label
from contramem.traces.trajectory import Ending, Origin, Outcome, Trajectory, digest

Entry = dict[str, Any]
_HARNESS = (
    "<local-command-",
    "<bash-",
    "<system-reminder>",
    "<task-notification>",
    "[Request interrupted",
    "Caveat: The messages below",
)
"""How texts begin that stand in the user's place and that no user wrote."""
_COMMAND = re.compile(r"<command-name>\s*(.*?)\s*</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>\s*(.*?)\s*</command-args>", re.DOTALL)


def is_session(file: TraceFile) -> bool:
    return _opens_with(file, lambda entry: "sessionId" in entry and _is_turn(entry))


def is_stream(file: TraceFile) -> bool:
    return _opens_with(file, lambda entry: "session_id" in entry and (
        entry.get("subtype") == "init" if entry.get("type") == "system" else _is_turn(entry)
    ))  # fmt: skip


def _opens_with(file: TraceFile, is_telling: Callable[[Entry], bool]) -> bool:
    """Is there an entry that tells the format among the first?"""
    if not isinstance(file.head, dict) or not file.is_lines:
        return False
    return any(isinstance(entry, dict) and is_telling(entry) for _, entry in islice(file.lines(), 40))


def _is_turn(entry: Entry) -> bool:
    return entry.get("type") in ("user", "assistant") and isinstance(entry.get("message"), dict)


def session(entries: list[Entry], file: TraceFile, options: ReadOptions) -> Trajectory | SkippedRun:
    """`~/.claude/projects/<folder>/<session>.jsonl`, one session per file.

    {"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "s", "message": {"content": "Fix it."}}
    {"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "s", "message": {"content": [
      {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}]}}

    Entries form a tree by `uuid` and `parentUuid`. The run is the branch that was kept: an edited prompt leaves its
    first version in the file, with everything that followed from it. Subagents (entries with `isSidechain`, files
    `agent-*.jsonl`) are not runs of their own: the session shows them as one call with its report, which is what its
    agent saw."""
    turns = [entry for entry in _main_branch(entries) if _is_turn(entry)]
    if not turns:
        alone = any(entry.get("isSidechain") for entry in entries)
        return SkippedRun(file.origin, "subagent of a session" if alone else "session without a prompt")
    recorder = Recorder(options.naming("claude-code"))
    prompts = [text for entry in turns if (text := _tell(recorder, entry))]
    # `/clear` and the like are prompts too, but a task is rather what the user then says in words.
    task = next((text for text in prompts if not text.startswith("/")), prompts[0] if prompts else "")
    if not task:
        return SkippedRun(file.origin, "session without a prompt")
    models = (turn["message"].get("model") for turn in turns)
    meter = Meter()
    # One reply is written as several entries, each with the usage so far: the last of them counts.
    replies = {turn["message"].get("id"): turn["message"].get("usage") for turn in turns if turn["type"] == "assistant"}
    for usage in replies.values():
        meter.add(usage)
    return Trajectory(
        environment=CODING_SESSION,
        task_id=digest(task),
        # The harness speaks as "<synthetic>" when the provider failed.
        source=next((model for model in models if isinstance(model, str) and model[:1] not in ("", "<")), "unknown"),
        origin=Origin(file.origin),
        events=recorder.events(),
        outcome=Outcome(ended="interrupted" if turns[-1].get("isApiErrorMessage") else "complete"),
        run=label(turns[-1].get("sessionId"), "sessionId") or file.name.partition(".")[0],
        task=task,
        authored=True,
        usage=meter.usage(),
    )


def _main_branch(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The main branch in file order. Where one entry has several prompts as children, only the last was kept."""
    entries = [entry for entry in entries if not entry.get("isSidechain")]
    latest = {entry.get("parentUuid"): entry.get("uuid") for entry in entries if _is_prompt(entry)}
    gone: set[str] = set()
    for entry in entries:
        parent, own = entry.get("parentUuid"), entry.get("uuid")
        replaced = parent is not None and _is_prompt(entry) and latest[parent] != own
        if replaced or parent in gone:
            gone.add(own or "")
        else:
            yield entry


def _is_prompt(entry: Entry) -> bool:
    if entry.get("type") != "user" or entry.get("isMeta") or entry.get("isCompactSummary"):
        return False
    return _is_turn(entry) and not has_anthropic_blocks(entry["message"])


def _tell(recorder: Recorder, entry: Entry) -> str:
    """Record one entry. Returns the prompt if it is one. Summaries of a compacted history are nobody's words."""
    content = entry["message"].get("content")
    if entry.get("isApiErrorMessage"):
        recorder.message("environment", text_of(content), kind="notification")
    elif entry["type"] == "assistant":
        record_content(recorder, "agent", content, unmarked=False)
    elif _is_prompt(entry):
        text = _prompt(text_of(content))
        recorder.message("user", text)
        return text
    elif not entry.get("isMeta") and not entry.get("isCompactSummary"):
        record_content(recorder, "user", content, unmarked=False)
    return ""


def _prompt(text: str) -> str:
    text = text.strip()
    if command := _COMMAND.search(text):
        arguments = _ARGUMENTS.search(text)
        return f"{command.group(1)} {arguments.group(1) if arguments else ''}".strip()
    return "" if text.startswith(_HARNESS) else text


def stream(entries: list[Entry], file: TraceFile, options: ReadOptions) -> Trajectory | SkippedRun:
    """`claude -p --output-format stream-json`: one JSON object a line, from `system`/`init` to `result`.

    {"type": "system", "subtype": "init", "session_id": "s", "model": "..."}
    {"type": "assistant", "session_id": "s", "message": {"content": [{"type": "tool_use", "id": "c1", "name": "Bash",
      "input": {"command": "ls"}}]}}
    {"type": "user", "session_id": "s", "message": {"content": [{"type": "tool_result", "tool_use_id": "c1", ...}]}}
    {"type": "result", "subtype": "success", "total_cost_usd": 0.01}

    The stream does not repeat the prompt. The task is then named by the file or by `--map task_id=...`; with
    `--replay-user-messages` the prompt is in the stream and is the task."""
    recorder, meter, task = Recorder(options.naming("claude-code")), Meter(), ""
    for entry in entries:
        if entry.get("parent_tool_use_id") or entry.get("type") not in ("user", "assistant"):
            continue  # a subagent's turns: the session shows them as one call with its report
        message = entry["message"]
        if entry["type"] == "assistant":
            record_content(recorder, "agent", message.get("content"), unmarked=False)
            meter.add(message.get("usage"))
        else:
            text = record_content(recorder, "user", message.get("content"), unmarked=False)
            task = task or ("" if has_anthropic_blocks(message) else text.strip())
    events = recorder.events()
    if not events:
        return SkippedRun(file.origin, "session without a turn")
    result = next((entry for entry in reversed(entries) if entry.get("type") == "result"), {})
    meter.add(None, result.get("total_cost_usd"))
    opened = next((entry for entry in entries if entry.get("type") == "system"), {})
    messages = [entry["message"] for entry in entries if isinstance(entry.get("message"), dict)]
    spoke = next((message["model"] for message in messages if message.get("model")), None)
    return Trajectory(
        environment=CODING_SESSION,
        task_id=digest(task) if task else file.name.partition(".")[0],
        source=label(opened.get("model"), "model") or spoke or "unknown",
        origin=Origin(file.origin),
        events=events,
        outcome=Outcome(ended=_ending(result)),
        run=label(opened.get("session_id") or result.get("session_id"), "session_id") or file.name,
        task=task,
        authored=bool(task),
        usage=meter.usage(),
    )


def _ending(result: Entry) -> Ending:
    subtype = str(result.get("subtype") or "")
    if "max_turns" in subtype or "budget" in subtype:
        return "limit"
    return "interrupted" if "error" in subtype or number(result.get("api_error_status")) else "complete"
