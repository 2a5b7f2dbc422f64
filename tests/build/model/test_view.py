"""How a packet is written for a construction model: every divergence, each thing once, shorter when it must be."""

from __future__ import annotations

import re

from tests.guard_builds import task
from tests.made_runs import Call, call, packet, run
from tests.model_replies import Runs, ticket

from contramem.build.model.view import DEGRADATIONS, packet_text
from contramem.build.rules.mine import mine
from contramem.contrast.align import align, reference_first


def test_every_divergence_is_in_the_text_however_small_the_budget(runs: Runs) -> None:
    for about in runs.packets:
        letters = [one.letter for one in about.runs if one.counts]
        text = packet_text(about, budget_tokens=1)
        assert text.left_out == DEGRADATIONS
        for row in align(reference_first([one for one in about.runs if one.counts])):
            if set(row.steps) != set(letters):
                for letter, step in row.steps.items():
                    folded = re.search(rf"{letter}#\d+.* to .*{letter}#\d+.* x\d+ {re.escape(step.label)}", text.text)
                    assert f"{letter}#{step.position}" in text.text or folded
                    assert step.label in text.text


def test_the_text_degrades_in_the_stated_order(runs: Runs) -> None:
    about = ticket(runs)
    full = packet_text(about)
    assert full.left_out == ()
    seen = []
    for budget in range(full.tokens, 0, -50):
        found = packet_text(about, budget)
        assert found.left_out == DEGRADATIONS[: len(found.left_out)]
        seen.append(len(found.left_out))
    assert seen == sorted(seen)


def test_what_all_runs_do_alike_is_told_once() -> None:
    about = packet(
        run("a", True, call("Mail.search", {"query": "news"}, [{"id": 1}]), call("Mail.delete", {"id": 1}), "done"),
        run("b", False, call("Mail.search", {"query": "news"}, [{"id": 1}]), "nothing to delete"),
    )
    text = packet_text(about).text
    assert text.count("Mail.search(") == 1
    assert "all [A#" in text
    assert re.search(r"^  A#\d+ Mail.delete\(", text, re.MULTILINE)


def test_the_order_in_which_arguments_are_written_is_no_divergence_and_another_result_is_one() -> None:
    about = packet(
        run("a", True, call("Mail.move", {"id": 17, "to": "spam"}, "ok"), "done"),
        run("b", True, call("Mail.move", {"to": "spam", "id": 17}, "ok"), call("Mail.delete", {"id": 17}), "done"),
        run("c", False, call("Mail.move", {"id": 17, "to": "spam"}, [1, 2]), "done"),
    )
    moved = [line for line in packet_text(about).text.splitlines() if "Mail.move" in line]
    assert [re.findall(r"[A-C]#", line) for line in moved] == [["A#", "B#"], ["C#"]]


def test_a_text_that_was_shortened_says_so(runs: Runs) -> None:
    about = ticket(runs)
    assert "left out for length" not in packet_text(about).text
    assert f"left out for length: {DEGRADATIONS[0]}" in packet_text(about, budget_tokens=1).text


def test_a_signal_that_another_repeats_is_told_once(runs: Runs) -> None:
    for about in runs.packets:
        said = re.findall(r"signal \([a-z ]+\): (.*?)(?: \[[A-Z#\d ]+\])?$", packet_text(about).hints, re.MULTILINE)
        assert said
        assert not [one for one in said for other in said if one != other and other.endswith(one)]


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
            f"guard: {found.guard} (kept by passing {runs[0]}; broken by failing {runs[1]}; "
            f"broken by passing {runs[2]})"
        )


def test_of_runs_that_are_alike_two_are_named_one_of_each_outcome_if_there_are_both() -> None:
    look, close = call("Desk.get_ticket", {"id": "t-4711"}), call("Desk.close_ticket", {"id": "t-4711"})
    runs = [run(source, True, look, close, "Closed.") for source in "ab"]
    made = packet(*runs, *(run(source, False, look, "Closed.") for source in "cd"))
    assert "all [A#1 C#1] Desk.get_ticket" in packet_text(made).text
    assert "all [A#1 B#1] Desk.get_ticket" in packet_text(packet(*runs, run("c", True, look, close, "Closed."))).text


def test_signals_leave_out_the_app_where_there_is_only_one_and_guards_never() -> None:
    look, close = call("Desk.get_ticket", {"id": "t-4711"}), call("Desk.close_ticket", {"id": "t-4711"})

    def hints(first: Call) -> str:
        return packet_text(packet(run("a", True, first, close, "Closed."), run("b", False, close, "Closed."))).hints

    alone, several = hints(look), hints(call("Mail.get_mail", {"id": "m-4711"}))
    assert "): get_ticket is called by 1 of 1 passing" in alone and "Desk.get_ticket" in alone.partition("guard:")[2]
    assert "): Mail.get_mail is called by 1 of 1 passing" in several


def test_reads_in_another_order_are_no_hint() -> None:
    look, count = call("Desk.get_ticket", {"id": "t-4711"}), call("Desk.count_tickets", {})
    close = call("Desk.close_ticket", {"id": "t-4711"})
    made = packet(run("a", True, look, count, close, "Closed."), run("b", False, count, look, "Closed."))
    assert "Where passing runs call get_ticket" not in packet_text(made).hints
    assert any("Where passing runs call Desk.get_ticket" in signal.statement for signal in made.signals)


def test_what_the_nearest_passing_run_shows_is_not_said_again_of_all_failing_runs() -> None:
    def close(how: str) -> Call:
        return call("Desk.close_ticket", {"id": "t-4711", "how": how})

    made = packet(run("a", True, close("settled"), "ok"), *(run(name, False, close("late"), "ok") for name in "bc"))
    assert "not settled" in packet_text(made).text
    assert "All 2 failing runs alike" in "".join(signal.statement for signal in made.signals)
    assert "All 2 failing runs alike" not in packet_text(made).hints


def test_calls_that_are_repeated_in_turn_are_shown_once() -> None:
    look, close = call("Desk.find", {"name": "ann"}, []), call("Desk.close", {"id": "t-9"}, error="No such ticket.")
    made = packet(
        run("a", True, call("Desk.list"), "Closed."), run("b", False, *[look, close] * 6, "I could not close it.")
    )
    text = packet_text(made).text
    assert text.count("Desk.close") == 2  # with the error, and with "the same error"
    assert "  B#5 to B#12 these 2 steps again, x4\n" in text


def test_what_the_judge_says_of_every_passing_run_is_left_out() -> None:
    runs = [
        run("a", True, "Done.", feedback="All fine."),
        run("b", True, call("Desk.list"), "Done.", feedback="All fine."),
    ]
    text = packet_text(packet(*runs, run("c", False, "No.", feedback="The ticket is open."))).text
    assert "All fine" not in text and "feedback on C: ‹The ticket is open.›" in text
    other = run("d", True, call("Desk.get"), "Done.", feedback="Fine, but slow.")
    assert "feedback on A B: ‹All fine.›" in packet_text(packet(*runs, other)).text
