"""Enforcement: what happens to a call that goes against a guard. Opt-in; by default the agent is reminded.

    off       nothing is said about calls
    remind    the agent is told once, and may go on
    ask       a person is asked, where somebody can be asked; elsewhere as `remind`
    deny      the call is not made as long as the guard objects

A guard is enforced no further than unseen runs allow (`contramem evaluate guards --save`): one that would have stopped
too many passing runs, or that applied to none, only reminds, and `deny` is for rules that a tool enforces or that are
proven, and that applied to enough passing runs. A refusal says what satisfies the guard, and a person can allow the
call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from contramem.bank.bank import Grade, UnseenRuns
from contramem.bank.card import SkillCard
from contramem.bank.frozen import FrozenSkill
from contramem.errors import UsageError

if TYPE_CHECKING:
    from contramem.guards.watch import Obligation

Level: TypeAlias = Literal["off", "remind", "ask", "deny"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""From weak to strong."""
LEAST_PASSING = 100
"""So many unseen passing runs to which a guard applies must show that it stops hardly any before it may refuse."""
ALLOW = re.compile(r"\bcontramem allow (skill::\w+)")
"""What a person says to allow calls against a card."""


def level_named(name: str) -> Level:
    """The level of this name. Raises UsageError if there is none."""
    for level in LEVELS:
        if level == name:
            return level
    raise UsageError(f"--enforce is one of {', '.join(LEVELS)}; it is {name!r}.")


def strongest_level(grade: Grade | None, unseen: UnseenRuns | None) -> Level:
    """How far a guard may be enforced."""
    if grade in (None, "open") or unseen is None or not unseen.passing or unseen.is_above_limit:
        return "remind"
    return "deny" if unseen.passing >= LEAST_PASSING and grade in ("enforced", "proven") else "ask"


class Stop(NamedTuple):
    """A call that is not to be made without a person, or not at all."""

    level: Literal["ask", "deny"]
    text: str
    """For the agent: which rule, what satisfies it, and how a person can allow the call."""
    card_ids: tuple[str, ...]


class Enforcement:
    """What one run may not do. Not thread-safe."""

    def __init__(self, level: Level, approve: Callable[[str], bool] | None = None) -> None:
        """`approve` asks a person about a call, with the reason, and says whether it may be made."""
        self.level = level
        self._approve = approve
        self.allowed: set[str] = set()
        """Ids of the cards against which a person has allowed calls, for the rest of the run."""

    @property
    def stops(self) -> bool:
        """Whether it may ask or refuse at all."""
        return self.level in ("ask", "deny")

    def decide(self, objections: Iterable[Obligation], cards: Mapping[str, SkillCard]) -> Stop | None:
        """The strongest stop that these objections give; None if the call can be made. A person who was asked and
        approved is not asked again about these cards, and one who did not approve refuses."""
        found = [(self._level_of(objection, cards.get(objection.card_id)), objection) for objection in objections]
        if refusing := [objection for level, objection in found if level == "deny"]:
            return _stop("deny", refusing)
        asking = [objection for level, objection in found if level == "ask"]
        if not asking:
            return None
        stop = _stop("ask", asking)
        if self._approve is None:
            return stop
        if not self._approve(stop.text):
            return stop._replace(level="deny")
        self.allowed.update(stop.card_ids)
        return None

    def _level_of(self, objection: Obligation, card: SkillCard | None) -> Level:
        if not isinstance(card, FrozenSkill):
            return "remind"
        strongest = strongest_level(card.grade, card.unseen.get(str(objection.guard)))
        return min(strongest, self.level, key=LEVELS.index)


def _stop(level: Literal["ask", "deny"], objections: list[Obligation]) -> Stop:
    rules = "\n".join(f"- {objection.title}: {objection.guard.sentence}" for objection in objections)
    card_ids = tuple(dict.fromkeys(objection.card_id for objection in objections))
    allow = " and ".join(f"`contramem allow {card_id}`" for card_id in card_ids)
    text = (
        f"This call was not made: it goes against what earlier runs taught.\n{rules}\n"
        f"Do what the rule asks, then make the call. If the rule is wrong here, say so to the person you work for, who "
        f"can allow the call by saying {allow}."
    )
    return Stop(level, text, card_ids)
