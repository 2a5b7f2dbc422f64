"""Response: what has to follow a call."""

from __future__ import annotations

from tests.made_runs import call, packet, run

from contramem.build.rules.mine import find_lessons
from contramem.contrast.packet import Packet


def titles(of: Packet) -> list[str]:
    return [lesson.text.title for lesson in find_lessons(of)]


def test_ending_after_a_write_where_passing_runs_look_again_is_a_lesson() -> None:
    task, reset = "The shop is slow.", call("Server.reset_worker", {"worker": "w-101"})
    look = call("Server.check_queue", {}, "stuck: 4")
    clear = call("Server.clear_queue", {"queue": "mail"})
    story = packet(
        run("a", True, reset, look, clear, "Fixed.", task=task),
        run("b", True, reset, look, clear, look, "Fixed.", task=task),
        run("c", False, reset, "Fixed.", task=task),
        run("d", False, reset, "Restarted.", task=task),
    )
    (lesson,) = [lesson.text for lesson in find_lessons(story) if "reset_worker" in lesson.text.title]
    assert lesson.title == "Check again after reset_worker"
    assert lesson.guards == ("response(Server.reset_worker, reads(Server))",)


def test_a_closer_look_that_the_request_asks_for_is_no_lesson() -> None:
    names = call("Shop.list_lamps", {}, [{"lamp_id": "lamp-771-x"}])
    price = call("Shop.get_lamp_price", {"lamp_id": "lamp-771-x"}, 31)

    def priced(task: str) -> list[str]:
        return titles(
            packet(
                run("a", True, names, price, "31", task=task),
                run("b", True, names, price, "31", task=task),
                run("c", False, names, "none", task=task),
            )
        )

    assert priced("Which lamp has the best price?") == []
    assert priced("What would the cheapest one be?") == ["Look closer with get_lamp_price after list_lamps"]
