"""Author: the three jobs of construction behind one protocol. Rules do them without a key, a model with one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from contramem.bank.bank import Bank, Patch, StoredRule
from contramem.bank.card import FunctionCard, SkillDelta
from contramem.bank.ledger import Attribution, DecisionCost
from contramem.build.evidence import Provenance
from contramem.contrast.observation import Observation
from contramem.contrast.packet import Packet
from contramem.contrast.signal import Cite
from contramem.traces.trajectory import Tool

MAX_DELTAS = 3
"""Per packet (paper, Contrastive Skill Memory)."""
Only: TypeAlias = Literal["functions", "skills"]
"""Which cards to build, if not both kinds."""


@dataclass(frozen=True)
class Candidate:
    """A delta and the events of its packet that show it."""

    delta: SkillDelta
    cites: tuple[Cite, ...]
    rule: StoredRule | None = None
    """The rule that the text was generated from. None: the author wrote it."""
    also: tuple[Provenance, ...] = ()
    """Other tasks that show it, if it was found across tasks."""


@dataclass(frozen=True)
class Curation:
    """What an author decides about a delta, and the rule that the resulting card's text was generated from."""

    patch: Patch
    rule: StoredRule | None = None


@dataclass(frozen=True)
class AuthorCost:
    """What the author's latest work cost. Rules cost nothing."""

    usage: DecisionCost = field(default_factory=DecisionCost)
    calls: tuple[str, ...] = ()
    """Digests of the calls."""


class UnusableReply(Exception):
    """After several attempts, the author's reply is still unreadable. Recorded in the ledger as refused."""

    def __init__(self, check: str, reason: str) -> None:
        super().__init__(reason)
        self.check = check
        """The category it is counted under: `reply`, `refusal`, `content filter`."""
        self.reason = reason


class Author(Protocol):
    """Writes the cards. The same input gives the same cards."""

    @property
    def attribution(self) -> Attribution:
        """For the ledger: who, and at which version."""

    def build_function(
        self, function: str, observations: Sequence[Observation], tool: Tool | None
    ) -> FunctionCard | None:
        """A card from all observed calls of `function`, leaving out what its documentation says.

        None: the calls show nothing worth a card.
        """

    def reflect(self, packet: Packet, bank: Bank) -> Sequence[Candidate]:
        """At most MAX_DELTAS lessons, clearest first; none if the packet teaches nothing new to the bank. If every run
        failed, only diagnosis and recovery."""

    def curate(self, candidates: Mapping[int, Candidate], packet: Packet, bank: Bank) -> Mapping[int, Curation]:
        """The smallest edit of the bank for each of these candidates of the packet, by number.

        An author may skip candidates after the first: they are asked for again with the bank as it is then.
        """

    def reflect_across(self, packets: Sequence[Packet]) -> Sequence[tuple[Candidate, Packet]]:
        """Lessons that only show across the tasks of an ability, each with the packet that shows it best."""

    def spent(self) -> AuthorCost:
        """What the work since the last call of this method cost."""
