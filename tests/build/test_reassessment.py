"""Where a guard holds, and how a card is said to hold there only."""

from __future__ import annotations

from tests.guard_builds import DELETE, DELTA, GUARD, SEARCH, shows_it, task
from tests.made_runs import call

from contramem.bank.bank import CardSupport, GuardSupport
from contramem.bank.card import SkillCard, SkillDelta
from contramem.build.learning import LearningCard
from contramem.build.reassessment import count_again, narrow_guard, narrow_text
from contramem.build.rules.support import replays
from contramem.guards.guard import parse_guard

OPEN = call("Mail.open_archive", {}, "open")
CARD = SkillCard.of(
    SkillDelta(**{name: value for name, value in DELTA.items() if name != "cites"}), "skill::one", "execution"
)
RULE = parse_guard(GUARD)


def test_a_guard_is_narrowed_to_a_function_that_only_those_call_who_need_it() -> None:
    without = task("two", (True, (DELETE,)), (False, (SEARCH,)))
    narrower = narrow_guard(RULE, replays((RULE,), [shows_it("one", OPEN), without]), named=())
    assert narrower == RULE._replace(when="Mail.open_archive")


def test_a_guard_stays_wide_where_nothing_tells_the_places_apart() -> None:
    without = task("two", (True, (OPEN, DELETE)), (False, (SEARCH,)))
    packets = [shows_it("one", OPEN), without]
    assert narrow_guard(RULE, replays((RULE,), packets), named=()) is None
    assert narrow_guard(RULE, replays((RULE,), [shows_it("one", OPEN)]), named=["Mail.open_archive"]) is None


def test_a_guard_that_has_a_condition_is_not_narrowed_again() -> None:
    conditional = RULE._replace(when="Mail.search")
    assert narrow_guard(conditional, replays((conditional,), [shows_it("one", OPEN)]), named=()) is None


def test_the_trigger_names_the_condition_only_if_all_guards_have_one() -> None:
    narrower = f"{GUARD} when Mail.open_archive"
    text = narrow_text(CARD, [narrower], ["Mail.open_archive"])
    assert text.guards == (narrower,)
    assert text.functions_used == (*CARD.functions_used, "Mail.open_archive")
    assert text.applies_when != CARD.applies_when
    assert narrow_text(CARD, [narrower, GUARD], ["Mail.open_archive"]).applies_when == CARD.applies_when


def test_counting_again_adds_to_what_the_card_rests_on_and_changes_no_word() -> None:
    held = CardSupport(tasks=("old",), guard_counts={GUARD: GuardSupport(held=1, broken=1)})
    card = LearningCard(CARD, None, held, "active")
    counted = count_again(card, [shows_it("one")])
    assert counted.operation == "PATCH"
    assert counted.changes(card)
    assert counted.support.guard_counts == {GUARD: GuardSupport(held=2, broken=2)}
    assert len(counted.support.tasks) == 2
    assert counted.text.skill == CARD.skill
    assert not count_again(card, []).changes(card)
