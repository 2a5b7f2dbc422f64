"""The story of samples.py as spans and observations that follow no convention, or as an interface downloads them."""

from __future__ import annotations

import json
from typing import Any

from tests.traces.readers.samples import CHAT, FAILED, FIRST, LANGFUSE, PHOENIX_ROWS, SECOND, TASK, WORKED, langfuse

T = "2026-01-01T00:00:0"


def span(second: int, attributes: dict[str, Any], failed: str = "", **fields: Any) -> dict[str, Any]:
    status = {"status_code": "ERROR", "description": failed} if failed else {"status_code": "UNSET"}
    return {
        "name": f"step {second}",
        "context": {"trace_id": "0xa", "span_id": f"0x{second}"},
        "parent_id": "0x0" if second else None,
        "start_time": f"{T}{second}Z",
        "status": status,
        "attributes": attributes,
        **fields,
    }


def story(asks: Any, sends: Any) -> list[dict[str, Any]]:
    """`asks(sent, reply)` and `sends(arguments, result)` give the attributes of a model's span and of a tool's."""
    return [
        span(0, {"task_id": "t1"}),
        span(1, asks(CHAT[:1], CHAT[1])),
        span(2, sends(FIRST, None), failed=FAILED),
        span(3, asks(CHAT[:3], CHAT[3])),
        span(4, sends(SECOND, WORKED)),
        span(5, asks(CHAT[:5], CHAT[5])),
    ]


def openllmetry_model(sent: list[dict[str, Any]], reply: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {"gen_ai.request.model": "m-1", "llm.request.type": "chat"}
    for side, messages in (("prompt", sent), ("completion", [reply])):
        for place, message in enumerate(messages):
            key = f"gen_ai.{side}.{place}"
            fields |= {f"{key}.role": message["role"], f"{key}.content": message.get("content")}
            for number, call in enumerate(message.get("tool_calls", ())):
                fields |= {f"{key}.tool_calls.{number}.id": call["id"]}
                fields |= {f"{key}.tool_calls.{number}.{part}": value for part, value in call["function"].items()}
    return fields


def openllmetry_tool(arguments: Any, result: Any) -> dict[str, Any]:
    return {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": "send",
        "traceloop.entity.input": json.dumps({"args": [], "kwargs": arguments}),
        "traceloop.entity.output": result,
    }


def vercel_model(sent: list[dict[str, Any]], reply: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {"toolCallId": call["id"], "toolName": "send", "args": call["function"]["arguments"]}
        for call in reply.get("tool_calls", ())
    ]
    return {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.model.id": "m-1",
        "ai.prompt.messages": json.dumps(sent),
        "ai.response.text": reply.get("content"),
        "ai.response.toolCalls": json.dumps(calls),
    }


def vercel_tool(arguments: Any, result: Any) -> dict[str, Any]:
    call = {"name": "send", "args": json.dumps(arguments), "id": "c1" if arguments is FIRST else "c2", "result": result}
    return {"ai.operationId": "ai.toolCall"} | {f"ai.toolCall.{part}": value for part, value in call.items()}


def home_made_model(sent: list[dict[str, Any]], reply: dict[str, Any]) -> dict[str, Any]:
    return {"acme.model": "m-1", "acme.prompt": json.dumps(sent), "acme.completion": json.dumps(reply)}


def home_made_tool(arguments: Any, result: Any) -> dict[str, Any]:
    return {"acme.tool_name": "send", "acme.tool_input": json.dumps(arguments), "acme.tool.output": result}


def downloaded(observation: dict[str, Any]) -> dict[str, Any]:
    """As Langfuse's interface writes it: values as JSON text, and a tool as a plain span."""
    values = {key: value if isinstance(value, str) else json.dumps(value) for key, value in observation.items()
              if key in ("input", "output") and value is not None}  # fmt: skip
    return {**observation, **values, "type": observation["type"].replace("TOOL", "SPAN")}


LANGFUSE_DOWNLOAD = {
    "trace": {key: json.dumps(value) if key == "input" else value for key, value in LANGFUSE.items()
              if key != "observations"},
    "observations": [downloaded(observation) for observation in LANGFUSE["observations"]],
}  # fmt: skip
LANGFUSE_FLAT = [
    {"traceId": "trace-1", **observation}
    for observation in (langfuse("SPAN", 0, TASK, None, metadata={"task_id": "t1"}), *LANGFUSE["observations"])
]


def from_api(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a Phoenix data frame as Phoenix's API gives it: the kind beside the attributes."""
    flat = {name.removeprefix("attributes."): value for name, value in row.items() if name.startswith("attributes.")}
    kept = {name: value for name, value in row.items() if not name.startswith(("attributes.", "context."))}
    context = {"trace_id": row["context.trace_id"], "span_id": row.get("context.span_id", "s")}
    return {**kept, "context": context, "attributes": flat}


SPAN_SAMPLES: dict[str, tuple[str, Any]] = {
    "otel-openllmetry": ("openllmetry.jsonl", story(openllmetry_model, openllmetry_tool)),
    "otel-vercel": ("vercel.jsonl", story(vercel_model, vercel_tool)),
    "otel-home-made": ("acme.jsonl", story(home_made_model, home_made_tool)),
    "langfuse-download": ("trace.json", LANGFUSE_DOWNLOAD),
    "langfuse-flat": ("observations.json", LANGFUSE_FLAT),
    "phoenix-api": ("spans.json", [from_api(row) for row in PHOENIX_ROWS]),
}
