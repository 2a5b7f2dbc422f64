"""Numbers that a guard calculates from what was seen before a call."""

from __future__ import annotations

import pytest
from tests.made_runs import Call, call, packet, run

from contramem.errors import GuardError
from contramem.guards.actions import actions_of_run, actions_of_steps
from contramem.guards.guard import parse_guard
from contramem.guards.watch import GuardMonitor
from contramem.traces.trajectory import Event

TASK = "Insure the vase for 1,250 euros and pack it."
VASE = call("Depot.get", {"id": "V-1"}, {"id": "V-1", "size": {"h": 40, "w": 20}, "price": 12.5, "owner": "Ada"})
VALUES = call(
    "Depot.list_values",
    {"id": "V-1"},
    [
        {"amount": 41234, "basis": "external", "date": "05.03.2024", "by": "Lee"},
        {"amount": 90000, "basis": "internal", "date": "2026-01-01", "by": "Kim"},
        {"amount": 55000, "basis": "external", "date": "2021-06-30", "by": "Poe"},
    ],
)
CRATES = call(
    "Depot.list_crates",
    {},
    [
        {"crate": "C-1", "inner": {"h": 49, "w": 40}},
        {"crate": "C-2", "inner": {"h": 50, "w": 30}},
        {"crate": "C-3", "inner": {"h": 90, "w": 90}},
    ],
)
NEWEST = "amount of latest date of Depot.list_values where basis = external"
LARGER = "smallest inner.h of Depot.list_crates where inner.h >= Depot.get.size.h plus 10"


def insure(amount: object) -> Call:
    return call("Depot.insure", {"amount": amount, "pieces": 4})


def pack(crate: str) -> Call:
    return call("Depot.pack", {"crate": crate})


@pytest.mark.parametrize(
    ("guard", "calls", "verdict"),
    [
        (f"existence(Depot.insure[amount equals {NEWEST} rounded up to 1000])", [VALUES, insure(42000)], "holds"),
        (f"existence(Depot.insure[amount equals {NEWEST}, rounded up to 1000])", [VALUES, insure("42,000")], "holds"),
        (f"existence(Depot.insure[amount equals {NEWEST} rounded up to 1000])", [VALUES, insure(41234)], "broken"),
        (f"existence(Depot.insure[amount equals {NEWEST} rounded up to 1000])", [VALUES, insure(55000)], "broken"),
        (f"existence(Depot.insure[amount equals {NEWEST} rounded down to 100])", [VALUES, insure(41200)], "holds"),
        (f"existence(Depot.insure[amount equals {NEWEST} rounded to 500])", [VALUES, insure(41000)], "holds"),
        (f"existence(Depot.insure[amount equals {NEWEST} rounded up to 1000])", [insure(42000)], "broken"),
        ("existence(Depot.insure[amount = Depot.get.price])", [VASE, insure("12.50")], "holds"),
        ('existence(Depot.insure[amount = "Depot.get.price"])', [VASE, insure("12.50")], "broken"),
        ("existence(Depot.insure[amount = Depot.get.owner])", [VASE, insure("ada")], "holds"),
        ("existence(Depot.insure[amount equals pieces times Depot.get.price])", [VASE, insure(50)], "holds"),
        ("existence(Depot.insure[amount equals 80 % of task])", [insure(1000)], "holds"),
        ("existence(Depot.insure[amount equals 0.8 times task plus 5])", [insure(1005)], "holds"),
        ("existence(Depot.insure[amount equals 100 times sum of Depot.list_values.amount where by = Lee])",
         [VALUES, insure(4123400)], "holds"),
        ("existence(Depot.insure[amount equals count of Depot.list_values minus 1])", [VALUES, insure(2)], "holds"),
        ("absence(Depot.insure[amount > task plus 100])", [insure(1350)], "holds"),
        ("absence(Depot.insure[amount > task plus 100])", [insure(1351)], "broken"),
        ("absence(Depot.insure[amount < pieces])", [insure(3)], "broken"),
        ("absence(Depot.insure[amount equals pieces rounded up to 0])", [insure(3)], "holds"),
        (f"existence(Depot.pack[crate picks {LARGER}, inner.w >= Depot.get.size.w plus 10])",
         [VASE, CRATES, pack("C-2")], "holds"),
        (f"existence(Depot.pack[crate picks {LARGER}])", [VASE, CRATES, pack("C-1")], "broken"),
        ("absence(Depot.insure) when Depot.list_values has one where date >= 2024-03-05, basis = external",
         [VALUES, insure(1)], "broken"),
        ("absence(Depot.insure) when Depot.list_values.date < 2020-01-01", [VALUES, insure(1)], "vacuous"),
        ("absence(Depot.insure) when Depot.list_values.amount > 4000 times Depot.get.price",
         [VALUES, VASE, insure(1)], "broken"),
        ("absence(Depot.insure) when Depot.list_values.amount > 4000 times Depot.get.price",
         [VASE, VALUES, insure(1)], "broken"),
        ("absence(Depot.insure) when Depot.list_values.amount > 8000 times Depot.get.price",
         [VASE, VALUES, insure(1)], "vacuous"),
        ("absence(Depot.insure) when Depot.get.owner given", [VASE, insure(1)], "broken"),
        ("absence(Depot.insure) when Depot.get.agent missing", [VASE, insure(1)], "broken"),
        ("absence(Depot.insure) unless Depot.get.owner given", [VASE, insure(1)], "vacuous"),
    ],
)  # fmt: skip
def test_a_calculation_gives_the_same_verdict_on_recorded_and_redacted_runs(
    guard: str, calls: list[Call], verdict: str
) -> None:
    recorded = run("a", True, *calls, "Done.", task=TASK)
    parsed = parse_guard(guard)
    assert parsed.replay(actions_of_run(recorded), recorded.task) == verdict
    redacted = packet(recorded)
    assert parsed.replay(actions_of_steps(redacted.runs[0].actions, redacted.recorded["A"]), TASK) == verdict
    assert parse_guard(str(parsed)) == parsed


def test_a_call_that_is_not_calculated_so_is_warned_of_before_it_is_made() -> None:
    guard = parse_guard(f"absence(Depot.insure[amount < {NEWEST} rounded up to 1000])")
    monitor = GuardMonitor([(guard, "skill::x", "X")], TASK)
    for event in run("a", True, VALUES, task=TASK).events:
        monitor.observe(event)
    low, enough = (Event(9, "agent", "call", function="Depot.insure", arguments={"amount": n}) for n in (41234, 42000))
    assert [str(obligation.guard) for obligation in monitor.would_break(low)] == [str(guard)]
    assert not monitor.would_break(enough)


@pytest.mark.parametrize(
    ("guard", "sentence"),
    [
        (
            f"existence(Depot.insure[amount equals {NEWEST} rounded up to 1000]) when Depot.insure",
            "`insure` with `amount` as the `amount` of the item of `Depot.list_values` with the highest `date` among "
            "those whose `basis` is external, rounded up to the next 1,000 is called and succeeds, if `insure` is "
            "called.",
        ),
        (
            "absence(Depot.insure[amount > 90 % of task plus 5])",
            "`insure` with `amount` above 90 % of a number from the task plus 5 is not called.",
        ),
        (
            "existence(Depot.insure[amount equals pieces times Depot.get.price])",
            "`insure` with `amount` as its `pieces` times the `price` of `Depot.get` is called and succeeds.",
        ),
        (
            "absence(Depot.insure) when Depot.get.due < 2026-01-01 and Depot.get.agent missing",
            "`insure` is not called, if `Depot.get` shows a `due` before 2026-01-01 and `Depot.get` shows no `agent`.",
        ),
    ],
)
def test_a_calculation_is_put_into_words(guard: str, sentence: str) -> None:
    assert parse_guard(guard).sentence == sentence


@pytest.mark.parametrize(
    ("guard", "complaint"),
    [
        ("existence(A.b[n equals the newest amount])", "is nothing to compare with; write a number"),
        ("existence(A.b[n equals sum of total])", "write `sum of App.list.field`"),
        ("existence(A.b[n > 5 apples])", "neither a number nor a date"),
        ("existence(A.b[n equals amount of nicest of A.c])", "is not a choice; write"),
    ],
)
def test_a_malformed_calculation_is_refused_with_an_example(guard: str, complaint: str) -> None:
    with pytest.raises(GuardError, match=complaint):
        parse_guard(guard)
