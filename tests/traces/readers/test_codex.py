"""Codex rollouts and plain Responses items."""

import json
import sys

import pytest

from contramem.traces.files import TraceFile
from contramem.traces.read import read_traces, readers
from contramem.traces.reader import Problem, ReadOptions, SkippedRun

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def message(role: str, *texts: str) -> dict:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text} for text in texts]}


ITEMS = [
    message("developer", "Rules"),
    message("user", "# AGENTS.md instructions for /x", "<environment_context>\n<cwd>/x</cwd>"),
    message("user", "Fix the test"),
    {"type": "reasoning", "summary": []},
    {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "pytest"}', "call_id": "1"},
    {
        "type": "function_call_output",
        "call_id": "1",
        "output": "Wall time: 1 s\nProcess exited with code 2\nOutput:\nx",
    },
    {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch", "call_id": "2"},
    {"type": "custom_tool_call_output", "call_id": "2", "output": '{"output": "ok", "metadata": {"exit_code": 0}}'},
    {"type": "local_shell_call", "call_id": "3", "action": {"type": "exec", "command": ["ls"]}},
    {"type": "function_call_output", "call_id": "3", "output": {"content": "denied", "success": False}},
    message("assistant", "Fixed."),
]
ROLLOUT = [
    {"type": "session_meta", "payload": {"id": "s-1", "cli_version": "0.1", "source": "exec"}},
    {"type": "turn_context", "payload": {"model": "model-a"}},
    *({"type": "response_item", "payload": item} for item in ITEMS),
    {
        "type": "event_msg",
        "payload": {"type": "token_count", "info": {"total_token_usage": {"input_tokens": 9, "output_tokens": 4}}},
    },
    {"type": "event_msg", "payload": {"type": "task_complete"}},
]


def lines(entries: list[dict]) -> bytes:
    return "\n".join(map(json.dumps, entries)).encode()


def read(entries: list[dict]) -> list:
    file = TraceFile.of_bytes("rollout-1.jsonl", lines(entries))
    assert readers()["codex"].claims(file)
    assert not readers()["openai-responses"].claims(file)
    return list(readers()["codex"].read(file, ReadOptions()))


def test_a_rollout_is_one_run() -> None:
    (run,) = read(ROLLOUT)
    assert (run.task, run.source, run.run, run.authored) == ("Fix the test", "model-a", "s-1", True)
    assert (run.usage.tokens_in, run.usage.tokens_out, run.usage.model_calls) == (9, 4, None)
    assert [(event.kind, event.text or event.function) for event in run.events] == [
        ("message", "Fix the test"),
        ("call", "shell.pytest"),
        ("call", "codex.apply_patch"),
        ("call", "shell.ls"),
        ("final", "Fixed."),
    ]


def test_exit_codes_and_flags_tell_errors() -> None:
    (run,) = read(ROLLOUT)
    failed, patched, denied = run.calls
    assert "code 2" in failed.result.error
    assert (patched.arguments, patched.result.content, patched.result.error) == (
        {"input": "*** Begin Patch"},
        "ok",
        None,
    )
    assert denied.result.error == "denied"


def test_a_cold_rollout_is_read_compressed(tmp_path) -> None:
    path = tmp_path / "rollout-1.jsonl.zst"
    path.write_bytes(zstd.compress(lines(ROLLOUT)))
    (run,) = read_traces([path])
    assert len(run.calls) == 3


def test_a_subagent_and_a_session_without_a_prompt_are_skipped() -> None:
    meta = {"type": "session_meta", "payload": {"id": "s-2", "source": {"subagent": "review"}}}
    assert read([meta, *ROLLOUT[1:]]) == [SkippedRun("rollout-1.jsonl", "subagent of a session")]
    assert read(ROLLOUT[:2]) == [SkippedRun("rollout-1.jsonl", "session without a prompt")]


def test_an_error_at_the_end_has_cut_the_run_off() -> None:
    (run,) = read([*ROLLOUT, {"type": "event_msg", "payload": {"type": "error", "message": "503"}}])
    assert run.outcome.ended == "interrupted"


def test_a_broken_item_is_a_problem() -> None:
    (problem,) = read([*ROLLOUT, {"type": "response_item", "payload": {"type": "function_call", "call_id": "9"}}])
    assert isinstance(problem, Problem)
    assert "'name' is missing" in problem.what


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("items.jsonl", lines(ITEMS)),
        ("items.json", json.dumps(ITEMS).encode()),
        (
            "response.json",
            json.dumps({"object": "response", "model": "m", "input": "Fix the test", "output": ITEMS[3:]}).encode(),
        ),
    ],
)
def test_plain_items_are_read_by_the_responses_reader(name: str, content: bytes) -> None:
    file = TraceFile.of_bytes(name, content)
    assert readers()["openai-responses"].claims(file)
    assert not readers()["codex"].claims(file)
    (run,) = readers()["openai-responses"].read(file, ReadOptions())
    assert (run.task, len(run.calls), run.environment) == ("Fix the test", 3, "general")
    assert run.source == ("m" if name == "response.json" else "unknown")


def test_the_real_samples_are_read(shared_data) -> None:
    (rollout,) = read_traces([shared_data / "formats/codex"])
    (items,) = read_traces([shared_data / "formats/openai-responses"])
    assert rollout.source == "fake-model"
    for run in (rollout, items):
        assert run.task == "list files"
        assert [bool(call.result.error) for call in run.calls] == [True, False]
