"""The cards that a Reflector or Curator is shown."""

from __future__ import annotations

from tests.made_runs import call, packet, run

from contramem.bank.bank import Bank
from contramem.bank.card import Skill, SkillDelta
from contramem.bank.patch import Add
from contramem.build.model.neighbours import relate_to_delta, relate_to_packet

STORY = packet(run("a", True, call("Mail.delete_email", {"id": "m-1"}), "Done.", task="Delete the old email."))


def delta(title: str, rule: str, function: str) -> SkillDelta:
    skill = Skill(core_rule=rule, completion=("done",))
    return SkillDelta(title=title, applies_when=title, solves="x", skill=skill, functions_used=(function,))


def bank_of(*deltas: SkillDelta) -> Bank:
    bank = Bank()
    for text in deltas:
        bank = bank.apply(Add(delta_index=0, new_or_updated_card=text, reason="New."), "execution")
    return bank


MAIL = delta("Search before delete_email", "Search the email before you delete it.", "Mail.delete_email")
CAR = delta("Lock doors before startEngine", "Lock the doors before starting the engine.", "Car.startEngine")


def test_a_packet_brings_cards_that_share_words_with_its_task_and_functions() -> None:
    assert [card.title for card in relate_to_packet(STORY, bank_of(MAIL, CAR))] == [MAIL.title]


def test_a_delta_brings_the_card_that_states_the_same_rule_and_not_every_card_that_shares_a_word() -> None:
    again = delta("Search before delete_email again", "Search the email, then delete it.", "Mail.delete_email")
    others = [delta(f"Rule {name}", f"Call {name} before the rest.", f"App.{name}") for name in ("one", "two", "six")]
    assert [card.title for card in relate_to_delta(again, "execution", bank_of(MAIL, CAR, *others))] == [MAIL.title]


def test_an_empty_bank_has_no_neighbours() -> None:
    assert relate_to_packet(STORY, Bank()) == []
    assert relate_to_delta(MAIL, "other ability", bank_of(MAIL)) == []
