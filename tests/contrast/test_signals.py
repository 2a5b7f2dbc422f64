"""What separates the runs of one task is found, named in words, and shown by events that exist."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.made_runs import Call, call, kinds, packet, run, signal

from contramem.collection.runs import Collection
from contramem.contrast.packet import Packet, contrast
from contramem.contrast.signals import DETECTORS
from contramem.traces.read import read_traces

FOUND = call("Mail.search", {"query": "newsletter"}, [{"id": "m-4711", "subject": "News"}])
DELETE = call("Mail.delete", {"id": "m-4711"})


def test_a_failing_run_that_stops_early_is_shown_beside_what_passing_runs_go_on_to_do() -> None:
    made = packet(run("a", True, FOUND, DELETE, "Deleted."), run("b", False, FOUND, "Deleted."))
    early = signal(made, "early finalization")
    assert early.statement == "Where passing runs go on to call Mail.delete, 1 failing run stopped."
    assert (early.passing, early.failing) == (("A",), ("B",))


def test_the_first_divergence_cites_both_sides() -> None:
    made = packet(run("a", True, FOUND, DELETE, "Deleted."), run("b", False, DELETE, "Deleted."))
    parted = signal(made, "first divergence")
    assert parted.statement == "Where passing runs call Mail.search, 1 failing run calls Mail.delete."
    assert {cite.run for cite in parted.cites} == {"A", "B"}


def test_a_call_that_only_passing_runs_make_is_counted_on_both_sides() -> None:
    made = packet(
        run("a", True, FOUND, DELETE, "Done."), run("b", True, FOUND, DELETE, "Done."), run("c", False, DELETE, "Done.")
    )
    assert signal(made, "calls of passing runs").statement == (
        "Mail.search is called by 2 of 2 passing and 0 of 1 failing runs."
    )


def test_missing_extra_and_duplicate_writes_are_told_apart() -> None:
    missing = packet(run("a", True, DELETE, "Done."), run("b", False, FOUND, "Done."))
    extra = packet(run("a", True, DELETE, "Done."), run("b", False, DELETE, call("Mail.send", {"to": "x"}), "Done."))
    twice = packet(run("a", True, DELETE, "Done."), run("b", False, DELETE, DELETE, "Done."))
    assert "missing write" in kinds(missing)
    assert "extra write" in kinds(extra)
    assert "duplicate write" in kinds(twice)
    assert "extra write" not in kinds(twice)


def test_a_write_that_failed_does_not_count_as_made() -> None:
    refused = call("Mail.delete", {"id": "m-1"}, "Error: no such mail", error="Error: no such mail")
    assert "missing write" in kinds(packet(run("a", True, DELETE, "Done."), run("b", False, refused, "Done.")))


def test_two_calls_in_the_wrong_order_are_reordered() -> None:
    login = call("Mail.login", {"user": "ada"})
    made = packet(run("a", True, login, DELETE, "Done."), run("b", False, DELETE, login, "Done."))
    assert signal(made, "reordered").statement == (
        "Passing runs call Mail.login before Mail.delete; 1 failing run calls Mail.delete first."
    )


def test_a_differing_argument_says_where_each_value_came_from() -> None:
    guess = call("Mail.delete", {"id": "m-9999"})
    made = packet(
        run("a", True, FOUND, DELETE, "Done."),
        run("b", True, FOUND, DELETE, "Done."),
        run("c", False, FOUND, guess, "Done."),
    )
    differing = signal(made, "differing argument")
    assert "(from Mail.search) in passing runs" in differing.statement
    assert "(seen nowhere before) in 1 failing run" in differing.statement
    assert (differing.functions, differing.argument) == (("Mail.delete",), "id")


def test_asking_the_user_is_seen_on_the_side_that_does_it() -> None:
    made = packet(
        run("a", True, "Which one?", ("user", "The first."), DELETE, "Done."), run("b", False, DELETE, "Done.")
    )
    assert signal(made, "asked").statement == "The user is asked by 1 of 1 passing and 0 of 1 failing runs."


def test_errors_say_what_each_run_did_next() -> None:
    refused = call("Mail.delete", {"id": "4711"}, "Error: bad id", error="Error: bad id")
    made = packet(
        run("a", True, refused, DELETE, "Done."),
        run("b", False, refused, "I could not."),
        run("c", False, refused, refused, "I could not."),
    )
    statement = signal(made, "error and reaction").statement
    assert statement.startswith("After ‹Error: bad id› from Mail.delete: ")
    assert "1 run (1 passed) changed id, which worked" in statement
    assert "2 runs (0 passed) gave up" in statement
    assert "1 run (0 passed) repeated the same call" in statement


def test_complaints_that_differ_only_in_what_the_call_gave_are_one_signal() -> None:
    def refuse(word: str) -> Call:
        return call("Desk.close", {"how": word}, error=f"unknown {word!r}; say settled or withdrawn")

    close = call("Desk.close", {"how": "settled"})
    made = packet(run("a", True, refuse("done"), close, "ok"), run("b", False, refuse("over"), close, "ok"))
    (found,) = (each for each in made.signals if each.kind == "error and reaction")
    assert "2 runs (1 passed) changed how, which worked" in found.statement


def test_the_shortest_passing_run_and_the_detours_of_the_longest_are_named() -> None:
    made = packet(run("a", True, DELETE, "Done."), run("b", True, FOUND, FOUND, DELETE, "Done."))
    assert signal(made, "shortest passing run").statement == (
        "Run A passes with 2 actions; run B takes 4, with Mail.search ×2 besides."
    )


def test_the_same_call_three_times_is_a_loop() -> None:
    made = packet(run("a", False, FOUND, FOUND, FOUND, "?"), run("b", True, FOUND, "Done."))
    assert "up to 3 times in 0 passing and 1 failing runs" in signal(made, "loop").statement


def test_a_run_that_never_finishes_is_told_from_one_that_finishes_early() -> None:
    made = packet(run("a", True, DELETE, "Done."), run("b", False, FOUND, ended="limit"))
    assert signal(made, "missing finalization").failing == ("B",)


def test_what_all_failing_runs_share_is_a_recurring_failure() -> None:
    made = packet(run("a", True, FOUND, DELETE, "Done."), *(run(s, False, FOUND, "Done.") for s in ("b", "c")))
    alike = signal(made, "all failing runs alike")
    assert (alike.axis, alike.failing) == ("recurring failure", ("B", "C"))


def test_when_every_run_failed_the_error_they_all_met_is_named() -> None:
    refused = call("Mail.delete", {"id": "1"}, "Error: locked", error="Error: locked")
    made = packet(run("a", False, refused, "Sorry."), run("b", False, refused, refused, "Sorry."))
    assert signal(made, "all failing runs alike").statement.startswith("Every run failed, and all 2 met this.")


def test_an_interrupted_run_is_shown_and_is_evidence_of_nothing() -> None:
    made = packet(run("a", True, FOUND, DELETE, "Done."), run("b", False, ended="interrupted"))
    assert not made.is_contrastive
    assert len(made.runs) == 2
    assert all("B" not in signal.failing for signal in made.signals)


@pytest.mark.parametrize(
    "runs",
    [
        pytest.param([run("a", True, FOUND, DELETE, "Done.")], id="one run"),
        pytest.param([run("a", False)], id="one empty run"),
        pytest.param([run("a", True, DELETE, "Done.", trial=str(n)) for n in range(3)], id="one source"),
        pytest.param([run(s, False, FOUND, "?") for s in "abc"], id="all failed"),
        pytest.param([run(s, None, FOUND, "?") for s in "ab"], id="all unknown"),
    ],
)
def test_packets_without_a_contrast_still_have_a_picture(runs: list) -> None:
    assert len(packet(*runs).runs) == len(runs)


CALLS = st.sampled_from(
    [FOUND, DELETE, call("Mail.login"), call("Mail.delete", {"id": "z"}, "Error: x", error="Error: x")]
)
RUNS = st.lists(st.tuples(st.booleans(), st.lists(CALLS, max_size=5), st.booleans()), min_size=1, max_size=5)


@given(RUNS)
def test_every_signal_cites_events_that_exist_in_runs_of_the_packet(made: list) -> None:
    of = _packet(made)
    positions = {(r.letter, step.position) for r in of.runs for step in r.steps}
    passing, failing = {r.letter for r in of.passing}, {r.letter for r in of.failing}
    for found in of.signals:
        assert set(found.cites) <= positions
        assert set(found.passing) <= passing
        assert set(found.failing) <= failing
        assert 0 <= found.strength <= 1


@given(RUNS)
def test_the_order_in_which_runs_were_read_changes_nothing(made: list) -> None:
    one, other = _packet(made), _packet(made, backwards=True)
    assert (one.runs, one.signals, one.task) == (other.runs, other.signals, other.task)


def _packet(made: list, backwards: bool = False) -> Packet:
    runs = [
        run("m", passed, *calls, *(["Done."] if answers else []), trial=str(number))
        for number, (passed, calls, answers) in enumerate(made)
    ]
    return packet(*(reversed(runs) if backwards else runs))


@pytest.mark.slow
def test_every_kind_of_signal_occurs_in_real_runs(shared_data: Path) -> None:
    found: set[str] = set()
    for name in ("agentdojo/runs_no_attack.tar.xz", "tau_bench/retail.tar.xz"):
        with Collection(read_traces([shared_data / name])) as pool:
            for of in contrast(pool):
                found |= kinds(of)
    assert found >= {
        "first divergence", "calls of passing runs", "calls of failing runs", "missing write", "extra write",
        "duplicate write", "reordered", "differing argument", "early finalization", "missing finalization",
        "error and reaction", "shortest passing run", "loop", "all failing runs alike",
    }  # fmt: skip
    assert len(DETECTORS) == 10
