"""Attempt: what a comparison needs to know about one run. Events are counted and then dropped, to save memory."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from contramem.traces.trajectory import Origin, RunUsage, Trajectory, digest

_NOWHERE = Origin("")
_encode = msgspec.msgpack.Encoder().encode


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run, reduced to its outcome and cost."""

    task_key: str
    environment: str
    task_id: str
    source: str
    trial: str
    ability: str
    scenario: str | None
    """Environment and scenario id, if the trace names a scenario."""
    task_digest: str
    """Digest of the task's text: the name that an inject log uses for a task without an id."""
    passed: bool | None
    interrupted: bool
    hung: bool
    agent_events: int
    usage: RunUsage
    origin: Origin
    content: bytes
    """Digest of the run without its origin, so that the same run read from two places counts once."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> Attempt:
        """Reduce a trajectory."""
        scenario = trajectory.scenario_id
        row = _encode(msgspec.structs.replace(trajectory, origin=_NOWHERE))
        return cls(
            task_key=trajectory.task_key,
            environment=trajectory.environment,
            task_id=trajectory.task_id,
            source=trajectory.source,
            trial=trajectory.run,
            ability=trajectory.ability or "general",
            scenario=None if scenario is None else f"{trajectory.environment}/{scenario}",
            task_digest=digest(trajectory.task),
            passed=trajectory.outcome.passed,
            interrupted=trajectory.outcome.ended == "interrupted",
            hung=is_hung(trajectory),
            agent_events=count_agent_events(trajectory),
            usage=trajectory.usage,
            origin=trajectory.origin,
            content=hashlib.blake2b(row, digest_size=12).digest(),
        )

    @property
    def comparable(self) -> bool:
        """Whether the run was not interrupted and its outcome is known."""
        return not self.interrupted and self.passed is not None

    @property
    def tokens(self) -> int | None:
        """Input and output tokens together; None if either is unknown."""
        used = self.usage
        return None if used.tokens_in is None or used.tokens_out is None else used.tokens_in + used.tokens_out


def count_agent_events(trajectory: Trajectory) -> int:
    """The number of the agent's reads, writes, observations and actions; model calls don't count (paper, A.7).

    A call and its result are one event. If the benchmark's own log has a count, that is used. Events of the user, the
    environment or the verifier don't count.
    """
    if trajectory.usage.agent_events is not None:
        return trajectory.usage.agent_events
    return sum(event.actor == "agent" or event.kind == "observation" for event in trajectory.events)


def is_hung(trajectory: Trajectory) -> bool:
    """Whether the run hit a limit of steps or time without finalizing."""
    finalized = any(event.kind == "final" or event.effect == "finalize" for event in trajectory.events)
    return trajectory.outcome.ended == "limit" and not finalized


def short_names(attempts: Iterable[Attempt]) -> dict[str, str]:
    """By task key, a unique name: the id if all ids differ, otherwise the id with the environment.

    Tasks with the same id but different texts keep the whole key.
    """
    tasks = {attempt.task_key: (attempt.environment, attempt.task_id) for attempt in attempts}
    environments: dict[str, set[str]] = defaultdict(set)
    for environment, task_id in tasks.values():
        environments[task_id].add(environment)
    plain = all(len(names) == 1 for names in environments.values())
    wordings = Counter(tasks.values())

    def name(key: str, environment: str, task_id: str) -> str:
        if wordings[environment, task_id] > 1:
            return key
        return task_id if plain else f"{environment}/{task_id}"

    return {key: name(key, *task) for key, task in tasks.items()}
