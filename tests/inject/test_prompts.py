"""Prompts as agents see them. After a wanted change: CONTRAMEM_GOLDEN=write pytest tests/inject, and read the diff."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from tests.inject.adapters.conftest import CLOSE, OPEN_TASK, PUSH, TICKET_SKILL

from contramem.bank.bank import Bank, BankEntry
from contramem.bank.frozen import freeze, parse_frozen
from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.run import Memory
from contramem.prompts import render
from contramem.retrieve.profiles import PROFILES

GOLDEN = Path(__file__).with_name("golden")
TASK = "Delete the newsletter emails except the one about travel; ask if the exception is ambiguous."


def check(name, text):
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("CONTRAMEM_GOLDEN") == "write":
        path.write_text(text + "\n", encoding="utf-8")
    assert text + "\n" == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("profile", ["default", "gaia2", "small"])
def test_task_start(memory, profile):
    check(f"task_start_{profile}", memory.start(TASK, ability="ambiguity", profile=profile).guidance.text)


@pytest.mark.parametrize("profile", ["default", "small"])
def test_before_call(memory, profile):
    """`small` itself shows no card before a call; a profile derived from it may."""
    run = memory.start("Compose a sonnet", profile=replace(PROFILES[profile], before_call="always"))
    guidance = run.before_call("EmailClient.delete_email", {"email_id": "m1"})
    check(f"before_call_{profile}", guidance.text)


def test_before_call_after_an_error_and_with_an_argument_missing(memory, failure):
    run = memory.start(TASK)
    run.observe(failure("EmailClient.send_email"))
    check("before_call_failed", run.before_call("EmailClient.send_email", {"recipients": []}).text)


def test_before_final(memory):
    run = memory.start("Cancel the ride after 5 minutes.", ability="time", profile="time")
    check("before_final", run.before_final().text)


OPEN = ("open_ticket", {"reason": "late"})
OTHER_TASK = "Somebody rang this morning. Please see to that."


@pytest.fixture
def desk():
    """One skill with two guards (a code before a ticket, a notice after it), and the cards of two functions."""
    bank = Bank({card.card_id: BankEntry(card=card) for card in (TICKET_SKILL, CLOSE, PUSH)})
    return Memory(parse_frozen(freeze(bank), "bank"))


def test_the_list_of_rules_for_a_request_that_finds_no_card(desk):
    check("task_start_rules", desk.start(OTHER_TASK).guidance.text)


def test_a_call_held_for_a_card_that_was_shown(desk):
    check("held_call", GuidedRun(desk.start(OPEN_TASK)).hold(*OPEN, ends_run=False))


def test_a_call_held_for_a_card_of_which_one_line_was_shown(desk):
    check("held_call_listed", GuidedRun(desk.start(OTHER_TASK)).hold(*OPEN, ends_run=False))


def test_a_card_beside_a_failed_result_and_the_answer_to_the_same_call_again(desk):
    run = GuidedRun(desk.start(OPEN_TASK))
    close = ("close_ticket", {"ticket": "T1"})
    check("card_beside_result", run.tell(*close, content="Error: a notice is missing"))
    check("held_call_repeated", run.hold(*close, ends_run=False))


def test_the_reminder_before_the_end(desk):
    run = GuidedRun(desk.start(OPEN_TASK))
    run.tell("lookup_code", {"topic": "late"}, content="R7")
    run.tell(*OPEN, content="ticket T1 is open")
    check("reminder", run.before_final())


@pytest.mark.parametrize("name", ["task_start_default", "task_start_small", "before_call_default", "before_call_small"])
def test_the_policy_is_in_every_prompt(name):
    text = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8").lower()
    assert "observe" in text
    assert "truth" in text
    assert "copy" in text
    for kind in ("name", "date", "answer"):
        assert kind in text


def test_a_missing_value_is_an_error():
    with pytest.raises(UndefinedError, match="'card' is undefined"):
        render("inject/prompts/before_final.jinja")


def test_the_digest_is_of_the_wording():
    one = render("inject/prompts/before_final.jinja", card="one")
    other = render("inject/prompts/before_final.jinja", card="{{ other }}")
    assert one.digest == other.digest
    assert len(one.digest) == 12
    assert "{{ other }}" in other.text, "what is filled in is never a template"
