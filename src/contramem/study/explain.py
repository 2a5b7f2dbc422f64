"""Explain: the few differences between passing and failing runs of a kind of task that hold up, each as a guard.

The best candidate is taken, the failures it explains are set aside, and the next must explain others: something that
merely accompanies a rule explains nothing new. A candidate that passing runs contradict is tried with a condition on
data. Candidates compete by their probability by chance times the size of their family (candidates about the same
function with as many conditions to choose from), so a condition must be worth its price.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from contramem.chance import OutcomeTable
from contramem.grading import contradicts, most_chance
from contramem.guards.conditions import Condition
from contramem.guards.guard import Guard
from contramem.study.contenders import (
    MAX_CHANCE,
    MIN_BROKEN,
    Contender,
    Contenders,
    explains_some,
    find_contenders,
    is_contradicted,
)
from contramem.study.masks import GuardMasks, Mask
from contramem.study.replays import Replays
from contramem.study.run_masks import RunMasks
from contramem.study.run_set import RunSet, StudyRun
from contramem.study.trial import try_guard

MAX_OVERLAPPING = 4
MAX_ELSEWHERE = 2_000
"""Runs of other tasks that a guard is tried on."""
MAX_SAME_TRIED = 6
"""Guards that the same runs follow and break, of which one may hold elsewhere and another not."""
MAX_BY_LUCK = 1.5
"""How many of the available conditions would fit as well if they were unrelated. Above this, about two or more, a
difference is doubtful: it is listed last and left to the judgement of somebody who knows what the fields mean."""


NOWHERE = OutcomeTable()


@dataclass(frozen=True)
class Difference:
    """A guard that passing runs follow and failing runs break."""

    guard: Guard
    counts: OutcomeTable
    tasks: int
    chance: float
    """The probability of so large a difference if outcomes were random within tasks; not corrected for what was
    tried."""
    explains: int
    """Failing runs that no difference above it explained."""
    same: tuple[Guard, ...] = ()
    """Other guards that exactly the same runs follow and break: these runs cannot tell them apart."""
    family: int = 1
    """How many guards about the same function could have been found instead, conditions included."""
    by_luck: float = 0.0
    """How many of the conditions that could have been found instead would fit as well by luck."""
    elsewhere: OutcomeTable = NOWHERE
    """What runs of other tasks did with it."""

    @property
    def is_local(self) -> bool:
        """Do passing runs of other tasks break it? Then it is not true as it stands."""
        return contradicts(self.elsewhere)

    @property
    def is_doubtful(self) -> bool:
        """Could its condition be luck?"""
        return self.by_luck > MAX_BY_LUCK


@dataclass(frozen=True)
class Explanation:
    """What was found, and how much was tried."""

    differences: tuple[Difference, ...]
    overlapping: tuple[Difference, ...]
    """Differences about other functions or arguments. The failures they explain are already explained, perhaps because
    runs that break one rule also break another."""
    tried: int
    runs: int
    failing: int
    unexplained: int

    @property
    def all_differences(self) -> tuple[Difference, ...]:
        return *self.differences, *self.overlapping


class Elsewhere:
    """Runs of other tasks, in which a guard that was found has to hold as well if it is to be true as it stands."""

    def __init__(self, runs: Sequence[StudyRun], run_set: RunSet) -> None:
        self._runs = runs[:: max(1, -(-len(runs) // MAX_ELSEWHERE))]
        self._run_set = run_set
        self._tables: dict[Guard, OutcomeTable] = {}

    def count(self, guard: Guard) -> OutcomeTable:
        if guard not in self._tables:
            self._tables[guard] = try_guard(guard, self._runs, self._run_set).counts
        return self._tables[guard]

    def put_true_first(self, group: Sequence[Contender]) -> Sequence[Contender]:
        """The contenders of a group, those first that hold elsewhere too."""
        first, rest = group[:MAX_SAME_TRIED], group[MAX_SAME_TRIED:]
        return [*sorted(first, key=lambda contender: contradicts(self.count(contender.guard))), *rest]


def explain(
    runs: Sequence[StudyRun],
    run_set: RunSet,
    limit: int = 8,
    accept: Callable[[Difference], bool] | None = None,
    others: Sequence[StudyRun] = (),
    contenders: Contenders | None = None,
) -> Explanation:
    """The differences between the passing and the failing runs among `runs`, those that explain most first. What
    passing runs among `others` break explains only what nothing else does.

    `accept` has the last word on each: one that it rejects explains no failure, so that another may. `contenders` are
    those of `runs`, if they are known.
    """
    contenders = contenders or find_contenders(RunMasks(runs, run_set))
    masks, replays, elsewhere = contenders.masks, Replays(runs), Elsewhere(others, run_set)
    everything = (*contenders.by_data, *contenders.by_words)
    chosen: list[tuple[Sequence[Contender], int]] = []
    local: list[Sequence[Contender]] = []
    explained = 0
    # Words of requests are used only for what data cannot separate: data say more about the cause.
    for some in (contenders.by_data, contenders.by_words):
        sure = [each for each in some if each.by_luck <= MAX_BY_LUCK]
        judge = _Judge(replays, accept, elsewhere)
        more, explained, apart = _choose(_group(sure), masks, limit - len(chosen), explained, judge)
        chosen += more
        local += apart
    doubtful = _group(each for each in everything if each.by_luck > MAX_BY_LUCK)
    for groups in (local, doubtful):
        more, explained, _ = _choose(groups, masks, limit - len(chosen), explained, _Judge(replays, accept, None))
        chosen += more
    differences = tuple(_describe(group, masks, explains, elsewhere) for group, explains in chosen)
    unexplained = (masks.failed & ~explained).bit_count()
    sure = [each for each in everything if each.by_luck <= MAX_BY_LUCK]
    overlapping = tuple(_find_overlapping(_group(sure), masks, replays, differences, elsewhere))
    return Explanation(differences, overlapping, contenders.tried, len(runs), masks.failed.bit_count(), unexplained)


def _group(contenders: Iterable[Contender]) -> list[list[Contender]]:
    """Groups of contenders that the same runs follow and break, simplest first."""
    by_masks = dict[GuardMasks, list[Contender]]()
    for contender in contenders:
        by_masks.setdefault(contender.masks, []).append(contender)
    return [sorted(group, key=lambda contender: contender.simplicity) for group in by_masks.values()]


# Choosing


class _Judge(NamedTuple):
    """Who has the last word on a contender that came to the top."""

    replays: Replays
    accept: Callable[[Difference], bool] | None
    elsewhere: Elsewhere | None
    """None: it need not hold elsewhere."""


def _choose(
    groups: Sequence[Sequence[Contender]], masks: RunMasks, limit: int, explained: Mask, judge: _Judge
) -> tuple[list[tuple[Sequence[Contender], int]], Mask, list[Sequence[Contender]]]:
    """The best contenders, each with the number of failures that none before it explained, and all these failures.
    Last, those that came to the top and are not true `elsewhere`.

    Setting failures aside hardly ever improves another contender, so only those at the top are weighed again.
    """
    chosen: list[tuple[Sequence[Contender], int]] = []
    local: list[Sequence[Contender]] = []
    waiting = [(entry, 0) for group in groups if (entry := _weigh(group, masks, explained)) is not None]
    heapq.heapify(waiting)
    while waiting and len(chosen) < limit:
        entry, weighed_at = heapq.heappop(waiting)
        group = entry[-1]
        if weighed_at < len(chosen):
            again = _weigh(group, masks, explained)
            if again is not None:
                heapq.heappush(waiting, (again, len(chosen)))
            continue
        checked = _check(group, masks, judge.replays)
        if checked is group and judge.accept is not None and not judge.accept(_difference(group, masks)):
            checked = group[1:]  # the next one that the same runs follow and break
        if checked is not group:
            again = _weigh(checked, masks, explained) if checked else None
            if again is not None:
                heapq.heappush(waiting, (again, len(chosen)))
            continue
        ordered = judge.elsewhere.put_true_first(group) if judge.elsewhere is not None else group
        if judge.elsewhere is not None and contradicts(judge.elsewhere.count(ordered[0].guard)):
            local.append(group)
            continue
        newly = group[0].masks.broken & masks.failed & ~explained
        explained |= newly
        chosen.append((ordered, newly.bit_count()))
    return chosen, explained, local


def _is_unlikely(guard: GuardMasks, masks: RunMasks) -> bool:
    """Whether chance explains it as little as it may if it is to be called observed."""
    return masks.chance(guard) <= most_chance(masks.table(guard).broke_passed)


def _find_overlapping(
    groups: Sequence[Sequence[Contender]],
    masks: RunMasks,
    replays: Replays,
    differences: Sequence[Difference],
    elsewhere: Elsewhere,
) -> Iterator[Difference]:
    """The best contenders about something that no difference is about, one per function and argument."""
    subjects = {_subject(difference.guard) for difference in differences}
    entries = sorted(entry for group in groups if (entry := _weigh(group, masks, 0)) is not None)
    count = 0
    for *_, group in entries:
        subject = _subject(group[0].guard)
        if count == MAX_OVERLAPPING or subject in subjects or not _is_unlikely(group[0].masks, masks):
            continue
        if _check(group, masks, replays) is group:
            subjects.add(subject)
            count += 1
            yield _describe(elsewhere.put_true_first(group), masks, 0, elsewhere)


def _subject(guard: Guard) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What a guard demands or forbids, and the arguments it tests."""
    return guard.target, tuple(pair for pair in guard.arguments if pair[0] == guard.target)


def _weigh(
    group: Sequence[Contender], masks: RunMasks, explained: Mask
) -> tuple[float, int, tuple[int, int, int, int, int, str], Sequence[Contender]] | None:
    """The sort key of contenders, ignoring failures that are already explained. None: not worth a trial."""
    first = group[0]
    left = first.masks.within(~explained)
    table = masks.table(left)
    if table.broke_failed < MIN_BROKEN or not table.kept_passed:
        return None
    likely = masks.chance(left)
    if likely > MAX_CHANCE:
        return None
    size = min(contender.family * max(1.0, contender.by_luck) for contender in group)
    return likely * size, table.broke_passed, first.simplicity, group


def _check(group: Sequence[Contender], masks: RunMasks, replays: Replays) -> Sequence[Contender]:
    """The group itself if replaying its first guard gives the computed counts; else that guard with the replayed
    counts."""
    first = group[0]
    replayed = replays.replay(first.guard)
    if not first.guard.then and not first.guard.patterns[0].conditions:
        replayed = replayed.within(first.masks.spoken)  # in tasks that never involve the call, it says nothing
    if replayed == first.masks:
        return group
    is_useful = explains_some(replayed, masks) and not is_contradicted(replayed, masks)
    return [replace(first, masks=replayed)] if is_useful else []


def _difference(group: Sequence[Contender], masks: RunMasks) -> Difference:
    """The first of the group, without what the others say: most are looked at once and rejected."""
    first = group[0]
    return Difference(
        first.guard,
        masks.table(first.masks),
        masks.count_tasks(first.masks.spoken),
        masks.chance(first.masks),
        explains=0,
        family=min(contender.family for contender in group),
        by_luck=first.by_luck,
    )


def _describe(group: Sequence[Contender], masks: RunMasks, explains: int, elsewhere: Elsewhere) -> Difference:
    """A difference that was chosen."""
    difference, others = _difference(group, masks), [contender.guard for contender in group[1:]]
    return replace(
        difference,
        explains=explains,
        same=tuple(drop_narrower(difference.guard, others)),
        elsewhere=elsewhere.count(difference.guard),
    )


def drop_narrower(first: Guard, others: Iterable[Guard]) -> Iterator[Guard]:
    """The guards that do not only add a condition to another one: the same runs cannot tell that it is needed."""
    kept: dict[Guard, list[set[Condition]]] = {first._replace(when=""): [set(first.conditions)]}
    for guard in others:
        conditions = set(guard.conditions)
        wider = kept.setdefault(guard._replace(when=""), [])
        if not any(some <= conditions for some in wider):
            wider.append(conditions)
            yield guard
