"""Author: the three jobs of construction behind one protocol. Rules do them without a key, a model with one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from contramem.bank.bank import Bank
from contramem.bank.card import FunctionCard, SkillDelta
from contramem.bank.ledger import Attribution, DecisionCost
from contramem.bank.patch import Patch
from contramem.bank.stored_rule import StoredRule
from contramem.contrast.observation import Observation
from contramem.contrast.packet import Packet
from contramem.contrast.signal import Cite
from contramem.traces.trajectory import Tool

MAX_DELTAS = 3
"""Per packet (paper, Contrastive Skill Memory)."""
Only: TypeAlias = Literal["functions", "skills"]
"""The kind of cards to build, where it is not both."""


@dataclass(frozen=True)
class Candidate:
    """A delta and the events of its packet that show it."""

    delta: SkillDelta
    cites: tuple[Cite, ...]
    rule: StoredRule | None = None
    """What the words were made from. None: the author found them."""


@dataclass(frozen=True)
class Curation:
    """What an author does with a delta, and the rule that the words of the resulting card were made from."""

    patch: Patch
    rule: StoredRule | None = None


@dataclass(frozen=True)
class AuthorCost:
    """What the author's last work cost. Rules work for nothing."""

    usage: DecisionCost = field(default_factory=DecisionCost)
    calls: tuple[str, ...] = ()
    """Digests of the calls."""


class UnusableReply(Exception):
    """An author that was asked often enough has given nothing that can be read. It goes to the ledger as refused."""

    def __init__(self, check: str, reason: str) -> None:
        super().__init__(reason)
        self.check = check
        """The word it is counted under: `reply`, `refusal`, `content filter`."""
        self.reason = reason


class Author(Protocol):
    """Who writes the cards. The same input gives the same cards."""

    @property
    def attribution(self) -> Attribution:
        """For the ledger: who, and at which version."""

    def build_function(
        self, function: str, observations: Sequence[Observation], tool: Tool | None
    ) -> FunctionCard | None:
        """One card from all observed calls of `function`. With its documentation, only what that does not say.

        None: the calls show nothing worth a card.
        """

    def reflect(self, packet: Packet, bank: Bank) -> Sequence[Candidate]:
        """At most MAX_DELTAS lessons, the sharpest first; none when the packet teaches nothing, or nothing that the
        bank does not hold. When every run failed, only diagnosis and recovery."""

    def curate(self, candidates: Mapping[int, Candidate], packet: Packet, bank: Bank) -> Mapping[int, Curation]:
        """The smallest edit of the bank that takes in each of these candidates of the packet, by their numbers.

        An author may leave out candidates behind the first: they come again, with the bank as it is then.
        """

    def reflect_across(self, packets: Sequence[Packet]) -> Sequence[tuple[Candidate, Packet]]:
        """Lessons that only the tasks of an ability taken together teach, each with the packet that shows it best."""

    def spent(self) -> AuthorCost:
        """What the work since the last time cost."""
