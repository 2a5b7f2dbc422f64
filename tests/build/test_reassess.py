"""Every card of an ability against all its runs: counted once, and confined to where it holds."""

from __future__ import annotations

from pathlib import Path

from tests.build.skill_builds import build_skills, refusing, without_need

GUARD = "precedence(Pipeline.unlock_branch, Pipeline.push_tag)"


def test_a_rule_is_counted_over_all_tasks_and_no_task_counts_twice(tmp_path: Path) -> None:
    packets = [refusing("push_tag", number) for number in range(3)]
    first = build_skills(tmp_path, *packets)
    (entry,) = (entry for entry in first.entries if entry.served)
    counts = entry.support.guard_counts[GUARD]
    assert (counts.held, counts.broken, counts.contradicted) == (6, 3, 0)
    again = build_skills(tmp_path, *packets)
    assert again.entries == first.entries
    assert again.decisions == {}


def test_further_tasks_add_to_the_counts(tmp_path: Path) -> None:
    build_skills(tmp_path, refusing("push_tag", 1), refusing("push_tag", 2))
    (entry,) = (entry for entry in build_skills(tmp_path, refusing("push_tag", 3)).entries if entry.served)
    assert entry.support.guard_counts[GUARD].held == 6
    assert len(entry.support.tasks) == 3


def test_a_rule_that_passing_runs_do_without_loses_its_guard(tmp_path: Path) -> None:
    before = build_skills(tmp_path, refusing("push_tag", 1), refusing("push_tag", 2))
    assert before.guards == {(GUARD,)}
    after = build_skills(tmp_path, refusing("push_tag", 1), refusing("push_tag", 2), without_need("push_tag", 3))
    assert after.guards == {()}
    assert after.decisions["NARROW"] == 1
