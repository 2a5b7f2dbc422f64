"""Damaged ARE, Harbor and span files: whatever they hold, reading gives runs and Problems and never an exception."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from contramem.errors import TraceError
from contramem.traces.files import TraceFile
from contramem.traces.read import readers
from contramem.traces.reader import Problem, ReadOptions, SkippedRun
from contramem.traces.trajectory import Trajectory
from contramem.traces.write import encode_line

ODD: list[Any] = [None, True, -1, 10**400, 1e308, "", "x", "\ud800", "{", [], {}, [[]], [None], {"": {}}, 1 << 70]


def event(type: str, function: str, time: float, **values: Any) -> dict[str, Any]:
    args = [{"name": name, "value": str(value), "value_type": type_} for name, (value, type_) in values.items()]
    action = {"app": "Emails", "function": function, "operation_type": "WRITE", "args": args}
    metadata = {"return_value": "{'a': 1}", "return_value_type": "dict", "exception": None}
    return {"event_type": type, "event_time": time, "action": action, "metadata": metadata}


HF = {
    "version": "are_simulation_v1",
    "apps": [{"name": "Emails", "class_name": "EmailClientV2"}],
    "completed_events": [
        event("USER", "send_message_to_agent", 1.0, content=("Do it", "str")),
        event("AGENT", "forward_email", 2.0, recipients=('["a"]', "list")),
        event("AGENT", "get_email", 2.0001, limit=("3", "int")),
        event("ENV", "add_email", 3.0, content=("hi", "str")),
    ],
    "metadata": {
        "definition": {"scenario_id": "s", "tags": ["Time"], "run_number": 1},
        "simulation": {"model_id": "m"},
        "annotation": {"validation_decision": "Invalid"},
        "runner_config": {"oracle": False},
    },
}
LITE = {
    "scenario_id": "s",
    "model_id": "m",
    "validation_decision": "Invalid",
    "validation_rationale": "no",
    "per_agent_interaction_histories": {
        "a": [
            {"role": "user", "content": "[TASK]: \nMessage: x\nAlready read: True", "timestamp": 1.0},
            {"role": "assistant", "content": 'Thought: t\nAction: {"action": "A__b"}', "timestamp": 2.0},
            {"role": "tool-response", "content": "[OUTPUT OF STEP 1] ERROR:\n***\nx\n***", "timestamp": 2.1},
        ]
    },
    "per_agent_llm_usage_stats": {"a": {"total_llm_calls": 1, "prompt_tokens": [1], "completion_tokens": [1]}},
}
CALL = {"tool_call_id": "c", "function_name": "f", "arguments": {"a": [1]}}
ATIF = {
    "schema_version": "ATIF-v1.7",
    "agent": {"name": "a", "model_name": "m", "tool_definitions": [{"function": {"name": "f", "parameters": {}}}]},
    "steps": [
        {"source": "user", "message": [{"type": "text", "text": "go"}], "timestamp": "2026-01-01T00:00:00Z"},
        {
            "source": "agent",
            "message": "x",
            "tool_calls": [CALL],
            "observation": {"results": [{"source_call_id": "c", "content": "y", "extra": {}}]},
            "metrics": {"prompt_tokens": 1},
            "llm_call_count": 1,
        },
    ],
    "final_metrics": {"total_prompt_tokens": 1},
}
MESSAGES = [
    {"role": "user", "parts": [{"type": "text", "content": "go"}, {"type": "tool_call", "id": "1", "name": "f"}]}
]
SPAN = {
    "context": {"trace_id": "0xa", "span_id": "1"},
    "start_time": "2026-01-01T00:00:00Z",
    "status": {"status_code": "ERROR", "description": "x"},
    "attributes": {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": MESSAGES,
        "llm.input_messages.0.message.role": "user",
        "gen_ai.usage.input_tokens": 1,
        "metadata": {"task_id": "t"},
        "eval.a.score": 1,
    },
    "events": [{"name": "gen_ai.evaluation.result", "attributes": {"gen_ai.evaluation.score.value": 1}}],
}
PAIRS = [{"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}}]
PAIRS += [{"key": "gen_ai.usage", "value": {"kvlistValue": {"values": [{"key": "n", "value": {"intValue": "1"}}]}}}]
OTLP_SPAN = {"traceId": "a", "startTimeUnixNano": "1", "status": {"code": 2}, "attributes": PAIRS, "events": []}
OTLP = {
    "resourceSpans": [{"resource": {"attributes": PAIRS}, "scopeSpans": [{"spans": [OTLP_SPAN]}]}],
    "resourceLogs": [{"scopeLogs": [{"logRecords": [{"traceId": "a", "eventName": "e", "attributes": PAIRS}]}]}],
}
SEEDS = [("are", HF), ("are", LITE), ("harbor", ATIF), ("otel", SPAN), ("otel", OTLP)]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from places(value[key])


def damaged(document: Any, chance: random.Random) -> Any:
    document = copy.deepcopy(document)
    for _ in range(chance.randint(1, 3)):
        holder, key = chance.choice(list(places(document)))
        if chance.random() < 0.3:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(chance.choice(ODD))
        if not document:
            break
    return document


@pytest.mark.parametrize(("name", "seed"), SEEDS, ids=["hf", "lite", "atif", "span", "otlp"])
def test_whatever_is_damaged_reading_never_raises(name: str, seed: Any) -> None:
    reader, read = readers()[name], 0
    for number in range(400):
        content = json.dumps(damaged(seed, random.Random(number))).encode()
        file = TraceFile.of_bytes("run.json", content)
        try:
            for item in reader.read(file, ReadOptions()) if reader.claims(file) else ():
                assert isinstance(item, (Trajectory, Problem, SkippedRun))
                if isinstance(item, Trajectory):
                    read += 1
                    # Nothing checks a struct's types when it is made; decoding does.
                    msgspec.json.decode(encode_line(item), type=Trajectory)
        except TraceError:
            pass
    assert read > 20, "most damage is small, and small damage is survived"
