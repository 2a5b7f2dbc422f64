"""Replaying a guard on many runs."""

from __future__ import annotations

from tests.study.office import note_office

from contramem.monitor.guard import parse_guard
from contramem.study.candidates import propose_candidates
from contramem.study.recorded_actions import replay_on_all
from contramem.study.run_set import RunSet


def test_runs_that_call_nothing_a_guard_is_about_get_the_verdict_of_a_replay() -> None:
    runs = RunSet.of(note_office()).runs
    guards = propose_candidates(runs)
    first = guards[0].functions[0]
    guards += [
        parse_guard(f"existence({first}) when task contains credit"),
        parse_guard(f"absence({first}) when {first}"),
    ]
    recorded = [run.recorded for run in runs]
    for guard in guards:
        assert replay_on_all(guard, recorded) == tuple(run.replay(guard) for run in recorded), str(guard)
