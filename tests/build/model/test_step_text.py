"""Calls and results in the words that a model reads."""

from __future__ import annotations

from typing import Any

from tests.guard_builds import DELETE, SEARCH, task
from tests.made_runs import call, packet, run

from contramem.build.model.step_text import ResultTexts, call_text, flatten, shorten


def test_a_call_is_written_with_its_arguments() -> None:
    search, *_ = (step for step in task("one", (True, (SEARCH, DELETE)), (False, (DELETE,))).runs[0].actions)
    assert call_text(search, origins=False).startswith("Mail.search(query=")


def test_lines_become_one_and_long_texts_are_cut() -> None:
    assert "\n" not in flatten("first\n\n  second")
    assert shorten("short", 10) == "short"
    assert len(shorten("word " * 50, 20)) < 40


def result(content: Any) -> str:
    made = packet(run("a", True, call("Desk.list_tickets", {}, content), "done"))
    return ResultTexts(made).text(made.runs[0].actions[0])


def test_records_that_have_the_same_fields_stand_under_their_names() -> None:
    tickets = [{"status": "open", "urgent": "yes"}, {"status": "closed", "urgent": "no"}]
    assert result(tickets).endswith("; status, urgent: open, yes | closed, no")


def test_records_with_few_fields_told_name_them_and_equal_ones_are_folded() -> None:
    tickets = [{"status": "open", "urgent": "yes", "via": "mail"}, {"via": "mail"}, {"via": "mail"}]
    assert result(tickets).endswith("; status open, urgent yes, via mail | via mail x2")
