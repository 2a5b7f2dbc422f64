"""Stop when done: a write that worked needs no second look. Stories from a depot where every run passes."""

from __future__ import annotations

from pathlib import Path

from tests.build.skill_builds import build_skills
from tests.made_runs import call, packet, run

from contramem.contrast.packet import Packet


def shipping(number: int, write: str = "Depot.send_pallet", look: str = "Depot.count_pallets") -> Packet:
    """Three runs end after the write, a fourth looks again."""
    task = {"task": f"Send pallet {number}.", "task_id": f"{write} {number}"}
    made, looked = call(write, {"pallet": f"pl-{number}-88"}), call(look, {}, 3)
    ends = [run(source, True, made, "Sent.", **task) for source in "abc"]
    return packet(*ends, run("d", True, made, looked, "Sent.", **task))


def test_going_on_after_the_last_write_is_a_lesson_about_the_write_and_the_looks(tmp_path: Path) -> None:
    (card,) = build_skills(tmp_path, shipping(1)).cards
    assert card.functions_used == ("Depot.send_pallet", "Depot.count_pallets")
    assert card.guards == ()


def test_two_writes_of_an_app_that_need_no_second_look_are_one_rule(tmp_path: Path) -> None:
    built = build_skills(tmp_path, shipping(1), shipping(2, "Depot.delete_pallet", "Depot.list_bins"))
    (card,) = built.cards
    assert set(card.functions_used) == {
        "Depot.send_pallet",
        "Depot.count_pallets",
        "Depot.delete_pallet",
        "Depot.list_bins",
    }
    assert built.decisions == {"ADD": 1, "PATCH": 1}


def test_writes_of_different_apps_stay_two_rules(tmp_path: Path) -> None:
    built = build_skills(tmp_path, shipping(1), shipping(2, "Mail.send_note", "Mail.list_notes"))
    assert len(built.cards) == 2


def test_a_rule_names_at_most_four_writes(tmp_path: Path) -> None:
    writes = ["send_pallet", "delete_pallet", "move_pallet", "add_pallet", "update_pallet"]
    built = build_skills(tmp_path, *(shipping(n, f"Depot.{write}") for n, write in enumerate(writes)))
    assert sorted(len(card.functions_used) for card in built.cards) == [2, 5]


def test_another_task_with_the_same_write_and_look_is_more_evidence(tmp_path: Path) -> None:
    built = build_skills(tmp_path, shipping(1), shipping(2))
    (entry,) = built.entries
    assert len(entry.support.tasks) == 2


def test_a_look_that_checks_another_write_says_nothing_about_the_last(tmp_path: Path) -> None:
    task = {"task": "Switch the lamp on and send pl-1-88.", "task_id": "send"}
    lamp, made = call("Depot.set_lamp", {"lamp": "north"}), call("Depot.send_pallet", {"pallet": "pl-1-88"})

    def shown(**about: str) -> Packet:
        ends = [run(source, True, lamp, made, "Sent.", **task) for source in "abc"]
        return packet(*ends, run("d", True, lamp, made, call("Depot.show_state", about, "on"), "Sent.", **task))

    assert build_skills(tmp_path, shown(lamp="north")).cards == []
    assert len(build_skills(tmp_path, shown(pallet="pl-1-88")).cards) == 1


def test_nothing_is_superfluous_where_most_runs_look_again(tmp_path: Path) -> None:
    task = {"task": "Send it.", "task_id": "send"}
    made, looked = call("Depot.send_pallet", {"pallet": "pl-1-88"}), call("Depot.count_pallets", {}, 3)
    story = packet(
        run("a", True, made, "Sent.", **task),
        run("b", True, made, looked, "Sent.", **task),
    )
    assert build_skills(tmp_path, story).cards == []
