"""Rule: what a Skill Card written by rules says, as a value. The words of the card are generated from it alone, and
nothing reads them back.

Each kind of rule is one file in kinds/. A kind whose rules can be checked names its guard template, and defines how
such guards are proposed, when breaking one is the cause of a failure, and what else its card needs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import shorten
from typing import Any, ClassVar, NamedTuple, Self

import msgspec

from contramem.bank.bank import Grade, StoredRule
from contramem.bank.card import Evidence, Skill, SkillDelta
from contramem.build.rules.phrases import code_name, describe_path, tags_of
from contramem.build.rules.support import FollowRecord
from contramem.contrast.enabling import Enabling
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.signal import Cite
from contramem.grading import GRADE_WORDS
from contramem.guards.guard import Guard
from contramem.guards.packets import GuardReplay
from contramem.guards.templates import Template

MAX_TITLE_CHARS = 120
MAX_TRIGGER_CHARS = 500
"""Maximum length of `applies_when`. A condition that would exceed it is stated only by the guard."""
MIN_BROKEN = 0.2
"""The share of failing runs that must have broken a rule: a single mistake among many failures is an anecdote."""
MAX_CALLS = 4
"""How many preconditions of a call, or calls of a precondition, one card names. The rest is left to other cards."""


class Words(Skill):
    """The sentences of a card: the skill and its introduction."""

    title: str
    applies_when: str
    solves: str

    @property
    def skill(self) -> Skill:
        return Skill(**{name: getattr(self, name) for name in Skill.model_fields})


@dataclass(frozen=True)
class Contrast:
    """How the runs of the task that first taught a rule ended."""

    held: int = 0
    passing: int = 0
    broken: int = 0
    failing: int = 0

    @property
    def kept(self) -> str:
        return f"{self.held} of {self.passing}"

    @property
    def broke(self) -> str:
        return f"{self.broken} of {self.failing}"


@dataclass(frozen=True, kw_only=True)
class Rule(ABC):
    """One rule. Two rules that say the same are equal except for their evidence."""

    KIND: ClassVar[str]
    STANDS_ALONE: ClassVar[bool] = False
    """Is breaking it a mistake whatever else the run did, and no sign of another mistake? Such is what runs left out
    entirely, and the same change made twice where nothing else differs."""
    HIDES_OTHER_ARGUMENTS: ClassVar[bool] = False
    """Do its examples show only the arguments that it is about?"""
    COUNTS_ALL_TASKS: ClassVar[bool] = False
    """Are its counts over all tasks of the ability, and not of the task that taught it?"""
    functions: tuple[str, ...]
    """All functions that its card names."""
    contrast: Contrast = Contrast()
    overall: FollowRecord | None = None
    """How all runs in which it applies ended. None: only one task shows it."""
    grade: Grade | None = None
    when: str = ""
    """A function: the rule applies to tasks that call it."""
    family: int = 0
    """How many rules of its family could have been found instead, if that was counted (study/explain.py). 0: a single
    task proposed it, and it is corrected for everything that single tasks proposed."""

    @property
    def guards(self) -> tuple[Guard, ...]:
        """The checkable part of the rule."""
        return ()

    @property
    def arguments(self) -> set[str]:
        """The arguments that it is about: examples show them first."""
        tested = {test.argument for guard in self.guards for pattern in guard.patterns for test in pattern.conditions}
        return tested | {guard.argument for guard in self.guards if guard.argument}

    @abstractmethod
    def words(self) -> Words:
        """The sentences of its card, except for what all kinds share."""

    def says(self, other: Rule) -> bool:
        """Does it say what the other says, perhaps about more? Rules with guards are compared by their guards."""
        return False

    def merge(self, mine: SkillDelta, other: Lesson, packet: Packet) -> Lesson | None:
        """One rule that says both; None if they are different rules. `mine` is the text of this rule's card."""
        return None

    def waits_for_more(self) -> bool:
        """Is it too early to merge it with others while no card states it yet?"""
        return False

    def after_refusal(self) -> Rule | None:
        """The same rule, applied only after the tool refuses a call; None if that makes no sense."""
        return None

    def look_at(self, packets: Sequence[Packet]) -> Rule:
        """The rule with what all runs show instead of a single task."""
        return self

    def confine(self, guard: Guard) -> Self:
        """The rule limited to tasks that call the function in `guard`'s `when`."""
        return replace(self, when=guard.when, functions=tuple(dict.fromkeys([*self.functions, guard.when])))

    def store(self) -> StoredRule:
        """The rule in the form in which the store keeps it beside the card."""
        return StoredRule(kind=self.KIND, facts=msgspec.json.decode(msgspec.json.encode(self)))

    @classmethod
    def load(cls, facts: Any) -> Self:
        """Load a stored rule. Raises msgspec.ValidationError if another version wrote it."""
        return msgspec.convert(facts, type=cls)


class GuardRule(Rule):
    """A kind of rule that a guard expresses."""

    TEMPLATE: ClassVar[Template]
    SHARPNESS: ClassVar[float]
    """If the evidence is equal, the rule that says more wins: where a value comes from, then what comes first, then
    what must follow."""
    NEEDS_CLEAR_DIFFERENCE: ClassVar[bool] = False
    """Is it accepted only if runs that follow it pass clearly more often?"""

    @classmethod
    @abstractmethod
    def propose(cls, packet: Packet) -> Iterator[Guard]:
        """Yield the guards that the runs of the packet suggest, whatever their outcomes: their number says how many
        chances there were to find something by accident (significance.py). Each is followed by some run and broken by
        another."""

    @classmethod
    def is_cause(cls, replayed: GuardReplay, packet: Packet, enabled: Sequence[Enabling]) -> bool:
        """As far as the tools' own answers tell: did runs that broke the guard fail because of it?"""
        return True

    @classmethod
    def counts_as_broken(cls, guard: Guard, run: PacketRun) -> bool:
        """Does a failing run that broke the guard count towards the required share?"""
        return True

    @classmethod
    def topic(cls, guard: Guard, enabled: Sequence[Enabling]) -> tuple[str, str]:
        """What the guard is a lesson about. One lesson per topic is enough."""
        return guard.target, guard.argument

    @classmethod
    def yields_to(cls, guard: Guard, other: Guard) -> bool:
        """Does the other guard, broken by the same runs, say the same thing better?"""
        return False

    @classmethod
    def is_shown_by(cls, guard: Guard, enabling: Enabling) -> bool:
        """Has a tool refused a call until what the guard asks for was done?"""
        return False

    @classmethod
    def is_accepted_otherwise(cls, guard: Guard, packets: Sequence[Packet]) -> bool:
        """Do tools accept most calls that break the guard?"""
        return False

    @classmethod
    def is_refused_otherwise(cls, guard: Guard, packets: Sequence[Packet]) -> bool:
        """Do tools refuse calls that break the guard, and no others?"""
        return False

    @classmethod
    def find_typical(
        cls, guard: Guard, broken: Sequence[PacketRun], enabled: Sequence[Enabling]
    ) -> Sequence[PacketRun]:
        """Those of the failing runs that broke it which show best what happens then."""
        return broken

    @classmethod
    @abstractmethod
    def learn(cls, replayed: GuardReplay, packet: Packet) -> Rule | None:
        """The rule that the guard expresses, with everything on its card; None if an agent could not act on it."""

    @classmethod
    def covers(cls, guard: Guard, other: Guard, packet: Packet) -> bool:
        """Does it say about a class of calls what the other says about one of them?"""
        return False

    @classmethod
    def asks_beforehand(cls, guard: Guard, function: str, by: Sequence[str], arguments: Sequence[str]) -> bool:
        """Does it demand, before a call of `function`, what would get past its refusal: calls of `by`, which supply
        `arguments`?"""
        return False

    @classmethod
    def find_flaw(cls, guard: Guard, packets: Sequence[Packet]) -> str:
        """Why the runs count against this rule, whatever their outcomes; empty: they do not."""
        return ""


class Lesson(NamedTuple):
    """A rule, the text of its card, and the events that show it."""

    rule: Rule
    text: SkillDelta
    cites: tuple[Cite, ...] = ()


# Texts


def write(rule: Rule, tags: tuple[str, ...], evidence: Evidence) -> SkillDelta:
    """The text of a rule's card."""
    words = rule.words()
    contrast = _with_grade(_with_overall(words.success_failure_contrast, rule.overall), rule.grade)
    return SkillDelta(
        title=shorten(words.title, MAX_TITLE_CHARS, placeholder=" …"),
        applies_when=_confine(words.applies_when, rule.when),
        solves=words.solves,
        tags=tags,
        skill=words.skill.model_copy(update={"success_failure_contrast": contrast}),
        evidence=evidence,
        functions_used=rule.functions,
        guards=tuple(str(guard) for guard in rule.guards),
    )


def restate(text: SkillDelta, rule: Rule) -> SkillDelta:
    """The text that now states `rule`, with its previous tags and examples."""
    return write(rule, text.tags, text.evidence)


def illustrate(
    rule: Rule, packet: Packet, good: PacketRun | None, bad: PacketRun | None = None, transition: str = ""
) -> SkillDelta:
    """The text of a new rule, with examples from runs of the packet that taught it."""
    good_example, bad_example = (
        describe_path(run, rule.functions, rule.arguments, hides_others=rule.HIDES_OTHER_ARGUMENTS) if run else ""
        for run in (good, bad)
    )
    evidence = Evidence(transition=transition, good_example=good_example, bad_example=bad_example)
    return write(rule, tags_of(packet, rule.functions), evidence)


def _confine(applies_when: str, when: str) -> str:
    longer = f"{applies_when.rstrip('.')}, in a task that also needs {code_name(when)}."
    return longer if when and len(longer) <= MAX_TRIGGER_CHARS else applies_when


def _with_overall(contrast: str, overall: FollowRecord | None) -> str:
    return f"{contrast} Across the {overall.tasks} tasks where it applies, {overall}." if overall else contrast


def _with_grade(contrast: str, grade: Grade | None) -> str:
    return f"{GRADE_WORDS[grade]} {contrast}" if grade else contrast


# Kinds


def kinds() -> dict[str, type[Rule]]:
    """Every kind of rule, by name."""
    from contramem.build.rules.kinds import KINDS  # the kinds import this module

    return KINDS


def guard_kinds() -> tuple[type[GuardRule], ...]:
    """The kinds that a guard expresses."""
    return tuple(kind for kind in kinds().values() if issubclass(kind, GuardRule))


def kind_of(guard: Guard) -> type[GuardRule] | None:
    """The kind of rule that the guard expresses; None if only people and models write such guards."""
    return next((kind for kind in guard_kinds() if guard.template == kind.TEMPLATE), None)


def load_rule(stored: StoredRule | None) -> Rule | None:
    """The rule stored beside a card; None if there is none that this version can read. Such a card consists only of its
    guards and its words."""
    kind = kinds().get(stored.kind) if stored else None
    if stored is None or kind is None:
        return None
    try:
        return kind.load(stored.facts)
    except msgspec.ValidationError:
        return None
