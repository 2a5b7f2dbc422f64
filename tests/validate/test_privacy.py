"""What may stand on a card although runs contain it: parts of codes that everybody uses, and demanded phrases."""

from __future__ import annotations

import pytest
from tests.made_runs import call, packet, run
from tests.validate.validate_examples import delta

from contramem.contrast.packet import Packet
from contramem.validate.case import Case
from contramem.validate.privacy import Privacy


def letters(text: str) -> Packet:
    sent = call("Mail.send_letter", {"text": f"Dear guest. {text} Kind regards."})
    return packet(
        run("a", True, sent, "Done.", task="Write to Ada Byron about order 41233."),
        run("b", False, call("Mail.send_letter", {"text": "Dear guest. Kind regards."}), "Done."),
    )


def complaints(story: Packet, closed: frozenset[str] = frozenset(), **changes: object) -> list[str]:
    return [
        reason for reason in Privacy(closed)(Case(delta(**changes), packets=(story,))) if "repeats a value" in reason
    ]


@pytest.mark.parametrize(
    ("phrase", "refused"),
    [("you lie alongside at own risk", False), ("ada byron lies alongside at own risk", True)],
)
def test_a_sentence_that_a_guard_demands_may_stand_if_its_words_are_ordinary(phrase: str, refused: bool) -> None:
    story = letters(f"{phrase.capitalize()}.")
    guard = f'existence(Mail.send_letter[text contains "{phrase}"])'
    rule = f"Call `send_letter` with a text that contains “{phrase}”."
    assert bool(complaints(story, core_rule=rule, guards=(guard,))) is refused
    assert complaints(story, core_rule=rule)  # without a guard it is a copied sentence


def test_a_number_may_stand_inside_of_a_code_that_everybody_uses() -> None:
    declare = call("Port.declare", {"seal": "HA-41233"})
    story = packet(
        run("a", True, declare, "Done.", task="Seal 41233 of series HA."),
        run("b", False, call("Port.declare", {"seal": "41233"}), "Done.", task="Seal 41233 of series HA."),
    )
    example = "declare(seal=HA-41233) → final answer"
    assert not complaints(story, frozenset({"HA-41233"}), good_example=example)
    assert complaints(story, good_example=example)
    assert complaints(story, frozenset({"HA-41233"}), good_example="declare(seal=41233) → final answer")
