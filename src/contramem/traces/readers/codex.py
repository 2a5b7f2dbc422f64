"""Codex rollouts (`rollout-*.jsonl`, `.jsonl.zst` when cold) and plain items of OpenAI's Responses API.

    {"type": "session_meta", "payload": {"id": "...", "cwd": "..."}}
    {"type": "response_item", "payload": {"type": "function_call", "call_id": "c1", "name": "exec_command",
      "arguments": "{...}"}}
    {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c1", "output": "..."}}

A rollout wraps the same items: each `response_item` payload is one. Neither holds a verdict; `--outcomes` supplies it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from contramem.traces.files import TraceFile
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.reader import Problem, ReadOptions, SkippedRun, each_run
from contramem.traces.readers.meter import Meter
from contramem.traces.readers.records import label
from contramem.traces.readers.session import ENVIRONMENT, Entry, read_session
from contramem.traces.readers.tool_blocks import result_content
from contramem.traces.trajectory import Origin, Outcome, RunUsage, Trajectory, digest

_ITEMS = frozenset(
    """message reasoning function_call function_call_output custom_tool_call custom_tool_call_output local_shell_call
    local_shell_call_output web_search_call""".split()
)
_ENTRIES = frozenset("session_meta turn_context response_item event_msg compacted world_state".split())
_HARNESS = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>", "<skill>")
"""How texts begin that Codex puts in the user's place."""
_EXIT = re.compile(r"(?:Process exited with code|Exit code:)\s*(-?\d+)")


class CodexReader:
    name = "codex"

    def claims(self, file: TraceFile) -> bool:
        head = file.head
        return isinstance(head, dict) and isinstance(head.get("payload"), dict) and _one_of(head, _ENTRIES)

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        return read_session(file, options, _rollout)


class ResponsesReader:
    name = "openai-responses"

    def claims(self, file: TraceFile) -> bool:
        head = file.head
        item = _first_item(head) if isinstance(head, list) and head else head
        if not isinstance(item, dict) or "sessionId" in item or "payload" in item:
            return False
        if item.get("object") == "response":
            return isinstance(item.get("output"), list)
        # A chat message has no type, one of Anthropic's has text blocks; items have input_text and output_text.
        return _one_of(item, _ITEMS) and (item.get("type") != "message" or _has_item_parts(item))

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        if file.is_lines:
            return read_session(file, options, _items)
        return each_run(
            file, [("", file.document)], lambda document, position: _items(_as_list(document), file, options)
        )


def _first_item(items: list[Any]) -> Any:
    """The first that is more than a chat message: the Agents SDK opens its items with one."""
    plain = (item for item in items[:20] if not (isinstance(item, dict) and "role" in item and "type" not in item))
    return next(plain, items[0])


def _one_of(entry: Entry, kinds: frozenset[str]) -> bool:
    kind = entry.get("type")
    return isinstance(kind, str) and kind in kinds


def _has_item_parts(item: Entry) -> bool:
    content = item.get("content")
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") in ("input_text", "output_text") for part in content
    )


def _as_list(document: Any) -> list[Entry]:
    return document if isinstance(document, list) else [document]


def _rollout(entries: list[Entry], file: TraceFile, options: ReadOptions) -> Trajectory | SkippedRun:
    by_type: dict[str, list[Any]] = {}
    for entry in entries:
        by_type.setdefault(str(entry.get("type")), []).append(entry.get("payload") or {})
    meta = by_type.get("session_meta", [{}])[0]
    source = meta.get("source")
    if isinstance(source, dict) and "subagent" in source:
        return SkippedRun(file.origin, "subagent of a session")
    events = by_type.get("event_msg", [])
    failed = bool(events) and events[-1].get("type") == "error"
    session = _CodexSession(
        app="codex",
        environment=ENVIRONMENT,
        source=next((turn["model"] for turn in by_type.get("turn_context", ()) if turn.get("model")), None),
        run=meta.get("id"),
        outcome=Outcome(ended="interrupted" if failed else "complete"),
        usage=_last_token_count(events),
    )
    return _trajectory(by_type.get("response_item", ()), session, file, options)


def _items(entries: list[Entry], file: TraceFile, options: ReadOptions) -> Trajectory | SkippedRun:
    items: list[Entry] = []
    meter = Meter()
    for entry in entries:
        if entry.get("object") == "response":
            meter.add(entry.get("usage"))
            items += [*_input_items(entry), *entry["output"]]
        else:
            items.append(entry)
    source = next((entry["model"] for entry in entries if entry.get("model")), None)
    return _trajectory(items, _CodexSession(source=source, usage=meter.usage()), file, options)


def _input_items(response: Entry) -> list[Entry]:
    given = response.get("input")
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return given if isinstance(given, list) else []


class _CodexSession(NamedTuple):
    """What is known about a run beside its items."""

    app: str = "general"
    environment: str = "general"
    source: object = None
    run: object = None
    outcome: Outcome = Outcome()
    usage: RunUsage = RunUsage()


def _trajectory(
    items: Iterable[Entry], session: _CodexSession, file: TraceFile, options: ReadOptions
) -> Trajectory | SkippedRun:
    recorder = Recorder(options.naming(session.app))
    task = next(filter(None, [_tell(recorder, item) for item in items]), "")
    if not task:
        return SkippedRun(file.origin, "session without a prompt")
    return Trajectory(
        environment=session.environment,
        task_id=digest(task),
        source=label(session.source, "model") or "unknown",
        origin=Origin(file.origin),
        events=recorder.events(),
        outcome=session.outcome,
        run=label(session.run, "session id") or file.name.partition(".")[0],
        task=task,
        authored=True,
        usage=session.usage,
    )


def _tell(recorder: Recorder, item: Mapping[str, Any]) -> str:
    """Record one item. Returns what a user said in it. Reasoning and unknown kinds are not events."""
    kind = item.get("type") or "message"
    if kind == "message":
        return _tell_message(recorder, item)
    if kind == "function_call":
        recorder.call(item["name"], item.get("arguments"), item.get("call_id"), app=item.get("namespace") or "")
    elif kind == "custom_tool_call":
        recorder.call(item["name"], item.get("input"), item.get("call_id"))
    elif kind in ("local_shell_call", "web_search_call"):
        recorder.call(kind.removesuffix("_call"), item.get("action"), item.get("call_id") or item.get("id"))
    elif kind in ("function_call_output", "custom_tool_call_output", "local_shell_call_output"):
        content, error = _output(item.get("output"))
        recorder.result(content, item.get("call_id") or item.get("id"), error=error)
    return ""


def _tell_message(recorder: Recorder, item: Mapping[str, Any]) -> str:
    content = item.get("content")
    if item.get("role") == "assistant":
        recorder.message("agent", text_of(content))
    elif item.get("role") == "user":
        parts = content if isinstance(content, list) else [content]
        own = [text for part in parts if (text := text_of([part])) and not text.lstrip().startswith(_HARNESS)]
        recorder.message("user", "\n".join(own))
        return "\n".join(own).strip()
    return ""


def _output(raw: object) -> tuple[object, bool | None]:
    """What came back, and whether it is an error: by its exit code where it has one, else unknown."""
    code: object = None
    if isinstance(raw, str) and raw.startswith('{"output"'):
        try:
            raw = msgspec.json.decode(raw)
        except (msgspec.DecodeError, RecursionError):
            return raw, None
    if isinstance(raw, dict):
        code = (raw.get("metadata") or {}).get("exit_code")
        success = raw.get("success")
        raw = raw.get("output", raw.get("content", raw))
        if isinstance(success, bool):
            return result_content(raw), not success
    content = result_content(raw)
    if isinstance(content, str):
        if content.startswith("Command blocked by"):
            return content, True
        match = _EXIT.search(content[:400])
        code = int(match.group(1)) if match else code
    return content, code != 0 if isinstance(code, int) else None


def _last_token_count(events: Iterable[Mapping[str, Any]]) -> RunUsage:
    """Codex counts tokens itself: the last total is the session's."""
    meter = Meter()
    counts = [event["info"] for event in events if event.get("type") == "token_count" and event.get("info")]
    if counts:
        meter.add(counts[-1].get("total_token_usage"))
        meter.model_calls = None
    return meter.usage()
