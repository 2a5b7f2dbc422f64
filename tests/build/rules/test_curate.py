"""When several lessons are one rule, and when passing runs confine a rule."""

from __future__ import annotations

from pathlib import Path

from tests.build.skill_builds import build_skills
from tests.made_runs import Call, call, packet, run

from contramem.contrast.packet import Packet
from contramem.traces.trajectory import Trajectory

LOCKED = "The branch is not available."


def release(number: int, source: str, passed: bool, *steps: Call) -> Trajectory:
    return run(source, passed, *steps, "Released.", task=f"Get fix {number} out.", task_id=f"release-{number}")


def push(number: int, error: str | None = None) -> Call:
    return call("Pipeline.push_tag", {"tag": f"v{number}-fix"}, error=error)


UNLOCK = call("Pipeline.unlock_branch", {"branch": "main"})


def test_a_narrowed_rule_learns_from_further_tasks_instead_of_being_made_twice(tmp_path: Path) -> None:
    def task(number: int) -> Packet:
        return packet(
            release(number, "a", True, UNLOCK, push(number)),
            release(number, "b", True, push(number, LOCKED), UNLOCK, push(number)),
            release(number, "c", False, push(number, LOCKED)),
        )

    open_already = packet(release(3, "a", True, push(3)), release(3, "c", False, push(3, LOCKED)))
    build_skills(tmp_path, task(1), task(2), open_already)
    build = build_skills(tmp_path, task(1), task(2), open_already, task(4))
    assert len(build.cards) == 1
    assert "ADD" not in build.decisions
