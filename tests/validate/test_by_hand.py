"""What is said about a card that a person wrote, without the runs."""

from __future__ import annotations

import pytest
from tests.validate.validate_examples import delta, skill_card

from contramem.bank.bank import Add, Bank
from contramem.validate.by_hand import doubts


def bank_naming(function: str) -> Bank:
    add = Add(delta_index=0, reason="new", new_or_updated_card=delta(functions_used=(function,)))
    return Bank().apply(add, "mail")


@pytest.mark.parametrize("function", ["Stock.count", "Mail.set_folder", "Mail.assign_owners", "Mail.close_ticket"])
def test_a_function_that_no_card_names_is_no_reason_for_doubt(function: str) -> None:
    card = skill_card(functions_used=(function,))
    for name in ("Mail.get_folder", "Mail.assign_owner", "Mail.open_ticket"):
        assert not [doubt for doubt in doubts(card, bank_naming(name)) if function in doubt.reason]


def test_a_function_one_letter_away_from_a_known_one_is_doubted() -> None:
    card = skill_card(functions_used=("Mail.asign_owner",))
    reasons = [doubt.reason for doubt in doubts(card, bank_naming("Mail.assign_owner"))]
    assert "No other card names Mail.asign_owner. Perhaps Mail.assign_owner was meant." in reasons
