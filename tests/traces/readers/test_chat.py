"""Chat messages of OpenAI and Anthropic, as records, lists and bare conversations."""

import json
from pathlib import Path

import pytest

from contramem.errors import UsageError
from contramem.traces.files import TraceFile
from contramem.traces.read import claiming_readers, read_traces, readers
from contramem.traces.reader import Problem, ReadOptions
from contramem.traces.trajectory import Trajectory, digest

MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Mail Bob."}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "send", "arguments": '{"to": "Bob"}'}},
            {"id": "2", "type": "function", "function": {"name": "send", "arguments": '{"to": "Bo"}'}},
        ],
    },
    {"role": "tool", "tool_call_id": "2", "content": "Error: unknown recipient"},
    {"role": "tool", "tool_call_id": "1", "content": "sent"},
    {"role": "assistant", "content": "Done."},
]
RECORD = {"task_id": 7, "model": "model-a", "trial": 2, "passed": True, "messages": MESSAGES}


def file_of(*records: object, name: str = "runs.jsonl") -> TraceFile:
    return TraceFile.of_bytes(name, "\n".join(map(json.dumps, records)).encode())


def read(*records: object, name: str = "runs.jsonl", **fields: str) -> list:
    return list(readers()["openai-chat"].read(file_of(*records, name=name), ReadOptions(fields=fields)))


def read_one(record: object, **fields: str) -> Trajectory:
    (run,) = read(record, **fields)
    assert isinstance(run, Trajectory), run
    return run


def test_a_record_is_one_run_with_its_calls_and_results() -> None:
    run = read_one(RECORD)
    assert (run.task_id, run.source, run.run, run.outcome.passed) == ("7", "model-a", "2", True)
    assert (run.task, run.authored) == ("Mail Bob.", False)
    assert [(event.actor, event.kind) for event in run.events] == [
        ("user", "message"),
        ("agent", "call"),
        ("agent", "call"),
        ("agent", "final"),
    ]
    first, second = run.calls
    assert (first.function, first.arguments, first.result.content) == ("general.send", {"to": "Bob"}, "sent")
    assert second.result.error == "Error: unknown recipient"
    assert str(run.origin) == "runs.jsonl:1"


def test_blocks_with_a_value_are_read_and_calls_in_them_are_calls() -> None:
    """As LLaMA-Factory's second format has them."""
    call = {"type": "tool_call", "value": '{"name": "send", "arguments": {"to": "Bob"}}'}
    messages = [
        {"role": "user", "content": [{"type": "text", "value": "Mail Bob."}]},
        {"role": "assistant", "content": [{"type": "reasoning", "value": "Hm."}, call]},
        {"role": "tool", "content": [{"type": "text", "value": "sent"}]},
    ]
    run = read_one({"messages": messages})
    (sent,) = run.calls
    assert run.task == "Mail Bob."
    assert (sent.function, sent.arguments, sent.result.content) == ("general.send", {"to": "Bob"}, "sent")


def test_a_task_field_is_the_authored_text_and_names_the_task_when_there_is_no_id() -> None:
    run = read_one({"messages": MESSAGES, "task": "Tell Bob about the party."})
    assert run.authored
    assert run.task_id == digest("Tell Bob about the party.")


@pytest.mark.parametrize(
    ("name", "document"),
    [("list.json", [RECORD, RECORD]), ("one.json", RECORD), ("bare.json", MESSAGES)],
    ids=["list", "record", "messages"],
)
def test_a_list_one_record_or_bare_messages_are_read_too(name: str, document: object) -> None:
    file = file_of(document, name=name)
    assert readers()["openai-chat"].claims(file)
    runs = list(readers()["openai-chat"].read(file, ReadOptions()))
    assert [len(run.calls) for run in runs] == [2] * (2 if name == "list.json" else 1)


def test_legacy_function_calls_are_calls() -> None:
    messages = [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "function_call": {"name": "get_weather", "arguments": '{"at": "Rome"}'}},
        {"role": "function", "name": "get_weather", "content": "sunny"},
    ]
    (call,) = read_one({"messages": messages}).calls
    assert (call.arguments, call.effect, call.result.content) == ({"at": "Rome"}, "read", "sunny")


def test_tool_schemas_become_tools() -> None:
    schema = {"type": "object", "properties": {"to": {"type": "string"}}}
    openai = {"type": "function", "function": {"name": "send", "description": "Sends.", "parameters": schema}}
    flat = {"name": "send", "description": "Sends.", "input_schema": schema}
    one, two = (read_one({**RECORD, "tools": [tool]}).tools[0] for tool in (openai, flat))
    assert one == two
    assert (one.function, one.description, one.parameters) == ("general.send", "Sends.", schema)


@pytest.mark.parametrize(
    ("value", "passed", "reward"),
    [
        (True, True, None),
        (0.99, False, 0.99),
        (1, True, 1.0),
        ("1.0", True, 1.0),
        (" Pass ", True, None),
        ("FAILED", False, None),
        ("perhaps", None, None),
        ({"a": 1}, None, None),
        (None, None, None),
        ("NaN", None, None),
    ],
)
def test_an_outcome_is_a_bool_a_number_or_a_word_and_anything_else_is_unknown(value, passed, reward) -> None:
    outcome = read_one({"messages": MESSAGES, "score": {"final": [value]}}, outcome="score.final.0").outcome
    assert (outcome.passed, outcome.reward) == (passed, reward)


def test_passed_and_reward_can_both_be_given() -> None:
    outcome = read_one({**RECORD, "passed": False, "reward": 0.4, "feedback": "late"}).outcome
    assert (outcome.passed, outcome.reward, outcome.feedback) == (False, 0.4, "late")


def test_fields_are_found_where_the_map_says() -> None:
    record = {"meta": {"case": "c1", "agent": "x"}, "log": json.dumps(MESSAGES), "env.name": "mail"}
    run = read_one(record, task_id="meta.case", source="meta.agent", messages="log", environment="env.name")
    assert (run.task_id, run.source, run.environment) == ("c1", "x", "mail")
    assert run.calls[0].function == "mail.send"


def test_a_mapped_field_that_no_record_has_names_the_keys_that_exist() -> None:
    run, problem = read({**RECORD, "score": {"end": 1}}, outcome="score.final")
    assert run.outcome.passed is None
    assert isinstance(problem, Problem)
    assert "'score.final'" in problem.what
    assert "score.end" in problem.hint


def test_a_mapped_field_that_some_records_lack_is_no_problem() -> None:
    assert [run.outcome.passed for run in read({**RECORD, "ok": 1}, RECORD, outcome="ok")] == [True, None]


def test_a_field_that_does_not_exist_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"unknown field outcom.*task_id, source"):
        read(RECORD, outcom="score")


@pytest.mark.parametrize(
    ("record", "complaint"),
    [
        ({"task_id": "1", "chat": []}, "no list of messages (keys: task_id, chat)"),
        ({**RECORD, "messages": [{"role": "wizard"}]}, "unknown role 'wizard'"),
        ({**RECORD, "task_id": ["1"]}, "task_id that is a list"),
        ({"messages": [{"role": "assistant", "content": "hi"}]}, "names no task"),
        ({**RECORD, "messages": [{"role": "assistant", "tool_calls": [{"id": "1"}]}]}, "'name' is missing"),
        (3, "is a int, not an object"),
    ],
)
def test_a_broken_record_is_a_problem_and_the_next_is_read(record: object, complaint: str) -> None:
    problem, run = read(record, RECORD)
    assert isinstance(problem, Problem)
    assert problem.where == "runs.jsonl:1"
    assert complaint in problem.what
    assert isinstance(run, Trajectory)


@pytest.mark.parametrize(
    "document",
    [
        {"suite_name": "s", "user_task_id": "u", "utility": True, "messages": MESSAGES},
        {"task_id": "1", "termination_reason": "user_stop", "messages": MESSAGES},
        [{"role": "exit", "content": ""}],
        {"messages": []},
        {"messages": "text"},
        [],
    ],
)
def test_files_of_other_formats_are_not_claimed(document: object) -> None:
    assert readers()["openai-chat"] not in claiming_readers(file_of(document, name="run.json"))


def test_the_only_list_of_messages_is_the_conversation_and_a_call_may_bring_its_result(tmp_path: Path) -> None:
    """As STATE-Bench keeps its runs: results inside the calls, several calls a turn, the reply after them."""
    calls = [
        {"name": "get_order", "arguments": {"order_id": "O-1"}, "result": {"status": "delivered"}},
        {"name": "refund", "arguments": {"order_id": "O-1"}, "result": {"error": "ask for a reason first"}},
    ]
    turns = [{"role": "user", "content": "Refund O-1."}, {"role": "assistant", "content": "Why?", "tool_calls": calls}]
    (tmp_path / "1-refund.json").write_text(json.dumps({"conversation": turns}))
    (run,) = read_traces([tmp_path])
    assert [(event.kind, event.function or event.text) for event in run.events] == [
        ("message", "Refund O-1."), ("call", "general.get_order"), ("call", "general.refund"), ("final", "Why?")
    ]  # fmt: skip
    first, second = (call.result for call in run.calls)
    assert first is not None and first.content == {"status": "delivered"} and first.error is None
    assert second is not None and second.error == "ask for a reason first"


def test_messages_may_stand_beside_their_times(tmp_path: Path) -> None:
    record = {"solved": True, "args": {"model": "m"}, "messages": [["2024-04-28T22:53", each] for each in MESSAGES]}
    (tmp_path / "conversation.json").write_text(json.dumps(record))
    (run,) = read_traces([tmp_path])
    assert run.outcome.passed and len(run.calls) == 2


def test_the_real_sample_gives_one_contrast(shared_data) -> None:
    runs = list(read_traces([shared_data / "formats/openai-chat/runs.jsonl"]))
    assert sorted(run.outcome.passed for run in runs) == [False, True]
    assert len({run.task_key for run in runs}) == 1


# Anthropic messages: tool calls and results in content blocks.


ANTHROPIC = [
    {"role": "user", "content": "List the files."},
    {
        "role": "assistant",
        "model": "claude-x",
        "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "ls"}},
            {"type": "tool_use", "id": "b", "name": "mcp__files__list", "input": {}},
        ],
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 2},
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "no"}], "is_error": True},
            {"type": "tool_result", "tool_use_id": "a", "content": "a.txt", "is_error": False},
            {"type": "text", "text": "Go on."},
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "One file."}]},
]


def anthropic_file(document: object, name: str = "messages.json") -> TraceFile:
    return TraceFile.of_bytes(name, json.dumps(document).encode())


def test_blocks_become_messages_calls_and_results_in_order() -> None:
    (run,) = readers()["anthropic"].read(anthropic_file(ANTHROPIC), ReadOptions())
    assert [(event.kind, event.text or event.function) for event in run.events] == [
        ("message", "List the files."),
        ("message", "Let me look."),
        ("call", "shell.ls"),
        ("call", "files.list"),
        ("message", "Go on."),
        ("final", "One file."),
    ]
    bash, listing = run.calls
    assert (bash.result.content, bash.result.error) == ("a.txt", None)
    assert listing.result.error == "no"


def test_model_and_tokens_come_from_the_messages() -> None:
    (run,) = readers()["anthropic"].read(
        anthropic_file({"messages": ANTHROPIC, "task_id": "t", "reward": 0}), ReadOptions()
    )
    assert (run.source, run.outcome.passed) == ("claude-x", False)
    assert (run.usage.model_calls, run.usage.tokens_in, run.usage.tokens_out) == (1, 15, 2)


def test_either_reader_claims_a_file_never_both() -> None:
    assert readers()["anthropic"].claims(anthropic_file(ANTHROPIC))
    assert not readers()["openai-chat"].claims(anthropic_file(ANTHROPIC))
    plain = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    assert readers()["openai-chat"].claims(anthropic_file(plain))
    assert not readers()["anthropic"].claims(anthropic_file(plain))


def test_a_chat_file_whose_later_records_have_blocks_loses_none_of_them() -> None:
    lines = [
        {"task_id": "1", "messages": [ANTHROPIC[0], ANTHROPIC[3]]},
        {"task_id": "2", "messages": ANTHROPIC},
    ]
    file = TraceFile.of_bytes("runs.jsonl", "\n".join(map(json.dumps, lines)).encode())
    assert [len(run.calls) for run in readers()["openai-chat"].read(file, ReadOptions())] == [0, 2]


def test_a_block_without_a_name_is_a_problem() -> None:
    broken = [ANTHROPIC[0], {"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}]
    (problem,) = readers()["anthropic"].read(anthropic_file(broken), ReadOptions())
    assert isinstance(problem, Problem)
    assert "'name' is missing" in problem.what


def test_the_real_sample_shows_the_held_call_as_an_error(shared_data) -> None:
    (run,) = read_traces([shared_data / "formats/anthropic-messages/messages.json"])
    assert [bool(call.result.error) for call in run.calls] == [True, False]
