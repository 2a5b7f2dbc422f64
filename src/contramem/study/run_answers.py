"""RunAnswers: what was asked about runs, one bit for each of them. Which meet a condition, which follow a guard?

An answer follows from its run and the question alone, so a question is asked about a run once, and the next build finds
the answers again, as long as the task of the run has not changed. A question that a whole build did not ask is
forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from contramem.monitor.guard import Guard
from contramem.monitor.scope import Condition
from contramem.study.masks import Mask, bits_of, mask_from_bits, mask_of, number_names, places_of, select_bits, union_of

if TYPE_CHECKING:
    from contramem.study.run_set import StudyRun

Question: TypeAlias = Guard | Condition


class _Answered(NamedTuple):
    """The answers to one question."""

    asked: Mask
    """The runs it was asked about."""
    by_answer: dict[str, Mask]


_NEVER_ASKED = _Answered(0, {})


class RunAnswers:
    """Answers about a sequence of runs, in which the runs of a task stand together."""

    def __init__(
        self, runs: Sequence[StudyRun], tasks: Mapping[bytes, int] | None = None, before: RunAnswers | None = None
    ) -> None:
        """`tasks`: the place of the first run of each task, by a digest of its runs. `before`: what the last build
        asked."""
        # Not the runs themselves: the notes of a part would keep them alive.
        self._called = [run.called for run in runs]
        self._task_numbers = number_names(run.task for run in runs)
        self.size = len(runs)
        self._tasks = tasks or {}
        self._before = before
        self._answered: dict[Question, _Answered] = {}
        self._calling = dict[str, Mask]()

    def ask(self, question: Question, about: Mask, find: Callable[[int], str]) -> Mapping[str, Mask]:
        """By answer, the runs that give it. `find` is called with the places of those of `about` for which it is
        unknown."""
        answered = self._answered.get(question)
        if answered is None:
            answered = self._answered[question] = self._recall(question)
        if missing := about & ~answered.asked:
            by_answer = dict(answered.by_answer)
            for place in places_of(missing):
                answer = find(place)
                by_answer[answer] = by_answer.get(answer, 0) | 1 << place
            answered = self._answered[question] = _Answered(answered.asked | missing, by_answer)
        return answered.by_answer

    def find_calling(self, functions: Iterable[str] | None) -> Mask:
        """The runs that call one of the functions; all if none is named."""
        return (1 << self.size) - 1 if functions is None else union_of(map(self._find_calling, functions))

    def _find_calling(self, function: str) -> Mask:
        if function not in self._calling:
            self._calling[function] = mask_of(place for place, called in enumerate(self._called) if function in called)
        return self._calling[function]

    def spread_to_tasks(self, mask: Mask) -> Mask:
        """All runs of the tasks that some of these runs belong to."""
        found = np.zeros(self.size, dtype=np.bool_)
        found[self._task_numbers[bits_of(mask, self.size)]] = True
        return mask_from_bits(found[self._task_numbers])

    # From one build to the next

    def _recall(self, question: Question) -> _Answered:
        """What the last build asked, in the order of the runs of this one."""
        before = self._before._answered.get(question) if self._before is not None else None
        if before is None:
            return _NEVER_ASKED
        asked, *masks = (self._put_in_place(mask) for mask in (before.asked, *before.by_answer.values()))
        return _Answered(asked, dict(zip(before.by_answer, masks, strict=True)))

    def _put_in_place(self, mask: Mask) -> Mask:
        return select_bits(mask, self._places_before)

    @cached_property
    def _places_before(self) -> NDArray[np.intp]:
        """Where each run was in the last build; a place behind all others for a run that is new."""
        assert self._before is not None
        places = np.full(self.size, self._before.size, dtype=np.intp)
        ends = [*list(self._tasks.values())[1:], self.size]
        for (task, start), end in zip(self._tasks.items(), ends, strict=True):
            if (earlier := self._before._tasks.get(task)) is not None:
                places[start:end] = np.arange(earlier, earlier + end - start)
        return places

    def __getstate__(self) -> tuple[int, Mapping[bytes, int], dict[Question, _Answered]]:
        return self.size, self._tasks, self._answered

    def __setstate__(self, kept: tuple[int, Mapping[bytes, int], dict[Question, _Answered]]) -> None:
        self.__init__(())  # type: ignore[misc]
        self.size, self._tasks, self._answered = kept
