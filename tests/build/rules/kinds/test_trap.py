"""Trap: an error that every run met and nobody got past."""

from __future__ import annotations

from tests.made_runs import call, packet, run

from contramem.build.rules.kinds.trap import Trap

REFUSED, SENT = call("Mail.send", {"to": "x"}, error="Error: quota exceeded"), call("Mail.send", {"to": "x"})


def test_an_error_that_every_run_met_and_none_got_past_is_named() -> None:
    story = packet(run("a", False, REFUSED, "Sorry."), run("b", False, REFUSED, REFUSED, "Sorry."))
    (lesson,) = Trap.find(story)
    assert isinstance(lesson.rule, Trap)
    assert (lesson.rule.function, lesson.rule.error) == ("Mail.send", "Error: quota exceeded")
    assert lesson.text.evidence.good_example == ""
    assert {cite.run for cite in lesson.cites} == {"A", "B"}


def test_an_error_that_somebody_got_past_or_did_not_meet_is_no_trap() -> None:
    assert not list(Trap.find(packet(run("a", False, REFUSED, SENT, "Done."), run("b", False, REFUSED, "Sorry."))))
    assert not list(Trap.find(packet(run("a", False, "Sorry."), run("b", False, REFUSED, "Sorry."))))
    assert not list(Trap.find(packet(run("a", False, REFUSED, "Sorry."))))
