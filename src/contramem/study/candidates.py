"""Candidates: the guards worth trying on the runs of some tasks, whatever their outcomes.

Presence, order and repetition of calls; argument_candidates.py has those about arguments. Which runs follow and break a
candidate is computed from summaries of the calls of each run; the chosen ones are replayed exactly.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from contramem.study.argument_candidates import propose_about_arguments
from contramem.study.atoms import MIN_TASKS
from contramem.study.guard_candidate import GuardCandidate, about_call, about_two_calls
from contramem.study.masks import GuardMasks, Mask
from contramem.study.run_outline import CallOutline, RunOutline
from contramem.study.run_set import StudyRun
from contramem.traces.shell import is_program

MAX_PAIRS = 2_500
"""How many functions are tried in pairs."""


def propose_candidates(runs: Sequence[StudyRun]) -> list[GuardCandidate]:
    """Every guard worth a trial on `runs`, each once, simplest first."""
    calls = _FunctionMasks(runs)
    proposed: dict[str, GuardCandidate] = {}
    for candidate in (
        *_presence(calls),
        *_order(calls),
        *_repetition(runs, calls),
        *propose_about_arguments(runs),
    ):
        proposed.setdefault(candidate.text, candidate)
    return [proposed[text] for text in sorted(proposed, key=lambda text: (len(text), text))]


class _FunctionMasks:
    """By function: the runs that called it, and those in which it worked."""

    def __init__(self, runs: Sequence[StudyRun]) -> None:
        self.called = defaultdict[str, Mask](int)
        self.worked = defaultdict[str, Mask](int)
        self.changing = set[str]()
        self.by_outline = defaultdict[RunOutline, Mask](int)
        self._tasks = defaultdict[str, Mask](int)
        for place, run in enumerate(runs):
            self._tasks[run.task] |= 1 << place
            self.by_outline[run.outline] |= 1 << place
        for outline, mask in self.by_outline.items():
            self.changing |= outline.changing
            for call in outline.calls:
                self.called[call.function] |= mask
                if call.worked:
                    self.worked[call.function] |= mask

    def where_called(self, function: str) -> Mask:
        """All runs of the tasks in which some run calls the function."""
        called, mask = self.called[function], 0
        for task in self._tasks.values():
            mask |= task if task & called else 0
        return mask


def _presence(calls: _FunctionMasks) -> Iterator[GuardCandidate]:
    """Whether a function is called. In tasks that never involve it, not calling it means nothing."""
    for function, called in calls.called.items():
        worked, where = calls.worked[function], calls.where_called(function)
        if worked and worked != where:
            yield about_call("existence", function, GuardMasks(worked, where & ~worked))
            yield about_call("absence", function, GuardMasks(where & ~called, called))


class _Positions(NamedTuple):
    """Where a function occurs among the calls of a run."""

    first_worked: int
    last_worked: int
    decisive: int
    """The first successful call, or else the last call."""


def _order(calls: _FunctionMasks) -> Iterator[GuardCandidate]:
    together: Counter[tuple[str, str]] = Counter()
    prepared = defaultdict[tuple[str, str], Mask](int)
    answered = defaultdict[tuple[str, str], Mask](int)
    followed = defaultdict[tuple[str, str], Mask](int)
    for outline, mask in calls.by_outline.items():
        positions = _find_positions(outline.calls)
        for pair in combinations(sorted(outline.worked & positions.keys()), 2):
            together[pair] += mask.bit_count()
        for before, earlier in positions.items():
            if earlier.first_worked < 0:
                continue
            for after, later in positions.items():
                if earlier.first_worked < later.decisive:
                    prepared[before, after] |= mask
                if later.last_worked > earlier.last_worked:
                    answered[before, after] |= mask
                if later.last_worked > earlier.first_worked:
                    followed[before, after] |= mask
    # Those that most runs call together: the number of pairs grows quadratically.
    common = sorted(together.items(), key=lambda counted: (-counted[1], counted[0]))[:MAX_PAIRS]
    for pair, count in common:
        for before, after in (pair, pair[::-1]) if count >= MIN_TASKS else ():
            kept = prepared[before, after]
            yield about_two_calls("precedence", before, after, GuardMasks(kept, calls.called[after] & ~kept))
            kept = answered[before, after]
            yield about_two_calls("response", before, after, GuardMasks(kept, calls.worked[before] & ~kept))
            if {before, after} <= calls.changing and not is_program(after):
                # Where both changes are made, one may have to come first. Programs are run again after any change.
                broken = followed[before, after]
                kept = calls.worked[before] & ~broken
                yield about_two_calls("not_succession", before, after, GuardMasks(kept, broken))


def _find_positions(calls: Sequence[CallOutline]) -> dict[str, _Positions]:
    positions: dict[str, _Positions] = {}
    for number, call in enumerate(calls):
        before = positions.get(call.function, _Positions(-1, -1, -1))
        first = number if call.worked and before.first_worked < 0 else before.first_worked
        last = number if call.worked else before.last_worked
        positions[call.function] = _Positions(first, last, first if first >= 0 else number)
    return positions


def _repetition(runs: Sequence[StudyRun], calls: _FunctionMasks) -> Iterator[GuardCandidate]:
    again, alike = defaultdict[str, Mask](int), defaultdict[str, Mask](int)
    for place, run in enumerate(runs):
        if not _changes_again(run.outline):
            continue
        made: dict[str, set[object]] = {}
        for call in run.recorded.calls:
            if not call.worked or call.effect == "read":
                continue
            if call.function in made:
                again[call.function] |= 1 << place
                if call.key() in made[call.function]:
                    alike[call.function] |= 1 << place
            made.setdefault(call.function, set()).add(call.key())
    for function, broken in again.items():
        masks = GuardMasks(calls.worked[function] & ~broken, broken)
        yield about_two_calls("not_succession", function, function, masks)
    for function, broken in alike.items():
        yield about_call("at_most_once", function, GuardMasks(calls.worked[function] & ~broken, broken))


def _changes_again(outline: RunOutline) -> bool:
    """Does some function change something more than once?"""
    changed = [call.function for call in outline.calls if call.worked and call.effect != "read"]
    return len(set(changed)) < len(changed)
