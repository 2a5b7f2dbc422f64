"""Scopes: the build itself says which cards are for all tasks of an ability, and which for the end of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.made_runs import call, packet, run
from tests.model_replies import Runs, build, new_store

from contramem.contrast.packet import Packet
from contramem.contrast.vocabulary import Vocabulary
from contramem.llm.client import Request
from contramem.llm.exchange import ScriptedModel

LOOK, WRITE = call("Clock.read", result={"now": 5}), call("Mail.send", {"body": "hi"})
DELTA: dict[str, Any] = {
    "title": "Read the clock first",
    "applies_when": "A task has to be done at a time.",
    "solves": "Runs that send too early.",
    "tags": ["time"],
    "skill": {"core_rule": "Call Clock.read before Mail.send.", "completion": ["Clock.read has worked"]},
    "functions_used": ["Clock.read", "Mail.send"],
    "guards": ["precedence(Clock.read, Mail.send)"],
    "cites": ["A#1", "B#1"],
}


def tasks(count: int) -> list[Packet]:
    """In each task one run reads the clock before it sends, and one does not."""
    return [
        packet(
            run("a", True, LOOK, WRITE, "done", task_id=f"t{number}", task=f"Send mail {number}."),
            run("b", False, WRITE, "done", task_id=f"t{number}", task=f"Send mail {number}."),
        )
        for number in range(count)
    ]


def scopes_by_model(folder: Path, packets: list[Packet], delta: dict[str, Any]) -> set[str | None]:
    def answer(request: Request) -> dict[str, Any]:
        if request.stage == "builder":
            return {"card": None}
        if request.stage == "curator":
            return {"operation": "ADD", "reason": "New."}
        return {"deltas": [delta] if request.subject == packets[0].task_key else []}

    with new_store(folder) as store:
        build(Runs(packets, Vocabulary()), store, ScriptedModel(by=answer))
        return {entry.support.scope for entry in store.bank().entries.values()}


def test_a_card_about_nearly_every_task_is_universal(tmp_path: Path) -> None:
    assert scopes_by_model(tmp_path, tasks(4), DELTA) == {"universal"}


def test_a_card_that_few_tasks_show_is_not(tmp_path: Path) -> None:
    assert scopes_by_model(tmp_path, tasks(1), DELTA) == {None}


def test_a_card_that_guards_the_end_is_for_the_end(tmp_path: Path) -> None:
    ending = {**DELTA, "guards": ["precedence(Clock.read, finalize)"]}
    assert scopes_by_model(tmp_path, tasks(1), ending) == {"finalization"}


def test_an_author_may_say_that_a_card_is_for_the_end(tmp_path: Path) -> None:
    assert scopes_by_model(tmp_path, tasks(1), {**DELTA, "tags": ["finalization"]}) == {"finalization"}
