"""Anthropic messages: tool calls and results in content blocks."""

import json

from contramem.traces.files import TraceFile
from contramem.traces.read import read_traces
from contramem.traces.reader import Problem, ReadOptions
from contramem.traces.readers.anthropic import AnthropicReader
from contramem.traces.readers.chat import ChatReader

MESSAGES = [
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


def file_of(document: object, name: str = "messages.json") -> TraceFile:
    return TraceFile.of_bytes(name, json.dumps(document).encode())


def test_blocks_become_messages_calls_and_results_in_order() -> None:
    (run,) = AnthropicReader().read(file_of(MESSAGES), ReadOptions())
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
    (run,) = AnthropicReader().read(file_of({"messages": MESSAGES, "task_id": "t", "reward": 0}), ReadOptions())
    assert (run.source, run.outcome.passed) == ("claude-x", False)
    assert (run.usage.model_calls, run.usage.tokens_in, run.usage.tokens_out) == (1, 15, 2)


def test_either_reader_claims_a_file_never_both() -> None:
    assert AnthropicReader().claims(file_of(MESSAGES))
    assert not ChatReader().claims(file_of(MESSAGES))
    plain = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    assert ChatReader().claims(file_of(plain))
    assert not AnthropicReader().claims(file_of(plain))


def test_a_chat_file_whose_later_records_have_blocks_loses_none_of_them() -> None:
    lines = [{"task_id": "1", "messages": [MESSAGES[0], MESSAGES[3]]}, {"task_id": "2", "messages": MESSAGES}]
    file = TraceFile.of_bytes("runs.jsonl", "\n".join(map(json.dumps, lines)).encode())
    assert [len(run.calls) for run in ChatReader().read(file, ReadOptions())] == [0, 2]


def test_a_block_without_a_name_is_a_problem() -> None:
    broken = [MESSAGES[0], {"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}]
    (problem,) = AnthropicReader().read(file_of(broken), ReadOptions())
    assert isinstance(problem, Problem)
    assert "'name' is missing" in problem.what


def test_the_real_sample_shows_the_held_call_as_an_error(shared_data) -> None:
    (run,) = read_traces([shared_data / "formats/anthropic-messages/messages.json"])
    assert [bool(call.result.error) for call in run.calls] == [True, False]
