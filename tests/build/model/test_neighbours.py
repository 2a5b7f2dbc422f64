"""The cards that a Reflector or Curator is shown."""

from __future__ import annotations

import json

from tests.made_runs import call, packet, run

from contramem.bank.bank import Bank
from contramem.bank.card import Skill, SkillDelta
from contramem.bank.patch import Add
from contramem.build.author import Candidate
from contramem.build.model.author import Neighbourhood, relate_to_delta, relate_to_packet

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


def neighbourhood(bank: Bank, *deltas: SkillDelta) -> Neighbourhood:
    return Neighbourhood({index: Candidate(text, ()) for index, text in enumerate(deltas)}, "execution", bank)


def test_a_curator_sees_the_nearest_card_in_full_and_the_next_ones_in_brief() -> None:
    near = delta(
        "Search before delete_email, twice", "Search the email before you delete it, twice.", "Mail.delete_email"
    )
    seen = neighbourhood(bank_of(MAIL, near, CAR), MAIL)
    (whole,) = seen.card_lines().splitlines()
    assert json.loads(whole)["title"] == MAIL.title
    assert "evidence" not in json.loads(whole)
    (brief,) = seen.brief_lines().splitlines()
    assert brief.endswith(f"- {near.title}: {near.skill.core_rule}")
    assert len(seen.card_ids) == 2


def test_a_card_that_is_nearest_to_one_delta_is_not_repeated_in_brief_for_another() -> None:
    other = delta("Search before move_email", "Search the email before you move it.", "Mail.delete_email")
    seen = neighbourhood(bank_of(MAIL, other), MAIL, other)
    assert len(seen.card_lines().splitlines()) == 2
    assert seen.brief_lines() == ""


def test_each_delta_is_shown_with_its_number_and_without_empty_fields() -> None:
    first, second = map(json.loads, neighbourhood(Bank(), MAIL, CAR).delta_lines().splitlines())
    assert (first["delta_index"], second["delta_index"]) == (0, 1)
    assert "tags" not in first
