"""Comparison: what memory changed on the same tasks: success, changed tasks, effort, and statistical confidence."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal, NamedTuple

from contramem.evaluate.pairs import (
    AGENT_SIDES,
    MEMORY_SIDES,
    Attempt,
    Pair,
    Pairing,
    Side,
    SideNames,
    WithAndWithout,
    both,
    pair_attempts,
    pair_runs,
    short_names,
)
from contramem.evaluate.stats import (
    Interval,
    McNemar,
    TaskChange,
    TaskPasses,
    bootstrap_interval,
    mcnemar,
    success_interval,
)
from contramem.traces.trajectory import Trajectory


@dataclass(frozen=True)
class Effort:
    """A mean per run, over the pairs for which both sides are known."""

    base: float
    memory: float
    pairs: int


@dataclass(frozen=True, kw_only=True)
class Part:
    """The comparison over some of the tasks: all, or those of one ability. Field names are the keys of `--json`."""

    tasks: int
    pairs: int
    """Equal to `tasks` if every task was run once on each side."""
    gained: int
    """Pairs that failed without memory and passed with it."""
    lost: int
    gained_tasks: tuple[str, ...]
    """Tasks that pass more often with memory."""
    harmed_tasks: tuple[str, ...]
    """Tasks that pass less often with memory. With one run per side, these are the lost ones."""
    success: WithAndWithout[float]
    success_interval: WithAndWithout[Interval | None]
    """The interval of each side separately. Use `interval` to tell whether the sides differ: they share their tasks."""
    difference: float
    """(gained - lost) / pairs."""
    interval: Interval | None
    """The interval of the difference; None if there are too few tasks, or none changed."""
    mcnemar: McNemar
    agent_events: Effort | None
    agent_events_passed: Effort | None
    """Over the pairs that passed on both sides: a run that fails early is short, which is not a saving."""
    model_calls: Effort | None
    tokens: Effort | None
    cost_usd: Effort | None
    hung: WithAndWithout[int]
    """Runs that hit a limit without finalizing. They count with the verifier's outcome."""


@dataclass(frozen=True)
class Macro:
    """The average over abilities; each counts the same, however many tasks it has."""

    success: WithAndWithout[float]
    difference: float
    interval: Interval | None


@dataclass(frozen=True)
class Flip:
    """A pair of runs with different outcomes, and the files they are in."""

    task: str
    ability: str
    trial: str
    change: Literal["gained", "lost"]
    base: str
    memory: str


@dataclass(frozen=True, kw_only=True)
class Comparison(Part):
    """The comparison over all tasks, with figures that exist only for the whole."""

    macro: Macro
    by_ability: Mapping[str, Part]
    completion: Completion | None
    """Task and scenario goal completion, if the traces name scenarios."""
    flips: tuple[Flip, ...]
    sources: WithAndWithout[tuple[str, ...]]
    by_source: bool
    """Whether each source was compared with itself."""
    left_out: Mapping[str, int]
    """The number of runs left out, by reason."""
    unpaired: WithAndWithout[tuple[str, ...]] = field(default=WithAndWithout((), ()))
    """Tasks with a run without a partner, dropped at the caller's request."""

    @property
    def side_names(self) -> SideNames:
        return MEMORY_SIDES if self.by_source else AGENT_SIDES


class PairRow(NamedTuple):
    """A line of a comparison: two runs of a task, or one that was left out."""

    task: str
    ability: str
    change: str
    """`harmed`, `gained`, `both pass`, `both fail`, or why the run was left out: `unpaired`, `interrupted` ..."""
    base: str
    """`passed` or `failed`; empty if there is no such run."""
    memory: str
    base_source: str
    memory_source: str
    trial: str
    base_id: str
    """A digest of the run."""
    memory_id: str
    task_key: str


@dataclass(frozen=True)
class Compared:
    """A comparison with the runs it is made from."""

    comparison: Comparison
    pairing: Pairing

    def rows(self) -> list[PairRow]:
        """Every pair, and every run that was left out."""
        names = short_names(_all_attempts(self.pairing))
        found = [(pair.base, pair.memory, _CHANGES[pair.change, pair.both_passed]) for pair in self.pairing.pairs]
        alone = [
            (run if side == "base" else None, None if side == "base" else run, why)
            for side, run, why in self.pairing.left_out
        ]
        return [_pair_row(names, *each) for each in (*found, *alone)]


_CHANGES = {(-1, False): "harmed", (1, False): "gained", (0, True): "both pass", (0, False): "both fail"}


def _pair_row(names: Mapping[str, str], base: Attempt | None, memory: Attempt | None, change: str) -> PairRow:
    known = base or memory
    assert known is not None
    runs = (base, memory)
    ended = ({True: "passed", False: "failed", None: "unknown"}[run.passed] if run else "" for run in runs)
    sources, ids = (run.source if run else "" for run in runs), (run.content.hex() if run else "" for run in runs)
    return PairRow(
        names[known.task_key], known.ability, change, next(ended), next(ended), next(sources), next(sources),
        known.trial, next(ids), next(ids), known.task_key,
    )  # fmt: skip


def compare_both(
    base: Iterable[Attempt], memory: Iterable[Attempt], *, rng: Random, drop_unpaired: bool = False
) -> Compared:
    """Compare runs that are already reduced."""
    pairing = pair_attempts(base, memory, drop_unpaired=drop_unpaired)
    return Compared(compare_pairs(pairing, rng=rng), pairing)


def compare(
    base: Iterable[Trajectory], memory: Iterable[Trajectory], *, rng: Random, drop_unpaired: bool = False
) -> Comparison:
    """Compare runs without memory with runs of the same tasks with it. Deterministic for the same runs and seed."""
    return compare_pairs(pair_runs(base, memory, drop_unpaired=drop_unpaired), rng=rng)


def compare_pairs(pairing: Pairing, *, rng: Random) -> Comparison:
    """Compare paired runs."""
    pairs = pairing.pairs
    names = short_names(_all_attempts(pairing))
    abilities = _by_ability(pairs)
    whole = _part(pairs, names, rng)
    parts = {ability: _part(members, names, rng) for ability, members in abilities.items()}
    return Comparison(
        **vars(whole),
        macro=_macro(parts, abilities, rng),
        by_ability=parts,
        completion=completion(pairing),
        flips=tuple(_flip(pair, names) for pair in pairs if pair.change),
        sources=both(lambda side: tuple(sorted({pair.of(side).source for pair in pairs}))),
        by_source=pairing.by_source,
        left_out=dict(sorted(Counter(unpaired.reason for unpaired in pairing.left_out).items())),
        unpaired=both(lambda side: list_unpaired(pairing, side, names)),
    )


def _all_attempts(pairing: Pairing) -> Iterable[Attempt]:
    yield from (attempt for pair in pairing.pairs for attempt in pair)
    yield from (unpaired.attempt for unpaired in pairing.left_out)


def _by_ability(pairs: Iterable[Pair]) -> dict[str, list[Pair]]:
    by_ability: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_ability[pair.base.ability].append(pair)
    return dict(sorted(by_ability.items()))


def _part(pairs: Sequence[Pair], names: Mapping[str, str], rng: Random) -> Part:
    changes = _changes(pairs)
    gained = sum(pair.change > 0 for pair in pairs)
    lost = sum(pair.change < 0 for pair in pairs)
    return Part(
        tasks=len(changes),
        pairs=len(pairs),
        gained=gained,
        lost=lost,
        gained_tasks=tuple(names[key] for key, task in changes.items() if task.change > 0),
        harmed_tasks=tuple(names[key] for key, task in changes.items() if task.change < 0),
        success=both(lambda side: sum(bool(pair.of(side).passed) for pair in pairs) / len(pairs)),
        success_interval=both(lambda side: success_interval(_passes(pairs, side))),
        difference=(gained - lost) / len(pairs),
        interval=bootstrap_interval([list(changes.values())], rng),
        mcnemar=mcnemar(gained, lost),
        agent_events=_effort(pairs, _agent_events),
        agent_events_passed=_effort([pair for pair in pairs if pair.both_passed], _agent_events),
        model_calls=_effort(pairs, lambda attempt: attempt.usage.model_calls),
        tokens=_effort(pairs, lambda attempt: attempt.tokens),
        cost_usd=_effort(pairs, lambda attempt: attempt.usage.cost_usd),
        hung=both(lambda side: sum(pair.of(side).hung for pair in pairs)),
    )


def _changes(pairs: Iterable[Pair]) -> dict[str, TaskChange]:
    by_task: dict[str, list[int]] = defaultdict(list)
    for pair in pairs:
        by_task[pair.task_key].append(pair.change)
    return {key: TaskChange(sum(changes), len(changes)) for key, changes in by_task.items()}


def _passes(pairs: Iterable[Pair], side: Side) -> list[TaskPasses]:
    by_task: dict[str, list[bool]] = defaultdict(list)
    for pair in pairs:
        by_task[pair.task_key].append(bool(pair.of(side).passed))
    return [TaskPasses(sum(passed), len(passed)) for passed in by_task.values()]


def _agent_events(attempt: Attempt) -> int:
    return attempt.agent_events


def _effort(pairs: Iterable[Pair], of: Callable[[Attempt], float | None]) -> Effort | None:
    values = ((of(pair.base), of(pair.memory)) for pair in pairs)
    pairs_known = [(base, memory) for base, memory in values if base is not None and memory is not None]
    if not pairs_known:
        return None
    base, memory = (sum(side) / len(pairs_known) for side in zip(*pairs_known, strict=True))
    return Effort(base, memory, len(pairs_known))


def _macro(parts: Mapping[str, Part], abilities: Mapping[str, Sequence[Pair]], rng: Random) -> Macro:
    success = both(lambda side: sum(part.success.of(side) for part in parts.values()) / len(parts))
    interval = bootstrap_interval([list(_changes(pairs).values()) for pairs in abilities.values()], rng)
    return Macro(success, success.memory - success.base, interval)


def _flip(pair: Pair, names: Mapping[str, str]) -> Flip:
    return Flip(
        task=names[pair.task_key],
        ability=pair.base.ability,
        trial=pair.base.trial,
        change="gained" if pair.change > 0 else "lost",
        base=str(pair.base.origin),
        memory=str(pair.memory.origin),
    )


def list_unpaired(pairing: Pairing, side: Side, names: Mapping[str, str]) -> tuple[str, ...]:
    task_keys = {
        unpaired.attempt.task_key
        for unpaired in pairing.left_out
        if unpaired.side == side and unpaired.reason == "unpaired"
    }
    return tuple(names[key] for key in sorted(task_keys))


@dataclass(frozen=True)
class Completion:
    """Shares over the tasks and scenarios that were run completely on both sides."""

    scenarios: int
    tasks: int
    tgc: WithAndWithout[float]
    """Task goal completion: the share of tasks that pass."""
    sgc: WithAndWithout[float]
    """Scenario goal completion: the share of scenarios all of whose tasks pass (Trivedi et al. 2024)."""


def completion(pairing: Pairing) -> Completion | None:
    """None if no trace names a scenario. A scenario with a run left out is not counted: it would pass too easily."""
    broken = {run.attempt.scenario for run in pairing.left_out}
    tried: dict[tuple[str, str, str], list[Pair]] = defaultdict(list)
    for pair in pairing.pairs:
        scenario = pair.base.scenario
        if scenario is not None and scenario not in broken:
            tried[scenario, pair.base.source, pair.base.trial].append(pair)
    if not tried:
        return None
    groups = list(tried.values())
    pairs = [pair for group in groups for pair in group]
    return Completion(
        scenarios=len({scenario for scenario, _, _ in tried}),
        tasks=len({pair.task_key for pair in pairs}),
        tgc=both(lambda side: _share([bool(pair.of(side).passed) for pair in pairs])),
        sgc=both(lambda side: _share([all(pair.of(side).passed for pair in group) for group in groups])),
    )


def _share(outcomes: Sequence[bool]) -> float:
    return sum(outcomes) / len(outcomes)
