"""Prompts as agents see them. After a wanted change: CONTRAMEM_GOLDEN=write pytest tests/inject, and read the diff."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from jinja2 import UndefinedError

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
