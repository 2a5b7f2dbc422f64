"""Calls and results in the words that a model reads."""

from __future__ import annotations

from typing import Any

from tests.guard_builds import DELETE, SEARCH, task
from tests.made_runs import Call, call, packet, run

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


def results(*calls: Call) -> list[str]:
    made = packet(run("a", True, *calls, "done"))
    texts = ResultTexts(made)
    return [texts.text(step) for step in made.runs[0].actions if step.function]


def test_a_read_that_is_made_again_shows_what_has_changed_since() -> None:
    def look(status: str) -> Call:
        return call("Desk.get_ticket", {"id": "t-4711"}, {"status": status, "urgent": "yes", "via": "mail"})

    first, _, again = results(look("open"), call("Desk.close_ticket", {"id": "t-4711"}, {"ok": True}), look("closed"))
    assert "urgent" in first
    assert again == " -> record; status: closed"


def test_what_a_write_was_given_is_not_told_again_as_its_result() -> None:
    (written,) = results(call("Desk.assign_owner", {"record": "t-4711", "owner": "desk"}, {"owner": "desk", "at": 1}))
    assert "at" in written and "owner" not in written


def test_an_error_that_differs_only_in_what_the_call_gave_is_told_once_in_a_row() -> None:
    def refuse(word: str, why: str) -> Call:
        return call("Desk.close_ticket", {"how": word}, error=f"{why} {word!r}; say settled or withdrawn")

    told = results(refuse("done", "unknown"), refuse("over", "unknown"), refuse("late", "bad"), refuse("so", "unknown"))
    assert [text == " -> the same error" for text in told] == [False, True, False, False]
