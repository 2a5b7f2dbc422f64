"""The index of runs: what columns say is what a look at each run says."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from contramem.traces.run_content import DIGEST_BYTES
from contramem.traces.run_table import JoinedRuns, ListedRun, RunName, RunSketch, RunTable


def sketch(ability: str, passed: bool | None, called: Sequence[str]) -> RunSketch:
    return RunSketch(ability, passed, passed is not None, tuple(sorted(called)), tuple(sorted({*called, "User.ask"})))


sketches = st.builds(
    sketch, st.sampled_from("xy"), st.sampled_from([True, False, None]), st.sets(st.sampled_from(["A.f", "A.g"]))
)
listed_runs = st.builds(
    ListedRun,
    task_key=st.sampled_from(["t1", "t2", "t3"]),
    name=st.builds(RunName, st.sampled_from("ab"), st.sampled_from("01")),
    sketch=sketches,
    content=st.binary(min_size=DIGEST_BYTES, max_size=DIGEST_BYTES),
    row=st.binary(min_size=DIGEST_BYTES, max_size=DIGEST_BYTES),
    length=st.integers(1, 50),
)


def number(tables: list[list[ListedRun]]) -> list[list[ListedRun]]:
    """No two runs with equal content."""
    numbers = count()
    return [[run._replace(content=run.content[:-1] + bytes([next(numbers)])) for run in table] for table in tables]


tables = st.lists(st.lists(listed_runs, max_size=5), max_size=4).map(number)


def by_task(tables: list[list[ListedRun]]) -> dict[str, list[ListedRun]]:
    """The runs of each task in the order of their names and contents; tasks in the order in which they were read."""
    tasks: dict[str, list[ListedRun]] = {}
    for run in (run for table in tables for run in table):
        tasks.setdefault(run.task_key, []).append(run)
    return {key: sorted(runs, key=lambda run: (run.name, run.content)) for key, runs in tasks.items()}


@given(tables)
def test_the_runs_of_a_task_are_found_in_their_tables(read: list[list[ListedRun]]) -> None:
    index = JoinedRuns([RunTable.of(runs) for runs in read])
    tasks = by_task(read)
    assert index.tasks == sorted(tasks)
    assert len(index) == sum(map(len, read))
    for key, runs in tasks.items():
        found = [run for _, run in index.runs(key)]
        assert [(run.name, run.row, run.length) for run in found] == [(run.name, run.row, run.length) for run in runs]
        for run in found:
            before = 0
            listed = next(one for one in read[run.table] if (before := before + one.length) > run.offset)
            assert listed.row == run.row
    assert list(index.runs("unknown")) == []
    assert index.functions("unknown") == frozenset()


@given(tables)
def test_a_task_is_sketched_by_all_its_runs(read: list[list[ListedRun]]) -> None:
    sketched = {task.task_key: task for task in JoinedRuns([RunTable.of(runs) for runs in read]).sketches()}
    for key, runs in by_task(read).items():
        task, evidence = sketched[key], [run.sketch.passed for run in runs if run.sketch.counts]
        assert (task.passes, task.fails, task.runs) == (True in evidence, False in evidence, len(evidence))
        assert set(task.called) == {function for run in runs for function in run.sketch.called}
        first = min(runs, key=lambda run: ([True, False, None].index(run.sketch.passed), run.name, run.content))
        assert task.ability == first.sketch.ability


def run(task: str, content: bytes, row: bytes = b"r") -> ListedRun:
    name, row = RunName("a", "0"), row.ljust(DIGEST_BYTES, b"\0")
    return ListedRun(task, name, sketch("x", True, ()), content.ljust(DIGEST_BYTES, b"\0"), row, 7)


def test_of_equal_runs_the_first_counts() -> None:
    first, again, other = run("t", b"same", b"first"), run("t", b"same", b"again"), run("t", b"other")
    index = JoinedRuns([RunTable.of([other]), RunTable.of([first, again]), RunTable.of([again])])
    assert [run.row.rstrip(b"\0") for _, run in index.runs("t")] == [b"r", b"first"]
    assert len(index) == 2


def test_groups_hold_every_task_once_and_their_digest_is_that_of_their_runs() -> None:
    runs = [run(f"t{number}", str(number).encode()) for number in range(300)]
    groups = list(JoinedRuns([RunTable.of(runs)]).groups(most_bytes=10_000, lasting=True))
    assert [key for group in groups for key in group.keys] == [run.task_key for run in runs]
    assert len(groups) > 2
    backwards = JoinedRuns([RunTable.of(runs[:100]), RunTable.of(runs[100:])])
    assert list(backwards.groups(most_bytes=10_000, lasting=True)) == groups
    changed = JoinedRuns([RunTable.of([*runs[:-1], run("t299", b"changed")])])
    after = list(changed.groups(most_bytes=10_000, lasting=True))
    assert after[:-1] == groups[:-1]
    assert after[-1].keys == groups[-1].keys
    assert after[-1].contents != groups[-1].contents


def test_a_group_ends_where_its_runs_are_long() -> None:
    runs = [run(f"t{number}", str(number).encode()) for number in range(30)]
    groups = list(JoinedRuns([RunTable.of(runs)]).groups(most_bytes=70, lasting=False))
    assert [len(group.keys) for group in groups] == [10, 10, 10]


def test_there_may_be_no_runs_at_all() -> None:
    for tables in ([], [RunTable.of([])]):
        index = JoinedRuns(tables)
        assert (len(index), index.tasks, list(index.sketches())) == (0, [], [])
        assert list(index.groups(most_bytes=10, lasting=True)) == []
