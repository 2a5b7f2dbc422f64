"""ARE's `lite` half of a trace: what the agent said and was shown, turn by turn.

It alone has thoughts, rationale and token counts, and only it distinguishes the agent's own calls from those that apps
make inside them. It also has turns that never became a call: unknown tools, and calls that a memory held.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from contramem.errors import TraceError
from contramem.traces.decoding import number
from contramem.traces.files import TraceFile
from contramem.traces.normalize import MAX_DEPTH, Recorder
from contramem.traces.trajectory import RunUsage

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


def turns_of(lite: dict[str, Any]) -> list[Turn]:
    """The turns of every agent in the run, in the order in which they happened."""
    turns: list[Turn] = []
    for history in lite["per_agent_interaction_histories"].values():
        turns.extend(_turns(history))
    if len(lite["per_agent_interaction_histories"]) > 1:
        turns.sort(key=lambda turn: turn.time or 0.0)
    return turns


def system_prompt(lite: dict[str, Any]) -> str:
    """What the main agent was told before the task, without the tools: they are nine tenths of it."""
    for history in lite["per_agent_interaction_histories"].values():
        for message in history:
            if message["role"] == "system":
                return _TOOL.sub("", message["content"] or "")
    return ""


def _turns(history: list[dict[str, Any]]) -> Iterator[Turn]:
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


def error_of(response: str) -> str:
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
        return _plain(ast.literal_eval(text), MAX_DEPTH - 4)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return text


def _plain(value: Any, depth: int) -> Any:
    """The value as JSON has it. Raises ValueError if it is nested too deeply."""
    if depth == 0:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        return {str(key): _plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(item, depth - 1) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if value is None or isinstance(value, (str, bool, float)) or (isinstance(value, int) and abs(value) < 1 << 63):
        return value
    return str(value)


def tell(recorder: Recorder, turn: Turn) -> None:
    """Record what only this turn shows: a thought, a refused or held call, a notification."""
    if turn.role == "user":
        recorder.message("environment", notice_in(turn.text), turn.time, kind="notification")
        return
    recorder.message("agent", turn.text, turn.time)
    if not turn.tool or turn.response is None:
        return
    if turn.failed:
        recorder.call(turn.tool, turn.arguments, time=turn.time)
        recorder.result(None, error=error_of(turn.response))
    else:
        # A call that was answered and left no event did not run (a memory held it): what was said is all there is.
        recorder.result(turn.response, error=False, time=turn.time)


def notice_in(text: str) -> str:
    """What a notification says, without the frame that ARE puts around it."""
    match = _SHOWN.match(text)
    return match[1].strip() if match else text.strip()


def task_in(text: str) -> str:
    """The user's words in this turn; empty if it has none."""
    match = _TASK.match(text)
    if not match:
        return ""
    messages = [message.strip() for message in _MESSAGE.findall(match[1])]
    return "\n".join(messages) if messages else match[1].strip()


def usage_of(lite: dict[str, Any]) -> RunUsage:
    """Token counts over all agents of the run."""
    stats = list((lite.get("per_agent_llm_usage_stats") or {}).values())
    if not stats:
        return RunUsage()
    calls = sum(int(number(each.get("total_llm_calls")) or 0) for each in stats)
    return RunUsage(calls, _total(stats, "prompt_tokens"), _total(stats, "completion_tokens"))


def _total(stats: list[dict[str, Any]], key: str) -> int:
    return int(sum(number(count) or 0 for each in stats for count in each.get(key) or ()))


def twin(file: TraceFile, ours: str, theirs: str) -> TraceFile | None:
    """The other half of the run: `stem.lite.json` for `stem.hf.json`, `lite/run.json` for `hf/run.json`."""
    name = file.path.name
    if f".{ours}." in name:
        return file.beside(name.replace(f".{ours}.", f".{theirs}."))
    if file.path.parent.name == ours:
        return file.beside(f"../{theirs}/{name}")
    return None


def twin_document(file: TraceFile, ours: str, theirs: str) -> dict[str, Any] | None:
    """The content of the other half, or None. If it cannot be decoded, reading that file reports it."""
    other = twin(file, ours, theirs)
    try:
        document = other.document if other else None
    except TraceError:
        return None
    return document if isinstance(document, dict) else None
