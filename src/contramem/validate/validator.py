"""One validator for all authors: what a card, a delta or a patch must pass before it changes a bank."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from contramem.bank.bank import Patch
from contramem.bank.card import FunctionCard, SkillCard
from contramem.contrast.observation import Observation
from contramem.contrast.packet import Packet
from contramem.privacy.public import Public
from contramem.validate.case import Case, Check
from contramem.validate.closure import closure
from contramem.validate.evidence import evidence
from contramem.validate.guards import refuse_guards
from contramem.validate.poison import poison
from contramem.validate.privacy import Privacy
from contramem.validate.schema import schema
from contramem.validate.verdict import Refusal

if TYPE_CHECKING:
    from contramem.build.author import Candidate


class Validator:
    """Runs checks by name, in order. Without arguments, all of them; pass others to choose."""

    def __init__(self, public: Public | None = None, **checks: Check) -> None:
        """`public`: what of the runs a card may say. None: it is not known."""
        self._judges_guards = not checks
        self._checks: dict[str, Check] = checks or {
            "schema": schema,
            "evidence": evidence,
            "closure": closure,
            "privacy": Privacy(public),
            "poison": poison,
        }

    def card(
        self, card: FunctionCard, observations: Sequence[Observation], packets: Sequence[Packet] = ()
    ) -> list[Refusal]:
        """Check a Function Card against the calls it was built from, and the values of their packets."""
        return self.judge(Case(card, packets=tuple(packets), observations=observations))

    def candidate(self, candidate: Candidate, packet: Packet, known_functions: Collection[str] = ()) -> list[Refusal]:
        """Check a delta against its packet."""
        functions = frozenset(known_functions)
        return self.judge(Case(candidate.delta, packets=(packet,), cites=candidate.cites, functions=functions))

    def patch(
        self,
        patch: Patch,
        candidate: Candidate,
        targets: Sequence[SkillCard],
        function_cards: Sequence[FunctionCard] = (),
        packet: Packet | None = None,
    ) -> list[Refusal]:
        """Check a decision on a delta against everything it may draw on. `targets`: the cards that it names."""
        missing = set(patch.target_card_ids) - {card.card_id for card in targets}
        if missing:
            return [Refusal("schema", f"The patch names {', '.join(sorted(missing))}, which it was not given.")]
        if patch.new_or_updated_card is None:
            return []
        functions = frozenset(function for card in targets for function in card.functions_used)
        return self.judge(
            Case(
                patch.new_or_updated_card,
                packets=(packet,) if packet is not None else (),
                functions=functions | {card.tool for card in function_cards} | set(candidate.delta.functions_used),
                sources=(candidate.delta, *targets, *function_cards),
            )
        )

    def judge(self, case: Case) -> list[Refusal]:
        """Run all checks on a case."""
        refusals = [Refusal(name, reason) for name, check in self._checks.items() for reason in check(case)]
        if self._judges_guards:
            refusals += refuse_guards(case)
        return refusals
