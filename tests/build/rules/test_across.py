"""Lessons of many tasks: a house rule that holds above an amount, and that no tool enforces."""

from __future__ import annotations

from pathlib import Path

from tests.build.skill_builds import build_skills
from tests.made_runs import Call, call, packet, run

from contramem.contrast.packet import Packet


def credit(number: int, amount: int) -> Packet:
    """Notes above 500 go with a hold. Careful runs know, hasty ones never hold."""
    note = call("Office.create_note", {"order": f"or-{number}-77", "amount": amount})
    hold = call("Office.hold_order", {"order": f"or-{number}-77"})
    task = {"task": f"Credit {amount} on or-{number}-77.", "task_id": f"credit {number}"}
    good: list[Call] = [note, hold] if amount > 500 else [note]
    bad: list[Call] = [note] if amount > 500 else [note, hold]
    runs = [run(source, True, *good, "Done.", **task) for source in "ab"]
    return packet(*runs, *(run(source, False, *bad, "Done.", **task) for source in "cd"))


CREDITS = [credit(number, 100 + 90 * number) for number in range(12)]


def test_a_rule_that_holds_above_an_amount_is_found_with_its_condition(tmp_path: Path) -> None:
    built = build_skills(tmp_path, *CREDITS)
    guards = [guard for card in built.cards for guard in card.guards]
    assert any("hold_order" in guard and "amount > " in guard for guard in guards), guards


def test_every_rule_in_service_says_its_grade(tmp_path: Path) -> None:
    entries = [entry for entry in build_skills(tmp_path, *CREDITS).entries if entry.served]
    assert entries
    assert all(entry.support.grade in ("proven", "observed") for entry in entries)


def test_a_second_build_changes_nothing(tmp_path: Path) -> None:
    first = build_skills(tmp_path, *CREDITS)
    again = build_skills(tmp_path, *CREDITS)
    assert again.entries == first.entries
    assert again.decisions == {}


def store(number: int, place: str) -> Packet:
    """What goes to B2 is counted afterwards. The request names the place, so that everybody can tell."""
    move = call("Depot.move", {"pallet": f"pa-{number}-77", "to": place})
    count = call("Depot.recount", {"pallet": f"pa-{number}-77"})
    task = {"task": f"Bring pa-{number}-77 to {place}.", "task_id": f"move {number}"}
    good: list[Call] = [move, count] if place == "B2" else [move]
    bad: list[Call] = [move] if place == "B2" else [move, count]
    runs = [run(source, True, *good, "Done.", **task) for source in "ab"]
    return packet(*runs, *(run(source, False, *bad, "Done.", **task) for source in "cd"))


def test_a_rule_whose_condition_is_a_value_that_requests_name_is_kept(tmp_path: Path) -> None:
    built = build_skills(tmp_path, *(store(number, ("B2", "C1", "D4")[number % 3]) for number in range(12)))
    guards = [guard for card in built.cards for guard in card.guards]
    assert any("recount" in guard and "[to = B2]" in guard for guard in guards), guards


def dress(number: int, colour: str) -> Packet:
    """What the request itself asks for is no lesson."""
    good, bad = (call("Shop.paint", {"item": f"it-{number}-77", "colour": name}) for name in (colour, "grey"))
    task = {"task": f"Paint it-{number}-77 {colour}.", "task_id": f"paint {number}"}
    return packet(
        *(run(s, True, good, "Done.", **task) for s in "ab"), *(run(s, False, bad, "Done.", **task) for s in "cd")
    )
