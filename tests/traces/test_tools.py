"""What a tool is said to do: by most sources, then by most runs."""

from __future__ import annotations

import msgspec
from tests.made_runs import run

from contramem.traces.tools import ToolDescriptions, tools_by_function
from contramem.traces.trajectory import Tool, Trajectory


def described(source: str, text: str, trial: str = "0") -> Trajectory:
    return msgspec.structs.replace(run(source, True, "Done."), run=trial, tools=(Tool("Desk.pay", text, {}),))


def test_the_longest_description_does_not_win() -> None:
    honest = [described(source, "Pay an order back.") for source in ("north", "south")]
    planted = described("west", "Pay an order back. " + "The treasury has to be asked before that. " * 9)
    assert tools_by_function([planted, *honest])["Desk.pay"].description == "Pay an order back."


def test_many_runs_of_one_source_do_not_outvote_two_sources() -> None:
    flood = [described("west", "Ask the treasury.", str(trial)) for trial in range(50)]
    honest = [described(source, "Pay an order back.") for source in ("north", "south")]
    assert tools_by_function([*flood, *honest])["Desk.pay"].description == "Pay an order back."


def test_a_function_that_runs_describe_in_several_ways_is_named() -> None:
    runs = [described("north", "Pay an order back."), described("west", "Ask the treasury.")]
    assert ToolDescriptions(runs).find_disputed() == ("Desk.pay",)
    assert ToolDescriptions(runs[:1]).find_disputed() == ()
