"""The story of samples.py as spans and observations that follow no convention, or as platforms export them."""

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


THROWN = f'Traceback (most recent call last):\n  File "mail.py", line 3, in send\n    post(to)\nValueError: {FAILED}'


def braintrust(kind: str, second: int, name: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"row-{second}",
        "span_id": f"s{second}",
        "root_span_id": "trace-1",
        "span_parents": ["s0"] if second else None,
        "created": f"{T}9Z",
        "metrics": {"start": 1_790_000_000.5 + second, "end": 1_790_000_001 + second},
        "span_attributes": {"name": name, "type": kind},
        **fields,
    }


def braintrust_model(second: int, turn: int, **fields: Any) -> dict[str, Any]:
    reply = [{"index": 0, "message": CHAT[turn], "finish_reason": "stop"}]
    about = {"model": "m-1", "provider": "openai"}
    return braintrust("llm", second, "Chat Completion", input=CHAT[:turn], output=reply, metadata=about, **fields)


ORIGIN = {"object_type": "dataset", "object_id": "d", "id": "t1", "_xact_id": "1"}
BRAINTRUST = [
    braintrust("eval", 0, "eval", input=TASK, expected="Done.", output="Done.", origin=ORIGIN, metadata={}),
    braintrust_model(1, 1),
    braintrust("tool", 2, "send", input=FIRST, error=THROWN),
    braintrust_model(3, 3),
    braintrust("tool", 4, "send", input=SECOND, output=WORKED),
    braintrust_model(5, 5),
    braintrust("score", 6, "correct", input={"output": "Done."}, output={"score": 1}, scores={"correct": 1}),
    braintrust("llm", 7, "Chat Completion", span_parents=["s6"], input="Is it right?", metadata={"model": "judge"}),
]
BRAINTRUST_LOGS = [
    braintrust("task", 0, "agent", input={"query": TASK}, scores={"correct": 0.5}, metadata={"task_id": "t1"}),
    *(row if row["span_attributes"]["type"] == "llm" else {**row, "span_attributes": {"name": "send"}}
      for row in BRAINTRUST[1:6]),
]  # fmt: skip


def opik(kind: str, second: int, name: str, sent: Any, got: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"s{second}",
        "trace_id": "trace-1",
        "parent_span_id": None,
        "type": kind,
        "name": name,
        "start_time": f"2026-01-01 00:00:0{second}.5+00:00",
        "input": sent,
        "output": got,
        **fields,
    }


def opik_model(second: int, turn: int) -> dict[str, Any]:
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    sent, got = {"messages": CHAT[:turn]}, {"choices": [{"message": CHAT[turn]}]}
    return opik("llm", second, "chat_completion_create", sent, got, model="m-1", usage=usage)


OPIK_ERROR = {"exception_type": "ValueError", "message": FAILED, "traceback": THROWN}
OPIK = {
    "trace": {
        "id": "trace-1",
        "name": "agent",
        "start_time": "2026-01-01 00:00:00+00:00",
        "input": {"messages": [{"role": "user", "content": "Hello"}], "query": TASK},
        "output": {"output": "Done."},
        "feedback_scores": [{"name": "correct", "value": 1.0, "category_name": None, "reason": "Yes."}],
        "experiment": {"id": "e", "name": "e", "dataset_id": "d", "dataset_item_id": "t1"},
        "thread_id": "thread-1",
    },
    "spans": [
        opik_model(1, 1),
        opik("tool", 2, "send", FIRST, None, error_info=OPIK_ERROR),
        opik_model(3, 3),
        opik("tool", 4, "send", SECOND, {"output": WORKED}),
        opik_model(5, 5),
        opik("general", 6, "metrics_calculation", {}, None),
        opik("llm", 7, "judge", "Is it right?", "Yes.", parent_span_id="s6", model="judge"),
    ],
    "downloaded_at": f"{T}9",
}
OPIK_SPANS = [
    opik("general", 0, "agent", {"query": TASK}, {"output": "Done."}, metadata={"task_id": "t1"}),
    *({**span, "parent_span_id": "s0", "type": span["type"].replace("tool", "general")} for span in OPIK["spans"][:5]),
]

SPAN_SAMPLES: dict[str, tuple[str, Any]] = {
    "otel-openllmetry": ("openllmetry.jsonl", story(openllmetry_model, openllmetry_tool)),
    "otel-vercel": ("vercel.jsonl", story(vercel_model, vercel_tool)),
    "otel-home-made": ("acme.jsonl", story(home_made_model, home_made_tool)),
    "langfuse-download": ("trace.json", LANGFUSE_DOWNLOAD),
    "langfuse-flat": ("observations.json", LANGFUSE_FLAT),
    "braintrust": ("experiment.jsonl", BRAINTRUST[::-1]),
    "braintrust-fetched": ("logs.json", {"events": BRAINTRUST_LOGS, "cursor": None}),
    "opik": ("trace_1.json", OPIK),
    "opik-page": ("spans.json", {"page": 1, "size": 6, "total": 6, "content": OPIK_SPANS[::-1]}),
    "phoenix-api": ("spans.json", [from_api(row) for row in PHOENIX_ROWS]),
}
