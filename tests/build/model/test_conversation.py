"""What is said in a packet: each question once with its answers, and long talk cut to what it asks for."""

from __future__ import annotations

import re

import pytest
from tests.made_runs import Call, call, packet, run

from contramem.build.model.conversation import (
    LIMITS_CHARS,
    TALK_BUDGET_TOKENS,
    are_alike,
    cut_to_questions,
    questions_in,
    read_conversation,
)
from contramem.build.model.view import packet_text
from contramem.contrast.align import align, reference_first
from contramem.contrast.packet import Packet
from contramem.counting import count_tokens

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
