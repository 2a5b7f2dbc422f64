"""Answers about runs: each question is asked about a run once, and kept answers equal fresh ones."""

from __future__ import annotations

import pytest
from tests.build.test_part_notes import make_runs

from contramem.build.part_notes import hand_out
from contramem.contrast.packet import Packet, contrast
from contramem.monitor.guard import Guard, Verdict, parse_guard
from contramem.study.recorded_actions import RecordedActions
from contramem.study.replays import replay_guard
from contramem.study.run_set import RunSet
from contramem.traces.pool import Pool
from contramem.traces.trajectory import Trajectory

GUARDS = [
    parse_guard(text)
    for text in (
        "precedence(Desk.read_policy, Desk.update)",
        "response(Desk.update, Desk.notify) when Desk.find.amount > 500",
        "absence(Desk.notify) unless Desk.find.amount > 500",
        "existence(Desk.notify) when task contains case",
    )
]


def make_packets(*runs: Trajectory) -> list[Packet]:
    with Pool(runs) as pool:
        return list(contrast(pool))


def replay_all(packets: list[Packet]) -> list[list[Verdict]]:
    runs = RunSet.of_packets(packets).runs
    return [replay_guard(guard, some) for guard in GUARDS for some in (runs, runs[::3], runs[5:])]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tasks of the runs on which guards were replayed."""
    tasks: list[str] = []
    replay = RecordedActions.replay

    def note(self: RecordedActions, guard: Guard) -> Verdict:
        tasks.append(self.run.task_id)
        return replay(self, guard)

    monkeypatch.setattr(RecordedActions, "replay", note)
    return tasks


def test_kept_answers_equal_fresh_ones_when_tasks_come_change_and_go(asked: list[str]) -> None:
    before = make_packets(*make_runs(range(10), 0))
    notes = hand_out(b"", before)
    replay_all(before)
    runs = [*make_runs([0, 2, 3, 7, 9], 0), *make_runs([4, 8], 1), *make_runs([10, 11, 12], 0)]
    now, fresh = make_packets(*runs), make_packets(*runs)
    hand_out(notes.encode(), now)
    asked.clear()
    noted = replay_all(now)
    assert set(asked) <= {"t4", "t8", "t10", "t11", "t12"}
    assert noted == replay_all(fresh)


def test_a_question_is_asked_about_a_run_once(asked: list[str]) -> None:
    runs = RunSet.of_packets(make_packets(*make_runs(range(4), 0))).runs
    some = replay_guard(GUARDS[0], runs[3:9])
    assert len(asked) <= 6
    whole = replay_guard(GUARDS[0], runs)
    assert len(asked) <= len(runs)
    assert whole[3:9] == some


def test_what_nobody_asked_in_the_last_build_is_forgotten(asked: list[str]) -> None:
    first, second, third = (make_packets(*make_runs(range(8), 0)) for _ in range(3))
    notes = hand_out(b"", first)
    replay_all(first)
    notes = hand_out(notes.encode(), second)
    replay_guard(GUARDS[0], RunSet.of_packets(second).runs)
    hand_out(notes.encode(), third)
    asked.clear()
    runs = RunSet.of_packets(third).runs
    replay_guard(GUARDS[0], runs)
    assert not asked
    replay_guard(GUARDS[1], runs)
    assert asked


def test_runs_that_are_known_are_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before, now = (make_packets(*make_runs(range(4), 0)) for _ in range(2))
    notes = hand_out(b"", before)
    verdicts = replay_all(before)
    hand_out(notes.encode(), now)
    monkeypatch.setattr(RecordedActions, "__init__", lambda *_: pytest.fail("a run was looked at again"))
    assert replay_all(now) == verdicts
