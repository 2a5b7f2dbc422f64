"""Notes: an answer is found once, kept with what was asked, and forgotten when nobody asks any more."""

from __future__ import annotations

import pickle

from contramem.notes import Answers, share


def refuse() -> str:
    raise AssertionError("this is known")


def test_an_answer_is_found_once() -> None:
    answers = Answers[str, str]()
    assert answers.get("who", lambda: "Ada") == "Ada"
    assert answers.get("who", refuse) == "Ada"


def test_the_next_build_knows_what_this_one_asked() -> None:
    answers = Answers[str, str]()
    answers.get("who", lambda: "Ada")
    kept: Answers[str, str] = pickle.loads(pickle.dumps(answers))
    assert kept.get("who", refuse) == "Ada"
    assert kept.get("where", lambda: "here") == "here"


def test_what_a_build_did_not_ask_is_not_kept_for_the_next() -> None:
    answers = Answers[str, str]()
    answers.get("who", lambda: "Ada")
    asked_nothing: Answers[str, str] = pickle.loads(pickle.dumps(answers))
    forgotten: Answers[str, str] = pickle.loads(pickle.dumps(asked_nothing))
    assert forgotten.get("who", lambda: "nobody") == "nobody"


def test_equal_values_of_different_types_are_not_shared() -> None:
    first, second = share(("a", "b")), share(("a", "b"[:]))
    assert first is second
    assert share(1.0) is not share(True)
