"""Claude Code sessions: `~/.claude/projects/<folder>/<session>.jsonl`, one session per file.

    {"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "s", "message": {"content": "Fix it."}}
    {"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "s", "message": {"content": [
      {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}]}}

Entries form a tree by `uuid` and `parentUuid`. The run is the branch that was kept: an edited prompt leaves its first
version in the file, with everything that followed from it. Subagents (entries with `isSidechain`, files
`agent-*.jsonl`) are not runs of their own: the session shows them as one call with its report, which is what its agent
saw. There is no verdict in a session; `--outcomes` supplies it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from contramem.traces.files import TraceFile
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.messages import record_content
from contramem.traces.readers.meter import Meter
from contramem.traces.readers.records import label
from contramem.traces.readers.session import ENVIRONMENT, Entry, opening, read_session
from contramem.traces.readers.tool_blocks import has_anthropic_blocks
from contramem.traces.trajectory import Origin, Outcome, Trajectory, digest

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


class ClaudeCodeReader:
    name = "claude-code"

    def claims(self, file: TraceFile) -> bool:
        return any("sessionId" in entry and _is_turn(entry) for entry in opening(file))

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        return read_session(file, options, _trajectory)


def _is_turn(entry: Entry) -> bool:
    return entry.get("type") in ("user", "assistant") and isinstance(entry.get("message"), dict)


def _trajectory(entries: list[Entry], file: TraceFile, options: ReadOptions) -> Trajectory | SkippedRun:
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
    return Trajectory(
        environment=ENVIRONMENT,
        task_id=digest(task),
        source=_model(turns),
        origin=Origin(file.origin),
        events=recorder.events(),
        outcome=Outcome(ended="interrupted" if turns[-1].get("isApiErrorMessage") else "complete"),
        run=label(turns[-1].get("sessionId"), "sessionId") or file.name.partition(".")[0],
        task=task,
        authored=True,
        usage=_sum_usage(turns).usage(),
    )


def _main_branch(entries: list[Entry]) -> Iterator[Entry]:
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


def _model(turns: list[Entry]) -> str:
    models: Iterator[Any] = (turn["message"].get("model") for turn in turns)
    # The harness speaks as "<synthetic>" when the provider failed.
    return next((model for model in models if isinstance(model, str) and model[:1] not in ("", "<")), "unknown")


def _sum_usage(turns: list[Entry]) -> Meter:
    # One reply is written as several entries, each with the usage so far: the last of them counts.
    replies = {turn["message"].get("id"): turn["message"].get("usage") for turn in turns if turn["type"] == "assistant"}
    meter = Meter()
    for usage in replies.values():
        meter.add(usage)
    return meter
