"""Observations: single calls, and what is known about them from their run."""

from __future__ import annotations

from tests.made_runs import call, packet, run

from contramem.contrast.observation import by_function

DELETE = call("Mail.delete", {"id": "m-4711"})


def test_observations_know_the_fix_that_worked_after_an_error() -> None:
    refused = call("Mail.delete", {"id": "oops"}, "Error: bad id", error="Error: bad id")
    made = packet(run("a", True, refused, DELETE, DELETE, "Done."))
    first, second, third = by_function([made])["Mail.delete"]
    assert (first.error, first.fix) == ("Error: bad id", ("id",))
    assert (second.error, second.repeated, third.repeated) == ("", False, True)
    assert second.forms == {"id": "identifier"}
