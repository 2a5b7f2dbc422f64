"""What belongs to a change although no tool asks for it: only outcomes tell, over several tasks."""

from __future__ import annotations

from pathlib import Path

from tests.made_runs import call, packet, run

from contramem.bank.card import SkillCard
from contramem.bank.store import open_store
from contramem.build.rules.author import RuleAuthor
from contramem.build.rules.mine import find_lessons, propose_guards
from contramem.contrast.packet import Packet
from contramem.pipeline import build_bank
from contramem.validate.validator import Validator

VISITS = call("Desk.list_visits", {"person_id": "p-77"}, [{"visit_id": "v-1038"}])
CANCEL = call("Desk.cancel_visit", {"visit_id": "v-1038"})
NOTIFY = call("Desk.notify_person", {"person_id": "p-77", "visit_id": "v-1038"})
SCREEN = call("Desk.screen_person", {"person_id": "p-77"}, {"notes": []})
ORDER = call("Desk.order_drug", {"person_id": "p-77", "drug": "aspirin"})


def cancelling(number: int, task: str = "Drop what person p-77 has booked.") -> Packet:
    """Who cancels and says so passes; who only cancels fails. One of the good ones looks once more, for nothing."""
    return packet(
        run("a", True, VISITS, CANCEL, NOTIFY, "Done.", task=task, task_id=f"cancel {number}"),
        run("b", True, VISITS, CANCEL, NOTIFY, VISITS, "Done.", task=task, task_id=f"cancel {number}"),
        run("c", False, VISITS, CANCEL, "Done.", task=task, task_id=f"cancel {number}"),
        run("d", False, VISITS, CANCEL, "Done.", task=task, task_id=f"cancel {number}"),
    )


def ordering(number: int) -> Packet:
    task = "Person p-77 gets aspirin."
    return packet(
        run("a", True, SCREEN, ORDER, "Done.", task=task, task_id=f"order {number}"),
        run("b", True, SCREEN, ORDER, "Done.", task=task, task_id=f"order {number}"),
        run("c", False, ORDER, "Done.", task=task, task_id=f"order {number}"),
        run("d", False, ORDER, SCREEN, "Done.", task=task, task_id=f"order {number}"),
    )


def served(folder: Path, *packets: Packet) -> dict[str, SkillCard]:
    with open_store(folder / "bank.db", create=True) as store:
        build_bank(list(packets), store, RuleAuthor(), Validator(), only="skills")
        held = [held.card for held in store.bank().entries.values() if held.served]
    return {card.title: card for card in held if isinstance(card, SkillCard)}


def test_one_task_is_not_enough(tmp_path: Path) -> None:
    assert "screen_person before order_drug" not in served(tmp_path, ordering(1))


def test_what_the_request_asks_for_is_no_lesson() -> None:
    titles = [
        lesson.text.title
        for lesson in find_lessons(cancelling(1, "Cancel what p-77 has booked, and notify this person."))
    ]
    assert "notify_person after cancel_visit" not in titles


def test_calls_about_different_things_are_no_companions() -> None:
    other = call("Desk.notify_person", {"person_id": "p-81", "visit_id": "v-2044"})
    story = packet(run("a", True, CANCEL, other, "Done."), run("b", False, CANCEL, "Done."))
    assert not [guard for guard in propose_guards(story) if guard.template in ("precedence", "response")]
