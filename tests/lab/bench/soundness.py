"""Can an environment's verdicts be trusted? Two checks for any environment."""

from __future__ import annotations

from collections.abc import Iterator

from contramem.traces.trajectory import Outcome
from contramem_lab.environment import Environment


def idle_tasks(environment: Environment) -> Iterator[str]:
    """Tasks that pass if nothing is done and nothing is said. A run of such a task measures nothing."""
    for task_id, task in environment.tasks().items():
        session = environment.start(task_id)
        for _ in task.turns:
            session.end_turn("")
        if session.verify().passed:
            yield task_id


def find_unsolved_tasks(environment: Environment) -> Iterator[str]:
    """Tasks whose own solution does not pass."""
    for task_id in environment.tasks():
        outcome = replay_solution(environment, task_id)
        if outcome is not None and not outcome.passed:
            yield task_id


def replay_solution(environment: Environment, task_id: str) -> Outcome | None:
    """The verdict on the task's own solution; None if its makers give none."""
    solution = environment.solution(task_id)
    if solution is None:
        return None
    session = environment.start(task_id)
    for calls in solution.turns:
        for call in calls:
            session.call(call.function, call.arguments)
        session.end_turn(solution.answer)
    return session.verify()
