"""Observations: single calls, and what is known about them from their run."""

from __future__ import annotations

from tests.made_runs import call, packet, run

from contramem.contrast.observation import by_function
from contramem.contrast.packet import packet_of
from contramem.contrast.vocabulary import Vocabulary
from contramem.mining.functions import Calls
from contramem.traces.trajectory import Event, Origin, Outcome, Result, Trajectory

DELETE = call("Mail.delete", {"id": "m-4711"})


def test_observations_know_what_was_repeated_and_from_where_values_come():
    refused = call("Mail.delete", {"id": "oops"}, "Error: bad id", error="Error: bad id")
    made = packet(run("a", True, refused, DELETE, DELETE, "Done."))
    first, second, third = by_function([made])["Mail.delete"]
    assert (first.error, second.error) == ("Error: bad id", "")
    assert (first.repeated, second.repeated, third.repeated) == (False, False, True)
    assert second.forms == {"id": "identifier"}


def observed(*calls):
    """The observations of one run that makes these calls: (function, arguments, effect, error)."""
    events = [
        Event(n, "agent", "call", function=f"App.{name}", arguments=given, effect=effect, result=Result("{}", error))
        if name
        else Event(n, "user", "message", text="Go on.")
        for n, (name, given, effect, error) in enumerate(calls)
    ]
    run = Trajectory("env", "t", "m", Origin("f"), tuple(events), Outcome(True), task="Do it.")
    return [o for found in by_function([packet_of([run], Vocabulary())]).values() for o in found]


def test_a_repeat_is_redundant_only_while_nothing_happened():
    look, change, said = ("look", {}, "read", None), ("change", {}, "write", None), ("", {}, "unknown", None)
    looks = [o.redundant for o in observed(look, look, change, look, said, look, look) if o.function == "App.look"]
    assert looks == [False, True, False, False, True]


def test_a_repeated_call_with_the_same_result_is_a_loop():
    no, yes = ("get", {"id": "a"}, "read", "Error: busy"), ("get", {"id": "a"}, "read", None)
    assert [o.looped for o in observed(no, no, yes, yes, no)] == [False, True, False, True, True]


def test_a_failed_call_and_the_next_try_know_what_differs_and_what_came_between():
    no, login, yes = ("get", {}, "read", "Error: log in"), ("login", {}, "write", None), ("get", {}, "read", None)
    first, second = Calls("App.get", [o for o in observed(no, no, login, yes) if o.function == "App.get"]).retries[:2]
    assert (first.between, second.between) == (frozenset(), {"App.login"})
    other = ("get", {"id": "a"}, "read", None)
    assert Calls("App.get", observed(no, other)).retries[0].changed == {"id"}


def test_what_was_tried_on_a_thing_is_known_before_and_after():
    """Before: whether it worked at least once. Later: at the first attempt."""
    thing = {"order_id": "#W1000001"}
    pay, ship = ("pay", thing, "write", "Error: no"), ("ship", thing, "write", None)
    made = observed(pay, ("pay", thing, "write", None), ship, pay)
    [shipped] = [each for each in made if each.function == "App.ship"]
    assert shipped.run.tries_before[shipped.number] == {"order_id": {"App.pay": True}}
    assert shipped.run.tries_later[shipped.number] == {"order_id": {"App.pay": False}}
