"""What a lesson keeps beside its card."""

from contramem.mining.lesson import run_ref, support_of
from contramem.traces.trajectory import Origin, Outcome, Trajectory


def run(task: str, source: str) -> Trajectory:
    return Trajectory("shop", task, source, Origin("runs.jsonl", "1"), (), Outcome(passed=True), task="Refund it")


def test_a_task_that_several_runs_show_counts_once() -> None:
    support = support_of([run("t1", "a"), run("t1", "b"), run("t2", "a")], against=[run("t3", "a")])
    assert support.tasks == ("shop/t1", "shop/t2")
    assert support.sources == ("a", "b")
    assert support.contradicted_by == ("shop/t3",)


def test_a_run_that_shows_a_lesson_names_its_events_once() -> None:
    assert run_ref(run("t1", "a"), [3, 1, 3]).events == (1, 3)
