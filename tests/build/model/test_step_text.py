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
    mail = {"via": "mail", "late": "no"}
    tickets = [{"status": "open", "urgent": "yes", "via": "mail", "paid": "yes", "seen": "yes"}, mail, mail]
    assert result(tickets).endswith("; status open, urgent yes, via mail, paid yes, seen yes | via mail, late no x2")


def test_yes_and_no_and_small_numbers_that_nobody_passes_on_can_be_read() -> None:
    rooms = [{"room": "r-4711", "free": 14, "heated": True}, {"room": "r-4712", "free": 3, "heated": False}]
    assert result(rooms).endswith("; free, heated: 14, true | 3, false")
    assert "4711" not in result(rooms)
    assert "1250" not in result([{"price": 1250, "heated": True}])


def test_a_list_in_a_record_stands_in_its_field() -> None:
    tickets = [{"status": "open", "needs": ["mail", "report"]}, {"status": "closed", "needs": ["mail"]}]
    assert result(tickets).endswith("; status, needs: open, mail+report | closed, mail")


def test_of_a_long_list_the_items_that_some_run_uses_are_shown() -> None:
    rooms = [{"room": f"r-47{number}", "free": number, "kind": f"kind {number} of a room"} for number in range(10, 29)]
    listed = call("Desk.list_rooms", {}, rooms)
    made = packet(run("a", True, listed, call("Desk.book_room", {"room": "r-4713"}, {"ok": True}), "done"))
    shown = ResultTexts(made).text(made.runs[0].actions[0])
    assert shown.startswith(" -> list of 19 items") and ", 13" in shown and "14" not in shown


def test_results_that_repeat_told_items_are_shown_by_their_form() -> None:
    rooms = [{"free": 1, "kind": "attic"}, {"free": 2, "kind": "cellar"}]
    _, again = results(call("Desk.list_rooms", {}, rooms), call("Desk.list_rooms", {"kind": "cellar"}, rooms[1:]))
    assert again == " -> list of 1 items"


def test_a_command_is_shown_in_its_words_with_values_masked() -> None:
    made = packet(run("a", True, call("shell.run", {"command": "mail -s report ann@desk.test < notes"}, "ok"), "done"))
    assert call_text(made.runs[0].actions[0]) == "shell.run(command=‹mail -s report <EMAIL> < notes›) [write]"


def test_a_readable_word_has_no_origin() -> None:
    rooms = call("Desk.list_rooms", {}, [{"room": "r-4711", "kind": "report"}])
    made = packet(run("a", True, rooms, call("Desk.book", {"room": "r-4711", "kind": "report"}, "ok"), "done"))
    assert call_text(made.runs[0].actions[1]).startswith("Desk.book(room=<ID_1> «list_rooms», kind=report)")


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


def test_a_long_result_in_words_is_quoted_once() -> None:
    words = "The desk is closed today and opens again tomorrow at noon."
    made = packet(run("a", True, *[call("Desk.hours", {"day": day}, words) for day in ("one", "two")], "done"))
    texts = ResultTexts(made)
    first, second = (texts.text(step) for step in made.runs[0].actions[:2])
    assert "opens again tomorrow" in first and second == " -> the same result"
