"""One measure for whoever counts: the instruments of an author and the rules of a build."""

from __future__ import annotations

from pathlib import Path

import pytest

from contramem.bank.card import SkillCard
from contramem.build.rules.mine import count_outcomes
from contramem.chance import OutcomeTable, chance
from contramem.collection.runs import Collection
from contramem.contrast.packet import contrast
from contramem.grading import contradicts, is_observed, supports
from contramem.guards.guard import guards_of, parse_guard
from contramem.study.ask import explain_kind
from contramem.study.run_set import RunSet
from contramem.study.trial import try_guard
from contramem.traces.read import read_traces
from tests.shipped import bank, build
from tests.study.office import NOTE_RULE, note_office


@pytest.mark.parametrize(
    ("table", "is_for", "is_against"),
    [
        (OutcomeTable(3, 0, 0, 1), True, False),
        (OutcomeTable(3, 0, 1, 1), False, True),
        (OutcomeTable(4, 1, 1, 4), True, False),
        (OutcomeTable(4, 4, 1, 1), False, False),
        (OutcomeTable(3, 2, 0, 0), False, False),
        (OutcomeTable(0, 2, 0, 3), False, False),
    ],
    ids=[
        "clear",
        "a quarter of the passing runs",
        "one exception",
        "no more often",
        "nobody broke it",
        "nobody passed",
    ],
)
def test_a_task_is_for_a_guard_against_it_or_neither(table: OutcomeTable, is_for: bool, is_against: bool) -> None:
    assert (supports(table), contradicts(table)) == (is_for, is_against)


@pytest.mark.parametrize(
    ("tasks_for", "tasks_against", "broke_passed", "likely", "observed"),
    [
        (2, 0, 0, 0.09, True),
        (2, 0, 0, 0.11, False),
        (2, 0, 1, 0.09, False),
        (2, 0, 1, 0.04, True),
        (2, 1, 1, 0.001, False),
        (1, 0, 0, 0.01, False),
        (1, 0, 0, 0.001, True),
        (0, 0, 0, 0.001, False),
    ],
)
def test_observed_needs_tasks_none_against_it_and_little_chance(
    tasks_for: int, tasks_against: int, broke_passed: int, likely: float, observed: bool
) -> None:
    counts = OutcomeTable(2, 2, broke_passed, 2)
    assert is_observed(tasks_for, tasks_against, counts, likely, is_conditional=False) is observed


def test_a_guard_without_a_condition_is_observed_if_nobody_at_all_passed_without_it() -> None:
    counts = OutcomeTable(8, 1, 0, 5)
    assert is_observed(2, 0, counts, 0.5, is_conditional=False)
    assert not is_observed(2, 0, counts, 0.5, is_conditional=True)
    assert not is_observed(1, 0, counts, 0.5, is_conditional=False)
    assert not is_observed(2, 0, counts._replace(broke_passed=1), 0.5, is_conditional=False)


@pytest.mark.parametrize(
    "guard",
    [
        NOTE_RULE,
        "response(Office.create_note, Office.assign_owner)",
        "absence(Office.assign_owner) when Office.create_note[amount <= 500]",
        "existence(Office.assign_owner)",
        "absence(Office.create_note[amount > 600])",
    ],
)
def test_try_and_the_rules_of_a_build_find_the_same_probability_by_chance(guard: str) -> None:
    runs = note_office()
    run_set = RunSet.of(runs)
    with Collection(runs) as pool:
        packets = list(contrast(pool))
    parsed = parse_guard(guard)
    assert try_guard(parsed, run_set.evidence, run_set).chance == chance(count_outcomes(parsed, packets))


def test_explain_and_try_find_the_same_probability_by_chance() -> None:
    run_set = RunSet.of(note_office())
    (report,) = explain_kind(run_set, function="Office.create_note")
    assert report.explanation.differences
    for difference in report.explanation.differences:
        trial = try_guard(difference.guard, run_set.select(half="open"), run_set)
        assert (trial.chance, trial.counts) == (difference.chance, difference.counts)


EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.slow
@pytest.mark.parametrize("domain", ["northline", "quillbrook"])
def test_what_the_rules_put_in_service_because_of_outcomes_is_supported_by_try(domain: str, tmp_path: Path) -> None:
    runs = EXAMPLES / domain / "runs.jsonl.xz"
    build(tmp_path / "bank.db", runs)
    with Collection(read_traces([runs])) as pool:
        run_set = RunSet.of(run for task in pool for run in task)
        packets = list(contrast(pool))
    graded = [
        entry
        for entry in bank(tmp_path / "bank.db").entries.values()
        if isinstance(entry.card, SkillCard) and entry.support.grade in ("proven", "observed")
    ]
    assert len(graded) > 6
    for entry in graded:
        guards = guards_of(entry.card.guards)  # type: ignore[union-attr]
        trials = [try_guard(guard, run_set.evidence, run_set) for guard in guards]
        assert [trial.chance for trial in trials] == [chance(count_outcomes(guard, packets)) for guard in guards]
        best = min(trials, key=lambda trial: trial.chance)
        assert best.judgement != "contradicted", best.guard
