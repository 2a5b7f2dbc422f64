"""Rule: what a Skill Card of the rules says, as a value. The words of the card are generated from it, and from nothing
else; nothing reads them back.

Each kind of rule is one file in kinds/. A kind whose rules can be checked names the guard template it is about, and
says how such guards are proposed, when breaking one is the cause of a failure, and what else its card has to know.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import msgspec

from contramem.bank.card import Evidence, Skill, SkillDelta
from contramem.bank.stored_rule import StoredRule
from contramem.bank.support import Grade
from contramem.build.rules.phrases import code_name, describe_path, tags_of
from contramem.build.rules.support import FollowRecord
from contramem.contrast.enabling import Enabling
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.signal import Cite
from contramem.monitor.guard import Guard
from contramem.monitor.packet_replay import GuardReplay
from contramem.monitor.template import Template

MAX_TITLE_CHARS = 120
MAX_TRIGGER_CHARS = 500
"""Of `applies_when`. A condition that would make it longer is said by the guard alone."""
MIN_BROKEN = 0.2
"""The share of failing runs that must have broken a rule: what one of many did wrong is an anecdote."""
MAX_CALLS = 4
"""Named in one card. More preconditions of one call, or calls of one precondition, are for other cards."""


class Words(Skill):
    """The sentences of a card: what a skill says, and what introduces it."""

    title: str
    applies_when: str
    solves: str

    @property
    def skill(self) -> Skill:
        return Skill(**{name: getattr(self, name) for name in Skill.model_fields})


@dataclass(frozen=True)
class Contrast:
    """How the runs of the task fared that taught a rule first."""

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
    """One rule. Two rules that say the same are equal but for what they rest on."""

    KIND: ClassVar[str]
    functions: tuple[str, ...]
    """All functions that its card names."""
    contrast: Contrast = Contrast()
    overall: FollowRecord | None = None
    """How all runs fared that it speaks about. None: no more than one task shows it."""
    grade: Grade | None = None
    when: str = ""
    """A function: it holds in tasks that call it."""
    family: int = 0
    """Rules of its family that could have been found instead, where that was counted (study/explain.py). 0: it was
    proposed by one task, and is corrected for all that single tasks proposed."""

    @property
    def guards(self) -> tuple[Guard, ...]:
        """What can be checked of it."""
        return ()

    @abstractmethod
    def words(self) -> Words:
        """The sentences of its card, but for what all kinds have in common."""

    def says(self, other: Rule) -> bool:
        """Does it say what the other says, perhaps of more? Rules with guards are compared by those."""
        return False

    def merge(self, mine: SkillDelta, other: Lesson, packet: Packet) -> Lesson | None:
        """One rule that says both; None when they are two. `mine` is the text of this rule's card."""
        return None

    def waits_for_more(self) -> bool:
        """Is it too early to merge it with others while no card says it yet?"""
        return False

    def after_refusal(self) -> Rule | None:
        """The same, asked for only when the tool refuses a call; None when that makes no sense."""
        return None

    def look_at(self, packets: Sequence[Packet]) -> Rule:
        """The rule with what all runs show instead of one task."""
        return self

    def confine(self, guard: Guard) -> Self:
        """The rule in tasks that call the function that `guard` names after `when`."""
        return replace(self, when=guard.when, functions=tuple(dict.fromkeys([*self.functions, guard.when])))

    def store(self) -> StoredRule:
        """For the store, beside the card."""
        return StoredRule(kind=self.KIND, facts=msgspec.json.decode(msgspec.json.encode(self)))

    @classmethod
    def load(cls, facts: Any) -> Self:
        """Raises msgspec.ValidationError for facts of another version."""
        return msgspec.convert(facts, type=cls)


class GuardRule(Rule):
    """A kind of rule that a guard states."""

    TEMPLATE: ClassVar[Template]
    SHARPNESS: ClassVar[float]
    """What says more is preferred where the evidence is the same: where a value comes from over what comes first, that
    over what must follow."""
    NEEDS_CLEAR_DIFFERENCE: ClassVar[bool] = False
    """Is it believed only when runs that keep it pass clearly more often?"""

    @classmethod
    @abstractmethod
    def propose(cls, packet: Packet) -> Iterator[Guard]:
        """The guards that the runs of the packet suggest, whatever became of the runs: how many there are says how
        often chance was given an opportunity (significance.py). Each is kept by some run and broken by another."""

    @classmethod
    def is_cause(cls, replayed: GuardReplay, packet: Packet, enabled: Sequence[Enabling]) -> bool:
        """Did runs that broke the guard fail of that, as far as the tools' own answers tell?"""
        return True

    @classmethod
    def counts_as_broken(cls, guard: Guard, run: PacketRun) -> bool:
        """Does a failing run that broke the guard count towards the share that must have?"""
        return True

    @classmethod
    def topic(cls, guard: Guard, enabled: Sequence[Enabling]) -> tuple[str, str]:
        """What the guard is a lesson about. One lesson about each is enough."""
        return guard.target, guard.argument

    @classmethod
    def yields_to(cls, guard: Guard, other: Guard) -> bool:
        """Does the other guard, which the same runs break, say the same better?"""
        return False

    @classmethod
    def is_shown_by(cls, guard: Guard, enabling: Enabling) -> bool:
        """Has a tool refused a call until what the guard asks for was done?"""
        return False

    @classmethod
    def is_refused_otherwise(cls, guard: Guard, packets: Sequence[Packet]) -> bool:
        """Do tools refuse calls that break the guard, and no others?"""
        return False

    @classmethod
    @abstractmethod
    def learn(cls, replayed: GuardReplay, packet: Packet) -> Rule | None:
        """The rule that the guard states, with all that its card says; None when an agent could not act on it."""

    @classmethod
    def covers(cls, guard: Guard, other: Guard, packet: Packet) -> bool:
        """Does it say of a class of calls what the other says of one of them?"""
        return False

    @classmethod
    def asks_beforehand(cls, guard: Guard, function: str, by: Sequence[str], arguments: Sequence[str]) -> bool:
        """Does it ask, before a call of `function`, for what would get past its refusal: calls of `by`, which give
        `arguments` their values?"""
        return False

    @classmethod
    def find_flaw(cls, guard: Guard, packets: Sequence[Packet]) -> str:
        """Why all runs speak against saying this, whatever their outcomes; empty: they do not."""
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
        title=words.title[:MAX_TITLE_CHARS],
        applies_when=_confine(words.applies_when, rule.when),
        solves=words.solves,
        tags=tags,
        skill=words.skill.model_copy(update={"success_failure_contrast": contrast}),
        evidence=evidence,
        functions_used=rule.functions,
        guards=tuple(str(guard) for guard in rule.guards),
    )


def restate(text: SkillDelta, rule: Rule) -> SkillDelta:
    """The text that says `rule` now, with the tags and examples it had."""
    return write(rule, text.tags, text.evidence)


def illustrate(
    rule: Rule, packet: Packet, good: PacketRun | None, bad: PacketRun | None = None, transition: str = ""
) -> SkillDelta:
    """The text of a new rule, with examples from runs of the packet that taught it."""
    evidence = Evidence(
        transition=transition,
        good_example=describe_path(good, rule.functions, _arguments(rule)) if good else "",
        bad_example=describe_path(bad, rule.functions, _arguments(rule)) if bad else "",
    )
    return write(rule, tags_of(packet, rule.functions), evidence)


def _arguments(rule: Rule) -> set[str]:
    """The arguments that its guards speak about."""
    tested = {test.argument for guard in rule.guards for pattern in guard.patterns for test in pattern.conditions}
    return tested | {guard.argument for guard in rule.guards if guard.argument}


def _confine(applies_when: str, when: str) -> str:
    longer = f"{applies_when.rstrip('.')}, in a task that also needs {code_name(when)}."
    return longer if when and len(longer) <= MAX_TRIGGER_CHARS else applies_when


def _with_overall(contrast: str, overall: FollowRecord | None) -> str:
    return f"{contrast} Across the {overall.tasks} tasks where it applies, {overall}." if overall else contrast


def _with_grade(contrast: str, grade: Grade | None) -> str:
    return f"{_GRADES[grade]} {contrast}" if grade else contrast


_GRADES: dict[Grade, str] = {
    "enforced": "Enforced: the tool refuses otherwise.",
    "proven": "Proven: more than chance explains.",
    "observed": "Observed: no run speaks against it, and chance is not ruled out.",
}


# Kinds


def kinds() -> dict[str, type[Rule]]:
    """Every kind of rule by its name."""
    from contramem.build.rules.kinds import KINDS  # which are made of rules

    return KINDS


def guard_kinds() -> tuple[type[GuardRule], ...]:
    """The kinds that a guard states."""
    return tuple(kind for kind in kinds().values() if issubclass(kind, GuardRule))


def kind_of(guard: Guard) -> type[GuardRule] | None:
    """The kind of rule that the guard states; None for one that only people and models write."""
    return next((kind for kind in guard_kinds() if guard.template == kind.TEMPLATE), None)


def load_rule(stored: StoredRule | None) -> Rule | None:
    """The rule beside a card; None when there is none, or none that this version can read. Such a card is what its
    guards and its words are."""
    kind = kinds().get(stored.kind) if stored else None
    if stored is None or kind is None:
        return None
    try:
        return kind.load(stored.facts)
    except msgspec.ValidationError:
        return None
