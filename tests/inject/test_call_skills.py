"""Cards and calls: what holds a call, what comes with a card's function, and what comes beside a result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from contramem.bank.bank import Bank, BankEntry, CardSupport
from contramem.bank.card import Skill, SkillCard
from contramem.bank.frozen import freeze, parse_frozen, write_frozen
from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.run import Memory
from contramem.retrieve.profiles import PROFILES
from contramem.traces.trajectory import Event, Result, digest

REQUEST = "Someone ought to drop by and take a look; please arrange that."
BOOK, LETTER = "office.book_inspection", "office.send_letter"
SLOTS = [{"slot_id": "S1", "visits": 4}, {"slot_id": "S2", "visits": 1}]


def card(name: str, function: str, rule: str, *guards: str) -> SkillCard:
    return SkillCard(
        title=f"Inspections: {name}",
        applies_when="You are about to book an inspection or write about it.",
        solves="Inspections that go wrong.",
        tags=("inspection",),
        skill=Skill(core_rule=rule, completion=("the rule is kept",)),
        functions_used=(function,),
        guards=guards,
        card_id=f"skill::{name}",
        ability="permits",
    )


QUIET = card(
    "slot",
    BOOK,
    "Book the slot with the fewest visits.",
    f"existence({BOOK}[slot_id picks lowest visits of office.list_slots]) when {BOOK}",
)
NAMELESS = card("name", LETTER, "Do not name the inspector.", f'absence({LETTER}[body contains "Inspector"])')


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    write_frozen(tmp_path / "bank.jsonl", Bank({card.card_id: BankEntry(card=card) for card in (QUIET, NAMELESS)}))
    return Memory.load(tmp_path / "bank.jsonl")


def test_a_call_that_goes_against_a_card_that_was_shown_as_a_sentence_is_held_with_the_whole_card(
    memory: Memory,
) -> None:
    run = GuidedRun(memory.start(REQUEST))
    assert "`book_inspection`:\n- When: You are about to book an inspection" in run.guidance
    assert "### Inspections: slot" not in run.guidance
    run.tell("office.list_slots", {}, SLOTS)
    text = run.hold(BOOK, {"slot_id": "S1"}, ends_run=False)
    assert text is not None and "### Inspections: slot" in text
    assert run.hold(BOOK, {"slot_id": "S1"}, ends_run=False) is None, "an agent that calls again has its reasons"


SHOWS_CARD = "Book an inspection of the plot and the visits to it."


def test_a_call_made_in_another_way_than_a_card_shown_in_full_demands_is_held_once(memory: Memory) -> None:
    run = GuidedRun(memory.start(SHOWS_CARD))
    assert "### Inspections: slot" in run.guidance
    run.tell("office.list_slots", {}, SLOTS)
    text = run.hold(BOOK, {"slot_id": "S1"}, ends_run=False)
    assert text is not None and "the lowest `visits`" in text and "### " not in text
    assert run.hold(BOOK, {"slot_id": "S1"}, ends_run=False) is None


def test_what_would_have_held_a_call_comes_with_its_result_once(memory: Memory) -> None:
    run = GuidedRun(memory.start(SHOWS_CARD))
    run.tell("office.list_slots", {}, SLOTS)
    assert run.hold(BOOK, {"slot_id": "S1"}, ends_run=True) is None
    note = run.tell(BOOK, {"slot_id": "S1"}, {"booked": "S1"})
    assert "the lowest `visits`" in note and "### " not in note
    assert run.tell(BOOK, {"slot_id": "S1"}, {"booked": "S1"}) == ""


NOTHING = replace(PROFILES["default"], budget_tokens=0)
"""At the start there is no room for any card."""
TOOLS = [BOOK, LETTER, "office.list_slots"]


def test_a_call_tells_an_agent_whose_tools_are_not_known_what_is_known_of_the_app(memory: Memory) -> None:
    run = GuidedRun(memory.start(REQUEST, profile=NOTHING))
    assert "fewest visits" in run.tell("office.list_slots", {}, SLOTS)
    assert GuidedRun(memory.start(REQUEST, profile=NOTHING)).tell("shop.list", {}, []) == ""


def test_a_call_that_goes_against_a_card_that_was_not_shown_is_held_with_it(memory: Memory) -> None:
    run = GuidedRun(memory.start(REQUEST, profile=NOTHING))
    assert run.guidance == ""
    run.tell("office.list_slots", {}, SLOTS)
    text = run.hold(BOOK, {"slot_id": "S1"}, ends_run=False)
    assert text is not None and "### Inspections: slot" in text


def test_a_call_that_agrees_with_a_card_that_was_not_shown_is_made_and_the_card_comes_with_its_result_once(
    memory: Memory,
) -> None:
    run = GuidedRun(memory.start(REQUEST, profile=NOTHING, tools=TOOLS))
    assert run.tell("office.list_slots", {}, SLOTS) == ""
    assert run.hold(BOOK, {"slot_id": "S2"}, ends_run=False) is None
    assert "Book the slot with the fewest visits." in run.tell(BOOK, {"slot_id": "S2"}, {"booked": "S2"})
    assert run.tell(BOOK, {"slot_id": "S2"}, {"booked": "S2"}) == ""


def test_a_read_brings_the_rules_that_name_it_guard_or_no_guard() -> None:
    plain = card("plain", BOOK, "Book mornings only.").model_copy(
        update={"functions_used": (BOOK, "office.list_slots")}
    )
    memory = Memory(parse_frozen(freeze(Bank({plain.card_id: BankEntry(card=plain)})), "bank"))
    run = GuidedRun(memory.start(REQUEST, profile=NOTHING))
    assert "Book mornings only." in run.tell("office.list_slots", {}, SLOTS)
    assert GuidedRun(memory.start(REQUEST)).tell("office.list_slots", {}, SLOTS) == "", "the start showed it"


def test_the_description_of_a_tool_has_the_rule_about_it_that_the_start_had_no_room_for(memory: Memory) -> None:
    run = memory.start(REQUEST, profile=NOTHING)
    assert "Book the slot with the fewest visits." in run.describe("book_inspection")
    assert run.describe("book_inspection") == run.describe("book_inspection")
    assert memory.start(REQUEST).describe("book_inspection") == ""


def test_a_failed_call_brings_no_skill_card_beside_its_error(memory: Memory) -> None:
    run = GuidedRun(memory.start(REQUEST, profile=NOTHING))
    run.tell("office.list_slots", {}, SLOTS)
    assert "Inspections" not in run.tell(BOOK, {"slot_id": "S1"}, error="no such slot")


def test_a_card_that_was_shown_as_a_sentence_asks_for_nothing_at_the_end(memory: Memory) -> None:
    run = memory.start(REQUEST)
    assert "skill::slot" in run.guidance.listed
    guided = GuidedRun(run)
    guided.tell("office.list_slots", {}, SLOTS)
    guided.tell("office.find", {}, "found")
    run.observe(Event(9, "agent", "call", function=BOOK, arguments={"slot_id": "S1"}, result=Result("booked")))
    assert not run.pending() and guided.before_final() == ""


@pytest.mark.parametrize(
    ("function", "arguments"),
    [(BOOK, {"slot_id": "S2"}), (LETTER, {"body": "We will come on Monday."}), ("office.list_slots", {})],
)
def test_a_call_that_agrees_with_every_card_is_made(memory: Memory, function: str, arguments: dict[str, str]) -> None:
    run = GuidedRun(memory.start(REQUEST))
    run.tell("office.list_slots", {}, SLOTS)
    assert run.hold(function, arguments, ends_run=False) is None


def test_a_call_that_would_break_a_guard_for_good_is_told_what_it_breaks(memory: Memory) -> None:
    text = GuidedRun(memory.start(REQUEST)).hold(LETTER, {"body": "Inspector Hale will come."}, ends_run=False)
    assert text is not None and "Do not name the inspector." in text and "would break" in text


def test_a_card_that_was_not_shown_comes_before_a_call_whatever_the_arguments_once(memory: Memory) -> None:
    run = memory.start(REQUEST, profile=NOTHING, tools=TOOLS)
    note = run.before_call(BOOK, {"slot_id": "S2"})
    assert note is not None and note.card_ids == ("skill::slot",)
    assert run.before_call(BOOK, {"slot_id": "S2"}) is None
    warning = memory.start(REQUEST).before_call(BOOK, {"slot_id": "S2"})
    assert warning is not None and "fewest visits" not in warning.text, "the start showed it"


def test_a_card_that_the_start_showed_in_full_is_not_shown_again(memory: Memory) -> None:
    run = memory.start(SHOWS_CARD)
    assert "skill::slot" in run.guidance.whole_card_ids
    note = run.before_call(BOOK, {"slot_id": "S1"})
    assert note is not None and "### " not in note.text and "the lowest `visits`" in note.text
    assert run.before_call(BOOK, {"slot_id": "S1"}) is None, "nor is the warning"


def test_the_profiles_of_the_paper_show_function_cards_alone_before_a_call(memory: Memory) -> None:
    assert memory.start(REQUEST, profile="gaia2").before_call(BOOK, {"slot_id": "S1"}) is None


def test_no_card_comes_before_a_call_of_the_task_that_taught_it() -> None:
    support = CardSupport(taught_by=(digest("t1"),))
    bank = Bank({QUIET.card_id: BankEntry(card=QUIET, support=support)})
    memory = Memory(parse_frozen(freeze(bank), "bank"))
    for task, comes in (("t1", False), ("t2", True)):
        run = memory.start(REQUEST, task_id=task, profile=NOTHING)
        assert (run.before_call(BOOK, {"slot_id": "S1"}) is not None) == comes
