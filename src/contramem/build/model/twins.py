"""Twins: a delta that a card already states in nearly the same words, so that no model has to be asked about it.

With a window, reflections do not see each other's cards, so packets of one kind teach the same lesson several times.
"""

from __future__ import annotations

from collections.abc import Sequence

from contramem.bank.card import SkillCard, SkillDelta
from contramem.validate.lexicon import content_words

SAME_WORDS = 0.8
"""The share of words that two rules about the same functions must have in common to count as the same."""
SAME_WORDS_AND_GUARDS = 0.6
"""The same for rules that also have the same guards."""


def find_twin(delta: SkillDelta, cards: Sequence[SkillCard]) -> SkillCard | None:
    """The first of `cards` that says the same as the delta; None if there is none."""
    return next((card for card in cards if say_the_same(delta, card)), None)


def say_the_same(delta: SkillDelta, other: SkillDelta) -> bool:
    """Whether two lessons are about the same functions in nearly the same words."""
    if set(delta.functions_used) != set(other.functions_used):
        return False
    words, others = _words(delta), _words(other)
    common = len(words & others) / len(words | others) if words | others else 0.0
    checked_alike = bool(delta.guards) and set(delta.guards) == set(other.guards)
    return common >= (SAME_WORDS_AND_GUARDS if checked_alike else SAME_WORDS)


def _words(text: SkillDelta) -> set[str]:
    return {root for root, _ in content_words(f"{text.title} {text.skill.core_rule}")}
