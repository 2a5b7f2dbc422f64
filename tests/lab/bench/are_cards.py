"""Cards for the made-up Time scenarios, written by hand: each shows what one part of the temporal runtime does."""

from __future__ import annotations

from collections.abc import Iterable

from contramem.bank.card import Skill
from contramem.bank.frozen import BankHeader, FrozenBank, FrozenSkill
from contramem.inject.run import Memory

MAIL, WAIT = "EmailClientV2.send_email", "SystemApp.wait_for_notification"
DELAYS = {"made_up_time_1": 180, "made_up_time_2": 90, "made_up_time_3": 408}
"""Seconds between the two mails of a scenario."""


def time_card(name: str, rule: str, scope: str | None = None, guards: Iterable[str] = ()) -> FrozenSkill:
    return FrozenSkill(
        card_id=f"skill::{name}", ability="time", title=f"Card {name}", applies_when="A moment is asked for.",
        solves="Acting at the wrong time.", skill=Skill(core_rule=rule, completion=("It is done.",)),
        functions_used=(MAIL,), scope=scope, guards=tuple(guards),
    )  # fmt: skip


def memory_of(*cards: FrozenSkill) -> Memory:
    header = BankHeader(
        contramem_bank=1, content_sha256="0" * 64, profile="time", functions=0, skills={"time": len(cards)}
    )
    return Memory(FrozenBank(header, cards))


def with_deadline(task_id: str) -> Memory:
    """The second mail is owed at its moment."""
    return memory_of(time_card("deadline", "Send the email that is owed at its moment.", guards=[_reminder(task_id)]))


def without_deadline(task_id: str) -> Memory:
    """The second mail is owed, and nobody says when."""
    guard = _reminder(task_id).partition(" within")[0]
    return memory_of(time_card("owed", "Send the email that is owed.", guards=[guard]))


def with_final_card(task_id: str) -> Memory:
    return memory_of(
        time_card("any", "Look at the clock."),
        time_card("final", "Before you report, make the `send_email` that is left.", "finalization"),
    )


def with_universal_card(task_id: str) -> Memory:
    """Three cards share more words with the request than the one that is universal."""
    return memory_of(
        time_card("universal", "Wait with `wait_for_notification`.", "universal"),
        *(time_card(f"mail-{n}", f"Email again, subject Reminder, answers within minutes {n}.") for n in range(3)),
    )


def _reminder(task_id: str) -> str:
    first, second = f"{MAIL}[subject = Visit]", f"{MAIL}[subject = Reminder]"
    return f"response({first}, {second}) within {DELAYS[task_id]} s"
