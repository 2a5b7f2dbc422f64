"""One small sample of each format of a framework or platform, made here: an agent mails Bob, at the second try.

Every sample tells the same story, so one test can ask the same of all of them: `send` fails for "Bob", works for
"id-7", and the agent says that it is done.
"""

from __future__ import annotations

from typing import Any

TASK = "Mail Bob"
FAILED, WORKED = "unknown recipient", "sent"
FIRST, SECOND = {"to": "Bob"}, {"to": "id-7"}
T = "2026-01-01T00:00:0"


def lc(kind: str, content: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "data": {"content": content, "type": kind, **fields}}


LANGCHAIN = [
    lc("human", TASK),
    lc("ai", "", tool_calls=[{"name": "send", "args": FIRST, "id": "c1"}], response_metadata={"model_name": "m-1"}),
    lc("tool", FAILED, tool_call_id="c1", status="error"),
    lc("ai", "", tool_calls=[{"name": "send", "args": SECOND, "id": "c2"}]),
    lc("tool", WORKED, tool_call_id="c2", status="success"),
    lc("ai", "Done."),
]
LANGCHAIN_DUMPED = [
    {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", f"{name}Message"],
        "kwargs": line["data"],
    }
    for name, line in zip(("Human", "AI", "Tool", "AI", "Tool", "AI"), LANGCHAIN, strict=True)
]
LANGGRAPH = {"thread_id": "t", "values": {"messages": [line["data"] for line in LANGCHAIN]}, "model": "m-1"}

PYDANTIC_AI = [
    {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": TASK}]},
    {
        "kind": "response",
        "model_name": "m-1",
        "usage": {"input_tokens": 5, "output_tokens": 2},
        "parts": [{"part_kind": "tool-call", "tool_name": "send", "args": '{"to": "Bob"}', "tool_call_id": "c1"}],
    },
    {
        "kind": "request",
        "parts": [{"part_kind": "retry-prompt", "tool_name": "send", "content": FAILED, "tool_call_id": "c1"}],
    },
    {
        "kind": "response",
        "model_name": "m-1",
        "parts": [
            {"part_kind": "thinking", "content": "An id, then."},
            {"part_kind": "tool-call", "tool_name": "send", "args": SECOND, "tool_call_id": "c2"},
        ],
    },
    {
        "kind": "request",
        "parts": [{"part_kind": "tool-return", "tool_name": "send", "content": WORKED, "tool_call_id": "c2"}],
    },
    {"kind": "response", "model_name": "m-1", "parts": [{"part_kind": "text", "content": "Done."}]},
]

GEMINI = {
    "model": "m-1",
    "contents": [
        {"role": "user", "parts": [{"text": TASK}]},
        {"role": "model", "parts": [{"functionCall": {"name": "send", "args": FIRST}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "send", "response": {"error": FAILED}}}]},
        {
            "role": "model",
            "parts": [{"text": "hm", "thought": True}, {"functionCall": {"name": "send", "args": SECOND}}],
        },
        {"role": "user", "parts": [{"functionResponse": {"name": "send", "response": {"result": WORKED}}}]},
        {"role": "model", "parts": [{"text": "Done."}]},
    ],
}


def gemini_cli_call(number: str, args: dict[str, str], result: str, status: str) -> dict[str, Any]:
    answer = {"functionResponse": {"id": f"c{number}", "name": "send", "response": {"output": result}}}
    call = {"id": f"c{number}", "name": "send", "args": args, "status": status, "result": [answer]}
    return {"id": number, "type": "gemini", "content": "", "model": "m-1", "toolCalls": [call]}


GEMINI_CLI = {
    "sessionId": "s1",
    "projectHash": "f00",
    "messages": [
        {"id": "1", "type": "user", "content": TASK},
        gemini_cli_call("2", FIRST, FAILED, "error"),
        {"id": "3", "type": "info", "content": "Update available."},
        gemini_cli_call("4", SECOND, WORKED, "success"),
        {"id": "5", "type": "gemini", "content": "Done.", "model": "m-1"},
    ],
}
GEMINI_CLI_LINES = [
    {"sessionId": "s1", "projectHash": "f00", "kind": "main"},
    {"id": "0", "type": "user", "content": [{"text": "Call Bob"}]},
    {"$rewindTo": "0"},
    {"id": "1", "type": "user", "content": [{"text": TASK}]},
    {"id": "2", "type": "gemini", "content": ""},
    *GEMINI_CLI["messages"][1:],  # type: ignore[index]
    {"$set": {"lastUpdated": f"{T}9"}},
]


def said(role: str, *texts: str, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text} for text in texts], **fields}


CLINE_FAILED = f"The tool execution failed with the following error:\n<error>\n{FAILED}\n</error>"
EDITOR = "<environment_details>\n# Current Mode\nACT MODE\n</environment_details>"
CLINE_MODEL = {"modelInfo": {"modelId": "m-1"}, "metrics": {"tokens": {"prompt": 5, "completion": 2}}}


def cline_call(name: str, given: dict[str, str]) -> dict[str, Any]:
    block = {"type": "tool_use", "id": str(given), "name": name, "input": given}
    return {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, block], **CLINE_MODEL}


CLINE = [
    said("user", f"<task>\n{TASK}\n</task>", EDITOR),
    cline_call("send", FIRST),
    said("user", f"[send for 'Bob'] Result:\n{CLINE_FAILED}", EDITOR),
    cline_call("send", SECOND),
    said("user", "[send for 'id-7'] Result:", WORKED, EDITOR),
    cline_call("attempt_completion", {"result": "Done."}),
]
CLINE_MARKUP = [
    said("user", f"<task>{TASK}</task>", EDITOR),
    said("assistant", "I mail him.\n<send>\n<to>Bob</to>\n</send>", **CLINE_MODEL),
    said("user", "[send for 'Bob'] Result:", CLINE_FAILED, EDITOR),
    said("assistant", "<send><to>id-7</to></send>", **CLINE_MODEL),
    said("user", f"[send for 'id-7'] Result:\n{WORKED}", EDITOR),
    said("assistant", "<attempt_completion>\n<result>\nDone.\n</result>\n</attempt_completion>"),
]
ADK = {
    "id": "s1",
    "appName": "mail",
    "userId": "u",
    "events": [
        {"author": "user", "content": {"role": "user", "parts": [{"text": TASK}]}},
        {
            "author": "m-1",
            "content": {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "send", "args": FIRST}}]},
        },
        {
            "author": "m-1",
            "content": {
                "role": "user",
                "parts": [{"functionResponse": {"id": "c1", "name": "send", "response": {"error": FAILED}}}],
            },
        },
        {
            "author": "m-1",
            "content": {"role": "model", "parts": [{"function_call": {"id": "c2", "name": "send", "args": SECOND}}]},
        },
        {
            "author": "m-1",
            "content": {
                "role": "user",
                "parts": [{"function_response": {"id": "c2", "name": "send", "response": {"result": WORKED}}}],
            },
        },
        {"author": "m-1", "content": None, "actions": {"stateDelta": {}}},
        {"author": "m-1", "content": {"role": "model", "parts": [{"text": "Done."}]}},
    ],
}

SHAREGPT = [
    {
        "id": "t1",
        "model": "m-1",
        "conversations": [
            {"from": "system", "value": "You are a mailer."},
            {"from": "human", "value": TASK},
            {"from": "function_call", "value": '{"name": "send", "arguments": {"to": "Bob"}}'},
            {"from": "observation", "value": f"Error: {FAILED}"},
            {"from": "gpt", "value": '<tool_call>\n{"name": "send", "arguments": {"to": "id-7"}}\n</tool_call>'},
            {"from": "tool", "value": f"<tool_response>\n{WORKED}\n</tool_response>"},
            {"from": "gpt", "value": "Done."},
        ],
    }
]

AUTOGEN = {
    "model": "m-1",
    "stop_reason": "Text 'TERMINATE' mentioned",
    "messages": [
        {"source": "user", "type": "TextMessage", "content": TASK, "models_usage": None},
        {
            "source": "mailer",
            "type": "ToolCallRequestEvent",
            "content": [{"id": "c1", "name": "send", "arguments": '{"to": "Bob"}'}],
            "models_usage": {"prompt_tokens": 5, "completion_tokens": 2},
        },
        {
            "source": "mailer",
            "type": "ToolCallExecutionEvent",
            "content": [{"call_id": "c1", "name": "send", "content": FAILED, "is_error": True}],
        },
        {
            "source": "mailer",
            "type": "ToolCallRequestEvent",
            "content": [{"id": "c2", "name": "send", "arguments": '{"to": "id-7"}'}],
        },
        {
            "source": "mailer",
            "type": "ToolCallExecutionEvent",
            "content": [{"call_id": "c2", "name": "send", "content": WORKED, "is_error": False}],
        },
        {"source": "mailer", "type": "ToolCallSummaryMessage", "content": WORKED},
        {"source": "mailer", "type": "TextMessage", "content": "Done."},
    ],
}

AG2 = {
    "instance_id": "t1",
    "model": "m-1",
    "problem_statement": [TASK],
    "other_data": {"correct": True},
    "trajectory": [
        {"role": "assistant", "name": "mathproxyagent", "content": [TASK, "Use Python."]},
        {"role": "user", "name": "assistant", "content": "I try:\n```python\nsend('Bob')\n```"},
        {
            "role": "assistant",
            "name": "mathproxyagent",
            "content": f"exitcode: 1 (execution failed)\nCode output: {FAILED}",
        },
        {"role": "user", "name": "assistant", "content": "Again:\n```python\nsend('id-7')\n```"},
        {
            "role": "assistant",
            "name": "mathproxyagent",
            "content": f"exitcode: 0 (execution succeeded)\nCode output: {WORKED}",
        },
        {"role": "user", "name": "assistant", "content": "Done."},
    ],
}
MAGENTIC = {
    "question": TASK,
    "question_ID": "t1",
    "is_corrected": False,
    "history": [
        {"role": "human", "content": TASK},
        {"role": "Orchestrator (thought)", "content": "A plan."},
        {"role": "Orchestrator (-> WebSurfer)", "content": "Look up Bob."},
        {"role": "WebSurfer", "content": "Bob is id-7."},
        {"role": "Orchestrator (-> Assistant)", "content": "Mail id-7."},
        {"role": "Assistant", "content": "Sent."},
        {"role": "Orchestrator (termination condition)", "content": "Done."},
    ],
}


def smol(number: int, to: dict[str, Any], observations: str | None, error: Any = None) -> dict[str, Any]:
    call = {"id": f"c{number}", "type": "function", "function": {"name": "send", "arguments": to}}
    return {
        "step_number": number,
        "tool_calls": [call],
        "observations": observations,
        "error": error,
        "model_output": "",
        "token_usage": {"input_tokens": 5, "output_tokens": 2},
    }


SMOLAGENTS = {
    "model": "m-1",
    "task_id": "t1",
    "steps": [
        {"task": TASK, "task_images": None},
        smol(1, FIRST, None, {"type": "AgentToolExecutionError", "message": FAILED}),
        smol(2, SECOND, WORKED),
        {
            "step_number": 3,
            "tool_calls": [{"id": "c3", "function": {"name": "final_answer", "arguments": {"answer": "Done."}}}],
            "observations": "Done.",
            "action_output": "Done.",
            "is_final_answer": True,
        },
    ],
}


def block_call(number: int, to: dict[str, Any]) -> dict[str, Any]:
    use = {"type": "tool_use", "id": f"c{number}", "name": "send", "input": to}
    return {"type": "assistant", "session_id": "s", "message": {"model": "m-1", "role": "assistant", "content": [use]}}


def block_result(number: int, text: str, failed: bool) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": f"c{number}", "content": text, "is_error": failed}
    return {"type": "user", "session_id": "s", "message": {"role": "user", "content": [block]}}


CLAUDE_STREAM = [
    {"type": "system", "subtype": "init", "session_id": "s", "model": "m-1", "tools": ["send"]},
    {"type": "user", "session_id": "s", "message": {"role": "user", "content": TASK}},
    block_call(1, FIRST),
    block_result(1, FAILED, True),
    block_call(2, SECOND),
    block_result(2, WORKED, False),
    {
        "type": "assistant",
        "session_id": "s",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    },
    {"type": "result", "subtype": "success", "session_id": "s", "total_cost_usd": 0.01, "result": "Done."},
]


def action(number: int, to: dict[str, Any]) -> dict[str, Any]:
    tool = {"function_name": "send", "tool_call_id": f"c{number}", "model_response": {"model": "m-1"}}
    return {"id": 2 * number, "source": "agent", "action": "call_tool_mcp", "args": to, "tool_call_metadata": tool}


def observation(number: int, text: str, kind: str) -> dict[str, Any]:
    tool = {"function_name": "send", "tool_call_id": f"c{number}"}
    return {"id": 2 * number + 1, "observation": kind, "content": text, "cause": 2 * number, "tool_call_metadata": tool}


OPENHANDS_EVENTS = [
    {"id": 0, "source": "user", "action": "message", "args": {"content": TASK}},
    action(1, FIRST),
    observation(1, FAILED, "error"),
    action(2, SECOND),
    observation(2, WORKED, "mcp"),
    {"id": 9, "source": "agent", "action": "message", "args": {"content": "Done."}},
]
OPENHANDS_OUTPUT = {
    "instance_id": "t1",
    "instruction": TASK,
    "metadata": {"llm_config": {"model": "m-1"}},
    "history": OPENHANDS_EVENTS,
    "metrics": {"accumulated_cost": 0.1},
    "report": {"resolved": True},
}
OPENHANDS_SDK = [
    {
        "kind": "MessageEvent",
        "source": "user",
        "timestamp": T,
        "llm_message": {"role": "user", "content": [{"type": "text", "text": TASK}]},
    },
    {
        "kind": "ActionEvent",
        "source": "agent",
        "tool_name": "send",
        "tool_call_id": "c1",
        "action": {"kind": "Send", **FIRST},
    },
    {"kind": "AgentErrorEvent", "source": "agent", "tool_call_id": "c1", "error": FAILED},
    {
        "kind": "ActionEvent",
        "source": "agent",
        "tool_name": "send",
        "tool_call_id": "c2",
        "action": {"kind": "Send", **SECOND},
    },
    {
        "kind": "ObservationEvent",
        "source": "environment",
        "tool_call_id": "c2",
        "observation": {"content": [{"type": "text", "text": WORKED}]},
    },
    {
        "kind": "MessageEvent",
        "source": "agent",
        "llm_message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    },
]


def chat_call(number: int, to: str) -> dict[str, Any]:
    call = {"id": f"c{number}", "type": "function", "function": {"name": "send", "arguments": to}}
    return {"role": "assistant", "content": "", "tool_calls": [call], "message_type": "action"}


SWE_AGENT = {
    "environment": "t1",
    "info": {"exit_status": "submitted", "model_stats": {"api_calls": 3, "instance_cost": 0.1}},
    "replay_config": '{"agent": {"model": {"name": "m-1"}}}',
    "trajectory": [{"action": "send Bob", "observation": FAILED, "thought": ""}],
    "history": [
        {"role": "system", "content": "You are an agent.", "agent": "main"},
        {"role": "user", "content": TASK, "agent": "main"},
        chat_call(1, '{"to": "Bob"}'),
        {"role": "tool", "content": f"Error: {FAILED}", "tool_call_ids": ["c1"]},
        chat_call(2, '{"to": "id-7"}'),
        {"role": "tool", "content": WORKED, "tool_call_ids": ["c2"]},
        {"role": "assistant", "content": "Done."},
    ],
}
SWE_AGENT_OLD = {
    "environment": "swe_main",
    "info": {"exit_status": "submitted"},
    "history": [{"role": "user", "content": TASK}],
    "trajectory": [
        {"action": "send Bob\n", "observation": f"Error: {FAILED}", "thought": "I try."},
        {"action": "send id-7", "observation": WORKED, "thought": "An id."},
    ],
}


def langsmith(name: str, kind: str, second: int, inputs: Any, outputs: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"r{second}",
        "trace_id": "r0",
        "parent_run_id": "r0" if second else None,
        "name": name,
        "run_type": kind,
        "start_time": f"{T}{second}",
        "inputs": inputs,
        "outputs": outputs,
        **fields,
    }


MODEL = {"metadata": {"ls_model_name": "m-1"}}
LANGSMITH = [
    langsmith(
        "agent",
        "chain",
        0,
        {"input": TASK},
        {},
        reference_example_id="t1",
        feedback_stats={"correct": {"n": 1, "avg": 1}},
    ),
    langsmith(
        "ChatX",
        "llm",
        1,
        {"messages": [[LANGCHAIN_DUMPED[0]]]},
        {"generations": [[{"message": LANGCHAIN_DUMPED[1]}]]},
        extra=MODEL,
    ),
    langsmith("send", "tool", 2, {"input": "{'to': 'Bob'}"}, {"output": LANGCHAIN_DUMPED[2]}),
    langsmith(
        "ChatX",
        "llm",
        3,
        {"messages": [LANGCHAIN_DUMPED[:3]]},
        {"generations": [[{"message": LANGCHAIN_DUMPED[3]}]]},
        extra=MODEL,
    ),
    langsmith("send", "tool", 4, {"input": "{'to': 'id-7'}"}, {"output": LANGCHAIN_DUMPED[4]}),
    langsmith(
        "ChatX",
        "llm",
        5,
        {"messages": [LANGCHAIN_DUMPED[:5]]},
        {"generations": [[{"message": LANGCHAIN_DUMPED[5]}]]},
        extra=MODEL,
    ),
]

CHAT = [
    {"role": "user", "content": TASK},
    chat_call(1, '{"to": "Bob"}'),
    {"role": "tool", "content": FAILED, "tool_call_id": "c1"},
    chat_call(2, '{"to": "id-7"}'),
    {"role": "tool", "content": WORKED, "tool_call_id": "c2"},
    {"role": "assistant", "content": "Done."},
]


def langfuse(kind: str, second: int, sent: Any, got: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"o{second}",
        "type": kind,
        "name": "send" if kind == "TOOL" else "chat",
        "startTime": f"{T}{second}",
        "input": sent,
        "output": got,
        **fields,
    }


LANGFUSE = {
    "id": "trace-1",
    "timestamp": f"{T}0",
    "input": TASK,
    "metadata": {"task_id": "t1"},
    "scores": [{"name": "correct", "value": 0, "dataType": "BOOLEAN", "comment": "No."}],
    "observations": [
        langfuse("GENERATION", 1, CHAT[:1], CHAT[1], model="m-1", usage={"input": 5, "output": 2}),
        langfuse("TOOL", 2, FIRST, None, level="ERROR", statusMessage=FAILED),
        langfuse("GENERATION", 3, CHAT[:3], CHAT[3], model="m-1"),
        langfuse("TOOL", 4, SECOND, WORKED),
        langfuse("GENERATION", 5, CHAT[:5], CHAT[5], model="m-1"),
    ],
}


def mlflow(kind: str, second: int, sent: str, got: str, error: str = "") -> dict[str, Any]:
    return {
        "span_id": f"s{second}",
        "parent_span_id": "s0" if second else None,
        "name": "send" if kind == "TOOL" else "step",
        "start_time_unix_nano": 1_790_000_000_000_000_000 + second,
        "status": {"code": "STATUS_CODE_ERROR" if error else "STATUS_CODE_OK", "message": error},
        "events": [{"name": "exception", "attributes": {"exception.message": error}}] if error else [],
        "attributes": {"mlflow.spanType": f'"{kind}"', "mlflow.spanInputs": sent, "mlflow.spanOutputs": got},
    }


MLFLOW = {
    "info": {
        "trace_id": "tr-1",
        "tags": {"task_id": "t1"},
        "trace_metadata": {"mlflow.trace_schema.version": "3"},
        "assessments": [{"assessment_name": "correct", "feedback": {"value": True}, "rationale": "Yes."}],
    },
    "data": {
        "spans": [
            mlflow("AGENT", 0, '{"q": "Mail Bob"}', '"Done."'),
            mlflow(
                "CHAT_MODEL",
                1,
                '{"model": "m-1", "messages": [{"role": "user", "content": "Mail Bob"}]}',
                '{"choices": [{"message": {"role": "assistant", "content": ""}}]}',
            ),
            mlflow("TOOL", 2, '{"to": "Bob"}', "null", FAILED),
            mlflow("TOOL", 3, '{"to": "id-7"}', '"sent"'),
            mlflow(
                "CHAT_MODEL",
                4,
                '{"model": "m-1", "messages": [{"role": "user", "content": "Mail Bob"}]}',
                '{"choices": [{"message": {"role": "assistant", "content": "Done."}}]}',
            ),
        ]
    },
}


def weave(op: str, second: int, inputs: Any, output: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"w{second}",
        "trace_id": "w",
        "parent_id": "w0" if second else None,
        "started_at": f"{T}{second}",
        "op_name": f"weave:///team/mail/op/{op}:abc",
        "inputs": inputs,
        "output": output,
        **fields,
    }


WEAVE = [
    weave(
        "Evaluation.predict_and_score",
        0,
        {"example": {"id": "t1"}},
        {"output": "Done.", "scores": {"correct": {"passed": True}}},
    ),
    weave(
        "openai.chat.completions.create", 1, {"model": "m-1", "messages": CHAT[:1]}, {"choices": [{"message": CHAT[1]}]}
    ),
    weave("send", 2, FIRST, None, exception=FAILED),
    weave(
        "openai.chat.completions.create", 3, {"model": "m-1", "messages": CHAT[:3]}, {"choices": [{"message": CHAT[3]}]}
    ),
    weave("send", 4, SECOND, WORKED),
    weave(
        "openai.chat.completions.create", 5, {"model": "m-1", "messages": CHAT[:5]}, {"choices": [{"message": CHAT[5]}]}
    ),
]


def agents_span(second: int, **data: Any) -> dict[str, Any]:
    error = {"message": data.pop("error"), "data": None} if "error" in data else None
    return {
        "object": "trace.span",
        "id": f"s{second}",
        "trace_id": "trace_1",
        "parent_id": None,
        "started_at": f"{T}{second}+00:00",
        "span_data": data,
        "error": error,
    }


OPENAI_AGENTS = [
    {"object": "trace", "id": "trace_1", "workflow_name": "mail", "group_id": None, "metadata": {"task_id": "t1"}},
    agents_span(1, type="generation", input=CHAT[:1], output=[CHAT[1]], model="m-1", usage={"input_tokens": 5}),
    agents_span(2, type="function", name="send", input='{"to": "Bob"}', output=None, error=FAILED),
    agents_span(3, type="generation", input=CHAT[:3], output=[CHAT[3]], model="m-1"),
    agents_span(4, type="function", name="send", input='{"to": "id-7"}', output=WORKED),
    agents_span(5, type="generation", input=CHAT[:5], output=[CHAT[5]], model="m-1"),
]
AGENTS_ITEMS = [
    {"role": "user", "content": TASK},
    {"type": "function_call", "call_id": "c1", "name": "send", "arguments": '{"to": "Bob"}'},
    {"type": "function_call_output", "call_id": "c1", "output": f"Error: {FAILED}"},
    {"type": "function_call", "call_id": "c2", "name": "send", "arguments": '{"to": "id-7"}'},
    {"type": "function_call_output", "call_id": "c2", "output": WORKED},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
]


def inferred(kind: str, attributes: dict[str, Any], error: str = "", children: Any = ()) -> dict[str, Any]:
    return {
        "trace_id": "t",
        "span_id": str(id(attributes)),
        "parent_span_id": None if kind == "AGENT" else "root",
        "timestamp": f"{T}{attributes.pop('second')}",
        "span_attributes": {"openinference.span.kind": kind, **attributes},
        "status_code": "Error" if error else "Ok",
        "status_message": error,
        "events": [],
        "child_spans": list(children),
    }


def inferred_model(second: int, text: str = "") -> dict[str, Any]:
    reply = {"llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": text}
    sent = {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": TASK}
    return inferred("LLM", {"second": second, "llm.model_name": "m-1", **sent, **reply})


OPENINFERENCE_TREE = {
    "trace_id": "t",
    "spans": [
        inferred(
            "AGENT",
            {"second": 0, "input.value": '{"task": "Mail Bob"}', "metadata": '{"task_id": "t1"}', "eval.ok.score": 1},
            children=[
                inferred_model(1),
                inferred("TOOL", {"second": 2, "tool.name": "send", "input.value": '{"to": "Bob"}'}, FAILED),
                inferred(
                    "TOOL", {"second": 3, "tool.name": "send", "input.value": '{"to": "id-7"}', "output.value": WORKED}
                ),
                inferred_model(4, "Done."),
            ],
        )
    ],
}


def phoenix(kind: str, second: int, error: str = "", **attributes: Any) -> dict[str, Any]:
    columns = {f"attributes.{name.replace('__', '.')}": value for name, value in attributes.items()}
    return {
        "context.trace_id": "t",
        "context.span_id": f"s{second}",
        "parent_id": "s0" if second else None,
        "span_kind": kind,
        "start_time": f"{T}{second}",
        "status_code": "ERROR" if error else "OK",
        "status_message": error,
        "events": [],
        **columns,
    }


PHOENIX_ROWS = [
    phoenix("AGENT", 0, input__value='{"task": "Mail Bob"}', metadata={"task_id": "t1"}),
    phoenix("LLM", 1, llm__model_name="m-1", llm__input_messages=[{"message.role": "user", "message.content": TASK}]),
    phoenix("TOOL", 2, FAILED, tool__name="send", input__value='{"to": "Bob"}'),
    phoenix("TOOL", 3, tool__name="send", input__value='{"to": "id-7"}', output__value=WORKED),
    phoenix(
        "LLM",
        4,
        llm__model_name="m-1",
        llm__output_messages=[{"message.role": "assistant", "message.content": "Done."}],
    ),
]

TERMINAL_LOG = (
    "\x1b[?2004hroot@box:/app# asciinema rec --stdin /logs/agent.cast\r\nrecording\r\n"
    "root@box:/app# send Bob\r\nError: unknown recipient\r\n"
    "\x1b[?2004hroot@box:/app# send id-7\r\nsent\r\n"
    "root@box:/app# exit\r\n"
)
TERMINAL_BENCH = {
    "trial_name": "t1.1-of-1",
    "task_id": "t1",
    "instruction": TASK,
    "is_resolved": True,
    "failure_mode": "unset",
    "parser_results": {"test_sent": "passed"},
    "total_input_tokens": 10,
}

STEPS = {
    "task_id": "t1",
    "source": "m-1",
    "task": TASK,
    "steps": [
        {"tool": "send", "arguments": FIRST, "error": FAILED},
        {"thought": "Again.", "tool": "send", "arguments": SECOND, "result": WORKED},
    ],
    "final": "Done.",
}

BROWSER = {
    "task": {"id": "find-port", "question": "Which port has the highest tide?"},
    "success": True,
    "eval": {"eval": "failure", "reason": "It is another port."},
    "agent_answer": "Port X.",
    "steps": [
        {
            "url": "about:blank",
            "llm_calls": [
                {
                    "messages_in": [{"role": "user", "content": "Which port has the highest tide?"}],
                    "message_out": {
                        "role": "assistant",
                        "content": '{"state": {"next_goal": "open"}, "actions": [{"goto": {"url": "tides.test"}}]}',
                    },
                }
            ],
        },
        {
            "url": "tides.test",
            "llm_calls": [
                {
                    "messages_in": [
                        {"role": "user", "content": "Which port has the highest tide?"},
                        {"role": "assistant", "content": "open"},
                        {"role": "user", "content": [{"type": "text", "text": "[0] Port X, 7 m"}]},
                    ],
                    "message_out": {"tool_calls": [{"function": {"name": "done", "arguments": '{"text": "Port X."}'}}]},
                }
            ],
        },
    ],
}
"""notte's evaluations: the agent says that it succeeded, the judge that it did not."""
BROWSER_USE = {
    "task": "Which port has the highest tide?",
    "history": [
        {
            "model_output": {"current_state": {"next_goal": "open"}, "action": [{"go_to_url": {"url": "tides.test"}}]},
            "result": [{"extracted_content": "Navigated to tides.test", "error": None}],
            "state": {"url": "about:blank"},
        }
    ],
}
REACT = [
    {"role": "system", "content": "You browse."},
    {"role": "user", "content": "Find a tide table."},
    {"role": "assistant", "content": "Thought: I search.\nAction: Type [2]; tides"},
    {"role": "user", "content": "Observation: a list of ports"},
    {"role": "assistant", "content": "Thought: Found.\nAction: ANSWER; Port X."},
]
BFCL_RESULTS = [
    {"id": "simple_0", "result": [{"tides.read": '{"port": "X"}'}], "latency": 1.5},
    {"id": "simple_1", "result": "[tides.read(port='Y', hours=2)]"},
]


SAMPLES: dict[str, tuple[str, Any]] = {
    "steps": ("steps.jsonl", [STEPS]),
    "langchain": ("messages.json", LANGCHAIN),
    "langchain-dumped": ("dumped.json", LANGCHAIN_DUMPED),
    "langchain-graph": ("state.jsonl", [LANGGRAPH]),
    "pydantic-ai": ("all_messages.json", PYDANTIC_AI),
    "gemini": ("contents.json", GEMINI),
    "gemini-adk": ("session.json", ADK),
    "gemini-cli": ("session-1.json", GEMINI_CLI),
    "gemini-cli-lines": ("session-2.jsonl", GEMINI_CLI_LINES),
    "cline": ("api_conversation_history.json", CLINE),
    "cline-markup": ("api_conversation_history.json", CLINE_MARKUP),
    "sharegpt": ("sharegpt.json", SHAREGPT),
    "autogen": ("result.json", AUTOGEN),
    "smolagents": ("memory.json", SMOLAGENTS),
    "claude-stream": ("stream.jsonl", CLAUDE_STREAM),
    "openhands": ("events.json", OPENHANDS_EVENTS),
    "openhands-output": ("output.jsonl", [OPENHANDS_OUTPUT]),
    "openhands-sdk": ("sdk.json", OPENHANDS_SDK),
    "swe-agent": ("t1.traj", SWE_AGENT),
    "langsmith": ("runs.jsonl", LANGSMITH),
    "langfuse": ("traces.json", [LANGFUSE]),
    "mlflow": ("trace.json", MLFLOW),
    "weave": ("calls.jsonl", WEAVE),
    "openai-agents": ("spans.jsonl", OPENAI_AGENTS),
    "openai-responses": ("items.json", AGENTS_ITEMS),
    "openinference": ("tree.json", OPENINFERENCE_TREE),
    "openinference-rows": ("frame.jsonl", PHOENIX_ROWS),
}
"""By format: the file's name and what is in it."""
OTHERS: dict[str, tuple[str, Any]] = {
    "swe-agent": ("old.traj", SWE_AGENT_OLD),
    "group-chat": ("ag2.json", AG2),
    "group-chat-magentic": ("magentic.json", MAGENTIC),
    "terminal-bench": ("results.json", TERMINAL_BENCH),
    "browser": ("results.json", BROWSER),
    "browser-use": ("history.json", BROWSER_USE),
    "react": ("messages.json", REACT),
    "bfcl": ("BFCL_v3_simple_result.json", BFCL_RESULTS),
}
"""Formats whose samples tell the story in other calls."""
