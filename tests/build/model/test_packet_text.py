"""How a packet is written for a construction model: every divergence, each thing once, shorter when it must be."""

from __future__ import annotations

import re

import pytest
from tests.guard_builds import task
from tests.made_runs import Call, call, packet, run
from tests.model_replies import Runs, ticket

from contramem.build.model.packet_text import (
    DEGRADATIONS,
    LIMITS_CHARS,
    TALK_BUDGET_TOKENS,
    Clock,
    are_alike,
    cut_to_questions,
    packet_text,
    questions_in,
    read_conversation,
)
from contramem.build.rules.mine import mine
from contramem.contrast.align import AlignedStep, align, reference_first
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.step import Step
from contramem.counting import count_tokens
from contramem.traces.trajectory import Effect


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


# What is said in a packet: each question once with its answers, and long talk cut to what it asks for


TASK = "Exchange the shirt of your last order for a smaller one."
LOOK, SWAP = call("Shop.get_order", {"id": "W-4711"}, {"item": "I-1234"}), call("Shop.exchange", {"item": "I-1234"})
SMALL_TALK = "Thank you so much for your patience, I have looked at everything that you have told me so far. " * 4


def said(made: Packet) -> list[str]:
    return [line.strip() for line in packet_text(made).text.splitlines() if " ask the user: " in line]


def test_a_question_that_several_runs_ask_in_other_words_is_shown_once_with_each_answer() -> None:
    made = packet(
        run(
            "a", True, "Sure! Could you please give me the zip code of your address?", ("user", "It is 10115."), "Done."
        ),
        run("b", False, "Hello. What is the zip code of your address, please?", ("user", "I forgot it."), "No."),
    )
    (line,) = said(made)
    assert line.startswith(
        "A#1 B#1 ask the user: ‹Sure! Could you please give me the zip code of your address?› -> A ‹"
    )
    assert line.endswith("; B ‹I forgot it.›")


def test_answers_that_agree_are_one_and_a_reservation_is_another() -> None:
    answers = {"a": "Yes.", "b": "Yeah, go ahead.", "c": "Yes, but send it to my office."}
    made = packet(
        *(
            run(name, True, LOOK, "Shall I exchange it?", ("user", text), SWAP, "Done.")
            for name, text in answers.items()
        )
    )
    assert said(made) == [
        "A#2 B#2 C#2 ask the user: ‹Shall I exchange it?› -> A B ‹Yes.›; C ‹Yes, but send it to my office.›"
    ]


def test_what_the_task_says_is_not_shown_again_as_an_answer() -> None:
    made = packet(
        run("a", True, "What can I do?", ("user", "Exchange my shirt for a smaller one."), SWAP, "Done.", task=TASK)
    )
    assert said(made) == ["A#1 ask the user: ‹What can I do?›"]


def test_a_yes_or_no_is_shown_although_the_task_has_such_words() -> None:
    task = f"{TASK} You are sure, and you do not want a refund."
    made = packet(run("a", True, "Shall I refund it?", ("user", "No."), SWAP, "Done.", task=task))
    assert said(made) == ["A#1 ask the user: ‹Shall I refund it?› -> ‹No.›"]


def test_a_long_message_is_cut_to_its_beginning_and_its_question() -> None:
    message = f"I found the shirt. {SMALL_TALK}Which size do you want? Is there anything else I can help you with?"
    cut = cut_to_questions(message, 100)
    assert cut.startswith("I found the shirt") and cut.endswith("… Which size do you want?") and len(cut) <= 100
    assert questions_in(message) == ["Which size do you want?"]
    assert cut_to_questions(SMALL_TALK, 100) == SMALL_TALK[:99].rstrip() + "…"


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        pytest.param("My email is a@b.example.", "It's a@b.example, the email.", True, id="other-small-words"),
        pytest.param("I remember the order.", "I don't remember the order.", False, id="denied"),
        pytest.param("Yes.", "No.", False, id="yes-and-no"),
        pytest.param("Which order is it in?", "Which size do you want?", False, id="another-question"),
    ],
)
def test_messages_are_alike_by_the_words_that_tell_something(one: str, other: str, alike: bool) -> None:
    assert are_alike(one, other) is alike


def talkative(turns: int) -> Packet:
    """Three agents that talk much; the failing one asks for what the others look up."""

    def chat(name: str) -> list[str | tuple[str, str]]:
        return [
            text
            for turn in range(turns)
            for text in (
                f"{SMALL_TALK}What about point {name}{turn} of {name * 3}?", ("user", f"{name}{turn} {SMALL_TALK}")
            )
        ]  # fmt: skip

    def steps(name: str, *calls: Call) -> list[Call | str | tuple[str, str]]:
        return [*chat(name), *calls, "Done."]

    asks: list[str | tuple[str, str]] = ["What is the number of the item?", ("user", "I have no idea.")]
    return packet(
        run("a", True, *steps("alpha", LOOK, SWAP), task=TASK), run("b", True, *steps("beta", LOOK, SWAP), task=TASK),
        run("c", False, LOOK, *chat("gamma"), *asks, "Sorry.", task=TASK),
    )  # fmt: skip


def test_long_talk_fits_its_budget_and_no_call_is_lost() -> None:
    made = talkative(turns=6)
    text = packet_text(made).text
    assert sum(count_tokens(line) for line in said(made)) <= 1.2 * TALK_BUDGET_TOKENS
    assert f"messages cut to {LIMITS_CHARS[-1]} characters" in text or f"cut to {LIMITS_CHARS[1]} characters" in text
    assert "Shop.exchange" in text
    assert re.search(r"C#\d+ ask the user: ‹What is the number of the item\?› -> ‹I have no idea\.›", text)


def test_talk_of_a_passing_run_that_no_failing_run_is_read_beside_is_left_out_last() -> None:
    made = talkative(turns=40)
    runs = list(made.runs)
    talk = read_conversation(made, runs, align(reference_first(runs)))
    assert talk.silent == ("B",)
    text = packet_text(made).text
    assert "talk of B left out" in text
    assert re.search(r"C#\d+ ask the user", text) and not re.search(r"  B#\d+ ask the user", text)
    assert re.search(r"B#\d+.* Shop.exchange", text)


# When steps happened, as written after the line about them


def step(position: int, effect: Effect, at_s: float | None) -> Step:
    return Step(position, "agent", "call", function="App.act", effect=effect, at_s=at_s)


def clock_text(steps: dict[str, tuple[Step, ...]], index: int = 0) -> str:
    """What the clock says about the step with this index of all runs, which are given by letter."""
    clock = Clock([PacketRun(letter, True, of_run) for letter, of_run in steps.items()])
    row = AlignedStep("App.act", {letter: of_run[index] for letter, of_run in steps.items()})
    return clock.text(row, list(steps))


def test_steps_at_about_the_same_time_share_one_time() -> None:
    assert clock_text({"A": (step(1, "write", 60),), "B": (step(1, "write", 63),)}) == " (at 60 s)"


def test_steps_at_different_times_are_listed_by_run() -> None:
    assert clock_text({"A": (step(1, "write", 60),), "B": (step(1, "write", 90),)}) == " (A at 60 s; B at 90 s)"


def test_a_wait_is_written_with_its_length() -> None:
    waited = (step(1, "wait", 10), step(2, "write", 190))
    assert clock_text({"A": waited}) == " (at 10 s, waited 180 s)"


def test_waits_of_different_lengths_are_listed_by_run() -> None:
    short, long = (step(1, "wait", 10), step(2, "write", 40)), (step(1, "wait", 10), step(2, "write", 190))
    assert clock_text({"A": short, "B": long}) == " (A at 10 s, waited 30 s; B at 10 s, waited 180 s)"


def test_a_read_gets_no_time() -> None:
    assert clock_text({"A": (step(1, "read", 60),)}) == ""


def test_without_recorded_times_nothing_is_written() -> None:
    untimed = (step(1, "write", None),)
    assert clock_text({"A": untimed}) == ""
    assert not Clock([PacketRun("A", True, untimed)]).runs
