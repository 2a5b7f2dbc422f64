"""What the worker is answered while a scenario runs. No ARE is needed for it."""

from __future__ import annotations

from typing import Any

from tests.lab.bench.are_cards import memory_of, time_card, with_deadline

from contramem.inject.run import Memory
from contramem_lab.are import AreTask, TimeRuntime
from contramem_lab.are_runs import AreConversation
from contramem_lab.jobs import ProfileByAbility
from contramem_lab.memory import time_profile

START = 1_729_000_000.0
TASK = AreTask("made_up_time_1", ("Email Ann Lee 'Are you coming?', subject 'Visit'.",), (), ability="time")


def begin(memory: Memory | None) -> AreConversation:
    provider = ProfileByAbility(memory, "gaia2", {"time": time_profile(True)}) if memory else None
    talk = AreConversation(TASK, provider, None, TimeRuntime(), "run-1")
    talk.answer({"what": "start", "task": "", "tools": ["Emails__send_email"], "apps": {"Emails": "EmailClientV2"},
                 "time": START})  # fmt: skip
    return talk


def text_of(talk: AreConversation, what: str, at: float = START, **fields: Any) -> str | None:
    answer = talk.answer({"what": what, "time": at, **fields})
    return answer.text if answer else None


def mail(talk: AreConversation, subject: str, at: float) -> None:
    text_of(talk, "called", at, tool="Emails__send_email", arguments={"subject": subject}, content="1")


def test_a_tick_lists_what_is_pending_with_deadlines() -> None:
    talk = begin(with_deadline("made_up_time_1"))
    assert text_of(talk, "tick", START + 60) is None
    mail(talk, "Visit", START + 2)
    text = text_of(talk, "tick", START + 120)
    assert text is not None and text.endswith("Due at 13:49:42 UTC, in 62 seconds.")


def test_what_was_done_in_time_is_no_longer_pending() -> None:
    talk = begin(with_deadline("made_up_time_1"))
    mail(talk, "Visit", START + 2)
    mail(talk, "Reminder", START + 180)
    assert text_of(talk, "pending", START + 181) is None


def test_with_the_temporal_runtime_no_card_comes_before_a_call() -> None:
    talk = begin(with_deadline("made_up_time_1"))
    assert text_of(talk, "before_call", tool="Emails__send_email", arguments={}) is None


def test_the_finalization_card_is_shown_again_at_the_boundary_and_noted() -> None:
    talk = begin(memory_of(time_card("final", "Look at the clock before you report.", "finalization")))
    text = text_of(talk, "boundary", START + 300)
    assert text is not None and "Look at the clock" in text
    assert talk.shown[-1].cards == ("skill::final",)


def test_without_memory_there_is_nothing_to_say() -> None:
    talk = begin(None)
    assert [text_of(talk, what) for what in ("tick", "pending", "boundary")] == [None, None, None]


def test_replies_that_are_asks_itself_are_counted_and_unknown_tokens_stay_unknown() -> None:
    talk = begin(None)
    text_of(talk, "usage", tokens_in=1000, tokens_out=100)
    assert (talk.usage.model_calls, talk.usage.tokens_in) == (1, 1000)
    text_of(talk, "usage", tokens_in=None, tokens_out=None)
    assert (talk.usage.model_calls, talk.usage.tokens_in, talk.usage.tokens_out) == (2, None, None)
