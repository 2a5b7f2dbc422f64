"""Guards that a model writes: replayed, counted over all runs, narrowed or taken away, without losing the card."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.made_runs import Call, call, packet, run
from tests.model_replies import Runs, build, curated, fenced, new_store

from contramem.bank.ledger import Decision
from contramem.bank.store import Store
from contramem.bank.support import GuardSupport
from contramem.build.model.author import MAX_ASKED
from contramem.build.model.view import packet_text
from contramem.build.rules.author import RuleAuthor
from contramem.build.rules.mine import mine
from contramem.build.rules.support import replays
from contramem.contrast.packet import Packet, contrast
from contramem.contrast.vocabulary import Vocabulary
from contramem.llm.request import Request
from contramem.llm.scripted import ScriptedModel
from contramem.monitor.guard import guards_of, parse_guard
from contramem.pipeline import build_bank
from contramem.traces.pool import Pool
from contramem.traces.read import read_traces
from contramem.traces.reader import ReadOptions

GUARD = "precedence(Mail.search, Mail.delete)"
DELTA: dict[str, Any] = {
    "title": "Search before deleting",
    "applies_when": "A task asks to delete something.",
    "solves": "Deletes of what nobody has looked at.",
    "tags": ["delete"],
    "skill": {"core_rule": "Call search before delete.", "completion": ["search came first"]},
    "functions_used": ["Mail.search", "Mail.delete"],
    "guards": [GUARD],
    "cites": ["A#1", "B#1"],
}
SEARCH = call("Mail.search", {"query": "news"}, [{"id": 17}])
DELETE = call("Mail.delete", {"id": 17})
OPEN = call("Mail.open_archive", {}, "open")


def task(name: str, *runs: tuple[bool, tuple[Call, ...]]) -> Packet:
    """Runs of one task by sources `a`, `b` and so on."""
    return packet(
        *(run(source, passed, *steps, "done", task=f"Do {name}.", task_id=name)
          for source, (passed, steps) in zip("abcdefgh", runs, strict=False))
    )  # fmt: skip


def shows_it(name: str, *first: Call) -> Packet:
    return task(name, (True, (*first, SEARCH, DELETE)), (False, (*first, DELETE)))


def needs_no_search(name: str) -> Packet:
    """Passing runs of this task delete without a search, and failing ones never delete."""
    return task(name, (True, (DELETE,)), (True, (DELETE,)), (False, (SEARCH,)))


def taught_by(name: str, **changes: Any) -> Any:
    """A model that has one lesson to give, about one task."""

    def reply(request: Request) -> dict[str, Any]:
        if request.stage == "builder":
            return {"card": None}
        if request.stage == "reflector":
            return {"deltas": [{**DELTA, **changes}] if f"/{name}#" in f"{request.subject}#" else []}
        return curated(request)

    return reply


def learn(store: Store, packets: list[Packet], reply: Any) -> list[Decision]:
    return learn_from(store, Runs(packets, Vocabulary()), reply)


def learn_from(store: Store, runs: Runs, reply: Any) -> list[Decision]:
    rounds, _ = build(runs, store, ScriptedModel(by=reply))
    assert rounds.finished
    return [entry.decision for entry in store.ledger()]


def test_support_is_counted_over_every_task_of_the_ability(tmp_path: Path) -> None:
    packets = [shows_it("one"), shows_it("two"), task("three", (True, (SEARCH, DELETE)), (True, (SEARCH, DELETE)))]
    with new_store(tmp_path) as store:
        *_, settled = learn(store, packets, taught_by("one"))
        (card,) = store.bank().skills
        footing = store.bank().entries[card.card_id].footing
    assert footing.support == {GUARD: GuardSupport(held=4, broken=2)}
    assert len(footing.tasks) == 2  # where nobody failed, nothing is shown
    assert settled.operation == "PATCH"
    assert settled.reason == "Checked against all runs: 2 tasks, 2 sources."
    assert settled.by.kind == "rules"


def test_support_grows_with_the_runs_and_a_second_build_counts_nothing_twice(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        learn(store, [shows_it("one")], taught_by("one"))
        first = learn(store, [shows_it("one"), shows_it("two")], taught_by("one"))
        assert learn(store, [shows_it("one"), shows_it("two")], taught_by("one")) == first
        (held,) = (one for one in store.bank().entries.values())
        # Runs of another task alone: what was counted before is not at hand, and is kept.
        learn(store, [shows_it("three")], taught_by("one"))
        (grown,) = (one for one in store.bank().entries.values())
    assert held.footing.support[GUARD] == GuardSupport(held=2, broken=2)
    assert grown.footing.support[GUARD] == GuardSupport(held=3, broken=3)


def test_a_guard_that_passing_runs_contradict_is_narrowed_to_where_it_holds(tmp_path: Path) -> None:
    packets = [shows_it("one", OPEN), shows_it("two", OPEN), needs_no_search("three")]
    with new_store(tmp_path) as store:
        *_, settled = learn(store, packets, taught_by("one"))
        (card,) = store.bank().skills
        footing = store.bank().entries[card.card_id].footing
    assert card.guards == (f"{GUARD} when Mail.open_archive",)
    assert card.applies_when == "A task asks to delete something, in a task that also needs `open_archive`."
    assert card.skill.core_rule == DELTA["skill"]["core_rule"]
    assert settled.operation == "NARROW"
    assert (
        settled.reason == f"{GUARD}: Passing runs of 1 task do without it. It holds where Mail.open_archive is called."
    )
    assert footing.support == {card.guards[0]: GuardSupport(held=2, broken=2)}
    assert footing.contradicted_by == ()


def test_a_guard_that_holds_nowhere_else_goes_and_the_card_stays(tmp_path: Path) -> None:
    packets = [shows_it("one"), needs_no_search("two"), needs_no_search("three")]
    with new_store(tmp_path) as store:
        *_, settled = learn(store, packets, taught_by("one"))
        (card,) = store.bank().skills
        assert card.guards == ()
        assert card.title == DELTA["title"]
        assert not store.bank().entries[card.card_id].footing.support
    assert settled.operation == "PATCH"
    assert settled.reason == (
        f"{GUARD}: Passing runs of 2 tasks do without it. The card stays, and this is no longer checked."
    )


def test_a_card_goes_when_enough_runs_speak_against_all_it_claims(tmp_path: Path) -> None:
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


def test_each_guard_of_a_card_has_its_own_fate(tmp_path: Path) -> None:
    kept = "existence(Mail.delete)"
    first = task("one", (True, (SEARCH, DELETE)), (False, (DELETE,)), (False, (SEARCH,)))
    packets = [first, needs_no_search("two"), needs_no_search("three")]
    with new_store(tmp_path) as store:
        learn(store, packets, taught_by("one", guards=[GUARD, kept]))
        (card,) = store.bank().skills
        support = store.bank().entries[card.card_id].footing.support
    assert card.guards == (kept,)
    assert support == {kept: GuardSupport(held=5, broken=3)}


@pytest.mark.parametrize(
    ("guard", "reason", "asked_times"),
    [
        ("Search comes before delete", "is no guard", MAX_ASKED),
        ("precedence(Mail.serach, Mail.delete)", "no run calls Mail.serach. Perhaps Mail.search?", MAX_ASKED),
        ("absence(Mail.delete)", "broken by passing runs too", 1),
    ],
)
def test_a_refused_guard_does_not_cost_the_card_and_one_that_does_not_hold_is_not_asked_for_again(
    tmp_path: Path, guard: str, reason: str, asked_times: int
) -> None:
    model = ScriptedModel(by=taught_by("one", guards=[guard, GUARD]))
    with new_store(tmp_path) as store:
        rounds, _ = build(Runs([shows_it("one")], Vocabulary()), store, model)
        (card,) = store.bank().skills
        (refused,) = (entry.decision for entry in store.ledger() if not entry.decision.accepted)
    assert card.guards == (GUARD,)
    assert sum(asked.stage == "reflector" for asked in model.asked) == asked_times
    assert refused.reason.startswith("guard: ")
    assert reason in refused.reason
    assert refused.reason.endswith("“Search before deleting” goes on without it.")
    assert rounds.report.refused == {"guard": 1}


def test_a_guard_that_only_the_curator_wrote_is_replayed_as_well(tmp_path: Path) -> None:
    def reply(request: Request) -> dict[str, Any]:
        answer: dict[str, Any] = taught_by("one")(request)
        if request.stage == "curator":
            answer["new_or_updated_card"]["guards"] = [GUARD, "existence(Mail.search"]
        return answer

    with new_store(tmp_path) as store:
        decisions = learn(store, [shows_it("one")], reply)
        (card,) = store.bank().skills
    assert card.guards == (GUARD,)
    (refused,) = (decision.reason for decision in decisions if not decision.accepted)
    assert refused.startswith("guard: 'existence(Mail.search' is no guard.")


def test_spelling_makes_no_other_guard(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        learn(store, [shows_it("one")], taught_by("one", guards=[" precedence( Mail.search,Mail.delete )", GUARD]))
        (card,) = store.bank().skills
    assert card.guards == (GUARD,)


def test_the_hints_are_the_mined_guards_with_the_runs_that_show_them() -> None:
    guess, found_id = call("Mail.delete", {"id": "m-99871"}), call("Mail.delete", {"id": "m-47118"})
    look = call("Mail.search", {"query": "news"}, [{"id": "m-47118"}])
    shown = task("one", *[(True, (look, found_id))] * 5, (True, (guess,)), (False, (guess,)), (False, (guess,)))
    mined = mine(shown)
    hints = [line.strip() for line in packet_text(shown).hints.splitlines() if line.startswith("  guard: ")]
    assert len(hints) == len(mined) > 0
    for hint, found in zip(hints, mined, strict=True):
        runs = [" ".join(letters) for letters in (found.held, found.broken, found.contradicted)]
        assert hint == (
            f"guard: {found.guard} (passing runs that keep it: {runs[0]}; failing runs that break it: {runs[1]}; "
            f"passing runs that break it: {runs[2]})"
        )


@pytest.mark.slow
def test_a_model_that_takes_up_the_hints_of_real_runs_gets_them_counted_over_all_of_them(
    tmp_path: Path, shared_data: Path
) -> None:
    """The first of tau-bench's retail tasks, and a model that writes every hint down as it is."""
    traces = read_traces([shared_data / "tau_bench" / "retail.tar.xz"], ReadOptions())
    with Pool(one for one in traces if int(one.task_id) < 30) as pool:
        vocabulary = Vocabulary(pool)
        runs = Runs(list(contrast(pool, vocabulary)), vocabulary)
    packets = {packet.task_key: packet for packet in runs.packets}

    def reply(request: Request) -> dict[str, Any]:
        if request.stage == "builder":
            return {"card": None}
        if request.stage == "curator":
            return curated(request)
        return {"deltas": [_as_written(hint, packets[request.subject]) for hint in _hinted(request)[:3]]}

    with new_store(tmp_path) as store:
        decisions = learn_from(store, runs, reply)
        cards = [one for one in store.bank().entries.values() if one.served]
    assert cards, [decision.reason for decision in decisions]
    assert not [decision.reason for decision in decisions if not decision.accepted]
    for held in cards:
        for guard in guards_of(held.card.guards):  # type: ignore[union-attr]
            everywhere = [found for _, found in replays((guard,), runs.packets)]
            counts = held.footing.support[str(guard)]
            assert counts.held == sum(len(found.held) for found in everywhere)
            assert counts.broken == sum(len(found.broken) for found in everywhere)
            assert counts.contradicted == sum(len(found.contradicted) for found in everywhere)
    settled = [decision for decision in decisions if decision.by.kind == "rules"]
    assert {card.card.card_id for card in cards} <= {one for decision in settled for one in decision.card_ids}
    assert all(decision.reason for decision in settled)


def _hinted(request: Request) -> list[str]:
    return re.findall(r"^  guard: (.+?) \(passing runs", fenced(request, "hints") or "", re.MULTILINE)


def _as_written(text: str, of: Packet) -> dict[str, Any]:
    """A lesson in a model's words about the guard."""
    called = [(one.letter, step) for one in of.runs for step in one.actions if step.function and not step.tainted]
    functions = list(parse_guard(text).functions) or [called[0][1].function]
    cites = [f"{letter}#{step.position}" for letter, step in called if step.function in functions]
    skill = {"core_rule": f"Keep {text}.", "completion": ["It was kept"]}
    title = f"Mind {text}"[:120]
    return {**DELTA, "title": title, "skill": skill, "functions_used": functions, "guards": [text], "cites": cites}


def test_a_build_by_rules_does_not_judge_a_models_card_by_the_bar_for_its_own(tmp_path: Path) -> None:
    packets = [shows_it("one"), shows_it("two")]
    runs = Runs(packets, Vocabulary())
    with new_store(tmp_path) as store:
        learn(store, packets[:1], taught_by("one"))
        build_bank(packets, store, RuleAuthor(), runs.checks, only="skills")
        (card,) = (card for card in store.bank().skills if card.title == DELTA["title"])
        assert store.bank().entries[card.card_id].footing.support[GUARD] == GuardSupport(held=2, broken=2)
