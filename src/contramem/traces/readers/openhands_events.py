"""OpenHands events of both generations, passed to a Recorder.

    {"id": 2, "source": "agent", "action": "run", "args": {"command": "ls"}}
    {"id": 3, "observation": "run", "content": "a.py", "cause": 2}

    {"kind": "ActionEvent", "tool_name": "terminal", "tool_call_id": "c1", "action": {"command": "ls"}}
    {"kind": "ObservationEvent", "tool_call_id": "c1", "observation": {"content": [{"type": "text", "text": "a.py"}]}}

V0 events are an `action` with `args` or an `observation` with `content`, tied by `cause` or by the tool call's id; the
SDK's are an `ActionEvent`, `ObservationEvent` and so on (`kind`), tied by `tool_call_id`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contramem.traces.normalize import Recorder, text_of

Event = Mapping[str, Any]

_TOOLS = {"run": "execute_bash", "run_ipython": "execute_ipython_cell", "read": "read", "write": "write",
          "edit": "edit", "browse": "browse", "browse_interactive": "browser", "finish": "finish",
          "delegate": "delegate", "call_tool_mcp": "mcp"}  # fmt: skip
_ARGUMENTS = "command code path content file_text old_str new_str url browser_actions start end view_range".split()
_RECORDED_IN_ARGS = ("thought", "security_risk", "confirmation_state", "hidden", "blocking", "is_confirmed")


def is_event(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("kind"), str) and value["kind"].endswith("Event"):
        return "source" in value or "timestamp" in value
    return isinstance(value.get("action") or value.get("observation"), str) and (
        "args" in value or "content" in value or "thought" in value or "command" in value
    )


def record_event(recorder: Recorder, event: Event) -> str:
    """Record one event. Returns what the user said in it."""
    if isinstance(event.get("kind"), str):
        return _record_sdk_event(recorder, event)
    if isinstance(event.get("observation"), str):
        _record_observation(recorder, event)
        return ""
    return _record_action(recorder, event)


def _record_action(recorder: Recorder, event: Event) -> str:
    action = event.get("action")
    args = event["args"] if isinstance(event.get("args"), dict) else event
    if action == "message":
        text = text_of(args.get("content"))
        asks = event.get("source") == "user" or (
            "source" not in event and "thought" not in event and not event.get("id")
        )
        recorder.message("user" if asks else "agent", text)
        return text if asks else ""
    tool = event.get("tool_call_metadata") or {}
    name = tool.get("function_name") or _TOOLS.get(str(action))
    if name is None:
        return ""
    recorder.message("agent", text_of(args.get("thought")))
    recorder.call(str(name), _arguments(args), _tie(tool.get("tool_call_id"), event.get("id")))
    return ""


def _arguments(args: Event) -> dict[str, Any]:
    if "args" not in args and "action" in args:  # the oldest files spread the arguments over the event
        return {name: args[name] for name in _ARGUMENTS if name in args}
    return {name: value for name, value in args.items() if name not in _RECORDED_IN_ARGS and value is not None}


def _tie(call_id: object, event_id: object) -> str | None:
    return str(call_id) if call_id else None if event_id is None else f"event-{event_id}"


def _record_observation(recorder: Recorder, event: Event) -> None:
    kind = event["observation"]
    if kind in ("agent_state_changed", "null", "condense", "recall", "loop_detection"):
        return
    extras = event.get("extras") if isinstance(event.get("extras"), dict) else {}
    tool = event.get("tool_call_metadata") or {}
    metadata = (extras or {}).get("metadata") or {}
    code = metadata.get("exit_code", (extras or {}).get("exit_code", event.get("exit_code")))
    content: object = text_of(event.get("content"))
    if isinstance(code, int) and kind == "run":
        content = {"exit_code": code, "output": content}
    recorder.result(
        content, _tie(tool.get("tool_call_id"), event.get("cause")), error=True if kind == "error" else None
    )


def _record_sdk_event(recorder: Recorder, event: Event) -> str:
    kind = event["kind"]
    if kind == "MessageEvent":
        message = event.get("llm_message") or {}
        text = text_of(message.get("content"))
        asks = event.get("source") == "user" or message.get("role") == "user"
        recorder.message("user" if asks else "agent", text)
        return text if asks else ""
    if kind == "ActionEvent":
        recorder.message("agent", text_of(event.get("thought")))
        action = event.get("action") if isinstance(event.get("action"), dict) else {}
        arguments = {name: value for name, value in (action or {}).items() if name != "kind" and value is not None}
        recorder.call(str(event.get("tool_name") or "unnamed"), arguments, event.get("tool_call_id"))
    elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
        seen = event.get("observation")
        failed = kind == "AgentErrorEvent" or (isinstance(seen, dict) and seen.get("is_error") is True)
        recorder.result(_result_content(event, seen), event.get("tool_call_id"), error=True if failed else None)
    return ""


def _result_content(event: Event, observation: object) -> object:
    if not isinstance(observation, dict):
        return text_of(event.get("error") or observation)
    text = text_of(observation.get("content") or observation.get("output"))
    code = observation.get("exit_code")
    return {"exit_code": code, "output": text} if isinstance(code, int) else text
