"""What agent frameworks save of a run, each translated into chat messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from contramem.traces.files import TraceFile
from contramem.traces.map import FIELDS, at
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.outcomes import verdict_of
from contramem.traces.reader import Reading, ReadOptions, each_run, first_of
from contramem.traces.readers.chat import ChatMessages, Dialect, Message
from contramem.traces.readers.messages import Meter, call_entry, record_call, tool_message
from contramem.traces.readers.records import label, read_records
from contramem.traces.trajectory import Origin, Outcome, Trajectory, digest

# LangChain and LangGraph: `messages_to_dict`, `dumpd`/`dumps`, `model_dump`, and LangGraph state values.
#
#     {"type": "human", "data": {"content": "Mail Bob."}}
#     {"type": "ai", "data": {"content": "", "tool_calls": [{"id": "c1", "name": "send", "args": {"to": "Bob"}}]}}
#     {"type": "tool", "data": {"content": "sent", "tool_call_id": "c1", "status": "success"}}
#
# `dumpd` writes `{"lc": 1, "id": [..., "AIMessage"], "kwargs": {...}}`, `model_dump` the fields beside `type`.

_ROLES = {"human": "user", "user": "user", "ai": "assistant", "assistant": "assistant", "system": "system"}
_KINDS = frozenset((*_ROLES, "tool", "function", "remove", "chat", "developer"))


def is_langchain_message(value: object) -> bool:
    return _langchain_fields(value) is not None


def _langchain_fields(value: object) -> tuple[str, Message] | None:
    """(kind, fields) of a message in any of LangChain's spellings; None for anything else."""
    if not isinstance(value, dict):
        return None
    if value.get("lc") == 1 and isinstance(value.get("kwargs"), dict):
        named = value["id"][-1] if isinstance(value.get("id"), list) and value["id"] else ""
        kind = str(value["kwargs"].get("type") or str(named).removesuffix("Chunk").removesuffix("Message").lower())
        fields = value["kwargs"]
    elif isinstance(value.get("data"), dict) and "role" not in value:
        kind, fields = str(value.get("type")), value["data"]
    elif "content" in value and "role" not in value:
        kind, fields = str(value.get("type")), value
    else:
        return None
    kind = kind.removesuffix("MessageChunk").lower()
    return (kind, fields) if kind in _KINDS else None


def from_langchain(value: object) -> ChatMessages:
    """The message as chat messages."""
    parsed = _langchain_fields(value)
    if parsed is None:
        return
    kind, fields = parsed
    if kind in ("tool", "function"):
        failed = True if fields.get("status") == "error" else None
        yield tool_message(fields.get("tool_call_id"), fields.get("content"), error=failed)
    elif kind in _ROLES:
        content, metadata = fields.get("content"), fields.get("response_metadata") or {}
        if isinstance(content, list):  # without the tool blocks that LangChain repeats in `tool_calls`
            content = [block for block in content if not (isinstance(block, dict) and "tool" in str(block.get("type")))]
        calls = fields.get("tool_calls") or (fields.get("additional_kwargs") or {}).get("tool_calls") or ()
        yield {
            "role": _ROLES[kind],
            "content": content,
            "tool_calls": [call if "function" in call else call_entry(call.get("id"), call["name"], call.get("args"))
                           for call in calls],
            "model": metadata.get("model_name") or metadata.get("model"),
            "usage": fields.get("usage_metadata"),
        }  # fmt: skip


def _about_langchain(record: Mapping[str, Any], messages: list[Any]) -> dict[str, Any]:
    metadata = record.get("metadata") or {}
    return {**metadata, "trial": metadata.get("thread_id") or at(record, "config.configurable.thread_id")}


LANGCHAIN = Dialect(
    is_langchain_message,
    from_langchain,
    ("messages", "values.messages", "channel_values.messages", "state.messages", "output.messages"),
    _about_langchain,
)


# PydanticAI message histories: `result.all_messages_json()`, a list of requests and responses made of parts.
#
#     {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Mail Bob."}]}
#     {"kind": "response", "model_name": "...", "parts": [
#       {"part_kind": "tool-call", "tool_call_id": "c1", "tool_name": "send", "args": {"to": "Bob"}}]}
#     {"kind": "request", "parts": [{"part_kind": "tool-return", "tool_call_id": "c1", "content": "sent"}]}


def is_pydantic_message(value: object) -> bool:
    is_kind = isinstance(value, dict) and value.get("kind") in ("request", "response")
    return is_kind and isinstance(value.get("parts"), list)  # type: ignore[attr-defined]


def from_pydantic(message: Message) -> ChatMessages:
    """The message as chat messages."""
    parts = [part for part in message["parts"] if isinstance(part, dict)]
    if message["kind"] == "response":
        called = [part for part in parts if part.get("part_kind") in ("tool-call", "builtin-tool-call")]
        texts = [part for part in parts if part.get("part_kind") == "text"]
        yield {
            "role": "assistant",
            "content": [{"type": "text", "text": part.get("content")} for part in texts],
            "tool_calls": [
                call_entry(part.get("tool_call_id"), part["tool_name"], part.get("args")) for part in called
            ],
            "model": message.get("model_name"),
            "usage": message.get("usage"),
        }
        returned = (part for part in parts if part.get("part_kind") == "builtin-tool-return")
        yield from (tool_message(part.get("tool_call_id"), part.get("content")) for part in returned)
        return
    for part in parts:
        kind, call_id, content = part.get("part_kind"), part.get("tool_call_id"), part.get("content")
        if kind == "user-prompt":
            yield {"role": "user", "content": content}
        elif kind == "tool-return":
            failed = part.get("outcome") in ("retried", "failed", "denied")
            yield tool_message(call_id, content, error=True if failed else None)
        elif kind == "retry-prompt" and part.get("tool_name"):
            yield tool_message(call_id, content, error=True)
        elif kind == "retry-prompt":
            yield {"role": "system", "content": content}


PYDANTIC_AI = Dialect(is_pydantic_message, from_pydantic, ("messages", "all_messages", "message_history"))


# AutoGen 0.4 messages (`TaskResult`, team state).
#
#     {"type": "TextMessage", "source": "user", "content": "Mail Bob."}
#     {"type": "ToolCallRequestEvent", "source": "mailer", "content": [{"id": "c1", "name": "send", "arguments": "{}"}]}
#     {"type": "ToolCallExecutionEvent", "content": [{"call_id": "c1", "content": "sent", "is_error": false}]}

_REQUESTS = ("ToolCallRequestEvent", "ToolCallMessage")
_RESULTS = ("ToolCallExecutionEvent", "ToolCallResultMessage")
_TEXTS = ("TextMessage", "StopMessage", "MultiModalMessage", "HandoffMessage", "UserMessage", "AssistantMessage")
_SILENT = ("ToolCallSummaryMessage", "ThoughtEvent", "MemoryQueryEvent", "UserInputRequestedEvent", "SelectorEvent",
           "SelectSpeakerEvent", "ModelClientStreamingChunkEvent", "CodeGenerationEvent", "SystemMessage")  # fmt: skip


def _is_autogen(value: object) -> bool:
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and kind in (*_REQUESTS, *_RESULTS, *_TEXTS, *_SILENT)


def _from_autogen(message: Message) -> ChatMessages:
    kind, content, usage = message["type"], message.get("content"), message.get("models_usage")
    if kind in _REQUESTS:
        calls = [call_entry(call.get("id"), call["name"], call.get("arguments")) for call in content or ()]
        yield {"role": "assistant", "tool_calls": calls, "usage": usage}
    elif kind in _RESULTS:
        for result in content or ():
            failed = True if result.get("is_error") else None
            yield tool_message(result.get("call_id"), result.get("content"), error=failed)
    elif kind in _TEXTS:
        asks = str(message.get("source") or "").lower().startswith(("user", "human")) or kind == "UserMessage"
        yield {"role": "user" if asks else "assistant", "content": content, "usage": usage}


AUTOGEN = Dialect(
    _is_autogen,
    _from_autogen,
    ("messages", "message_thread", "task_result.messages", "llm_messages"),
    lambda record, messages: {"feedback": record.get("stop_reason")},
)


# Group chats: AG2 `chat_history`, the MAST and Who&When collections, and Magentic-One logs as lists of messages.
#
#     {"role": "assistant", "name": "mathproxyagent", "content": "exitcode: 0 (execution succeeded)\nCode output: 7"}
#     {"role": "Orchestrator (-> WebSurfer)", "content": "Look up Bob."}
#
# Everybody writes messages and the role only says whose view was saved. So the name decides: the human asks, a terminal
# answers the code block before it, and a member that the orchestrator hands a step to is called like a tool. What is
# left are the agent's own words.

_CODE = re.compile(r"```(python|sh|bash|shell|py)?\s*\n(.*?)```", re.DOTALL)
_EXIT = re.compile(r"\s*exitcode:\s*(-?\d+)", re.IGNORECASE)
_HANDS_OVER = re.compile(r"(.+?) \(->\s*(.+?)\)")
_ASKS = re.compile(r"human|user(?!\w)|user_?proxy|mathproxyagent", re.IGNORECASE)


def _is_in_group(value: object) -> bool:
    if not isinstance(value, dict) or "content" not in value or not isinstance(value.get("role"), str):
        return False
    if value.get("tool_calls") or value.get("tool_call_id") or "agent" in value:
        return False
    return isinstance(value.get("name"), str) or value["role"] == "human" or bool(value["role"][:1].isupper())


def _from_group(message: Message) -> Iterator[dict[str, Any]]:
    speaker = str(message.get("name") or message["role"])
    text = _lines(message["content"])
    if (ran := _EXIT.match(text)) is not None:
        yield tool_message(None, {"exit_code": int(ran[1]), "output": text}, error=ran[1] != "0")
    elif hands_over := _HANDS_OVER.fullmatch(speaker):
        yield {"role": "assistant", "tool_calls": [call_entry(hands_over[2], hands_over[2], {"request": text})]}
    elif _ASKS.fullmatch(speaker):
        yield {"role": "user", "content": text}
    else:
        calls = [call_entry(None, "python", {"code": code}) if language in ("python", "py", "")
                 else call_entry(None, "bash", {"command": code})
                 for language, code in _CODE.findall(text)[:1]]  # fmt: skip
        yield {"role": "assistant", "content": text, "speaker": speaker, "tool_calls": calls}


def _about_group(record: Mapping[str, Any], messages: list[Any]) -> dict[str, Any]:
    verdicts = (record.get("is_correct"), record.get("is_corrected"), at(record, "other_data.correct"))
    texts = (_lines(record.get(key)) for key in ("problem_statement", "question", "task", "problem"))
    return {
        "task_id": at(record, "instance_id", "question_ID"),
        "task": next(filter(None, texts), None),
        "passed": next((verdict for verdict in verdicts if verdict is not None), None),
        "environment": "group-chat",
    }


def _lines(content: object) -> str:
    return "\n".join(map(str, content)) if isinstance(content, list) else text_of(content)


GROUP_CHAT = Dialect(_is_in_group, _from_group, ("trajectory", "history", "chat_history", "messages"), _about_group)


def read_group_chat(file: TraceFile, options: ReadOptions) -> Reading:
    def translate(record: Any) -> Any:
        record = GROUP_CHAT.chat_record(record)
        return {**record, "messages": list(_attach_results(record["messages"]))} if isinstance(record, dict) else record

    return read_records(file, options, translate, GROUP_CHAT.is_message)


def _attach_results(messages: list[Any]) -> Iterator[dict[str, Any]]:
    """Attach results: what a called member says is its result. Code that no terminal ran is only text."""
    for place, message in enumerate(messages):
        following = messages[place + 1] if place + 1 < len(messages) else {}
        speaker = message.get("speaker")
        earlier = messages[max(0, place - 3) : place]
        if speaker and speaker in [call["id"] for said in earlier for call in said.get("tool_calls") or ()]:
            yield tool_message(speaker, message["content"])
        elif speaker and following.get("role") != "tool":
            yield {**message, "tool_calls": []}
        else:
            yield message


# DSPy: predictions of `dspy.ReAct`, whose trajectory numbers its steps.
#
#     {"question": "Mail Bob.", "answer": "Done.", "trajectory": {
#       "thought_0": "...", "tool_name_0": "send", "tool_args_0": {"to": "Bob"}, "observation_0": "sent",
#       "thought_1": "...", "tool_name_1": "finish", "tool_args_1": {}, "observation_1": "Completed."}}
#
# The inputs of a signature have names of the user's choice: the first text of the record is the task, unless one is
# called so.

_TASKS = ("task", "question", "query", "request", "input")
_ANSWERS = ("answer", "response", "output", "result", "process_result")
_NO_TASKS = frozenset({*FIELDS, *_ANSWERS, "model", "reasoning"} - {"task"})


def is_dspy(file: TraceFile) -> bool:
    return _dspy_steps(first_of(file.head)) is not None


def read_dspy(file: TraceFile, options: ReadOptions) -> Reading:
    return read_records(file, options, _dspy_record)


def _dspy_steps(record: object) -> Mapping[str, Any] | None:
    steps = record.get("trajectory") if isinstance(record, dict) else None
    return steps if isinstance(steps, dict) and "tool_name_0" in steps else None


def _dspy_record(record: Any) -> Any:
    steps = _dspy_steps(record)
    if steps is None:
        return record
    texts = {key: value for key, value in record.items() if isinstance(value, str) and key not in _NO_TASKS}
    task = next((texts[key] for key in (*_TASKS, *texts) if key in texts), "")
    answer = next((record[key] for key in _ANSWERS if isinstance(record.get(key), str)), "")
    asked, answered = {"role": "user", "content": task}, {"role": "assistant", "content": answer}
    return {**record, "messages": [asked, *_from_dspy(steps), *([answered] if answer else [])]}


def _from_dspy(steps: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for number in count():
        name = steps.get(f"tool_name_{number}")
        if name is None or name == "finish":
            return
        yield {"role": "assistant", "tool_calls": [call_entry(str(number), name, steps.get(f"tool_args_{number}"))]}
        observed = steps.get(f"observation_{number}")
        failed = isinstance(observed, str) and observed.startswith("Execution error in ")
        yield tool_message(str(number), observed, error=True if failed else None)


# smolagents memory: `agent.memory.get_full_steps()` or `get_succinct_steps()`, a list of steps.
#
#     {"task": "Mail Bob."}
#     {"step_number": 1, "tool_calls": [{"id": "c1", "function": {"name": "send", "arguments": {"to": "Bob"}}}],
#      "observations": "sent", "error": null, "token_usage": {...}}
#
# A step holds its calls and one text of observations for all of them. A CodeAgent's call is its code.


def is_smolagents(file: TraceFile) -> bool:
    head = first_of(file.head) if _lists_records(file.head) else file.head
    return any(isinstance(step, dict) and "step_number" in step for step in _smol_steps(head))


def read_smolagents(file: TraceFile, options: ReadOptions) -> Reading:
    records: Iterable[tuple[object, Any]] = file.lines() if file.is_lines else [("", file.document)]
    if not file.is_lines and _lists_records(file.document):
        records = enumerate(file.document)
    return each_run(file, records, lambda record, position: _smolagents(record, Origin(file.origin, position), options))


def _lists_records(head: Any) -> bool:
    first = first_of(head)
    return isinstance(head, list) and isinstance(first, dict) and "steps" in first


def _smol_steps(record: Any) -> list[Any]:
    keys = ("steps", "memory", "full_steps")
    if isinstance(record, dict):
        record = next((record[key] for key in keys if isinstance(record.get(key), list)), [])
    return record if isinstance(record, list) else []


def _smolagents(record: Any, origin: Origin, options: ReadOptions) -> Trajectory:
    recorder, meter, task = Recorder(options.naming("smolagents")), Meter(), ""
    for step in _smol_steps(record):
        if isinstance(step.get("task"), str):
            task = task or step["task"]
            recorder.message("user", step["task"])
        elif "step_number" in step:
            _record_step(recorder, step)
            meter.add(step.get("token_usage"))
    about = record if isinstance(record, dict) else {}
    return Trajectory(
        environment=label(about.get("environment"), "environment") or "smolagents",
        task_id=label(about.get("task_id"), "task_id") or digest(task),
        source=label(about.get("model") or about.get("source"), "model") or "unknown",
        origin=origin,
        events=recorder.events(),
        outcome=Outcome(*verdict_of(about.get("passed", about.get("reward")))),
        run=label(about.get("trial"), "trial") or "0",
        task=task,
        usage=meter.usage(),
    )


def _record_step(recorder: Recorder, step: Mapping[str, Any]) -> None:
    """A step's observations answer its last call; the error of a step is that of its last call, too."""
    recorder.message("agent", "" if step.get("code_action") else text_of(step.get("model_output")))
    error, calls = step.get("error"), step.get("tool_calls")
    if not calls:  # smolagents lists only calls that came back: of a step that failed, those that the model asked for
        asked = at(step, "model_output_message.tool_calls") if error else None
        calls = asked if isinstance(asked, list) else []
    for call in calls:
        record_call(recorder, call)
    message = text_of(error.get("message")) if isinstance(error, dict) else text_of(error)
    for call in calls[:-1]:
        recorder.result("", call.get("id"), error=False)
    if calls:
        recorder.result(text_of(step.get("observations")), calls[-1].get("id"), error=message or None)
    elif message:
        recorder.message("environment", message, kind="notification")
    if step.get("is_final_answer") or (calls and at(calls[-1], "function.name", "name") == "final_answer"):
        answer = text_of(step.get("action_output")) or text_of(step.get("observations"))
        recorder.message("agent", answer, kind="final")
