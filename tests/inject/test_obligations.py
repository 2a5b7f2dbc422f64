"""What the guards of shown cards ask for reaches the agent as text: before a call, and before the end, once each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contramem.bank.bank import Bank, BankEntry
from contramem.bank.card import Skill, SkillCard
from contramem.bank.frozen import write_frozen
from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.run import Memory, Run
from contramem.retrieve.profiles import PROFILES
from contramem.traces.trajectory import Event, Result

TASK = "Resume the suspended line of the customer and see that the phone works again."
CARD = SkillCard(
    title="Look again after resume_line",
    applies_when="A suspended line of a customer has been resumed.",
    solves="Phones that are reported as mended and are not.",
    tags=("suspended", "line", "resume", "customer", "phone"),
    skill=Skill(core_rule="Look at the phone again after the line was resumed.", completion=("the phone works",)),
    functions_used=("telecom.resume_line",),
    guards=("response(telecom.resume_line, reads(telecom))", "known_value(telecom.resume_line.line_id)"),
    card_id="skill::look-again",
    ability="telecom",
)
RESUME, LINE = "telecom.resume_line", {"line_id": "L1002"}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    write_frozen(tmp_path / "bank.jsonl", Bank({CARD.card_id: BankEntry(card=CARD)}))
    return Memory.load(tmp_path / "bank.jsonl")


def done(run: Run, function: str, arguments: dict[str, Any], content: Any = "ok") -> None:
    GuidedRun(run).tell(function, arguments, content)


def test_what_is_still_open_is_told_before_the_end_and_cites_its_card(memory: Memory) -> None:
    run = memory.start(TASK)
    done(run, RESUME, LINE)
    told = run.before_final()
    assert told is not None
    assert told.text == (
        "Before you finish: as far as this run shows, this is still open.\n"
        "- `resume_line` has succeeded; a call that looks into telecom still has to be made. "
        '(from the note "Look again after resume_line")\n'
        "This is soft guidance. Do what is needed here and was not done. Then finish, and give your whole answer again."
    )
    assert told.card_ids == ("skill::look-again",)
    assert 0 < told.tokens <= PROFILES["default"].call_budget_tokens
    assert run.before_final() is None, "an agent that goes on all the same is not stopped again"
    assert [owed.card_id for owed in run.pending()] == ["skill::look-again"], "whoever asks is told each time"


def test_what_was_done_meanwhile_is_not_asked_for(memory: Memory) -> None:
    run = memory.start(TASK)
    done(run, RESUME, LINE)
    done(run, "telecom.get_line_status", {"line_id": "L1002"}, {"status": "Active"})
    assert run.before_final() is None


def test_a_call_that_would_break_a_guard_brings_a_warning_once(memory: Memory) -> None:
    run = memory.start(TASK)
    warned = run.before_call(RESUME, LINE)
    assert warned is not None
    assert "- Every `line_id` given to `resume_line` was seen before the call." in warned.text
    assert warned.text.endswith("If the call is right as it is, make it.")
    assert run.before_call(RESUME, LINE) is None


def test_a_value_that_a_result_has_shown_brings_none(memory: Memory) -> None:
    run = memory.start(TASK)
    done(run, "telecom.get_lines", {}, [{"line_id": "L1002"}])
    assert run.before_call(RESUME, LINE) is None


def test_a_loop_that_tells_nothing_is_not_warned_of_what_nobody_knows(memory: Memory) -> None:
    run = memory.start(TASK)
    assert run.before_call("telecom.get_lines", {}) is None
    assert run.before_call(RESUME, LINE) is None
    assert run.before_final() is None


def test_a_held_call_shows_the_warning_to_the_agents_of_every_framework(memory: Memory) -> None:
    guided = GuidedRun(memory.start(TASK))
    held = guided.hold(RESUME, LINE, ends_run=False)
    assert held is not None
    assert "Every `line_id` given to `resume_line` was seen before the call." in held
    assert guided.hold(RESUME, LINE, ends_run=False) is None


@pytest.mark.parametrize("profile", [name for name, one in PROFILES.items() if not one.obligations])
def test_a_profile_without_obligations_says_nothing(memory: Memory, profile: str) -> None:
    run = memory.start(TASK, profile=profile)
    assert run.before_call(RESUME, LINE) is None
    done(run, RESUME, LINE)
    assert run.before_final() is None


def test_what_does_not_fit_the_budget_is_left_out(memory: Memory) -> None:
    run = memory.start(TASK, profile=replace(PROFILES["default"], call_budget_tokens=20))
    done(run, RESUME, LINE)
    assert run.before_final() is None


def test_events_that_do_not_say_what_a_call_does_are_known_by_its_name(memory: Memory) -> None:
    run = memory.start(TASK)
    for function in (RESUME, "telecom.check_status"):
        run.observe(Event(0, "agent", "call", function=function, arguments={}, result=Result("ok", None)))
    assert run.pending() == ()
