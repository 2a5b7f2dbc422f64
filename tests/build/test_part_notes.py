"""Notes of a part: a build that finds them decides what it would decide without, and asks only about new tasks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random

import pytest
from tests.build.test_parts import TwoAtOnce
from tests.made_runs import call, packet, run

from contramem.bank.frozen import freeze
from contramem.bank.ledger import Decision
from contramem.bank.store import open_store
from contramem.build import parts
from contramem.build.part_notes import hand_out, observe_and_note
from contramem.build.recorder import digest_of
from contramem.build.rules.author import RuleAuthor
from contramem.contrast.collection import contrast_selected, learn_vocabulary
from contramem.contrast.observation import by_function
from contramem.contrast.selection import Selection
from contramem.engine import SERIAL, Engine
from contramem.kept_work import NO_WORK, Work
from contramem.monitor.guard import Guard, Verdict
from contramem.notes import notes_of
from contramem.pipeline import build_bank
from contramem.study.recorded_actions import RecordedActions
from contramem.traces.pool import Pool
from contramem.traces.trajectory import Trajectory
from contramem.validate.validator import Validator


class WorkInMemory:
    """Keeps results by key."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, bytes], bytes] = {}

    def get(self, stage: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return {key: self._kept[stage, key] for key in keys if (stage, key) in self._kept}

    def find(self, stage: str, keys: Sequence[bytes]) -> set[bytes]:
        return set(self.get(stage, keys))

    def put(self, stage: str, results: Iterable[tuple[bytes, bytes]]) -> None:
        self._kept.update({(stage, key): value for key, value in results})


def make_runs(tasks: Iterable[int], seed: int) -> Iterator[Trajectory]:
    """Whoever reads the policy first passes, and above 500 whoever also tells the desk."""
    for task in tasks:
        amount = 50 + task * 137 % 900
        for number in range(4):
            random = Random(f"{seed}.{task}.{number}")
            record, keeps = f"R-{10_000 + task}", random.random() < 0.5
            steps = [call("Desk.find", {"name": f"case {task}"}, {"id": record, "amount": amount})]
            steps += [call("Desk.read_policy", {"id": record}, {"limit": 500})] * (keeps or random.random() < 0.2)
            steps += [call("Desk.update", {"id": record, "state": "closed"}, "updated")]
            steps += [call("Desk.notify", {"id": record, "channel": "mail"}, "sent")] * (keeps and amount > 500)
            told = {"task": f"Close case {task}.", "task_id": f"t{task}", "ability": "closing"}
            yield run(f"model-{number}", keeps != (random.random() < 0.1), *steps, "done", **told)


def build(runs: Iterable[Trajectory], store: Path, work: Work, engine: Engine = SERIAL) -> list[Decision]:
    with Pool(runs) as pool:
        vocabulary = learn_vocabulary(pool)
        with contrast_selected(pool, pool.tasks(), vocabulary) as packets, open_store(store, create=True) as opened:
            checks = Validator(vocabulary.closed)
            build_bank(packets, opened, RuleAuthor(vocabulary), checks, engine=engine, work=work)
            return [entry.decision for entry in opened.ledger()]


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tasks of the runs on which guards were replayed."""
    tasks: list[str] = []
    replay = RecordedActions.replay

    def note(self: RecordedActions, guard: Guard) -> Verdict:
        tasks.append(self.run.task_id)
        return replay(self, guard)

    monkeypatch.setattr(RecordedActions, "replay", note)
    return tasks


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("engine", [SERIAL, TwoAtOnce()], ids=["here", "by workers"])
def test_a_build_with_notes_of_fewer_runs_decides_as_one_without(
    tmp_path: Path, seed: int, engine: Engine, monkeypatch: pytest.MonkeyPatch, replayed: list[str]
) -> None:
    monkeypatch.setattr(parts, "MIN_TASKS_FOR_WORKERS", 2)
    work = WorkInMemory()
    build(make_runs(range(12), seed), tmp_path / "first.db", work, engine)
    replayed.clear()
    with_notes = build(make_runs(range(14), seed), tmp_path / "noted.db", work, engine)
    asked = len(replayed)
    replayed.clear()
    assert with_notes == build(make_runs(range(14), seed), tmp_path / "plain.db", NO_WORK, engine)
    assert asked < len(replayed)


def test_the_same_tasks_are_not_asked_about_again(tmp_path: Path, replayed: list[str]) -> None:
    work = WorkInMemory()
    first = build(make_runs(range(12), 0), tmp_path / "first.db", work)
    assert replayed
    replayed.clear()
    assert build(make_runs(range(12), 0), tmp_path / "again.db", work) == first
    assert replayed == []


def test_notes_about_a_task_are_not_used_once_its_runs_have_changed(tmp_path: Path, replayed: list[str]) -> None:
    work = WorkInMemory()
    build(make_runs(range(12), 0), tmp_path / "first.db", work)
    changed = [*make_runs(range(11), 0), *make_runs([11], 1)]
    replayed.clear()
    with_notes = build(changed, tmp_path / "noted.db", work)
    assert "t11" in replayed
    assert with_notes == build(changed, tmp_path / "plain.db", NO_WORK)


@pytest.mark.parametrize("seed", range(3))
def test_a_bank_that_grew_differs_from_a_new_one_in_version_numbers_only(tmp_path: Path, seed: int) -> None:
    work = WorkInMemory()
    build(make_runs(range(12), seed), tmp_path / "grown.db", work)
    build(make_runs(range(14), seed), tmp_path / "grown.db", work)
    build(make_runs(range(14), seed), tmp_path / "new.db", NO_WORK)
    grown, new = (read_frozen_cards(tmp_path / name) for name in ("grown.db", "new.db"))
    assert any(card["kind"] == "skill" for card in new)
    assert grown != new
    assert [card | {"version": 0} for card in grown] == [card | {"version": 0} for card in new]


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_a_task_that_is_drawn_no_longer_does_not_keep_cards_as_they_were(tmp_path: Path, seed: int) -> None:
    drawn = [build_selected(make_runs(range(tasks), seed), tmp_path / "grown.db") for tasks in (20, 26)]
    assert not drawn[0] <= drawn[1], "the second build has left tasks out that the first one drew"
    build_selected(make_runs(range(26), seed), tmp_path / "new.db")
    grown, new = (read_frozen_cards(tmp_path / name) for name in ("grown.db", "new.db"))
    set_aside = {"version": 0, "taught_by": []}  # tasks that taught a card stay named on it
    assert [card | set_aside for card in grown] == [card | set_aside for card in new]


def build_selected(runs: Iterable[Trajectory], store: Path) -> set[str]:
    with Pool(runs) as pool:
        vocabulary, selection = learn_vocabulary(pool), Selection(pool.sketches(), max_tasks=12)
        with contrast_selected(pool, selection.keys, vocabulary) as packets, open_store(store, create=True) as opened:
            author, checks = RuleAuthor(vocabulary), Validator(vocabulary.closed)
            build_bank(packets, opened, author, checks, left_out=selection.keys_left_out)
    return set(selection.keys)


def read_frozen_cards(store: Path) -> list[dict[str, object]]:
    with open_store(store) as opened:
        return [json.loads(line) for line in freeze(opened.bank()).splitlines()[1:]]


def test_the_next_build_takes_observations_from_the_notes_of_this_one() -> None:
    refused = call("Mail.delete", {"id": "oops"}, "Error: bad id", error="Error: bad id")
    now, then = (packet(run("a", True, refused, call("Mail.delete", {"id": "m-4711"}), "Done.")) for _ in range(2))
    notes = hand_out(b"", [now])
    seen = by_function([now], observe_and_note)
    hand_out(notes.encode(), [then])
    again = by_function([then], observe_and_note)
    assert again == seen
    assert digest_of(again) == digest_of(seen)
    notes_of(then).found.get("observed", lambda: pytest.fail("it was looked for again"))
