"""Tasks of Cline, Roo Code and Kilo Code: `tasks/<id>/api_conversation_history.json`, a list of Anthropic messages.

    {"role": "user", "content": [{"type": "text", "text": "<task>Fix it.</task>"}, {... "<environment_details>..."}]}
    {"role": "assistant", "content": [{"type": "tool_use", "name": "read_file", "input": {"path": "a.py"}}]}
    {"role": "user", "content": [{"type": "text", "text": "[read_file for 'a.py'] Result:\\n..."}]}

A result is a text that names its tool; it belongs to the first call of the turn that has none yet. Older versions write
calls as markup in the text: `<read_file><path>a.py</path></read_file>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from contramem.traces.files import TraceFile
from contramem.traces.normalize import text_of
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.readers.conversation import call_entry, tool_message
from contramem.traces.readers.messages import is_message
from contramem.traces.readers.records import first_messages, read_records
from contramem.traces.readers.session import ENVIRONMENT
from contramem.traces.trajectory import Trajectory

Block = Mapping[str, Any]
_HARNESS = "<environment_details>"
_TASK = re.compile(r"<(task|user_message|feedback)>\s*(.*?)\s*</\1>", re.DOTALL)
_RESULT = re.compile(r"\[(\w+)[^\n]{0,2000}?\] Result:\s*")
_FAILED = ("The tool execution failed", "The user denied this operation", "Error executing ")
_TAG = re.compile(r"<(\w+)>")
_END = "attempt_completion"


class ClineReader:
    name = "cline"

    def claims(self, file: TraceFile) -> bool:
        return is_cline(first_messages(file))

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        folder = file.path.parent.name
        return read_records(file, options, lambda record: _as_chat_record(record, folder))


def is_cline(messages: list[Any]) -> bool:
    """Does the first message end in what the editor says about itself?"""
    return bool(messages) and any(
        block["text"].lstrip().startswith(_HARNESS) for block in _blocks(messages[0]) if block.get("type") == "text"
    )


def _as_chat_record(record: Any, folder: str) -> Any:
    if not isinstance(record, list):
        return record
    messages: list[Any] = []
    waiting: list[tuple[str, str]] = []
    for number, message in enumerate(record):
        if not is_message(message):
            messages.append(message)  # records.py says what is wrong with it
        elif message["role"] == "assistant":
            said = _agent_message(message, record[number + 1 : number + 2], number)
            waiting = [(call["id"], call["function"]["name"]) for call in said["tool_calls"]]
            messages.append(said)
        else:
            messages += _user_messages(message, waiting)
    return {"environment": ENVIRONMENT, "trial": folder, "messages": messages}


def _blocks(message: Mapping[str, Any]) -> list[Block]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    listed = content if isinstance(content, list) else []
    return [block for block in listed if isinstance(block, dict)
            and (block.get("type") != "text" or isinstance(block.get("text"), str))]  # fmt: skip


def _agent_message(message: Mapping[str, Any], answer: list[Any], number: int) -> dict[str, Any]:
    blocks = _blocks(message)
    text = "\n".join(block["text"] for block in blocks if block.get("type") == "text")
    calls = [(block.get("id"), str(block.get("name")), block.get("input"))
             for block in blocks if block.get("type") == "tool_use"]  # fmt: skip
    if not calls:
        text, calls = _written_calls(text, {_END, *_answered_tools(answer)})
    ended = [given for _, name, given in calls if name == _END and isinstance(given, dict)]
    text = "\n".join([text.strip(), *(text_of(given.get("result")) for given in ended)]).strip()
    entries = [call_entry(call_id or f"{number}.{place}", name, given)
               for place, (call_id, name, given) in enumerate(calls) if name != _END]  # fmt: skip
    return {"role": "assistant", "content": text, "tool_calls": entries, **_about(message)}


def _answered_tools(answer: list[Any]) -> list[str]:
    """The tools that the next message brings results of."""
    texts = [block["text"] for message in answer if isinstance(message, dict)
             for block in _blocks(message) if block.get("type") == "text"]  # fmt: skip
    return [match[1] for text in texts if (match := _RESULT.match(text))]


def _written_calls(text: str, tools: set[str]) -> tuple[str, list[tuple[Any, str, Any]]]:
    """(the text without its calls, the calls) of a message that writes them as markup."""
    calls: list[tuple[Any, str, Any]] = []
    for tool in sorted(tools):
        start, end = text.find(f"<{tool}>"), text.rfind(f"</{tool}>")
        if 0 <= start < end:
            calls.append((None, tool, _parameters(text[start + len(tool) + 2 : end])))
            text = text[:start] + text[end + len(tool) + 3 :]
    return text, calls


def _parameters(markup: str) -> dict[str, str]:
    parameters: dict[str, str] = {}
    opened = _TAG.search(markup)
    while opened is not None:
        end = markup.find(f"</{opened[1]}>", opened.end())
        if end < 0:
            break
        parameters[opened[1]] = markup[opened.end() : end].strip("\n")
        opened = _TAG.search(markup, end)
    return parameters


def _user_messages(message: Mapping[str, Any], waiting: list[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Results, and what the user wrote. Everything else is the editor's."""
    blocks = iter(_blocks(message))
    for block in blocks:
        text = block.get("text")
        if block.get("type") == "tool_result":
            waiting[:] = [call for call in waiting if call[0] != block.get("tool_use_id")]
            yield {"role": "user", "content": [block]}
        elif not isinstance(text, str):
            continue
        elif match := _RESULT.match(text):
            result = text[match.end() :] or next((text_of(after.get("text")) for after in blocks), "")
            error = True if result.startswith(_FAILED) else None
            yield tool_message(_take_call(match[1], waiting), result, error=error)
        else:
            yield from ({"role": "user", "content": found[2]} for found in _TASK.finditer(text))


def _take_call(tool: str, waiting: list[tuple[str, str]]) -> str:
    """The id of the call that a result answers: the first of this tool, else the first that waits."""
    place = next((place for place, call in enumerate(waiting) if call[1] == tool), 0)
    return waiting.pop(place)[0] if waiting else "none"


def _about(message: Mapping[str, Any]) -> dict[str, Any]:
    """The model and its tokens, where the version says so."""
    info, metrics = message.get("modelInfo"), message.get("metrics")
    tokens = metrics.get("tokens") if isinstance(metrics, dict) else None
    counts = tokens if isinstance(tokens, dict) else {}
    return {
        "model": info.get("modelId") if isinstance(info, dict) else None,
        "usage": {"prompt_tokens": counts.get("prompt"), "completion_tokens": counts.get("completion")},
    }
