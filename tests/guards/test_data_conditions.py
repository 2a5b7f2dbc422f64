"""Guards with conditions on data: amounts, words, forms, fields of earlier results, numbers of items, choices."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.made_runs import Call, call, packet, run

from contramem.errors import GuardError
from contramem.guards.actions import actions_of_run, actions_of_steps
from contramem.guards.guard import parse_guard
from contramem.guards.values import satisfies, shape_of
from contramem.guards.watch import GuardMonitor
from contramem.traces.trajectory import Trajectory

TASK = "Customer Ada Byron wants 620.50 back; it is urgent."
LOOK = call("Office.find_customer", {"name": "Ada Byron"}, {"id": "C-7", "tier": "A", "account_owner": "desk-4"})
ORDERS = call(
    "Office.list_invoices",
    {"customer": "C-7"},
    [
        {"id": "I-3", "due": "2026-03-01", "status": "open", "total": 90},
        {"id": "I-1", "due": "2026-01-09", "status": "paid", "total": 200},
        {"id": "I-2", "due": "2026-02-02", "status": "open", "total": 30},
    ],
)
LARGE = call("Office.create_note", {"customer": "C-7", "amount": 620.5, "due": "2026-W05"})
SMALL = call("Office.create_note", {"customer": "C-7", "amount": 80, "due": "2026-02-01"})
OWNER = call("Office.assign_owner", {"owner": "desk-4", "text": "Thank you. No fee applies."})
PAY_OLDEST = call("Office.pay", {"invoice": "I-1", "cents": 62050})
PAY_FIRST = call("Office.pay", {"invoice": "I-3", "cents": 620.5})


@pytest.mark.parametrize(
    ("guard", "calls", "verdict"),
    [
        ("response(Office.create_note, Office.assign_owner) when Office.create_note[amount > 500]", [LARGE], "broken"),
        ("response(Office.create_note, Office.assign_owner) when Office.create_note[amount > 500]", [SMALL], "vacuous"),
        ("response(Office.create_note[amount > 500], Office.assign_owner)", [LARGE, OWNER], "holds"),
        ("absence(Office.create_note) when Office.find_customer.tier = A", [LOOK, SMALL], "broken"),
        ("absence(Office.create_note) when Office.find_customer.tier = B", [LOOK, SMALL], "vacuous"),
        ("precedence(Office.look, Office.pay) when Office.list_invoices has several", [ORDERS, PAY_FIRST], "broken"),
        ("precedence(Office.look, Office.pay) when Office.list_invoices has one", [ORDERS, PAY_FIRST], "vacuous"),
        ("absence(Office.pay) when Office.list_invoices has at least 4", [ORDERS, PAY_FIRST], "vacuous"),
        ("existence(Office.create_note[due like 9-A9])", [LARGE], "holds"),
        ("existence(Office.create_note[due like 9-A9])", [SMALL], "broken"),
        ("existence(Office.create_note[due like 9999-A99])", [LARGE], "holds"),
        ("existence(Office.create_note[due like 9999-W99])", [LARGE], "holds"),
        ("existence(Office.create_note[due like 99-W99])", [LARGE], "broken"),
        ("absence(Office.create_note[amount > 100 and due like 9-A9])", [LARGE], "broken"),
        ("existence(Office.assign_owner[owner from Office.find_customer.account_owner])", [LOOK, OWNER], "holds"),
        ("existence(Office.assign_owner[owner from Office.find_customer.id])", [LOOK, OWNER], "broken"),
        ("existence(Office.assign_owner[owner from Office.find_customer.account_owner])", [OWNER, LOOK], "broken"),
        ("existence(Office.pay[invoice picks lowest due of Office.list_invoices])", [ORDERS, PAY_OLDEST], "holds"),
        ("existence(Office.pay[invoice picks lowest due of Office.list_invoices])", [ORDERS, PAY_FIRST], "broken"),
        ("existence(Office.pay[invoice picks lowest total of Office.list_invoices])", [ORDERS, PAY_OLDEST], "broken"),
        ("existence(Office.pay[invoice picks first of Office.list_invoices])", [ORDERS, PAY_FIRST], "holds"),
        ("existence(Office.pay[invoice picks status = open of Office.list_invoices])", [ORDERS, PAY_OLDEST], "broken"),
        ("existence(Office.pay[cents times 100 of task])", [PAY_OLDEST], "holds"),
        ("existence(Office.pay[cents times 100 of task])", [PAY_FIRST], "broken"),
        ("existence(Office.assign_owner[text contains \"thank you\"])", [OWNER], "holds"),
        ("absence(Office.assign_owner[text lacks \"thank you\"])", [OWNER], "holds"),
        ("absence(Office.pay) when task contains urgent", [PAY_FIRST], "broken"),
        ("absence(Office.pay) when task lacks urgent", [PAY_FIRST], "vacuous"),
        ("absence(Office.pay) unless Office.find_customer.tier = A", [LOOK, PAY_FIRST], "vacuous"),
        ("absence(Office.pay) unless Office.find_customer.tier = A", [PAY_FIRST], "broken"),
        ("absence(Office.pay) when Office.pay[cents > 9] unless task contains urgent", [PAY_FIRST], "vacuous"),
        (
            "absence(Office.pay) when Office.find_customer.tier = A and Office.list_invoices has several",
            [LOOK, PAY_FIRST],
            "vacuous",
        ),
        (
            "absence(Office.pay) when Office.find_customer.tier = A and Office.list_invoices has several",
            [LOOK, ORDERS, PAY_FIRST],
            "broken",
        ),
    ],
)  # fmt: skip
def test_a_condition_on_data_has_the_same_verdict_on_recorded_live_and_redacted_runs(
    guard: str, calls: list[Call], verdict: str
) -> None:
    recorded = run("a", True, *calls, "Done.", task=TASK)
    parsed = parse_guard(guard)
    redacted = packet(recorded)
    assert parsed.replay(actions_of_run(recorded), recorded.task) == verdict
    assert _watch(guard, recorded) == verdict
    assert parsed.replay(actions_of_steps(redacted.runs[0].actions, redacted.recorded["A"]), TASK) == verdict
    assert parse_guard(str(parsed)) == parsed


def _watch(guard: str, recorded: Trajectory) -> str:
    monitor = GuardMonitor([(parse_guard(guard), "", "")], recorded.task)
    for event in recorded.events:
        monitor.observe(event)
    return monitor.automata[0].verdict


def test_a_call_is_warned_about_when_an_earlier_result_has_brought_the_guard_into_force() -> None:
    monitor = GuardMonitor([(parse_guard("absence(Office.pay) when Office.find_customer.tier = A"), "", "")], TASK)
    look, pay = (event for event in run("a", None, LOOK, PAY_FIRST, task=TASK).events if event.function)
    assert monitor.would_break(pay) == ()
    monitor.observe(look)
    assert [obligation.guard.template for obligation in monitor.would_break(pay)] == ["absence"]


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("absence( Shop.move[quantity>40] )", "absence(Shop.move[quantity > 40])"),
        ("absence(Shop.move[quantity > 40.0])", "absence(Shop.move[quantity > 40])"),
        ("response(A.b, A.c) within 2 min when A.b", "response(A.b, A.c) within 120 s when A.b"),
        ('absence(A.b) when  A.c.state  =  "open"', "absence(A.b) when A.c.state = open"),
        ('existence(A.b[unit = "black and white"])', 'existence(A.b[unit = "black and white"])'),
        ("absence(A.b) when A.c has at least 2", "absence(A.b) when A.c has several"),
    ],
)
def test_a_guard_has_one_canonical_form(written: str, canonical: str) -> None:
    assert str(parse_guard(written)) == canonical
    assert str(parse_guard(canonical)) == canonical


@pytest.mark.parametrize(
    ("guard", "sentence"),
    [
        ("absence(Shop.move[quantity > 40])", "`move` with `quantity` above 40 is not called."),
        (
            "response(Shop.note, Shop.assign) within 60 s when Shop.find.tier = A",
            "After `note` succeeds, `assign` is called and succeeds, within 1 minute, "
            "if `Shop.find` shows a `tier` of A.",
        ),
        (
            "existence(Shop.pay[id picks lowest due of Shop.list]) when Shop.list has several",
            "`pay` with the `id` of the item of `Shop.list` with the lowest `due` is called and succeeds, if "
            "`Shop.list` returns several items.",
        ),
        (
            "absence(Shop.pay) when Shop.list has at least 1 where state = open",
            "`pay` is not called, if `Shop.list` returns at least 1 item whose `state` is open.",
        ),
        (
            "absence(Shop.pay) when Shop.pay[sum > 9] unless Shop.find.tier = A",
            "`pay` is not called, if `pay` is called with `sum` above 9, unless `Shop.find` shows a `tier` of A.",
        ),
    ],
)
def test_a_condition_is_put_in_words(guard: str, sentence: str) -> None:
    assert parse_guard(guard).sentence == sentence


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("absence(A.b[n > too many])", "'too many' in .* is neither a number nor a date"),
        ("absence(A.b) when A.c.n > many", "'many' in .* is neither a number nor a date"),
        ("existence(A.b[id picks nicest of A.c])", "is not a choice; write"),
        ("absence(A.b) when sometimes", "`when` also takes"),
        ("last(A.b) within 5 s", "a deadline is allowed after existence"),
        ("existence(A.b[n times many of task])", "write `times 100 of task`"),
    ],
)
def test_a_condition_that_does_not_parse_is_refused_with_an_example(text: str, complaint: str) -> None:
    with pytest.raises(GuardError, match=complaint):
        parse_guard(text)


@given(st.text(min_size=1, max_size=30).filter(lambda text: text.strip() == text))
def test_any_word_survives_writing_and_parsing(word: str) -> None:
    guard = parse_guard(f"absence(A.b[n = {_quoted(word)}]) when A.c.field = {_quoted(word)}")
    assert parse_guard(str(guard)) == guard


def _quoted(word: str) -> str:
    return msgspec.json.encode(word).decode()


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_numbers_are_ordered_as_numbers(left: float, right: float) -> None:
    assert satisfies(left, ">", repr(right)) == (left > right)
    assert satisfies(str(left), "<=", repr(right)) == (left <= right) or "e" in str(left)


@pytest.mark.parametrize(("value", "shape"), [("2026-W05", "9-A9"), ("Jane Doe", "Aa Aa"), (12.5, "9.9"), ("", "")])
def test_a_shape_says_how_a_value_is_written_without_the_value(value: object, shape: str) -> None:
    assert shape_of(value) == shape


@pytest.mark.parametrize(
    ("guard", "functions"),
    [
        ("existence(A.b[n from A.c.field])", ("A.b", "A.c")),
        ("existence(A.b[n from A.c])", ("A.b", "A.c")),
        ("existence(A.b[n times 0.01 of task])", ("A.b",)),
        ("existence(A.b[n picks lowest due of A.c]) when A.d.tier = A and A.e has one", ("A.b", "A.c", "A.d", "A.e")),
    ],
)
def test_a_guard_lists_the_functions_it_refers_to(guard: str, functions: tuple[str, ...]) -> None:
    assert parse_guard(guard).functions == functions
