"""A failing run beside the passing run that is most like it: which of its writes is missing, too much or different."""

from __future__ import annotations

from tests.made_runs import Call, call, packet, run

from contramem.build.model.nearest import compare_writes
from contramem.build.model.view import packet_text
from contramem.contrast.packet import Packet


def book(day: str, room: str = "blue") -> Call:
    return call("Cal.book_room", {"day": day, "room": room}, {"ok": True})


def cancel() -> Call:
    return call("Cal.cancel_booking", {"day": "2024-01-09"}, {"ok": True})


def lines(made: Packet, lucky: set[str] | None = None) -> list[str]:
    return list(compare_writes(made, lucky or set()))


def test_a_failing_run_is_compared_with_the_passing_run_that_is_most_like_it() -> None:
    made = packet(
        run("a", True, book("2024-01-05"), "done"),
        run("b", True, book("2024-01-06"), cancel(), "done"),
        run("c", False, book("2024-01-07"), cancel(), "done"),
    )
    assert lines(made) == ["writes of C beside B, the nearest passing: book_room.day=2024-01-07, not 2024-01-06"]


def test_writes_that_are_missing_or_too_much_are_named_and_equal_runs_share_a_line() -> None:
    made = packet(
        run("a", True, book("2024-01-05"), "done"),
        run("b", False, cancel(), "done"),
        run("c", False, cancel(), "done"),
    )
    assert lines(made) == ["writes of B C beside A, the nearest passing: no book_room; cancel_booking too much"]


def test_an_argument_that_only_one_of_them_gives_is_named() -> None:
    bare = call("Cal.book_room", {"day": "2024-01-05"}, {"ok": True})
    assert lines(packet(run("a", True, book("2024-01-05"), "done"), run("b", False, bare, "done"))) == [
        "writes of B beside A, the nearest passing: no book_room.room"
    ]
    assert lines(packet(run("a", True, bare, "done"), run("b", False, book("2024-01-05"), "done"))) == [
        "writes of B beside A, the nearest passing: book_room.room given"
    ]


def test_a_lucky_pass_is_no_example() -> None:
    made = packet(run("a", True, "done"), run("b", False, cancel(), "done"))
    assert lines(made, lucky={"A"}) == []


def test_what_failed_or_only_read_is_no_write() -> None:
    refused = call("Cal.book_room", {"day": "2024-01-05"}, error="full")
    look = call("Cal.list_rooms", {"day": "2024-01-05"}, ["blue"])
    assert lines(packet(run("a", True, look, "done"), run("b", False, refused, "done"))) == []


def test_hints_do_not_repeat_what_the_comparison_says() -> None:
    made = packet(run("a", True, book("2024-01-05"), "done"), run("b", False, "done"))
    text = packet_text(made)
    assert "no book_room" in text.text
    assert "Missing write" not in text.hints
