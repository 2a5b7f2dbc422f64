"""Agents that use a browser: what they did step by step, what the next step showed them, and a judge's verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from contramem.errors import TraceError
from contramem.traces.files import TraceFile, decode
from contramem.traces.map import at
from contramem.traces.normalize import text_of
from contramem.traces.reader import Reading, ReadOptions, SkippedRun, first_of
from contramem.traces.readers.messages import LOOKED_AT, call_entry, messages_in, tool_message
from contramem.traces.readers.records import first_messages, read_records

Record = Mapping[str, Any]
_JUDGED = ("eval.eval", "eval", "judgement.verdict", "judgement")
"""Where a judge of browser agents writes its verdict. `success` beside it is what the agent says about itself."""


def is_browser(file: TraceFile) -> bool:
    record = first_of(file.head)
    return isinstance(record, dict) and (_has_replies(record) or _has_history(record) or _is_without_steps(record))


def read_browser(file: TraceFile, options: ReadOptions) -> Reading:
    """Steps that each keep what the model was shown and what it replied (notte's evaluations), and browser-use's
    `AgentHistoryList`.

    {"task": {"id": "t1", "question": "..."}, "eval": {"eval": "success"}, "agent_answer": "...", "steps": [
      {"url": "...", "llm_calls": [{"messages_in": [...], "message_out": {"tool_calls": [...]}}]}]}

    {"history": [{"model_output": {"action": [{"click_element": {"index": 5}}]},
                  "result": [{"extracted_content": "..."}], "state": {"url": "..."}}]}

    A call is one action of a step. What came back is what the next step shows and this one did not."""
    return read_records(file, options, _browser_record, judged=_JUDGED)


def _has_replies(record: Record) -> bool:
    steps = record.get("steps")
    return isinstance(steps, list) and bool(steps) and isinstance(steps[0], dict) and "llm_calls" in steps[0]


def _is_without_steps(record: Record) -> bool:
    return record.get("steps") == [] and {"agent_answer", "eval"} <= record.keys()


def _has_history(record: Record) -> bool:
    history = record.get("history")
    first = history[0] if isinstance(history, list) and history else None
    return isinstance(first, dict) and {"model_output", "result"} <= first.keys()


def _replies(step: Any) -> list[Record]:
    calls = step.get("llm_calls") if isinstance(step, dict) else None
    return [call for call in calls or () if isinstance(call, dict) and isinstance(call.get("message_out"), dict)]


def _browser_record(record: Any) -> Any:
    if not isinstance(record, dict) or _is_without_steps(record):
        return SkippedRun("", "run of a browser agent without a step") if record else record
    if not (_has_replies(record) or _has_history(record)):
        return record
    task = at(record, "task.question", "task_description", "task", "question", "confirmed_task")
    answer = at(record, "agent_answer", "answer", "final_result")
    messages = [{"role": "user", "content": text_of(task)}] if task else []
    messages += _told_by_history(record["history"]) if _has_history(record) else _told_by_replies(record["steps"])
    messages += [{"role": "assistant", "content": text_of(answer)}] if answer else []
    facts = {
        "task_id": at(record, "task.id", "task_id", "task.task_id"),
        "trial": at(record, "run_id"),
        "task": text_of(task),
        "environment": "browser",
        "feedback": at(record, "eval.reason", "evaluation.reason", "judgement.reason"),
    }
    return {**record, **facts, "messages": messages}


def _told_by_replies(steps: list[Any]) -> Iterator[dict[str, Any]]:
    """Each step's reply, with what the next one was shown as the result of its last action."""
    turns = [call for step in steps for call in _replies(step)]
    for number, turn in enumerate(turns):
        reply = turn["message_out"]
        calls = list(_actions(reply))
        entries = [call_entry(f"{number}.{place}", name, given) for place, (name, given) in enumerate(calls)]
        yield {"role": "assistant", "content": _thought(turn), "tool_calls": entries}
        if calls and number + 1 < len(turns) and (seen := _newly_shown(turn, turns[number + 1])):
            yield tool_message(f"{number}.{len(calls) - 1}", seen, error=False)


def _thought(turn: Record) -> str:
    return text_of(turn.get("pretty_out")) or text_of(turn["message_out"].get("content"))


def _newly_shown(turn: Record, following: Record) -> str:
    before, after = ([*_shown(one)] for one in (turn, following))
    known = set(before)
    return "\n".join(text for text in after if text not in known)


def _shown(turn: Record) -> Iterator[str]:
    for message in turn.get("messages_in") or ():
        if isinstance(message, dict) and message.get("role", message.get("type")) not in ("assistant", "ai", "system"):
            yield text_of(message.get("content"))


def _actions(reply: Record) -> Iterator[tuple[str, Any]]:
    """The calls of a reply: its tool calls, or the actions that a structured output lists."""
    calls = reply.get("tool_calls") or []
    for call in calls:
        spec = call.get("function") or call
        given = _decoded(spec.get("arguments"))
        is_output = isinstance(given, dict) and ("current_state" in given or isinstance(given.get("action"), list))
        yield from _listed_actions(given) if is_output else [(str(spec["name"]), given)]
    if not calls:
        yield from _listed_actions(_decoded(reply.get("content")))


def _decoded(value: Any) -> Any:
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        return decode(value.encode("utf-8", "replace"))
    except TraceError:
        return value


def _listed_actions(output: Any) -> Iterator[tuple[str, Any]]:
    """Of `{"action": [{"click": {"id": "B2"}}]}` the call `click` with its arguments."""
    actions = at(output, "actions", "action") if isinstance(output, dict) else None
    for action in actions if isinstance(actions, list) else ():
        for name, given in action.items() if isinstance(action, dict) else ():
            if given is not None:
                yield str(name), given


def _told_by_history(history: list[Any]) -> Iterator[dict[str, Any]]:
    """browser-use: each item has the actions of a step and one result for each of them."""
    for number, item in enumerate(history):
        calls = list(_listed_actions(item.get("model_output") or {}))
        thought = at(item, "model_output.current_state.next_goal", "model_output.next_goal")
        entries = [call_entry(f"{number}.{place}", name, given) for place, (name, given) in enumerate(calls)]
        yield {"role": "assistant", "content": text_of(thought), "tool_calls": entries}
        for place, result in enumerate((item.get("result") or ())[: len(calls)]):
            error = text_of(result.get("error"))
            said = error or text_of(result.get("extracted_content")) or text_of(at(item, "state.url"))
            yield tool_message(f"{number}.{place}", said, error=bool(error))


# Agents that write what they do into their messages, as WebVoyager's do: `Thought: ... Action: Click [2]`.

_ACTION = re.compile(r"^Action:\s*(\S.*)", re.MULTILINE | re.DOTALL)
_WRITTEN = re.compile(r"([A-Za-z]\w*)\s*(?:\[([^\]]*)\])?\s*;?\s*(.*)", re.DOTALL)
_SEEN = "Observation:"


def is_react(file: TraceFile) -> bool:
    """Chat messages without tools, in which each reply ends in an action and the next message tells what was seen."""
    said = first_messages(file)[:LOOKED_AT]
    if any(message.get("tool_calls") for message in said):
        return False
    acts = [place for place, message in enumerate(said[:-1])
            if message["role"] == "assistant" and "Action:" in (text := text_of(message.get("content")))
            and _ACTION.search(text)]  # fmt: skip
    return bool(acts) and all(_is_seen(said[place + 1]) for place in acts[:5])


def _is_seen(message: Record) -> bool:
    return message["role"] == "user" and _SEEN in text_of(message.get("content"))


def read_react(file: TraceFile, options: ReadOptions) -> Reading:
    """{"role": "assistant", "content": "Thought: I search.\\nAction: Type [2]; salmon"}
    {"role": "user", "content": "Observation: a page"}

    The environment's messages are results; `ANSWER; text` is the final answer. The task is the folder's name."""
    folder = file.path.parent.name
    return read_records(file, options, lambda record: _react_record(record, folder))


def _react_record(record: Any, folder: str) -> Any:
    own = record if isinstance(record, dict) else {}
    messages = messages_in(own.get("messages", record) or [])
    told: list[dict[str, Any]] = []
    for number, message in enumerate(messages):
        text = text_of(message.get("content")) if isinstance(message, dict) else ""
        if isinstance(message, dict) and message.get("role") == "assistant" and (action := _ACTION.search(text)):
            told += _written_action(text[: action.start()].strip(), action[1].strip(), str(number))
        elif told and told[-1].get("tool_calls") and _is_seen(message):
            told.append(tool_message(told[-1]["tool_calls"][0]["id"], text.partition(_SEEN)[2].strip()))
        else:
            told.append(message)
    return {"task_id": folder, "environment": "browser", **own, "messages": told}


def _written_action(thought: str, action: str, call_id: str) -> list[dict[str, Any]]:
    match = _WRITTEN.fullmatch(action)
    if match is None or match[1].upper() == "ANSWER":
        said = match[3] or match[2] if match else action
        return [{"role": "assistant", "content": thought}, {"role": "assistant", "content": said or ""}]
    given = {"element": match[2], "text": match[3]}
    call = call_entry(call_id, match[1], {name: value for name, value in given.items() if value})
    return [{"role": "assistant", "content": thought, "tool_calls": [call]}]
