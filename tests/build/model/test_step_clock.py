"""When steps happened, as written after the line about them."""

from __future__ import annotations

from contramem.build.model.step_clock import Clock
from contramem.contrast.align import AlignedStep
from contramem.contrast.packet import PacketRun
from contramem.contrast.step import Step
from contramem.traces.trajectory import Effect


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
