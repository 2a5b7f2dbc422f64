"""Candidates: what is counted without a replay is what a replay gives."""

from __future__ import annotations

from tests.made_runs import call, run
from tests.study.office import note_office

from contramem.study.candidates import propose_candidates
from contramem.study.replays import Replays
from contramem.study.run_set import RunSet

LOTS = '[{"lot": "L-481", "expires": "2031-02-15"}, {"lot": "L-207", "expires": "2031-09-15"}]'


def test_what_is_counted_for_a_candidate_is_what_its_replay_gives() -> None:
    runs = RunSet.of(note_office()).runs
    replays = Replays(runs)
    for candidate in propose_candidates(runs):
        guard = candidate.parse()
        assert guard is not None
        replayed = replays.replay(guard)
        assert replayed.within(candidate.masks.spoken) == candidate.masks, candidate.text


def lab(number: int, lot: str, volume: int, passed: bool) -> object:
    steps = [call("Lab.list_lots", {}, LOTS), call("Lab.open_lot", {"lot": lot, "volume": volume})]
    return run(
        f"model {number}", passed, *steps, "Done.", task=f"Open a lot for 40 units, {number}.", task_id=str(number)
    )


def test_the_record_that_was_chosen_and_the_unit_of_an_amount_are_candidates() -> None:
    runs = RunSet.of([lab(1, "L-481", 40000, True), lab(2, "L-481", 40000, True), lab(3, "L-207", 40, False)]).runs
    proposed = {candidate.text for candidate in propose_candidates(runs)}
    assert "existence(Lab.open_lot[lot picks lowest expires of Lab.list_lots]) when Lab.open_lot" in proposed
    assert "existence(Lab.open_lot[volume times 1000 of task]) when Lab.open_lot" in proposed


def test_the_form_of_a_value_that_was_copied_is_no_candidate() -> None:
    runs = RunSet.of([lab(1, "L-481", 40, True), lab(2, "L-481", 40, True), lab(3, "a lot", 40, False)]).runs
    assert not [candidate.text for candidate in propose_candidates(runs) if "lot like A-9" in candidate.text]


def test_where_two_changes_are_made_one_may_have_to_come_first() -> None:
    book, cancel = call("Desk.book", {"day": "12/02"}, {"id": 1}), call("Desk.cancel", {"id": "B-1"}, {"ok": True})
    look = call("Desk.get_booking", {"id": "B-1"}, {"day": "11/02"})
    runs = RunSet.of(
        run(source, source != "b", look, *steps, "Done.", task="Move B-1.", task_id=f"t{number}")
        for number in range(2)
        for source, steps in (("a", (book, cancel)), ("b", (cancel, book)), ("c", (cancel,)))
    )
    candidates = {each.text: each.masks for each in propose_candidates(runs.select())}
    order = candidates["not_succession(Desk.cancel, Desk.book)"]
    assert (order.kept, order.broken) == (0b101101, 0b010010)
    assert not any("not_succession" in text and "get_booking" in text for text in candidates)


def test_programs_are_run_again_after_any_change() -> None:
    build, remove = call("shell.make-docs", {"command": "make-docs"}), call("shell.rm", {"command": "rm a"})
    runs = RunSet.of(
        run(source, source != "b", *steps, "Done.", task="Fix it.", task_id=f"t{number}")
        for number in range(2)
        for source, steps in (("a", (build, remove)), ("b", (remove, build)))
    )
    assert not any("not_succession" in each.text for each in propose_candidates(runs.select()))
