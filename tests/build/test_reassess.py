"""Every card of an ability against all its runs: counted once, and confined to where it holds."""

from __future__ import annotations

from pathlib import Path

from tests.build.skill_builds import build_skills, refusing
from tests.made_runs import call, packet, run

from contramem.contrast.packet import Packet

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


def order(number: int, *runs_: tuple[bool, bool]) -> Packet:
    """Each run says whether it looks at the warranties before it orders, and whether it passes."""
    look, buy = call("Desk.list_warranties", {"unit": f"u-{number}-77"}), call("Desk.order", {"unit": f"u-{number}-77"})
    task = {"task": f"Order for u-{number}-77.", "task_id": f"order {number}"}
    return packet(
        *(
            run(source, passed, *([look, buy] if looks else [buy]), "Done.", **task)
            for source, (looks, passed) in zip("abcdef", runs_, strict=False)
        )
    )
