"""Rules that only go along with others."""

from __future__ import annotations

from pathlib import Path

from tests.build.skill_builds import build_skills
from tests.made_runs import call, packet, run

from contramem.bank.bank import BankEntry
from contramem.build.learning import learning_card
from contramem.build.rules.kinds.at_most_once import AtMostOnce
from contramem.build.rules.proxies import find_proxies
from contramem.contrast.packet import Packet

SAVE, NOTE, MOVE = (call(f"Depot.{name}", {"pallet": "pa-1-77"}) for name in ("save", "note", "move"))


def shift(number: int) -> Packet:
    """Runs that do not save before a move fail; some of them do not write a note either, which nobody minds."""
    task = {"task": "Bring pa-1-77 away.", "task_id": f"shift {number}"}
    good = [run(source, True, SAVE, NOTE, MOVE, "Done.", **task) for source in "ab"]
    return packet(*good, run("c", False, MOVE, "Done.", **task), run("d", False, NOTE, MOVE, "Done.", **task))


def observed(entry: BankEntry, guard: str, grade: str = "observed") -> BankEntry:
    card = entry.card.model_copy(update={"guards": (guard,), "card_id": f"skill::{guard}"})
    support = entry.support.model_copy(update={"grade": grade})
    return entry.model_copy(update={"card": card, "support": support})


def test_a_rule_that_explains_nothing_of_its_own_is_a_proxy(tmp_path: Path) -> None:
    packets = [shift(number) for number in range(4)]
    entry = build_skills(tmp_path, *packets).entries[0]
    guards = [f"precedence(Depot.{name}, Depot.move)" for name in ("save", "note")]
    cards = [learning_card(observed(entry, guard)) for guard in guards]
    assert [card.card.guards for card in find_proxies(cards, packets)] == [(guards[1],)]
    assert find_proxies(cards[1:], packets) == [], "alone, it explains what nothing else does"


def test_of_two_rules_that_the_same_runs_break_one_stays(tmp_path: Path) -> None:
    packets = [shift(number) for number in range(4)]
    entry = build_skills(tmp_path, *packets).entries[0]
    guards = ["precedence(Depot.save, Depot.move)", "existence(Depot.save)"]
    assert len(find_proxies([learning_card(observed(entry, guard)) for guard in guards], packets)) == 1


def test_a_proven_rule_must_be_more_than_chance_without_the_failures_of_others(tmp_path: Path) -> None:
    """Where one run of many fails for want of a note alone, chance explains it; where one of each task does, not."""
    packets = [shift(number) for number in range(8)]
    entry = build_skills(tmp_path, *packets).entries[0]
    guards = [f"precedence(Depot.{name}, Depot.move)" for name in ("save", "note")]
    cards = [learning_card(observed(entry, guard, "proven")) for guard in guards]

    def without_note(number: int) -> Packet:
        task = {"task": "Bring pa-1-77 away.", "task_id": f"shift without note {number}"}
        good = [run(source, True, SAVE, NOTE, MOVE, "Done.", **task) for source in "ab"]
        return packet(*good, run("c", False, SAVE, MOVE, "Done.", **task))

    for more, proxies in ((0, [guards[1]]), (1, [guards[1]]), (8, [])):
        shown = [*packets, *map(without_note, range(more))]
        assert [card.card.guards[0] for card in find_proxies(cards, shown)] == proxies


def test_a_change_made_twice_is_a_mistake_of_its_own_where_runs_that_changed_the_same_show_it(tmp_path: Path) -> None:
    packets = [shift(number) for number in range(4)]
    entry = build_skills(tmp_path, *packets).entries[0]
    for number in range(4):
        task = {"task": "Bring pa-1-77 away.", "task_id": f"twice {number}"}
        good = [run(source, True, SAVE, NOTE, MOVE, "Done.", **task) for source in "ab"]
        packets.append(packet(*good, run("c", False, MOVE, MOVE, "Done.", **task)))
    guards = ["precedence(Depot.save, Depot.move)", "at_most_once(Depot.move)"]
    other, twice = (learning_card(observed(entry, guard)) for guard in guards)
    assert find_proxies([other, twice], packets) == [twice], "found across tasks, it may go along with anything"
    function = "Depot.move"
    same_changes = AtMostOnce(function=function, functions=(function,))
    assert find_proxies([other, twice._replace(rule=same_changes)], packets) == []
