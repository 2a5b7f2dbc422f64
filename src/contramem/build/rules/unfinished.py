"""Unfinished: what failing runs of an ability omitted entirely. They never looked, gave up, or only announced a change.

No condition on data says when this applies, so `study.explain` cannot find it. Each kind of omission becomes one card.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import dropwhile, pairwise
from typing import Any, NamedTuple

from contramem.build.functions.words import verb_of
from contramem.build.rules.kinds.carry_out import CarryOut
from contramem.build.rules.kinds.look_first import LookFirst
from contramem.build.rules.kinds.try_again import TryAgain
from contramem.build.rules.rule import MAX_CALLS, Rule
from contramem.monitor.comparison import read_number
from contramem.monitor.dates import read_time
from contramem.monitor.guard import Guard, parse_guard
from contramem.study.atoms import Atom
from contramem.study.masks import GuardMasks, Mask, RunMasks, mask_of
from contramem.study.recorded_actions import RecordedAction, replay_on_all
from contramem.study.run_set import RunSet, StudyRun
from contramem.study.task_words import TaskWords

MAX_CHANCE = 0.01
"""Within tasks. Few such rules are tried, so there is no correction."""
MAX_CONTRADICTING = 0.05
"""The share of passing runs that may have omitted it as well."""
MIN_TASKS = 2
"""The number of tasks in which failing runs omitted it."""
MIN_FAILING = 4
_EFFECTS = ("read", "write")
"""What runs may leave out."""


def find_unfinished(evidence: Sequence[StudyRun], runs: RunSet) -> Iterator[Rule]:
    """Yield the rules, each with guards that passing runs follow and failing runs break."""
    omissions = _Omissions(evidence, RunMasks(evidence, runs))
    yield from omissions.look_first()
    general = list(omissions.change_something())
    yield from general
    # If every request asks for a change, the only question is which one.
    yield from omissions.carry_out(names_functions=bool(general))
    yield from omissions.try_again()


class _RequestedChange(NamedTuple):
    """A change that requests ask for."""

    guard: str
    function: str
    failing: Mask
    """The failing runs that did not make it."""
    names_function: bool
    """Whether the guard demands this very function. Otherwise any change of its app will do."""

    def rank(self, covered: Mask) -> tuple[int, bool, int, str]:
        """Most failing runs that nothing else covers; then a function before a class of functions; then fewest
        words."""
        return (self.failing & ~covered).bit_count(), self.names_function, -len(self.guard), self.guard


class _Omissions:
    """What runs omitted."""

    def __init__(self, evidence: Sequence[StudyRun], masks: RunMasks) -> None:
        self._runs, self._masks = evidence, masks
        self._worked_by: dict[str, Mask] = {}
        self._gets_replies = any(map(_gets_reply, evidence))
        effects = {call.function: call.effect for run in evidence for call in run.recorded.calls}
        self._reads = sorted(function for function, effect in effects.items() if effect == "read")
        self._changes = sorted(function for function, effect in effects.items() if effect == "write")

    def look_first(self) -> Iterator[LookFirst]:
        """For the app that passing runs read most often: they read before they answer."""
        app, own = self._find_usual_app(self._reads)
        if not own:
            return
        rule = LookFirst(functions=own, app=app, answered=0, gets_replies=self._gets_replies, family=len(_EFFECTS))
        # A refused run did try, and a run that changed something without looking failed for another reason.
        if answered := self._count_without(rule.guards[0], [*self._reads, *self._changes]):
            yield replace(rule, answered=answered)

    def change_something(self) -> Iterator[CarryOut]:
        """For the app that passing runs change most often: they change something."""
        app, own = self._find_usual_app(self._changes)
        if not own:
            return
        guard = parse_guard(f"existence(writes({app}))")
        if left_out := self._count_without(guard, own):
            yield CarryOut(
                functions=own[:MAX_CALLS],
                deeds=(str(guard),),
                left_out=(left_out,),
                gets_replies=self._gets_replies,
                family=len(_EFFECTS),
            )

    def _find_usual_app(self, functions: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """The app of the function that most passing runs called, and its functions that they called, the most usual
        first."""
        worked = Counter(function for run in self._runs if run.passed for function in run.recorded.functions)
        usual = sorted((name for name in functions if worked[name]), key=lambda name: (-worked[name], name))
        app = usual[0].partition(".")[0] if usual else ""
        return app, tuple(name for name in usual if name.startswith(f"{app}."))

    def _count_without(self, guard: Guard, functions: Sequence[str]) -> int:
        """The failing runs that broke it without having tried any of the functions; 0 if that is not sure."""
        masks = GuardMasks.of_verdicts(replay_on_all(guard, [run.recorded for run in self._runs]))
        blind = masks._replace(broken=masks.broken & ~self._tried(functions))
        return self._count_failing(blind) if self._is_sure(masks) and self._is_sure(blind) else 0

    def carry_out(self, *, names_functions: bool) -> Iterator[CarryOut]:
        """The changes that words of requests ask for, using the words that together cover most failing runs without a
        change. `names_functions`: only changes that name a function. In a conversation, nothing: what is to be changed
        is agreed on later."""
        if self._gets_replies:
            return
        words = TaskWords(self._runs)
        asking = [(function, atom) for function in self._changes for atom in _find_orders(function, words)]
        changes = [change for function, atom in asking for change in self._find_requested_changes(function, atom)]
        changes = [change for change in changes if change.names_function or not names_functions]
        covered = 0
        for _ in range(MAX_CALLS):
            best = max(changes, key=lambda change: change.rank(covered), default=None)
            newly = best.failing & ~covered if best is not None else 0
            if best is None or newly.bit_count() < MIN_FAILING:
                return
            covered |= newly
            yield CarryOut(
                functions=(best.function,),
                deeds=(best.guard,),
                left_out=(best.failing.bit_count(),),
                gets_replies=self._gets_replies,
                family=len(_EFFECTS) * len(asking),
            )

    def _find_requested_changes(self, function: str, atom: Atom) -> Iterator[_RequestedChange]:
        """The function is called if the request says so; or any change is made."""
        app = function.partition(".")[0]
        own = [name for name in self._changes if name.startswith(f"{app}.")]
        for what, functions in ((function, [function]), (f"writes({app})", own)):
            worked = 0
            for name in functions:
                worked |= self._worked(name)
            masks = GuardMasks(worked & atom.mask, atom.mask & ~worked)
            if self._is_sure(masks) and self._is_sure(masks._replace(broken=masks.broken & ~self._tried(functions))):
                guard, failing = f"existence({what}) when {atom.text}", masks.broken & self._masks.failed
                yield _RequestedChange(guard, function, failing, names_function=what == function)

    def try_again(self) -> Iterator[TryAgain]:
        """The searches that failing runs gave up on, with the argument to which passing runs gave another value. With
        another value, a change is another change."""
        for function in self._reads:
            called, worked = self._called(function), self._worked(function)
            masks = GuardMasks(worked, called & ~worked)
            if self._is_sure(masks) and (argument := self._find_changed_argument(function)):
                gave_up = (self._count_failing(masks),)
                yield TryAgain(functions=(function,), change=argument, gave_up=gave_up, family=len(self._reads))

    def _find_changed_argument(self, function: str) -> str:
        """The argument that passing runs changed after a failure, if the function then worked; empty: none."""
        changed = Counter[str]()
        for run in self._runs:
            if run.passed and function in run.called:
                changed.update(_find_changes([call for call in run.recorded.calls if call.function == function]))
        return changed.most_common(1)[0][0] if changed else ""

    def _tried(self, functions: Sequence[str]) -> Mask:
        """The runs that called one of the functions. A run that was refused did not forget to call it."""
        mask = 0
        for function in functions:
            mask |= self._called(function)
        return mask

    def _called(self, function: str) -> Mask:
        return mask_of(place for place, run in enumerate(self._runs) if function in run.called)

    def _worked(self, function: str) -> Mask:
        if function not in self._worked_by:
            places = (place for place, run in enumerate(self._runs) if function in run.recorded.functions)
            self._worked_by[function] = mask_of(places)
        return self._worked_by[function]

    def _is_sure(self, masks: GuardMasks) -> bool:
        table = self._masks.table(masks)
        if table.broke_failed < MIN_FAILING or table.broke_passed > MAX_CONTRADICTING * table.passed:
            return False
        tasks = self._masks.count_tasks(masks.broken & self._masks.failed)
        return tasks >= MIN_TASKS and self._masks.chance(masks) <= MAX_CHANCE

    def _count_failing(self, masks: GuardMasks) -> int:
        return (masks.broken & self._masks.failed).bit_count()


def _gets_reply(run: StudyRun) -> bool:
    """Does a user write again after the agent has said or done something?"""
    after = dropwhile(lambda event: event.actor != "agent", run.trajectory.events)
    return any(event.actor == "user" for event in after)


def _find_orders(function: str, words: TaskWords) -> list[Atom]:
    """Requests that contain the verb of the function, and those that contain another word of its name as well: `create`
    and `file`. A word that only names a thing orders nothing."""
    app, _, name = function.partition(".")
    orders = words.about(f"{app}.{verb_of(name)}", max_words=1)
    pairs = [
        Atom(f"{order.text} and {other.text}", order.mask & other.mask, other.choices)
        for order in orders
        for other in words.about(function, max_words=1)
        if other.mask not in (atom.mask for atom in orders)
    ]
    return [*orders, *pairs]


def _find_changes(calls: Sequence[RecordedAction]) -> Iterator[str]:
    for failed, later in pairwise(calls):
        if not failed.worked and later.worked:
            changed = (name for name, value in later.arguments.items() if failed.arguments.get(name) != value)
            yield from (name for name in changed if _is_wording(later.arguments[name]))


def _is_wording(value: Any) -> bool:
    """Whether the same thing could be put in other words. Another number or date is another thing."""
    return isinstance(value, str) and read_number(value) is None and read_time(value) is None
