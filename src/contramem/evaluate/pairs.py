"""Runs reduced to outcome and cost, runs without memory paired with runs with memory, and those that cannot be paired.

Events are counted and then dropped, to save memory."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar

from contramem.errors import ComparisonError
from contramem.traces.run_content import content_digest
from contramem.traces.trajectory import Origin, RunUsage, Trajectory, digest


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
    """Its digest wherever it was read, so that the same run read from two places counts once."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> Attempt:
        """Reduce a trajectory."""
        scenario = trajectory.scenario_id
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
            content=content_digest(trajectory),
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


Side: TypeAlias = Literal["base", "memory"]
OTHER: dict[Side, Side] = {"base": "memory", "memory": "base"}

Value = TypeVar("Value")


@dataclass(frozen=True)
class WithAndWithout(Generic[Value]):
    """One value per side."""

    base: Value
    memory: Value

    def of(self, side: Side) -> Value:
        return self.base if side == "base" else self.memory


def both(of: Callable[[Side], Value]) -> WithAndWithout[Value]:
    """Compute a value for each side."""
    return WithAndWithout(of("base"), of("memory"))


class SideNames(NamedTuple):
    """The names of the sides in tables and sentences. They say "memory" only if both sides are runs of one source."""

    labels: WithAndWithout[str]
    columns: WithAndWithout[str]
    phrases: WithAndWithout[str]
    """After a verb: "12 pass with memory"."""


MEMORY_SIDES = SideNames(
    WithAndWithout("No memory", "Memory"),
    WithAndWithout("Base", "Memory"),
    WithAndWithout("without memory", "with memory"),
)
AGENT_SIDES = SideNames(
    WithAndWithout("First side", "Second side"),
    WithAndWithout("Base", "Second"),
    WithAndWithout("on the first side", "on the second side"),
)


Reason: TypeAlias = Literal["interrupted", "unknown outcome", "partner left out", "unpaired"]
NAMED_IN_ERROR = 10


class Pair(NamedTuple):
    """Runs of the same task without and with memory; both outcomes are known."""

    base: Attempt
    memory: Attempt

    @property
    def task_key(self) -> str:
        return self.base.task_key

    def of(self, side: Side) -> Attempt:
        return self.base if side == "base" else self.memory

    @property
    def both_passed(self) -> bool:
        return bool(self.base.passed and self.memory.passed)

    @property
    def change(self) -> int:
        """1 if gained, -1 if lost, 0 if unchanged."""
        return bool(self.memory.passed) - bool(self.base.passed)


class UnpairedRun(NamedTuple):
    """A run that is left out of the comparison, and why."""

    side: Side
    attempt: Attempt
    reason: Reason


@dataclass(frozen=True)
class Pairing:
    pairs: tuple[Pair, ...]
    """Sorted by task, source and trial."""
    left_out: tuple[UnpairedRun, ...]
    by_source: bool
    """Whether the sides share sources, so that each source is compared with itself."""


class _PairKey(NamedTuple):
    """Runs with the same key on both sides are paired."""

    task_key: str
    source: str
    """Empty if the sides share no source."""
    trial: str
    """Empty if neither side distinguishes trials of this task."""
    number: int
    """Numbers runs of the same trial, ordered by content."""


_Trial: TypeAlias = tuple[str, str, str]


def pair_runs(base: Iterable[Trajectory], memory: Iterable[Trajectory], *, drop_unpaired: bool = False) -> Pairing:
    """Pair by task and trial, and also by source if the sides share sources.

    Raises ComparisonError for a run without a partner, unless `drop_unpaired`. A run whose partner was interrupted or
    has no known outcome is left out together with it.
    """
    return pair_attempts(map(Attempt.of, base), map(Attempt.of, memory), drop_unpaired=drop_unpaired)


def pair_attempts(base: Iterable[Attempt], memory: Iterable[Attempt], *, drop_unpaired: bool = False) -> Pairing:
    """The same for runs that are already reduced."""
    sides: dict[Side, list[Attempt]] = {"base": _distinct(base), "memory": _distinct(memory)}
    _check_sides(sides)
    by_source = not _sources(sides["base"]).isdisjoint(_sources(sides["memory"]))
    trial_of = _Trials(sides, by_source)
    slots = {side: _slots([a for a in runs if a.comparable], trial_of) for side, runs in sides.items()}
    if not by_source:
        _check_one_source(sides, trial_of)
    shared = sorted(slots["base"].keys() & slots["memory"].keys())
    left_out = (*_exclude_unknown(sides), *_without_partner(sides, slots, trial_of))
    unpaired = [run for run in left_out if run.reason == "unpaired"]
    if unpaired and not drop_unpaired:
        raise ComparisonError(_describe_unpaired(unpaired, {slot.task_key for slot in shared}))
    if not shared:
        raise ComparisonError(_nothing_left(left_out))
    return Pairing(tuple(Pair(slots["base"][slot], slots["memory"][slot]) for slot in shared), left_out, by_source)


def _distinct(attempts: Iterable[Attempt]) -> list[Attempt]:
    ordered = sorted(attempts, key=lambda attempt: (attempt.content, str(attempt.origin)))
    return [next(copies) for _, copies in groupby(ordered, key=lambda attempt: attempt.content)]


def _sources(attempts: Iterable[Attempt]) -> set[str]:
    return {attempt.source for attempt in attempts}


class _Trials:
    """The trial a run counts as. If each side has only one label, it is a name and not a trial number, so it is
    ignored."""

    def __init__(self, sides: Mapping[Side, Sequence[Attempt]], by_source: bool) -> None:
        self._by_source = by_source
        labels: dict[tuple[str, str], dict[Side, set[str]]] = defaultdict(lambda: {"base": set(), "memory": set()})
        for side, attempts in sides.items():
            for attempt in attempts:
                labels[self._group(attempt)][side].add(attempt.trial)
        self._with_trials = {group for group, by_side in labels.items() if max(map(len, by_side.values())) > 1}

    def _group(self, attempt: Attempt) -> tuple[str, str]:
        return attempt.task_key, attempt.source if self._by_source else ""

    def __call__(self, attempt: Attempt) -> _Trial:
        group = self._group(attempt)
        return *group, attempt.trial if group in self._with_trials else ""


def _slots(attempts: Iterable[Attempt], trial_of: _Trials) -> dict[_PairKey, Attempt]:
    counts: Counter[_Trial] = Counter()
    slots = {}
    for attempt in attempts:
        trial = trial_of(attempt)
        counts[trial] += 1
        slots[_PairKey(*trial, counts[trial])] = attempt
    return slots


def _exclude_unknown(sides: Mapping[Side, Sequence[Attempt]]) -> Iterator[UnpairedRun]:
    for side, attempts in sides.items():
        for attempt in attempts:
            if not attempt.comparable:
                yield UnpairedRun(side, attempt, "interrupted" if attempt.interrupted else "unknown outcome")


def _without_partner(
    sides: Mapping[Side, Sequence[Attempt]], slots: Mapping[Side, Mapping[_PairKey, Attempt]], trial_of: _Trials
) -> Iterator[UnpairedRun]:
    for side, own_slots in slots.items():
        other_slots = slots[OTHER[side]]
        left_out = {trial_of(attempt) for attempt in sides[OTHER[side]] if not attempt.comparable}
        for slot in sorted(own_slots.keys() - other_slots.keys()):
            yield UnpairedRun(side, own_slots[slot], "partner left out" if slot[:3] in left_out else "unpaired")


def _check_sides(sides: Mapping[Side, Sequence[Attempt]]) -> None:
    for side, attempts in sides.items():
        if not attempts:
            raise ComparisonError(f"no run was read for the {side} side. Name files or folders that hold traces.")
    origins = [{_place(attempt) for attempt in attempts} for attempts in sides.values()]
    both = origins[0] & origins[1]
    # Comparing a side with itself is a useful check; a partial overlap is a mistake.
    if both and origins[0] != origins[1]:
        raise ComparisonError(f"{len(both)} run(s) are on both sides: {min(both)} ... Name paths that do not overlap.")


def _place(attempt: Attempt) -> str:
    return os.path.abspath(str(attempt.origin))  # noqa: PTH100  (a name inside an archive cannot be resolved)


def _check_one_source(sides: Mapping[Side, Sequence[Attempt]], trial_of: _Trials) -> None:
    for side, attempts in sides.items():
        sources: dict[_Trial, set[str]] = defaultdict(set)
        for attempt in attempts:
            sources[trial_of(attempt)].add(attempt.source)
        several = max(sources.values(), key=len)
        if len(several) > 1:
            raise ComparisonError(
                f"the {side} side has runs of {', '.join(sorted(several))} on the same task, and no source is on both "
                "sides, so no run has one partner. Choose one with --sources and --with-sources, or name them alike."
            )


def _describe_unpaired(unpaired: Sequence[UnpairedRun], paired_tasks: set[str]) -> str:
    names = short_names(run.attempt for run in unpaired)
    several = len(_sources(run.attempt for run in unpaired)) > 1
    sides = []
    for side in OTHER:
        named = (_run_name(run.attempt, names, several) for run in unpaired if run.side == side)
        runs = list(dict.fromkeys(named))
        more = f" and {len(runs) - NAMED_IN_ERROR} more" if len(runs) > NAMED_IN_ERROR else ""
        sides += [f"{', '.join(runs[:NAMED_IN_ERROR])}{more} ({side})"] if runs else []
    in_part = len(paired_tasks & names.keys())
    trials = f" {in_part} of them were run on both sides, but not in these trials." if in_part else ""
    return (
        f"{len(names)} task(s) were run on one side only: {'; '.join(sides)}.{trials}{_describe_reworded(unpaired)} "
        "Re-run them, or pass --drop-unpaired to compare the rest."
    )


def _run_name(attempt: Attempt, names: Mapping[str, str], with_source: bool) -> str:
    trial = "" if attempt.trial == "0" else f" trial {attempt.trial}"
    return f"{names[attempt.task_key]}{trial}{f' of {attempt.source}' if with_source else ''}"


def _describe_reworded(unpaired: Iterable[UnpairedRun]) -> str:
    wordings: dict[tuple[str, str], set[str]] = defaultdict(set)
    for run in unpaired:
        wordings[run.attempt.environment, run.attempt.task_id].add(run.attempt.task_key)
    count = sum(len(keys) > 1 for keys in wordings.values())
    return f" {count} id(s) are there with two task texts, which makes two tasks of each." if count else ""


def _nothing_left(left_out: Iterable[UnpairedRun]) -> str:
    counts = Counter(run.reason for run in left_out)
    why = ", ".join(f"{count} {reason}" for reason, count in counts.most_common())
    return f"no run can be compared ({why}). Both sides need runs of the same tasks with known outcomes."
