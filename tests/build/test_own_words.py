"""A card that a model wrote is narrowed, loses a guard or goes, as all runs of its ability say."""

from __future__ import annotations

from pathlib import Path

from tests.guard_builds import DELETE, DELTA, GUARD, SEARCH, learn, shows_it, task, taught_by
from tests.made_runs import call
from tests.model_replies import new_store

from contramem.bank.bank import GuardSupport
from contramem.contrast.packet import Packet

OPEN = call("Mail.open_archive", {}, "open")


def needs_no_search(name: str) -> Packet:
    """Passing runs of this task delete without a search, and failing ones never delete."""
    return task(name, (True, (DELETE,)), (True, (DELETE,)), (False, (SEARCH,)))


def test_a_guard_that_passing_runs_contradict_is_narrowed_to_where_it_holds(tmp_path: Path) -> None:
    packets = [shows_it("one", OPEN), shows_it("two", OPEN), needs_no_search("three")]
    with new_store(tmp_path) as store:
        *_, settled = learn(store, packets, taught_by("one"))
        (card,) = store.bank().skills
        support = store.bank().entries[card.card_id].support
    assert card.guards == (f"{GUARD} when Mail.open_archive",)
    assert card.applies_when == "A task asks to delete something, in a task that also needs `open_archive`."
    assert card.skill.core_rule == DELTA["skill"]["core_rule"]
    assert settled.operation == "NARROW"
    assert (
        settled.reason == f"{GUARD}: Passing runs of 1 task do without it. It holds where Mail.open_archive is called."
    )
    assert support.guard_counts == {card.guards[0]: GuardSupport(held=2, broken=2)}
    assert support.contradicted_by == ()


def test_a_guard_that_holds_nowhere_is_dropped_and_the_card_stays(tmp_path: Path) -> None:
    packets = [shows_it("one"), needs_no_search("two"), needs_no_search("three")]
    with new_store(tmp_path) as store:
        *_, settled = learn(store, packets, taught_by("one"))
        (card,) = store.bank().skills
        assert card.guards == ()
        assert card.title == DELTA["title"]
        assert not store.bank().entries[card.card_id].support.guard_counts
    assert settled.operation == "PATCH"
    assert settled.reason == (
        f"{GUARD}: Passing runs of 2 tasks do without it. The card stays, and this is no longer checked."
    )


def test_a_card_is_retired_when_enough_runs_contradict_all_its_claims(tmp_path: Path) -> None:
    contrary = [
        task(name, (True, (DELETE,)), (True, (DELETE,)), (False, (SEARCH, DELETE)), (False, (SEARCH, DELETE)))
        for name in ("two", "three", "four")
    ]
    with new_store(tmp_path) as store:
        *_, settled = learn(store, [shows_it("one"), *contrary], taught_by("one"))
        assert store.bank().skills == ()
    assert settled.operation == "RETIRE"
    assert settled.reason == (
        f"{GUARD}: Runs that follow it pass no more often than runs that don't: 1 of 7 runs that followed it passed; "
        "of the 7 that didn't, 6 did."
    )


def test_each_guard_of_a_card_is_reassessed_on_its_own(tmp_path: Path) -> None:
    kept = "existence(Mail.delete)"
    first = task("one", (True, (SEARCH, DELETE)), (False, (DELETE,)), (False, (SEARCH,)))
    packets = [first, needs_no_search("two"), needs_no_search("three")]
    with new_store(tmp_path) as store:
        learn(store, packets, taught_by("one", guards=[GUARD, kept]))
        (card,) = store.bank().skills
        support = store.bank().entries[card.card_id].support.guard_counts
    assert card.guards == (kept,)
    assert support == {kept: GuardSupport(held=5, broken=3)}
