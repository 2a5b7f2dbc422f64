"""Unfinished: what failing runs of an ability omitted entirely. They never looked, gave up, or asked instead of acting.

No condition on data says when this applies, so `study.explain` cannot find it. Each kind of omission becomes one card.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import dropwhile, pairwise
from typing import Any, Literal

from contramem.build.rules.endings import RunEnding, ending_of
from contramem.build.rules.kinds.last_words import LastWords
from contramem.build.rules.kinds.look_first import LookFirst
from contramem.build.rules.kinds.try_again import TryAgain
from contramem.build.rules.rule import MAX_CALLS, Rule
from contramem.guards.actions import Action
from contramem.guards.dates import read_time
from contramem.guards.guard import parse_guard
from contramem.guards.values import read_number
from contramem.mining.fwords import verb_of
from contramem.study.atoms import Atom
from contramem.study.masks import GuardMasks, Mask, mask_of, union_of
from contramem.study.replays import Replays
from contramem.study.run_masks import RunMasks
from contramem.study.run_set import RunSet, StudyRun
from contramem.study.task_words import TaskWords

MAX_CHANCE = 0.01
"""Within tasks. Few such rules are tried, so there is no correction."""
MAX_CONTRADICTING = 0.05
"""The share of passing runs that may have omitted it as well."""
MIN_TASKS = 2
"""The number of tasks in which failing runs omitted it."""
MIN_FAILING = 4
MAX_PASSING = 0.1
"""The share of the runs that ended in a certain way that may have passed."""
_EFFECTS = ("read", "write")
"""What runs may leave out."""


def find_unfinished(evidence: Sequence[StudyRun], runs: RunSet) -> Iterator[Rule]:
    """Yield the rules about what passing runs do and failing runs omit."""
    omissions = _Omissions(evidence, RunMasks(evidence, runs))
    yield from omissions.look_first()
    yield from omissions.last_words()
    yield from omissions.try_again()


class _Omissions:
    """What runs omitted."""

    def __init__(self, evidence: Sequence[StudyRun], masks: RunMasks) -> None:
        self._runs, self._masks, self._replays = evidence, masks, Replays(evidence)
        self._worked_by: dict[str, Mask] = {}
        self._everyone: Mask = mask_of(range(len(evidence)))
        self._gets_replies = any(map(_gets_reply, evidence))
        effects = {call.function: call.effect for run in evidence for call in run.outline.calls}
        self._reads = sorted(function for function, effect in effects.items() if effect == "read")
        self._changes = sorted(function for function, effect in effects.items() if effect == "write")
        self._endings = [ending_of(run.trajectory, effects) for run in evidence]

    def look_first(self) -> Iterator[LookFirst]:
        """For the app that passing runs read most often: they read before they answer. Runs that broke off or only
        wrote a call down lacked something else."""
        app, own = self._find_usual_app(self._reads)
        if not own:
            return
        rule = LookFirst(
            functions=own, app=app, answered=0, asked=0, gets_replies=self._gets_replies, family=len(_EFFECTS)
        )
        masks = self._replays.replay(rule.guards[0])
        # A refused run did try, and a run that changed something without looking failed for another reason.
        blind = masks.broken & ~self._tried([*self._reads, *self._changes])
        asked = masks._replace(broken=blind & self._ended("question"))
        both = masks._replace(broken=asked.broken | blind & self._ended("answer"))
        if self._is_sure(masks) and self._is_sure(both):
            yield replace(rule, answered=self._count_failing(both), asked=self._count_failing(asked))

    def last_words(self) -> Iterator[LastWords]:
        """The ways in which runs that changed nothing ended and failed, the most usual first. In a conversation, a
        question is answered."""
        app, own = self._find_usual_app(self._changes)
        if not own:
            return
        changed = union_of(map(self._worked, self._changes))
        endings: list[Literal["question", "written call"]] = (
            ["written call"] if self._gets_replies else ["question", "written call"]
        )
        found = [(ending, GuardMasks(self._everyone, self._ended(ending) & ~changed)) for ending in endings]
        deeds = self._find_deeds(app)
        for ending, masks in sorted(found, key=lambda each: -self._count_failing(each[1])):
            masks = masks._replace(kept=self._everyone & ~masks.broken)
            if not self._is_fatal(masks):
                continue
            table = self._masks.table(masks)
            rule = LastWords(
                functions=own,
                ending=ending,
                failed=table.broke_failed,
                passed=table.broke_passed,
                family=len(_EFFECTS),
            )
            yield from (replace(rule, deeds=(deed,)) for deed in deeds) if deeds else (rule,)
            deeds = ()  # one card is enough to check them

    def _find_usual_app(self, functions: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """The app of the function that most passing runs called, and its functions that they called, the most usual
        first."""
        worked = Counter(function for run in self._runs if run.passed for function in run.outline.worked)
        usual = sorted((name for name in functions if worked[name]), key=lambda name: (-worked[name], name))
        app = usual[0].partition(".")[0] if usual else ""
        return app, tuple(name for name in usual if name.startswith(f"{app}."))

    def _find_deeds(self, app: str) -> tuple[str, ...]:
        """What shows that the change was made: a change of the app, if every request asks for one; if not, the changes
        that words of requests order, using the words that together cover most failing runs. In a conversation, what is
        to be changed is agreed on later."""
        every = f"existence(writes({app}))"
        if self._is_sure(self._replays.replay(parse_guard(every))):
            return (every,)
        if self._gets_replies:
            return ()
        words = TaskWords(self._runs)
        atoms = {atom.text: atom for function in self._changes for atom in _find_orders(function, words)}
        own = union_of(self._worked(name) for name in self._changes if name.startswith(f"{app}."))
        orders = {text: GuardMasks(atom.mask & own, atom.mask & ~own) for text, atom in atoms.items()}
        sure = {text: masks.broken & self._masks.failed for text, masks in orders.items() if self._is_sure(masks)}
        deeds, covered = list[str](), 0
        while len(deeds) < MAX_CALLS and sure:
            text = max(sure, key=lambda text: ((sure[text] & ~covered).bit_count(), -len(text), text))
            if (sure[text] & ~covered).bit_count() < MIN_FAILING:
                break
            covered |= sure[text]
            deeds.append(f"{every} when {text}")
        return tuple(deeds)

    def _is_fatal(self, masks: GuardMasks) -> bool:
        """Does hardly any run pass that ended so? A few may have had nothing to change."""
        table = self._masks.table(masks)
        ended = table.broke_passed + table.broke_failed
        if table.broke_failed < MIN_FAILING or table.broke_passed > MAX_PASSING * ended:
            return False
        return self._is_shown(masks)

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

    def _ended(self, ending: RunEnding) -> Mask:
        return mask_of(place for place, own in enumerate(self._endings) if own == ending)

    def _tried(self, functions: Sequence[str]) -> Mask:
        """The runs that called one of the functions. A run that was refused did not forget to call it."""
        return union_of(map(self._called, functions))

    def _called(self, function: str) -> Mask:
        return mask_of(place for place, run in enumerate(self._runs) if function in run.called)

    def _worked(self, function: str) -> Mask:
        if function not in self._worked_by:
            places = (place for place, run in enumerate(self._runs) if function in run.outline.worked)
            self._worked_by[function] = mask_of(places)
        return self._worked_by[function]

    def _is_sure(self, masks: GuardMasks) -> bool:
        table = self._masks.table(masks)
        if table.broke_failed < MIN_FAILING or table.broke_passed > MAX_CONTRADICTING * table.passed:
            return False
        return self._is_shown(masks)

    def _is_shown(self, masks: GuardMasks) -> bool:
        tasks = self._masks.count_tasks(masks.broken & self._masks.failed)
        return tasks >= MIN_TASKS and self._masks.chance(masks) <= MAX_CHANCE

    def _count_failing(self, masks: GuardMasks) -> int:
        return (masks.broken & self._masks.failed).bit_count()


def _gets_reply(run: StudyRun) -> bool:
    """Does a user write again after the agent has said or done something?"""
    after = dropwhile(lambda event: event.actor != "agent", run.trajectory.events)
    return any(event.actor == "user" for event in after)


def _find_orders(function: str, words: TaskWords) -> list[Atom]:
    """Requests that contain the verb of the function. A word that only names a thing orders nothing."""
    app, _, name = function.partition(".")
    return words.about(f"{app}.{verb_of(name)}", max_words=1)


def _find_changes(calls: Sequence[Action]) -> Iterator[str]:
    for failed, later in pairwise(calls):
        if not failed.worked and later.worked:
            changed = (name for name, value in later.arguments.items() if failed.arguments.get(name) != value)
            yield from (name for name in changed if _is_wording(later.arguments[name]))


def _is_wording(value: Any) -> bool:
    """Whether the same thing could be put in other words. Another number or date is another thing."""
    return isinstance(value, str) and read_number(value) is None and read_time(value) is None
