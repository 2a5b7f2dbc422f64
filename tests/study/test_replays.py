"""Replaying guards on many runs."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.made_runs import call, run
from tests.study.office import NOTE_RULE, note_office

from contramem.collection.runs import Collection
from contramem.contrast.packet import contrast
from contramem.guards.actions import actions_of_run
from contramem.guards.guard import Guard, parse_guard
from contramem.guards.templates import Verdict
from contramem.study.candidates import propose_candidates
from contramem.study.masks import GuardMasks
from contramem.study.recorded_actions import RecordedActions
from contramem.study.replays import Replays, replay_guard
from contramem.study.run_set import RunSet, study_run


def test_runs_that_call_nothing_a_guard_is_about_get_the_verdict_of_a_replay() -> None:
    runs = RunSet.of(note_office()).runs
    guards = [guard for candidate in propose_candidates(runs) if (guard := candidate.parse()) is not None]
    first = guards[0].functions[0]
    guards += [
        parse_guard(f"existence({first}) when task contains credit"),
        parse_guard(f"absence({first}) when {first}"),
    ]
    for guard in guards:
        assert replay_guard(guard, runs) == [run.recorded.replay(guard) for run in runs], str(guard)


def test_what_one_run_of_a_task_was_shown_holds_for_a_run_that_never_looked() -> None:
    looked = run("a", True, call("Shop.find_customer", {"name": "Ada"}, '{"tier": "A"}'), "Done.", task_id="1")
    hasty = run("b", False, call("Shop.hold_order", {"order": "or-1"}), "Done.", task_id="1")
    other = run("b", True, call("Shop.hold_order", {"order": "or-2"}), "Done.", task_id="2")
    guard = parse_guard("absence(Shop.hold_order) when Shop.find_customer.tier = A")
    runs = [study_run(made) for made in (looked, hasty, other)]
    assert replay_guard(guard, runs) == ["holds", "broken", "vacuous"]
    excepted = parse_guard("absence(Shop.hold_order) unless Shop.find_customer.tier = A")
    assert replay_guard(excepted, runs) == ["vacuous", "vacuous", "broken"]


def test_what_a_change_gave_back_holds_for_its_own_run_only() -> None:
    noted = run("a", True, call("Shop.create_note", {"order": "or-1"}, '{"amount": 900}'), "Done.", task_id="1")
    other = run("b", False, call("Shop.hold_order", {"order": "or-1"}), "Done.", task_id="1")
    guard = parse_guard("absence(Shop.hold_order) when Shop.create_note.amount > 500")
    assert replay_guard(guard, [study_run(made) for made in (noted, other)]) == ["holds", "vacuous"]


def test_a_guard_put_together_from_what_others_share_gives_the_verdicts_of_an_automaton() -> None:
    runs = RunSet.of(note_office()).runs
    replays, asked = Replays(runs), list(propose_candidates(runs))[:40]
    conditions = [
        "",
        " when task contains credit",
        " when Office.look unless Office.assign_owner",
        " unless Office.look",
    ]
    for candidate in asked:
        for condition in conditions:
            guard = parse_guard(f"{candidate.text.partition(' when ')[0]}{condition}")
            verdicts = [guard.replay(actions_of_run(run.trajectory), run.trajectory.task) for run in runs]
            assert replays.replay(guard) == GuardMasks.of_verdicts(verdicts), str(guard)


def test_a_deadline_is_counted_from_the_start_of_the_run() -> None:
    made = run("a", True, call("Shop.find"), call("Shop.pay"), "Done.")
    timed = replace(made, events=tuple(replace(event, time=60.0 * event.position) for event in made.events))
    guard = parse_guard("existence(Shop.pay) within 30 s")
    assert replay_guard(guard, [study_run(timed)]) == [guard.replay(actions_of_run(timed))] == ["broken"]


def test_a_guard_is_replayed_on_each_run_of_a_build_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with Collection(run.trajectory for run in RunSet.of(note_office()).runs) as pool:
        runs = RunSet.of_packets(contrast(pool)).runs
    replayed = list[int]()
    replay = RecordedActions.replay

    def note(self: RecordedActions, guard: Guard) -> Verdict:
        replayed.append(id(self))
        return replay(self, guard)

    monkeypatch.setattr(RecordedActions, "replay", note)
    guard = parse_guard(NOTE_RULE)
    some, whole = replay_guard(guard, runs[3:9]), replay_guard(guard, runs)
    assert whole[3:9] == some
    assert replayed and len(replayed) == len(set(replayed))
