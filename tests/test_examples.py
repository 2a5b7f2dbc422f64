"""The example runs that ship: what examples/README.md says about them is so."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from contramem.traces.read import read_traces

EXAMPLES = Path(__file__).parents[1] / "examples"
FILES = ("runs/bfcl.jsonl", "heldout/bfcl.jsonl")
README = (EXAMPLES / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def runs():
    """Trajectories by file."""
    found = {}
    for name in FILES:
        reading = read_traces([EXAMPLES / name])
        found[name] = list(reading)
        assert reading.problems == []
    return found


def everything(runs):
    return [trajectory for name in FILES for trajectory in runs[name]]


def rows(runs):
    """The rows of the table of counts, as they should be."""
    for name in FILES:
        families = defaultdict(lambda: defaultdict(list))
        for trajectory in runs[name]:
            for family in (trajectory.scenario_id, "all"):
                families[family][trajectory.task_key].append(trajectory.outcome.passed)
        for family, tasks in families.items():
            verdicts = [passed for task in tasks.values() for passed in task]
            contrastive = sum(len(set(task)) == 2 for task in tasks.values())
            every, none = (sum(set(task) == {passed} for task in tasks.values()) for passed in (True, False))
            numbers = (len(tasks), len(verdicts), sum(verdicts), contrastive, every, none)
            yield f"| {name} | {family} | {' | '.join(map(str, numbers))} |"


def test_the_table_of_counts_is_true(runs):
    table = {line for line in README.splitlines() if line.startswith("| ") and ".jsonl" in line}
    assert table == set(rows(runs))


def test_the_pass_count_of_each_agent_is_true(runs):
    passed = defaultdict(int)
    for trajectory in everything(runs):
        passed[trajectory.source] += trajectory.outcome.passed
    assert dict(re.findall(r"\| (scripted-\w+) \|.*\| (\d+) of 39 \|", README)) == {
        source: str(count) for source, count in passed.items()
    }


def test_most_tasks_are_contrastive(runs):
    verdicts = defaultdict(set)
    for trajectory in everything(runs):
        verdicts[trajectory.task_key].add(trajectory.outcome.passed)
    share = sum(len(seen) == 2 for seen in verdicts.values()) / len(verdicts)
    assert 0.75 <= share <= 0.85


def test_every_run_says_that_it_is_scripted(runs):
    assert {trajectory.source.partition("-")[0] for trajectory in everything(runs)} == {"scripted"}
    assert {trajectory.origin.file for trajectory in everything(runs)} == {"examples/make_runs.py"}
    assert "The agents are scripted. No language model took part" in README


def test_tasks_are_on_one_side_and_families_on_both(runs):
    learn, test = (runs[name] for name in FILES)
    assert not {run.task_key for run in learn} & {run.task_key for run in test}
    assert {run.scenario_id for run in learn} == {run.scenario_id for run in test}
    assert {run.ability for run in test} <= {run.ability for run in learn}


def test_every_call_is_documented_has_an_effect_and_a_result(runs):
    for trajectory in everything(runs):
        described = {tool.function for tool in trajectory.tools if tool.description}
        for call in trajectory.calls:
            assert call.function in described
            assert call.effect != "unknown"
            assert call.result is not None


def test_every_run_ends_with_an_answer(runs):
    assert {trajectory.events[-1].kind for trajectory in everything(runs)} == {"final"}


@pytest.mark.parametrize("name", FILES)
def test_no_path_of_the_machine_they_were_made_on(name):
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    assert not re.search(r"/(?:home|root|tmp|usr|opt|Users|var)/\w|[A-Z]:\\\\", text)


def test_they_stay_small():
    assert sum((EXAMPLES / name).stat().st_size for name in FILES) < 1_500_000
