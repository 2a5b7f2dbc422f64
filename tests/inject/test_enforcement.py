"""What may be enforced, and what happens to a call that goes against it."""

from __future__ import annotations

from pathlib import Path

import pytest

from contramem.bank.bank import Bank, BankEntry, CardSupport, UnseenRuns
from contramem.bank.card import Skill, SkillCard
from contramem.bank.frozen import freeze, parse_frozen, write_frozen
from contramem.errors import UsageError
from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.adapters.starter import Starter
from contramem.inject.enforcement import strongest_level
from contramem.inject.hook.place import HookOptions, HookPlace
from contramem.inject.hook.server import sessions_of
from contramem.inject.hook.sessions import ENTRYPOINT, HookSessions
from contramem.inject.log import read_log
from contramem.inject.run import Memory

TASK = "Register the complaint of the customer about the late delivery."
GUARD = "precedence(desk.lookup_code, desk.open_ticket)"
CARD = SkillCard(
    title="Look up the reason code before opening a ticket",
    applies_when="A complaint of a customer is to be registered as a ticket.",
    solves="Tickets with a made-up reason.",
    skill=Skill(core_rule="Call lookup_code before open_ticket.", completion=("the ticket has a reason code",)),
    functions_used=("desk.lookup_code", "desk.open_ticket"),
    guards=(GUARD,),
    card_id="skill::ticket",
    ability="general",
)
SHOWN = UnseenRuns(passing=120, false_stops=1, caught=30)
FEW = UnseenRuns(passing=99, false_stops=0, caught=30)
WRONG = UnseenRuns(passing=120, false_stops=2, caught=30)


def bank(grade="proven", unseen=SHOWN):
    support = CardSupport(grade=grade, unseen={GUARD: unseen} if unseen else {})
    return Bank({CARD.card_id: BankEntry(card=CARD, support=support)})


def start(enforce, grade="proven", unseen=SHOWN, **more):
    memory = Memory(parse_frozen(freeze(bank(grade, unseen)), "the bank"), enforce=enforce, **more)
    return GuidedRun(memory.start(TASK))


@pytest.mark.parametrize(
    ("grade", "unseen", "level"),
    [
        ("proven", SHOWN, "deny"),
        ("enforced", SHOWN, "deny"),
        ("proven", FEW, "ask"),
        ("proven", None, "remind"),
        ("proven", UnseenRuns(caught=9), "remind"),
        ("observed", SHOWN, "ask"),
        ("proven", WRONG, "remind"),
        ("open", SHOWN, "remind"),
        (None, SHOWN, "remind"),
    ],
)
def test_a_guard_is_enforced_no_further_than_its_grade_and_unseen_runs_allow(grade, unseen, level):
    assert strongest_level(grade, unseen) == level


def test_a_refused_call_is_refused_until_the_guard_has_what_it_wants():
    run = start("deny")
    for turn in range(5):
        answer = run.hold("open_ticket", {"reason": "late"}, turn=turn)
        assert answer is not None
        assert "Look up the reason code before opening a ticket" in answer
        assert "`contramem allow skill::ticket`" in answer
    assert run.hold("lookup_code", {"topic": "late"}) is None
    run.tell("lookup_code", {"topic": "late"}, "R7")
    assert run.hold("open_ticket", {"reason": "R7"}) is None


def test_a_refusal_is_in_the_log(tmp_path: Path):
    run = start("deny", log=tmp_path / "log.jsonl")
    assert run.hold("open_ticket", {"reason": "late"}) is not None
    assert [(line.where, *line.cards) for line in read_log(tmp_path / "log.jsonl")[0]][-1] == (
        "before_call",
        CARD.card_id,
    )


def test_a_person_can_allow_a_refused_call():
    run = start("deny")
    assert run.hold("open_ticket", {"reason": "late"}) is not None
    run.run.allow(CARD.card_id)
    assert run.hold("open_ticket", {"reason": "late"}) is None


@pytest.mark.parametrize("enforce", ["remind", "ask"])
def test_unless_it_is_refused_a_call_is_held_once_as_ever(enforce):
    run = start(enforce)
    assert "Not executed yet" in run.hold("open_ticket", {"reason": "late"}, ends_run=False)
    assert run.hold("open_ticket", {"reason": "late"}, ends_run=False) is None


def test_a_guard_that_would_stop_passing_runs_only_reminds():
    run = start("deny", unseen=WRONG)
    assert run.run.stop("open_ticket", {"reason": "late"}) is None
    assert "Not executed yet" in run.hold("open_ticket", {"reason": "late"}, ends_run=False)


def test_switched_off_nothing_is_said_about_calls():
    run = start("off")
    assert run.hold("open_ticket", {"reason": "late"}, ends_run=False) is None
    assert run.tell("open_ticket", {"reason": "late"}, "T1") == ""


@pytest.mark.parametrize(("answer", "asked"), [(True, 1), (False, 2)])
def test_a_person_who_is_asked_decides(answer, asked):
    reasons = []

    def approve(reason):
        reasons.append(reason)
        return answer

    run = start("ask", approve=approve)
    held = [run.hold("open_ticket", {"reason": "late"}, ends_run=False) for _ in range(2)]
    assert [text is None for text in held] == [answer, answer]
    assert len(reasons) == asked, "who approved is not asked again"
    assert "Look up the reason code" in reasons[0]


def test_an_unknown_level_is_refused():
    with pytest.raises(UsageError, match="is one of off, remind, ask, deny"):
        start("block")


def event(name, **fields):
    return {"hook_event_name": name, "session_id": "s", ENTRYPOINT: "cli", **fields}


OPEN = event("PreToolUse", tool_name="open_ticket", tool_input={"reason": "late"})


@pytest.mark.parametrize(("enforce", "entrypoint", "decision"), [
    ("ask", "cli", "ask"), ("deny", "cli", "deny"), ("deny", "sdk-cli", "deny"), ("ask", "sdk-cli", None),
])  # fmt: skip
def test_a_hook_asks_where_a_person_is_and_refuses_everywhere(enforce, entrypoint, decision):
    memory = Memory(parse_frozen(freeze(bank()), "the bank"), enforce=enforce)
    sessions = HookSessions(Starter(memory, {}))
    sessions.answer(event("UserPromptSubmit", prompt=TASK))
    answer = sessions.answer({**OPEN, ENTRYPOINT: entrypoint})
    assert answer.get("hookSpecificOutput", {}).get("permissionDecision") == decision


def test_a_person_allows_a_call_of_a_hooked_agent_in_a_prompt(tmp_path: Path):
    write_frozen(tmp_path / "bank.jsonl", bank())
    options = HookOptions.parse(["--bank", str(tmp_path / "bank.jsonl"), "--enforce", "deny", "--state", str(tmp_path)])
    sessions = sessions_of(options, HookPlace.of(options))
    sessions.answer(event("UserPromptSubmit", prompt=TASK))
    assert sessions.answer(OPEN)["hookSpecificOutput"]["permissionDecision"] == "deny"
    sessions.answer(event("UserPromptSubmit", prompt="It is urgent: contramem allow skill::ticket"))
    assert sessions.answer(OPEN) == {}


def test_what_unseen_runs_showed_is_in_the_frozen_bank_and_absent_if_there_is_nothing():
    assert parse_frozen(freeze(bank()), "").to_bank().find("ticket").support.unseen == {GUARD: SHOWN}
    assert b"unseen" not in freeze(bank(unseen=None))
