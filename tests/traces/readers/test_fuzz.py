"""Damaged traces: whatever a file holds, every reader answers with runs, Problems or a TraceError, and nothing else."""

import copy
import json
import os
import random
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.traces.readers.block_samples import BLOCK_SAMPLES
from tests.traces.readers.samples import OTHERS, SAMPLES
from tests.traces.readers.span_samples import SPAN_SAMPLES
from tests.traces.readers.test_appworld import REQUESTS
from tests.traces.readers.test_are import hf

from contramem.errors import TraceError
from contramem.traces.files import TraceFile
from contramem.traces.read import readers
from contramem.traces.reader import Problem, Reader, ReadOptions, SkippedRun
from contramem.traces.trajectory import Trajectory
from contramem.traces.write import encode_line

CHAT = [
    {"role": "user", "content": "Mail Bob"},
    {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "send", "arguments": '{"to": "Bob"}'}}]},
    {"role": "tool", "tool_call_id": "1", "name": "send", "content": "sent"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "2", "name": "look", "input": {"at": [1]}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "2", "content": "x", "is_error": True}]},
    {"role": "assistant", "content": "Done ###STOP###", "usage": {"prompt_tokens": 1}},
]
TOOL = {"type": "function", "function": {"name": "send", "parameters": {"type": "object"}}}
TAU2 = {
    "info": {
        "agent_info": {"implementation": "llm_agent", "llm": "m"},
        "user_info": {"implementation": "user_simulator"},
        "environment_info": {"domain_name": "telecom"},
    },
    "tasks": [{"id": "1", "ticket": "t", "user_scenario": {"instructions": {"reason_for_call": "r"}}}],
    "simulations": [
        {
            "task_id": "1",
            "trial": 0,
            "termination_reason": "user_stop",
            "reward_info": {
                "reward": 0.0,
                "reward_breakdown": {"DB": 0.0},
                "env_assertions": [{"env_assertion": {"func_name": "f"}, "met": False}],
            },
            "messages": [
                {"role": "assistant", "tool_calls": [{"id": "1", "name": "f", "arguments": {}}], "cost": 0.1},
                {"role": "tool", "tool_messages": [{"id": "1", "content": "x", "error": True}]},
                {"role": "assistant", "content": "ok"},
                {"role": "user", "content": "###STOP###"},
            ],
        }
    ],
}
ITEMS = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it"}]},
    {"type": "function_call", "name": "exec", "arguments": "{}", "call_id": "1"},
    {"type": "function_call_output", "call_id": "1", "output": "Process exited with code 1"},
    {"type": "custom_tool_call", "name": "patch", "input": "x", "call_id": "2"},
    {"type": "custom_tool_call_output", "call_id": "2", "output": '{"output": "ok", "metadata": {"exit_code": 0}}'},
]
SESSION = {"sessionId": "s", "isSidechain": False}

INLINE: dict[str, Any] = {
    "own.jsonl": [
        {"format": "contramem-trace", "version": 1},
        {
            "environment": "e",
            "task_id": "t",
            "source": "s",
            "origin": {"file": "f"},
            "events": [{"position": 0, "actor": "agent", "kind": "call", "function": "f", "arguments": {"a": [1]}}],
        },
    ],
    "chat.jsonl": [{"task_id": "1", "model": "m", "passed": True, "messages": CHAT, "tools": [TOOL]}] * 2,
    "openai-chat-messages.json": CHAT[:3],
    "messages.json": CHAT,
    "tool-calling-m-0.0_range_0.json": [
        {
            "task_id": 1,
            "trial": 0,
            "reward": 1.0,
            "info": {"task": {"instruction": "i"}, "reward_info": {"info": {"r_actions": 0.0}}},
            "traj": [*CHAT[:3], CHAT[5], {"role": "user", "content": "###STOP###"}],
        }
    ],
    "results.json": TAU2,
    "session.jsonl": [
        {"type": "user", "uuid": "1", "parentUuid": None, "message": CHAT[0], **SESSION},
        {
            "type": "assistant",
            "uuid": "2",
            "parentUuid": "1",
            "message": {**CHAT[3], "id": "a", "model": "m"},
            **SESSION,
        },
        {"type": "user", "uuid": "3", "parentUuid": "2", "message": CHAT[4], **SESSION},
    ],
    "rollout.jsonl": [
        {"type": "session_meta", "payload": {"id": "s", "source": "exec"}},
        {"type": "turn_context", "payload": {"model": "m"}},
        *({"type": "response_item", "payload": item} for item in ITEMS),
        {"type": "event_msg", "payload": {"type": "token_count", "info": {"total_token_usage": {"input_tokens": 1}}}},
    ],
    "items.jsonl": ITEMS,
    "repo-1.traj.json": {
        "trajectory_format": "mini-swe-agent-1.1",
        "info": {"config": {"model": {"model_name": "m"}}, "model_stats": {"api_calls": 1}, "exit_status": "Submitted"},
        "messages": [
            {"role": "user", "content": "Fix it"},
            {"role": "assistant", "content": "I look", "extra": {"actions": [{"command": "cd a && ls"}]}},
            {"role": "user", "content": "x", "extra": {"returncode": 2, "raw_output": "none"}},
            {"role": "assistant", "content": "```bash\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```"},
        ],
    },
    "are.json": hf(),
    "logs/api_calls.jsonl": list(REQUESTS),
    "recording.jsonl": [
        {"recording": 1, "run": "r", "what": "start", "task": "Pay", "task_id": "t", "source": "s"},
        {"recording": 1, "run": "r", "what": "shown", "text": "Pay once.", "cards": ["c"], "tokens": 3},
        {
            "recording": 1,
            "run": "r",
            "what": "event",
            "event": {
                "actor": "agent",
                "kind": "call",
                "function": "shop.pay",
                "arguments": {"to": "B"},
                "result": {"content": "paid"},
            },
        },
        {"recording": 1, "run": "r", "what": "finish", "passed": True},
    ],
    "steps-events.jsonl": [
        {"run_id": "r1", "event": "start", "task_id": "t", "model": "m"},
        {"run_id": "r2", "event": "start", "task_id": "t", "model": "n"},
        {"run_id": "r1", "event": "call", "tool": "pay", "arguments": {"to": "B"}},
        {"run_id": "r2", "data": {"event": "call", "call_id": "1", "tool": "pay", "arguments": {"to": "C"}}},
        {"run_id": "r1", "event": "result", "tool": "pay", "result": {"paid": True}},
        {"run_id": "r2", "data": {"event": "result", "call_id": "1", "result": "Error: no such account"}},
        {"run_id": "r1", "role": "assistant", "content": "Paid."},
        {"run_id": "r1", "event": "end", "passed": True},
        {"run_id": "r2", "event": "end", "passed": False},
    ],
    "harbor-trajectory.json": {
        "schema_version": "ATIF-v1.6",
        "agent": {"name": "a", "model_name": "m"},
        "steps": [
            {"source": "user", "message": "Fix it"},
            {
                "source": "agent",
                "message": "",
                "tool_calls": [{"tool_call_id": "1", "function_name": "bash", "arguments": {"cmd": "ls"}}],
                "observation": {"results": [{"source_call_id": "1", "content": "a.py"}]},
            },
        ],
    },
    "inspect-log.json": {
        "version": 2,
        "status": "success",
        "eval": {"task": "t", "model": "m", "created": "2026-01-01T00:00:00Z", "dataset": {}, "config": {}},
        "samples": [{"id": "1", "epoch": 1, "input": "i", "target": "x", "messages": [CHAT[0]], "scores": {}}],
    },
    "none.json": {
        "suite_name": "s",
        "user_task_id": "u",
        "utility": True,
        "attack_type": None,
        "messages": [
            {"role": "user", "content": "Pay"},
            {"role": "assistant", "content": "", "tool_calls": [{"function": "pay", "args": {"to": "B"}, "id": "1"}]},
            {"role": "tool", "content": "paid", "tool_call_id": "1", "error": None},
        ],
    },
}

ODD = [None, True, 0, -1, 10**400, 1e308, float("nan"), "", "x", "\ud800", "{", [], {}, [[]], [None], {"": {}}]
DEEP = json.loads("[" * 200 + "]" * 200)


@cache
def seeds() -> dict[str, Any]:
    """The documents above and, where the shared data is there, its small samples: JSON by file name."""
    found = INLINE | {
        f"{name}-{file}": content for name, (file, content) in (SAMPLES | SPAN_SAMPLES | BLOCK_SAMPLES | OTHERS).items()
    }
    beside = Path(__file__).parents[4] / "shared" / "data"
    folder = Path(os.environ.get("CONTRAMEM_SHARED_DATA", beside)) / "formats"
    for path in sorted(folder.glob("*/*")):
        if path.suffix in (".json", ".jsonl", ".traj") and path.stat().st_size < 20_000:
            file = TraceFile(path)
            found[path.name] = [value for _, value in file.lines()] if file.is_lines else file.document
    return found


def test_every_reader_is_fuzzed() -> None:
    assert [name for name in readers() if not own_seeds(name)] == []


@cache
def own_seeds(name: str) -> list[str]:
    """Documents that the reader claims, and those named after it, which it reads only if `--format` says so."""
    claims = readers()[name].claims
    return [
        seed
        for seed in seeds()
        if seed.startswith(f"{name}-") or claims(TraceFile.of_bytes(seed, written(seed, seeds()[seed])))
    ]


def written(name: str, document: Any) -> bytes:
    if name.endswith(".jsonl") and isinstance(document, list):
        return "\n".join(map(json.dumps, document)).encode()
    return json.dumps(document).encode()


def damaged(document: Any, chance: random.Random) -> Any:
    """A copy with up to three values dropped, doubled, renamed or replaced."""
    document = copy.deepcopy(document)
    for _ in range(chance.randint(1, 3)):
        places = list(_places(document))
        if places:
            _damage(*chance.choice(places), chance)
    if (places := list(_places(document))) and chance.random() < 0.1:
        holder, key = chance.choice(places)
        holder[key] = DEEP
    return document


def _places(value: Any):
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from _places(value[key])


def _damage(holder: Any, key: Any, chance: random.Random) -> None:
    way = chance.randrange(5)
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif way == 2 and isinstance(holder, dict):
        holder["renamed"] = holder.pop(key)
    else:
        holder[key] = copy.deepcopy(chance.choice(ODD))


def survive(reader: Reader, file: TraceFile, options: ReadOptions) -> None:
    try:
        assert reader.claims(file) in (True, False)
    except TraceError:
        return
    try:
        for item in reader.read(file, options):
            assert isinstance(item, (Trajectory, Problem, SkippedRun))
            if isinstance(item, Trajectory):
                # Nothing checks a struct's types when it is made; decoding does.
                msgspec.json.decode(encode_line(item), type=Trajectory)
    except TraceError:
        pass


# Importing inspect-ai takes longer than the fast suite has for it.
BY_READER = [pytest.param(name, marks=[pytest.mark.slow] if name == "inspect" else []) for name in readers()]
QUICK = settings(max_examples=40, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", BY_READER)
@QUICK
@given(seed=st.integers(0, 2**32))
def test_damaged_documents_give_problems_not_exceptions(name: str, seed: int) -> None:
    chance = random.Random(seed)
    seed_name = chance.choice(own_seeds(name) if own_seeds(name) and chance.random() < 0.8 else list(seeds()))
    content = written(seed_name, damaged(seeds()[seed_name], chance))
    survive(readers()[name], TraceFile.of_bytes(seed_name, content), ReadOptions())


@pytest.mark.parametrize("name", BY_READER)
@QUICK
@given(seed=st.integers(0, 2**32))
def test_damaged_bytes_give_problems_not_exceptions(name: str, seed: int) -> None:
    chance = random.Random(seed)
    seed_name = chance.choice(own_seeds(name) or list(seeds()))
    content = bytearray(written(seed_name, seeds()[seed_name]))
    for _ in range(chance.randint(0, 4)):
        content[chance.randrange(len(content))] = chance.randrange(256)
    cut = bytes(content[: chance.randint(0, len(content))]) if chance.random() < 0.5 else bytes(content)
    file = TraceFile.of_bytes(seed_name, cut)
    survive(readers()[name], file, ReadOptions())


def test_every_reader_of_a_text_format_has_a_document_of_its_own_to_damage() -> None:
    inline = {
        name
        for name in readers()
        if any(readers()[name].claims(TraceFile.of_bytes(seed, written(seed, INLINE[seed]))) for seed in INLINE)
    }
    ours = {"contramem", "openai-chat", "anthropic", "openai-responses", "claude-code", "codex", "tau-bench", "tau2"}
    assert ours - {"openai-chat"} <= inline
