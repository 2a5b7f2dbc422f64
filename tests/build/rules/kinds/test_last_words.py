"""Last words: a question that nobody answers, a call that is only written down."""

from __future__ import annotations

from dataclasses import replace

from tests.made_runs import call, packet, run

from contramem.build.rules.kinds.last_words import LastWords
from contramem.build.rules.rule import Lesson, illustrate, load_rule
from contramem.contrast.packet import Packet

SENT = call("Mail.send", {"to": "ann@x.org"})


def rule(word: str = "send", ending: str = "question") -> LastWords:
    deed = f"existence(writes(Mail)) when task contains {word}"
    return LastWords(functions=("Mail.send",), ending=ending, failed=9, passed=0, deeds=(deed,))  # type: ignore[arg-type]


def story() -> Packet:
    return packet(run("a", True, SENT, "Sent."), run("b", False, "Shall I send it?"))


def lesson(rule: LastWords) -> Lesson:
    shown = story()
    return Lesson(rule, rule.name_ending(illustrate(rule, shown, shown.passing[0], shown.failing[0])))


def test_a_question_and_a_written_call_are_told_apart() -> None:
    assert "Nobody replies" in rule().words().core_rule
    written = rule(ending="written call").words()
    assert "is not carried out" in written.core_rule
    assert "9 failed and none passed" in written.success_failure_contrast


def test_the_card_does_not_say_that_all_fail_where_some_pass() -> None:
    assert "and it fails" in rule().words().core_rule
    assert "hardly any such run passes" in replace(rule(), passed=1).words().core_rule


def test_the_failing_example_says_how_the_run_ended() -> None:
    assert lesson(rule()).text.evidence.bad_example.endswith("final answer (a question)")


def test_words_that_order_the_change_come_together_on_one_card() -> None:
    first, second = lesson(rule("send")), lesson(rule("invite"))
    joined = rule("send").merge(first.text, second, story())
    assert joined is not None
    assert [str(guard) for guard in joined.rule.guards] == [*rule("send").deeds, *rule("invite").deeds]
    assert len(joined.text.skill.completion) == 3
    assert joined.text.evidence.bad_example.count("(a question)") == 1
    assert joined.rule.says(rule("invite"))


def test_two_endings_stay_two_cards() -> None:
    first, second = lesson(rule()), lesson(rule(ending="written call"))
    assert rule().merge(first.text, second, story()) is None


def test_the_rule_survives_the_store() -> None:
    assert load_rule(rule().store()) == rule()
