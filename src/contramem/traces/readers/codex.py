"""Codex rollouts, items of OpenAI's Responses API (a rollout wraps the same items), and sessions of the Gemini CLI."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from contramem.errors import TraceError
from contramem.traces.files import TraceFile
from contramem.traces.map import at
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.reader import CODING_SESSION, Reading, ReadOptions, SkippedRun, one_run, one_session
from contramem.traces.readers.chat import Dialect, unwrap_result
from contramem.traces.readers.messages import Meter, call_entry, result_content, tool_message
from contramem.traces.readers.records import label, read_records
from contramem.traces.trajectory import Origin, Outcome, RunUsage, Trajectory, digest

Entry = dict[str, Any]
_ITEMS = frozenset(
    """message reasoning function_call function_call_output custom_tool_call custom_tool_call_output local_shell_call
    local_shell_call_output web_search_call""".split()
)
_ENTRIES = frozenset("session_meta turn_context response_item event_msg compacted world_state".split())
_HARNESS = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>", "<skill>")
"""How texts begin that Codex puts in the user's place."""
_EXIT = re.compile(r"(?:Process exited with code|Exit code:)\s*(-?\d+)")


def is_rollout(file: TraceFile) -> bool:
    head = file.head
    return isinstance(head, dict) and isinstance(head.get("payload"), dict) and _one_of(head, _ENTRIES)


def rollout(entries: list[Entry], file: TraceFile, options: ReadOptions) -> Trajectory | SkippedRun:
    """`rollout-*.jsonl` (`.jsonl.zst` when cold). It holds no verdict; `--outcomes` or `--rule` supplies it.

    {"type": "session_meta", "payload": {"id": "...", "cwd": "..."}}
    {"type": "response_item", "payload": {"type": "function_call", "call_id": "c1", "name": "exec_command",
      "arguments": "{...}"}}
    {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c1", "output": "..."}}
    """
    by_type: dict[str, list[Any]] = {}
    for entry in entries:
        by_type.setdefault(str(entry.get("type")), []).append(entry.get("payload") or {})
    meta = by_type.get("session_meta", [{}])[0]
    if isinstance(meta.get("source"), dict) and "subagent" in meta["source"]:
        return SkippedRun(file.origin, "subagent of a session")
    events = by_type.get("event_msg", [])
    failed = bool(events) and events[-1].get("type") == "error"
    return _trajectory(
        by_type.get("response_item", ()),
        file,
        Recorder(options.naming("codex")),
        environment=CODING_SESSION,
        source=next((turn["model"] for turn in by_type.get("turn_context", ()) if turn.get("model")), None),
        run=meta.get("id"),
        outcome=Outcome(ended="interrupted" if failed else "complete"),
        usage=_last_token_count(events),
    )


def _last_token_count(events: Iterable[Mapping[str, Any]]) -> RunUsage:
    """Codex counts tokens itself: the last total is the session's."""
    meter = Meter()
    counts = [event["info"] for event in events if event.get("type") == "token_count" and event.get("info")]
    if counts:
        meter.add(counts[-1].get("total_token_usage"))
        meter.model_calls = None
    return meter.usage()


def is_responses(file: TraceFile) -> bool:
    item = _first_item(file.head) if isinstance(file.head, list) and file.head else file.head
    if not isinstance(item, dict) or "sessionId" in item or "payload" in item:
        return False
    if item.get("object") == "response":
        return isinstance(item.get("output"), list)
    # A chat message has no type, one of Anthropic's has text blocks; items have input_text and output_text.
    return _one_of(item, _ITEMS) and (item.get("type") != "message" or _has_item_parts(item))


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


def read_responses(file: TraceFile, options: ReadOptions) -> Reading:
    """Items as lines or as a list, or whole responses."""
    return (one_session if file.is_lines else one_run)(_responses)(file, options)


def _responses(found: Any, file: TraceFile, options: ReadOptions) -> Trajectory | SkippedRun:
    entries: list[Entry] = found if isinstance(found, list) else [found]
    items: list[Entry] = []
    meter = Meter()
    for entry in entries:
        if entry.get("object") == "response":
            meter.add(entry.get("usage"))
            given = entry.get("input")
            asked = [{"type": "message", "role": "user", "content": given}] if isinstance(given, str) else given
            items += [*(asked if isinstance(asked, list) else []), *entry["output"]]
        else:
            items.append(entry)
    source = next((entry["model"] for entry in entries if entry.get("model")), None)
    return _trajectory(items, file, Recorder(options.naming()), source=source, usage=meter.usage())


def _trajectory(
    items: Iterable[Entry],
    file: TraceFile,
    recorder: Recorder,
    *,
    environment: str = "general",
    source: object,
    run: object = None,
    outcome: Outcome = Outcome(),  # noqa: B008  (it is frozen)
    usage: RunUsage,
) -> Trajectory | SkippedRun:
    task = next(filter(None, [_tell(recorder, item) for item in items]), "")
    if not task:
        return SkippedRun(file.origin, "session without a prompt")
    return Trajectory(
        environment=environment,
        task_id=digest(task),
        source=label(source, "model") or "unknown",
        origin=Origin(file.origin),
        events=recorder.events(),
        outcome=outcome,
        run=label(run, "session id") or file.name.partition(".")[0],
        task=task,
        authored=True,
        usage=usage,
    )


def _tell(recorder: Recorder, item: Mapping[str, Any]) -> str:
    """Record one item. Returns what a user said in it. Reasoning and unknown kinds are not events."""
    kind, call_id = item.get("type") or "message", item.get("call_id")
    if kind == "message" and item.get("role") == "assistant":
        recorder.message("agent", text_of(item.get("content")))
    elif kind == "message" and item.get("role") == "user":
        content = item.get("content")
        parts = content if isinstance(content, list) else [content]
        own = [text for part in parts if (text := text_of([part])) and not text.lstrip().startswith(_HARNESS)]
        recorder.message("user", "\n".join(own))
        return "\n".join(own).strip()
    elif kind == "function_call":
        recorder.call(item["name"], item.get("arguments"), call_id, app=item.get("namespace") or "")
    elif kind == "custom_tool_call":
        recorder.call(item["name"], item.get("input"), call_id)
    elif kind in ("local_shell_call", "web_search_call"):
        recorder.call(kind.removesuffix("_call"), item.get("action"), call_id or item.get("id"))
    elif kind in ("function_call_output", "custom_tool_call_output", "local_shell_call_output"):
        content, error = _output(item.get("output"))
        recorder.result(content, call_id or item.get("id"), error=error)
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


# Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.json`, or `.jsonl` with one message a line.
#
#     {"sessionId": "...", "projectHash": "...", "messages": [
#       {"id": "1", "type": "user", "content": "Fix it."},
#       {"id": "2", "type": "gemini", "model": "...", "content": "", "tokens": {"input": 9, "output": 2}, "toolCalls": [
#         {"id": "c", "name": "replace", "args": {...}, "status": "success",
#          "result": [{"functionResponse": {"response": {"output": "..."}}}]}]}]}
#
# In a `.jsonl`, a line with a known id replaces that message, and `$rewindTo` takes back everything from a message on.

_KINDS = ("user", "gemini", "info", "warning", "error")
"""The last three are messages of the program itself."""


def is_gemini_cli(file: TraceFile) -> bool:
    return isinstance(file.head, dict) and "sessionId" in file.head and "projectHash" in file.head


def read_gemini_cli(file: TraceFile, options: ReadOptions) -> Reading:
    records = _join_lines(file) if file.is_lines else None
    return read_records(file, options, GEMINI_CLI.chat_record, GEMINI_CLI.is_message, records)


def _from_gemini_cli(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if message["type"] == "user":
        yield {"role": "user", "content": text_of(message["content"])}
    if message["type"] != "gemini":
        return
    listed, tokens = message.get("toolCalls"), message.get("tokens")
    calls = [call for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
    counts = tokens if isinstance(tokens, dict) else {}
    yield {
        "role": "assistant",
        "content": text_of(message["content"]),
        "tool_calls": [call_entry(call.get("id"), str(call.get("name")), call.get("args")) for call in calls],
        "model": message.get("model"),
        "usage": {"prompt_tokens": counts.get("input"), "completion_tokens": counts.get("output")},
    }
    for call in calls:
        if (result := _result(call)) is not None:
            yield tool_message(call.get("id"), result, error=call.get("status") in ("error", "cancelled"))


def _result(call: Mapping[str, Any]) -> object:
    """What came back: the function's response, else what the user was shown."""
    parts = call.get("result")
    answers = (at(part, "functionResponse") for part in parts) if isinstance(parts, list) else ()
    answer = next((answer for answer in answers if isinstance(answer, dict)), None)
    return call.get("resultDisplay") if answer is None else unwrap_result(answer.get("response"))


GEMINI_CLI = Dialect(
    lambda value: isinstance(value, dict) and value.get("type") in _KINDS and "content" in value,
    _from_gemini_cli,
    facts=lambda record, messages: {"environment": CODING_SESSION, "trial": record.get("sessionId")},
)


def _join_lines(file: TraceFile) -> list[tuple[object, Any]]:
    """One record of the lines of a file."""
    session: dict[str, Any] = {}
    messages: dict[object, Any] = {}
    broken: list[tuple[object, Any]] = []
    for number, line in file.lines():
        if isinstance(line, TraceError) or not isinstance(line, dict):
            broken.append((number, line))
        elif "$rewindTo" in line:
            known = list(messages)
            back_to = str(line["$rewindTo"])
            kept = known.index(back_to) if back_to in messages else len(known)
            messages = {key: messages[key] for key in known[:kept]}
        elif "type" in line:
            messages[str(line.get("id", number))] = line
        else:
            changed = line.get("$set")
            session |= changed if isinstance(changed, dict) else line
    return [*broken, ("", {**session, "messages": list(messages.values())})]
