"""Case: a text that is to enter the bank, and everything it may be checked against."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeAlias

from contramem.bank.card import SKILL_FIELDS, FunctionCard, SkillDelta
from contramem.contrast.observation import Observation
from contramem.contrast.packet import Packet
from contramem.contrast.signal import Cite
from contramem.validate.packet_contents import Names, PacketContents, contents_of, names_of_observations

Text: TypeAlias = SkillDelta | FunctionCard


class Field(NamedTuple):
    """One piece of a card's text, under the name that a person would look for."""

    name: str
    text: str


@dataclass(frozen=True)
class Case:
    """The input of the checks. Each check uses what is present and skips what it cannot judge."""

    text: Text
    packets: tuple[Packet, ...] = ()
    """The packet behind a delta; for a Function Card, the packets with its calls, if known."""
    observations: Sequence[Observation] = ()
    cites: tuple[Cite, ...] | None = None
    """None: the text cites no events itself (a patch, a Function Card)."""
    functions: frozenset[str] = frozenset()
    """Functions that exist, in addition to those of the packets."""
    sources: tuple[Text, ...] | None = None
    """What a patch may draw on. None: the text is not a patch."""
    written: tuple[Field, ...] | None = None
    """Its pieces under the names that its author knows; by default those of the card."""

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        return tuple(fields(self.text)) if self.written is None else self.written

    @cached_property
    def contents(self) -> tuple[PacketContents, ...]:
        return tuple(contents_of(packet) for packet in self.packets)

    @cached_property
    def names(self) -> Names:
        """Names of the interface: functions, arguments, fields."""
        texts = (self.text, *(self.sources or ()))
        own = [function for text in texts for function in functions_of(text)]
        own += [a.name for text in texts if isinstance(text, FunctionCard) for a in text.arguments]
        parts = [Names.of((*own, *names_of_observations(self.observations))), _names_of(self.functions)]
        parts += [contents.names for contents in self.contents]
        return Names(
            frozenset().union(*(names.whole for names in parts)), frozenset().union(*(names.words for names in parts))
        )


@lru_cache(maxsize=16)  # a build always asks with the same functions
def _names_of(functions: frozenset[str]) -> Names:
    return Names.of(functions)


Check: TypeAlias = Callable[[Case], Iterator[str]]
"""Yields one sentence per problem."""


def functions_of(text: Text) -> tuple[str, ...]:
    """The functions that a card is about."""
    return (text.tool,) if isinstance(text, FunctionCard) else text.functions_used


def fields(text: Text) -> Iterator[Field]:
    """All text that a reader would see, except for the names of functions, which have their own check."""
    if isinstance(text, FunctionCard):
        yield Field("what_it_does", text.what_it_does)
        for argument in text.arguments:
            yield Field(f"argument {argument.name}", f"{argument.name}: {argument.meaning} ({argument.form})")
        yield Field("returns", text.returns)
        yield from (Field("usage_rules", line) for line in text.usage_rules)
        yield from (Field("common_mistakes", line) for line in text.common_mistakes)
        yield Field("side_effects", text.side_effects)
        return
    for field in SKILL_FIELDS:
        if field.style != "functions":
            yield from (Field(field.name, line) for line in field.texts(text))
