"""Explain: the few differences between passing and failing runs of a kind of task that hold up, each as a guard.

The best candidate is taken, the failures that it explains are set aside, and the next must explain others: what merely
goes along with a rule explains nothing that the rule has not explained already. A candidate that passing runs
contradict is tried with a condition on data. Candidates compete by how likely chance is times the number of candidates
of the same family (about the same function, with as many conditions to choose from): a condition has to earn its keep.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from contramem.chance import OutcomeTable
from contramem.monitor.guard import Guard
from contramem.monitor.pattern import parse_pattern
from contramem.study.atoms import collect_atoms
from contramem.study.candidates import GuardCandidate, propose_candidates
from contramem.study.masks import GuardMasks, Mask, RunMasks
from contramem.study.recorded_actions import replay_on_all
from contramem.study.run_set import RunSet, StudyRun
from contramem.study.sharpen import Conditions, add_condition
from contramem.study.task_words import TaskWords

MAX_CHANCE = 0.2
"""Of a difference that is worth a trial. What holds up is decided on the tasks kept back, not here."""
MIN_BROKEN = 2
"""Failing runs that must have broken a guard. One run may have failed for any reason."""
MAX_CONTRADICTING = 0.05
"""Of the passing runs that a guard without a condition speaks about."""
MIN_ALIKE = 0.5
"""Of the failing runs that left a change out. The others may have given up, whatever the condition."""
MAX_OVERLAPPING = 4
MAX_CHANCE_OVERLAPPING = 0.05
CONDITIONS_EACH = 3
"""Conditions of one candidate that compete."""
MAX_BY_LUCK = 1.0
"""Conditions, of those that there were to choose from, that would fit as well if they had nothing to do with it. Above,
a difference is doubtful: it is told last, and is for somebody to judge who knows what the fields mean."""


@dataclass(frozen=True)
class Difference:
    """A guard that passing runs keep and failing runs break."""

    guard: Guard
    counts: OutcomeTable
    tasks: int
    chance: float
    """Of so large a difference, were outcomes dealt at random within tasks; not corrected for what was tried."""
    explains: int
    """Failing runs that no difference above it had explained."""
    same: tuple[Guard, ...]
    """Other guards that exactly the same runs keep and break: these runs cannot tell them apart."""
    family: int = 1
    """Guards about the same function that could have been found instead, conditions included."""
    by_luck: float = 0.0
    """Of the conditions that could have been found instead, how many would fit as well by luck."""

    @property
    def is_doubtful(self) -> bool:
        """Could its condition as well be luck?"""
        return self.by_luck > MAX_BY_LUCK


@dataclass(frozen=True)
class Explanation:
    """What was found, and how much was tried."""

    differences: tuple[Difference, ...]
    overlapping: tuple[Difference, ...]
    """About other functions or arguments than these. The failures that they explain are explained already, which may be
    because runs that break one rule break another as well."""
    tried: int
    runs: int
    failing: int
    unexplained: int


@dataclass(frozen=True, eq=False)
class _Contender:
    """A candidate that could explain failures, perhaps with a condition."""

    guard: Guard
    masks: GuardMasks
    family: int
    clearness: int
    """How little its template says about why: 0 is best."""
    by_luck: float = 0.0


def explain(runs: Sequence[StudyRun], run_set: RunSet, limit: int = 8) -> Explanation:
    """The differences between the passing and the failing runs among `runs`, those that explain most first."""
    masks = RunMasks(runs, run_set)
    contenders, by_words, tried = _find_contenders(runs, masks)
    everything = (*contenders, *by_words)
    chosen: list[tuple[Sequence[_Contender], int]] = []
    explained = 0
    # What the words of requests tell apart is left to them: data say more about why. What is doubtful comes last.
    for some in (
        [each for each in contenders if each.by_luck <= MAX_BY_LUCK],
        [each for each in by_words if each.by_luck <= MAX_BY_LUCK],
        [each for each in everything if each.by_luck > MAX_BY_LUCK],
    ):
        more, explained = _choose(_group(some), masks, limit - len(chosen), explained)
        chosen += more
    differences = tuple(_difference(group, masks, explains) for group, explains in chosen)
    unexplained = (masks.failed & ~explained).bit_count()
    sure = [each for each in everything if each.by_luck <= MAX_BY_LUCK]
    overlapping = tuple(_find_overlapping(_group(sure), masks, differences))
    return Explanation(differences, overlapping, tried, len(runs), masks.failed.bit_count(), unexplained)


def _group(contenders: Iterable[_Contender]) -> list[list[_Contender]]:
    """Those that the same runs keep and break together, the simplest first."""
    by_masks = dict[GuardMasks, list[_Contender]]()
    for contender in contenders:
        by_masks.setdefault(contender.masks, []).append(contender)
    return [sorted(group, key=_simplicity) for group in by_masks.values()]


def _find_contenders(runs: Sequence[StudyRun], masks: RunMasks) -> tuple[list[_Contender], list[_Contender], int]:
    """The candidates that could explain a failure, those with a condition included; those whose condition is a word
    of the request; and how many were tried."""
    candidates = propose_candidates(runs)
    useful = [candidate for candidate in candidates if _explains_some(candidate.masks, masks)]
    families = Counter(_function_of(candidate) for candidate in candidates)
    changing = _changing(runs)
    contenders, loose = [], []
    for candidate in useful:
        if _is_presence(candidate) or _is_contradicted(candidate.masks, masks):
            loose.append(candidate)
        elif (guard := candidate.parse()) is not None and not _only_goes_on(guard, changing):
            family = families[_function_of(candidate)]
            contenders.append(_Contender(guard, candidate.masks, family, _clearness(guard, changing)))
    conditions = Conditions(masks, collect_atoms(runs))
    tried = len(candidates) + len(loose) * len(conditions)
    contenders += _sharpen(loose, conditions, families, changing)
    words = TaskWords(runs)
    by_words: list[_Contender] = []
    for candidate in filter(_is_presence, loose):
        of_request = Conditions(masks, words.about(_function_of(candidate)), tells_kinds=True)
        by_words += _sharpen([candidate], of_request, families, changing)
        tried += len(of_request)
    return contenders, by_words, tried


def _sharpen(
    loose: Sequence[GuardCandidate], conditions: Conditions, families: Mapping[str, int], changing: Collection[str]
) -> Iterator[_Contender]:
    """The candidates, each with the conditions that leave it the fewest exceptions."""
    sharpened = conditions.sharpen([candidate.masks for candidate in loose])
    for candidate, splits in zip(loose, sharpened, strict=True):
        function = _function_of(candidate)
        if _is_presence(candidate):  # what a call gave back is no reason to make it
            splits = [split for split in splits if not split.condition.startswith(function)]
        asked = _arguments_of(candidate)  # a condition on what the guard itself asks about only bends it
        splits = [split for split in splits if not split.condition.startswith(asked)] if asked else splits
        if function in changing:
            # That a change goes with another is what rules of the same amounts or states have in common.
            splits = [split for split in splits if split.condition not in changing]
            if conditions.tells_kinds and candidate.text.startswith("existence"):
                continue  # that a change which is asked for is made is no lesson
            if candidate.text.startswith(("existence", "response")):
                splits = [split for split in splits if split.alike >= MIN_ALIKE]
        for split in splits[:CONDITIONS_EACH]:
            plain = candidate.parse() if split.chance <= MAX_CHANCE else None
            if plain is not None and (guard := add_condition(plain, split.condition)) is not None:
                family = families[function] * (1 + split.tried)
                by_luck = conditions.expect_by_luck(candidate.masks, split)
                yield _Contender(guard, split.masks, family, _clearness(guard, changing), by_luck)


def _changing(runs: Sequence[StudyRun]) -> frozenset[str]:
    return frozenset(call.function for run in runs for call in run.recorded.calls if call.effect == "write")


def _is_presence(candidate: GuardCandidate) -> bool:
    """A call that is due in every run, or in none: no rule without saying when."""
    return candidate.text.startswith(("existence(", "absence(")) and " when " not in candidate.text


def _arguments_of(candidate: GuardCandidate) -> tuple[str, ...]:
    """`App.function[argument `: how conditions on the arguments begin that a candidate asks about."""
    guard = candidate.parse() if "[" in candidate.text else None
    return tuple(f"{function}[{argument} " for function, argument in guard.arguments) if guard is not None else ()


def _only_goes_on(guard: Guard, changing: Collection[str]) -> bool:
    """After a mere look, something is done: that says no more than that the task is to be done."""
    return guard.template == "response" and parse_pattern(guard.function).function not in changing


def _function_of(candidate: GuardCandidate) -> str:
    """The function that a candidate asks for or is about."""
    inside = candidate.text.partition("(")[2]
    if candidate.text.startswith(("precedence", "response", "not_succession", "covers")):
        inside = inside.partition(", ")[2]
    return ".".join(inside.partition("[")[0].partition(")")[0].split(".")[:2])


def _explains_some(guard: GuardMasks, masks: RunMasks) -> bool:
    return (guard.broken & masks.failed).bit_count() >= MIN_BROKEN and bool(guard.kept & masks.passed)


def _is_contradicted(guard: GuardMasks, masks: RunMasks) -> bool:
    table = masks.table(guard)
    return table.broke_passed > MAX_CONTRADICTING * table.passed


# Choosing


def _choose(
    groups: Sequence[Sequence[_Contender]], masks: RunMasks, limit: int, explained: Mask
) -> tuple[list[tuple[Sequence[_Contender], int]], Mask]:
    """The best contenders, each with how many failures it explains that none before it did, and all these failures.

    Setting failures aside hardly ever makes another contender better, so only those at the top are weighed again.
    """
    chosen: list[tuple[Sequence[_Contender], int]] = []
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
        checked = _check(group, masks)
        if checked is not group:
            again = _weigh(checked, masks, explained) if checked else None
            if again is not None:
                heapq.heappush(waiting, (again, len(chosen)))
            continue
        newly = group[0].masks.broken & masks.failed & ~explained
        explained |= newly
        chosen.append((group, newly.bit_count()))
    return chosen, explained


def _find_overlapping(
    groups: Sequence[Sequence[_Contender]], masks: RunMasks, differences: Sequence[Difference]
) -> Iterator[Difference]:
    """The best contenders about something that no difference is about, one for each function and argument."""
    told = {_subject(difference.guard) for difference in differences}
    entries = sorted(entry for group in groups if (entry := _weigh(group, masks, 0)) is not None)
    found = 0
    for *_, group in entries:
        subject = _subject(group[0].guard)
        if found == MAX_OVERLAPPING or subject in told or masks.chance(group[0].masks) > MAX_CHANCE_OVERLAPPING:
            continue
        if _check(group, masks) is group:
            told.add(subject)
            found += 1
            yield _difference(group, masks, 0)


def _subject(guard: Guard) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What a guard asks for or forbids, and the arguments that it asks about."""
    return guard.target, tuple(pair for pair in guard.arguments if pair[0] == guard.target)


def _weigh(
    group: Sequence[_Contender], masks: RunMasks, explained: Mask
) -> tuple[float, int, tuple[int, int, int, str], Sequence[_Contender]] | None:
    """How contenders are ordered, failures that are explained already set aside. None: not worth a trial."""
    first = group[0]
    left = first.masks.within(~explained)
    table = masks.table(left)
    if table.broke_failed < MIN_BROKEN or not table.kept_passed:
        return None
    likely = masks.chance(left)
    if likely > MAX_CHANCE:
        return None
    size = min(contender.family * max(1.0, contender.by_luck) for contender in group)
    return likely * size, table.broke_passed, _simplicity(first), group


def _check(group: Sequence[_Contender], masks: RunMasks) -> Sequence[_Contender]:
    """The group itself when a replay of its first guard gives what was counted, else that guard with what it gives."""
    first = group[0]
    verdicts = replay_on_all(first.guard, (run.recorded for run in masks.runs))
    replayed = GuardMasks.of_verdicts(verdicts)
    if not first.guard.then and "[" not in first.guard.function:
        replayed = replayed.within(first.masks.spoken)  # in tasks that a call has nothing to do with, it says nothing
    if replayed == first.masks:
        return group
    is_useful = _explains_some(replayed, masks) and not _is_contradicted(replayed, masks)
    return [replace(first, masks=replayed)] if is_useful else []


_CLEAREST = (
    "precedence",
    "response",
    "covers",
    "existence",
    "at_most_once",
    "at_most",
    "at_least",
    "not_succession",
    "absence",
)


def _clearness(guard: Guard, changing: Collection[str]) -> int:
    """What is due after a change or before it says most; what is due after a mere look, or at any time, least."""
    if guard.template == "response" and parse_pattern(guard.function).function not in changing:
        return len(_CLEAREST)
    if guard.template == "existence" and "[" not in guard.function:
        return len(_CLEAREST) + 1
    return _CLEAREST.index(guard.template)


def _simplicity(contender: _Contender) -> tuple[int, int, int, str]:
    """Fewest conditions first, then the template that says most about why, then the smallest family."""
    return len(contender.guard.conditions), contender.clearness, contender.family, str(contender.guard)


def _difference(group: Iterable[_Contender], masks: RunMasks, explains: int) -> Difference:
    first, *others = group
    return Difference(
        first.guard,
        masks.table(first.masks),
        masks.count_tasks(first.masks.spoken),
        masks.chance(first.masks),
        explains,
        tuple(contender.guard for contender in others),
        min(contender.family for contender in (first, *others)),
        first.by_luck,
    )
