"""Precedence: what has to have worked before a call. Stories from a release pipeline."""

from __future__ import annotations

from pathlib import Path

from tests.build.skill_builds import FROZEN, UNLOCK, build_skills, refusing, without_need
from tests.made_runs import call, packet, run

from contramem.contrast.packet import Packet


def test_calls_that_are_refused_alike_without_the_same_preparation_are_one_rule(tmp_path: Path) -> None:
    built = build_skills(tmp_path, refusing("push_tag", 1), refusing("merge_branch", 2), refusing("push_tag", 3))
    (card,) = built.cards
    assert set(card.guards) == {
        "precedence(Pipeline.unlock_branch, Pipeline.push_tag)",
        "precedence(Pipeline.unlock_branch, Pipeline.merge_branch)",
    }
    assert set(card.functions_used) == {"Pipeline.unlock_branch", "Pipeline.push_tag", "Pipeline.merge_branch"}


def test_another_call_of_the_same_preparation_joins_a_rule_about_several(tmp_path: Path) -> None:
    names = ["push_tag", "merge_branch", "close_branch"]
    (card,) = build_skills(tmp_path, *(refusing(name, number) for number, name in enumerate(names))).cards
    assert len(card.guards) == 3


def test_calls_that_are_refused_in_other_words_stay_two_rules(tmp_path: Path) -> None:
    built = build_skills(tmp_path, refusing("push_tag", 1), refusing("publish_tag", 2, error=FROZEN))
    assert built.guards == {
        ("precedence(Pipeline.unlock_branch, Pipeline.push_tag)",),
        ("precedence(Pipeline.unlock_branch, Pipeline.publish_tag)",),
    }


def test_everything_that_made_a_refused_call_work_is_named(tmp_path: Path) -> None:
    steps = (call("Pipeline.create_ticket", {"week": "w-31"}), UNLOCK)
    (card,) = build_skills(tmp_path, refusing("push_tag", 1, passing=steps)).cards
    assert card.guards == ("precedence(Pipeline.unlock_branch, Pipeline.push_tag)",)
    assert "Pipeline.create_ticket" in card.functions_used


def test_a_preparation_that_passing_runs_do_without_is_only_asked_for_after_the_refusal(tmp_path: Path) -> None:
    packets = [refusing("push_tag", 1), refusing("push_tag", 2), without_need("push_tag", 3)]
    built = build_skills(tmp_path, *packets)
    (card,) = built.cards
    assert built.decisions["NARROW"] == 1
    assert card.guards == ()
    assert set(card.functions_used) == {"Pipeline.unlock_branch", "Pipeline.push_tag"}
    assert build_skills(tmp_path, *packets).cards == [card]


def test_a_rule_that_was_confined_to_the_refusal_learns_from_further_tasks(tmp_path: Path) -> None:
    packets = [refusing("push_tag", 1), refusing("push_tag", 2), without_need("push_tag", 3)]
    build_skills(tmp_path, *packets)
    built = build_skills(tmp_path, *packets, refusing("push_tag", 4))
    (entry,) = [entry for entry in built.entries if entry.served]
    assert len(entry.support.tasks) == 3
    assert "ADD" not in built.decisions


def test_a_rule_holds_where_passing_runs_that_break_it_never_call_something(tmp_path: Path) -> None:
    """Screening is needed when a drug is ordered abroad. Where nothing is shipped, runs pass without it."""
    screen, ship = call("Desk.screen_person", {"person_id": "p-77"}), call("Desk.ship_abroad", {"person_id": "p-77"})
    order = call("Desk.order_drug", {"person_id": "p-77", "drug": "aspirin"})

    def ordering(number: int, abroad: bool) -> Packet:
        task = {"task": "Person p-77 gets aspirin.", "task_id": f"order {number}"}
        good, bad = ([screen, order, ship], [order, ship]) if abroad else ([order], [])
        return packet(
            run("a", True, *good, "Done.", **task),
            run("b", True, *good, "Done.", **task),
            run("c", False, *bad, "Done.", **task),
            run("d", False, *bad, "Done.", **task),
        )

    built = build_skills(tmp_path, *(ordering(n, True) for n in range(8)), *(ordering(n, False) for n in range(8, 10)))
    assert ("precedence(Desk.screen_person, Desk.order_drug) when Desk.ship_abroad",) in built.guards
    assert built.decisions["NARROW"] == 1


def test_a_long_refusal_is_quoted_once_several_tasks_show_it(tmp_path: Path) -> None:
    error = "The branch of this release has to be unlocked before tags are pushed."
    (card,) = build_skills(tmp_path, refusing("push_tag", 1, error=error)).cards
    assert error not in card.skill.core_rule
    (card,) = build_skills(tmp_path, refusing("push_tag", 1, error=error), refusing("push_tag", 2, error=error)).cards
    assert error in card.skill.core_rule
