"""Checks: what every card, delta and patch must pass. `contramem.validate` has them; a build only asks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from contramem.bank.card import FunctionCard, SkillCard
from contramem.bank.patch import Patch
from contramem.build.author import Candidate
from contramem.contrast.observation import Observation
from contramem.contrast.packet import Packet
from contramem.validate.verdict import Refusal


class Checks(Protocol):
    """No refusals: it may enter the bank."""

    def card(
        self, card: FunctionCard, observations: Sequence[Observation], packets: Sequence[Packet] = ()
    ) -> list[Refusal]: ...

    def candidate(
        self, candidate: Candidate, packet: Packet, known_functions: Collection[str] = ()
    ) -> list[Refusal]: ...

    def patch(
        self,
        patch: Patch,
        candidate: Candidate,
        targets: Sequence[SkillCard],
        function_cards: Sequence[FunctionCard] = (),
        packet: Packet | None = None,
    ) -> list[Refusal]: ...
