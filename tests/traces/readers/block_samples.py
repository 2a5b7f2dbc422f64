"""The story of samples.py in messages whose content holds calls and results, as providers and frameworks write them."""

from __future__ import annotations

import json
from typing import Any

from tests.traces.readers.samples import FAILED, FIRST, SECOND, TASK, WORKED


def conversation(role: str, texts: str, calls: list[Any], results: list[Any]) -> list[dict[str, Any]]:
    """Two calls, each answered in a message of `role`; `texts` is the key of a text block."""
    said = {"type": "text"} if texts == "text" and "type" in calls[0] else {}
    answers = [{"role": role, "content": [result]} for result in results]
    asks = [{"role": "assistant", "content": [call]} for call in calls]
    return [
        {"role": "user", "content": [{**said, texts: TASK}]},
        *(message for pair in zip(asks, answers, strict=True) for message in pair),
        {"role": "assistant", "content": [{**said, texts: "Done."}]},
    ]


BEDROCK = conversation(
    "user",
    "text",
    [{"toolUse": {"toolUseId": f"c{i}", "name": "send", "input": given}} for i, given in enumerate((FIRST, SECOND))],
    [
        {"toolResult": {"toolUseId": "c0", "content": [{"text": FAILED}], "status": "error"}},
        {"toolResult": {"toolUseId": "c1", "content": [{"json": WORKED}], "status": "success"}},
    ],
)
AI_SDK_SENT = conversation(
    "tool",
    "text",
    [
        {"type": "tool-call", "toolCallId": f"c{i}", "toolName": "send", "input": given}
        for i, given in enumerate((FIRST, SECOND))
    ],
    [
        {"type": "tool-result", "toolCallId": "c0", "output": {"type": "error-text", "value": FAILED}},
        {"type": "tool-result", "toolCallId": "c1", "output": {"type": "text", "value": WORKED}},
    ],
)
HAYSTACK = conversation(
    "tool",
    "text",
    [
        {"tool_call": {"id": f"c{i}", "tool_name": "send", "arguments": given}}
        for i, given in enumerate((FIRST, SECOND))
    ],
    [
        {"tool_call_result": {"origin": {"id": "c0"}, "result": FAILED, "error": True}},
        {"tool_call_result": {"origin": {"id": "c1"}, "result": WORKED, "error": False}},
    ],
)
AI_SDK = [
    {"id": "m1", "role": "user", "parts": [{"type": "text", "text": TASK}]},
    {
        "id": "m2",
        "role": "assistant",
        "metadata": {"model": "m-1"},
        "parts": [
            {"type": "step-start"},
            {"type": "tool-send", "toolCallId": "c1", "state": "output-error", "input": FIRST, "errorText": FAILED},
            {"type": "reasoning", "text": "An id, then."},
            {
                "type": "dynamic-tool",
                "toolName": "send",
                "toolCallId": "c2",
                "state": "output-available",
                "input": SECOND,
                "output": WORKED,
            },
            {"type": "text", "text": "Done."},
        ],
    },
]


def invocation(call_id: str, given: dict[str, str], result: object) -> dict[str, Any]:
    call = {"state": "result", "toolCallId": call_id, "toolName": "send", "args": given, "result": result}
    return {"type": "tool-invocation", "toolInvocation": call}


AI_SDK_4 = [
    {"role": "user", "content": TASK, "parts": [{"type": "text", "text": TASK}]},
    {
        "role": "assistant",
        "content": "Done.",
        "parts": [
            invocation("c1", FIRST, {"error": FAILED}),
            invocation("c2", SECOND, WORKED),
            {"type": "text", "text": "Done."},
        ],
    },
]
OTEL_MESSAGES = [
    {"role": "user", "parts": [{"type": "text", "content": TASK}]},
    {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "send", "arguments": FIRST}]},
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": f"Error: {FAILED}"}]},
    {"role": "assistant", "parts": [{"type": "tool_call", "id": "c2", "name": "send", "arguments": SECOND}]},
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c2", "response": WORKED}]},
    {"role": "assistant", "parts": [{"type": "text", "content": "Done."}]},
]
DSPY = {
    "question": TASK,
    "model": "m-1",
    "trajectory": {
        "thought_0": "I will mail Bob.",
        "tool_name_0": "send",
        "tool_args_0": FIRST,
        "observation_0": f"Execution error in send: {FAILED}",
        "thought_1": "An id, then.",
        "tool_name_1": "send",
        "tool_args_1": SECOND,
        "observation_1": WORKED,
        "thought_2": "That was it.",
        "tool_name_2": "finish",
        "tool_args_2": {},
        "observation_2": "Completed.",
    },
    "reasoning": "Bob has an id.",
    "answer": "Done.",
}


TAGGED = [
    {"role": "user", "content": TASK},
    {"role": "assistant", "content": f'<tool_call>{{"name": "send", "arguments": {json.dumps(FIRST)}}}</tool_call>'},
    {"role": "user", "content": f"<tool_response>Error: {FAILED}</tool_response>"},
    {"role": "assistant", "content": f'<tool_call>{{"name": "send", "arguments": {json.dumps(SECOND)}}}</tool_call>'},
    {"role": "user", "content": f"<tool_response>{WORKED}</tool_response>"},
    {"role": "assistant", "content": "Done."},
]


def record(messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {"model": "m-1", "messages": messages}


BLOCK_SAMPLES: dict[str, tuple[str, Any]] = {
    "bedrock": ("bedrock.jsonl", [record(BEDROCK)]),
    "haystack": ("haystack.json", record(HAYSTACK)),
    "ai-sdk": ("chat.json", {"id": "chat-1", "messages": AI_SDK}),
    "ai-sdk-4": ("chat4.json", record(AI_SDK_4)),
    "ai-sdk-sent": ("sent.jsonl", [record(AI_SDK_SENT)]),
    "otel-messages": ("messages.json", record(OTEL_MESSAGES)),
    "tagged": ("tagged.jsonl", [record(TAGGED)]),
    "rollouts": ("rollouts.jsonl", [{"model": "m-1", "prompt": BEDROCK[:1], "completion": BEDROCK[1:]}]),
    "verifiers": (
        "v.jsonl",
        [
            {
                "model": "m-1",
                "example_id": "t1",
                "task": "mail",
                "prompt": TAGGED[:1],
                "completion": TAGGED[1:],
                "answer": "sent",
            }
        ],
    ),
    "model-calls": ("log.json", [{"request": {"model": "m-1", "messages": TAGGED[:-1]}, "response": TAGGED[-1]}]),
    "dspy": ("dspy.jsonl", [DSPY]),
}
