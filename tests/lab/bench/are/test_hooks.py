"""The parts of the temporal runtime, each on and off. Slow; skipped where ARE is not installed."""

from __future__ import annotations

import pytest
from tests.lab.bench.are_cards import with_deadline, with_final_card, with_universal_card, without_deadline
from tests.lab.bench.are_runs import needs_are, run

pytestmark = [needs_are, pytest.mark.slow]


def test_a_wait_beyond_the_end_is_clipped_and_without_that_the_run_is_lost() -> None:
    """Without ticks, which would end the wait as well."""
    assert run("made_up_time_3", ticks=False).outcome.passed
    assert run("made_up_time_3", ticks=False, clip=False).outcome.passed is False


def test_a_last_message_before_the_agents_own_timer_is_held() -> None:
    """A tick ends the wait early; the engine takes it for the end and reports. Held, it waits for the rest."""
    assert run("made_up_time_1", "early").outcome.passed
    assert run("made_up_time_1", "early", repair=False).outcome.passed is False


def test_without_a_clock_an_agent_cannot_tell_that_its_wait_was_cut_short() -> None:
    assert run("made_up_time_1", repair=False).outcome.passed
    assert run("made_up_time_1", clock=False, repair=False).outcome.passed is False


def test_ticks_wake_an_agent_in_time_for_what_the_guards_of_its_cards_ask() -> None:
    memory = with_deadline("made_up_time_1")
    assert run("made_up_time_1", "drifter", memory).outcome.passed
    assert run("made_up_time_1", "drifter", memory, ticks=False).outcome.passed is False
    assert run("made_up_time_1", "drifter", memory, guards=False).outcome.passed is False


def test_ticks_without_a_deadline_make_the_agent_act_too_early() -> None:
    assert run("made_up_time_1", "drifter", without_deadline("made_up_time_1")).outcome.passed is False


def test_the_finalization_card_near_the_last_boundary_reminds_of_what_the_start_said() -> None:
    memory = with_final_card("made_up_time_1")
    assert run("made_up_time_1", "absent", memory).outcome.passed
    assert run("made_up_time_1", "absent", memory, final_card=False).outcome.passed is False


def test_a_universal_card_has_its_place_before_cards_that_share_more_words() -> None:
    memory = with_universal_card("made_up_time_2")
    assert run("made_up_time_2", "follower", memory).outcome.passed
    assert run("made_up_time_2", "follower", memory, universal=False).outcome.passed is False
