from concurrent.futures import ThreadPoolExecutor

import pytest
from hook_events import call, context, prompt

from contramem.inject.hook.place import HookOptions, HookPlace
from contramem.inject.hook.server import sessions_of
from contramem.inject.hook.sessions import ENTRYPOINT
from contramem.inject.log import read_log


def new_process(options):
    """Sessions as a process finds them that was not there before."""
    return sessions_of(options, HookPlace.of(options))


def test_a_session_goes_on_in_another_process(options):
    assert context(new_process(options).answer(prompt()))
    assert new_process(options).answer(prompt()) == {}, "its cards were shown"
    new_process(options).answer(call("PostToolUseFailure", error="no such email"))
    held = new_process(options).answer(call(**{ENTRYPOINT: "cli"}))["hookSpecificOutput"]
    assert "failed with these very arguments" in held["permissionDecisionReason"]
    assert new_process(options).answer(call(**{ENTRYPOINT: "cli"})) == {}, "held once"


def test_two_processes_that_answer_one_session_know_of_each_other(options):
    one, other = new_process(options), new_process(options)
    assert context(one.answer(prompt()))
    assert other.answer(prompt()) == {}
    other.answer(call("PostToolUseFailure", error="no such email"))
    assert "hookSpecificOutput" in one.answer(call(**{ENTRYPOINT: "cli"}))


def test_events_of_many_threads_and_processes_show_a_card_once(options):
    processes = [new_process(options) for _ in range(3)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda number: processes[number % 3].answer(prompt()), range(12)))
    assert [bool(answer) for answer in answers].count(True) == 1


def test_catching_up_logs_nothing_again(bank_path, state, tmp_path):
    options = HookOptions(str(bank_path), state, log=tmp_path / "inject.jsonl")
    for _ in range(3):
        new_process(options).answer(prompt())
    lines, _ = read_log(tmp_path / "inject.jsonl")
    assert [line.where for line in lines if line.cards] == ["start"]


def test_a_line_that_broke_off_is_passed_over(options):
    new_process(options).answer(prompt())
    journal = HookPlace.of(options).journal("s1")
    journal.write_bytes(journal.read_bytes() + b'\n{"hook_event')
    assert new_process(options).answer(prompt()) == {}
    assert new_process(options).answer(prompt()) == {}


@pytest.mark.parametrize(
    "line", [b"[1]", b'"text"', b"null", b"7", b"\xff\xfe", b'{"hook_event_name": ["Stop"]}', b"[" * 9999]
)
def test_a_line_of_another_shape_is_passed_over(options, line):
    new_process(options).answer(prompt())
    journal = HookPlace.of(options).journal("s1")
    journal.write_bytes(line + b"\n" + journal.read_bytes())
    assert new_process(options).answer(prompt()) == {}


def test_long_results_are_cut_in_the_journal(options):
    new_process(options).answer(call("PostToolUse", tool_response="x" * 1_000_000))
    assert HookPlace.of(options).journal("s1").stat().st_size < 100_000
