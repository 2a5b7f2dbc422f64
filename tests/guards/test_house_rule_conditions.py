"""Conditions that house rules need: wording and length of texts, counts, sums, dates, choices among some records."""

from __future__ import annotations

import pytest
from tests.made_runs import Call, call, packet, run

from contramem.errors import GuardError
from contramem.guards.actions import actions_of_run, actions_of_steps
from contramem.guards.guard import parse_guard

TASK = "Write to the customer about order 4711, a table for 5 on 2026-03-02."
ORDER = call("Shop.find", {"order": "4711"}, {"id": "A-4711", "total": 80, "phone": "555-1234", "due": "2026-03-02"})
ITEMS = call(
    "Shop.list",
    {},
    [
        {"id": "I-1", "state": "open", "total": 50, "seats": 4, "city": "Bonn"},
        {"id": "I-2", "state": "held", "total": 20, "seats": 6, "city": "Ulm"},
        {"id": "I-3", "state": "open", "total": 30, "seats": 8, "city": "Ulm"},
    ],
)
NESTED = call(
    "Shop.open",
    {},
    {"order": {"lines": [{"id": "I-1", "price": 3}, {"id": "I-3", "price": 9}]}, "tags": [{"id": "I-1"}], "notes": []},
)
USER = call("Shop.user", {}, {"city": "Ulm"})
LETTER = call(
    "Mail.send",
    {"subject": "[Shop] Order A-4711", "text": "Dear customer,\nKind regards, the shop team", "cc": ["a", "b"]},
)
LOUD = call("Mail.send", {"subject": "Your order", "text": "Call 555-1234 now. " * 9, "cc": ["a"]})
WRITTEN = call("Mail.write", {"letter": {"body": "You may appeal.", "to": {"phone": "555-1234"}}})
PAY = call("Shop.pay", {"amount": 80, "on": "2026-03-09", "code": "R2", "id": "I-1", "lines": 2})
PAY_MORE = call("Shop.pay", {"amount": 100, "on": "2026-03-14", "code": "R9", "id": "I-3", "lines": 3})


@pytest.mark.parametrize(
    ("guard", "calls", "verdict"),
    [
        ('existence(Mail.send[subject starts with "[Shop]"])', [LETTER], "holds"),
        ('existence(Mail.send[subject starts with "[Shop]"])', [LOUD], "broken"),
        ('existence(Mail.send[text ends with "shop team"])', [LETTER], "holds"),
        ("absence(Mail.send[text has at least 20 words])", [LETTER], "holds"),
        ("absence(Mail.send[text has at least 20 words])", [LOUD], "broken"),
        ("existence(Mail.send[text has at most 60 characters])", [LETTER], "holds"),
        ("existence(Mail.send[text has at least 2 lines and cc has at least 2 items])", [LETTER], "holds"),
        ("existence(Mail.send[text has at least 2 lines and cc has at least 2 items])", [LOUD], "broken"),
        ("existence(Mail.send[subject mentions Shop.find.id])", [ORDER, LETTER], "holds"),
        ("existence(Mail.send[subject mentions Shop.find.id])", [ORDER, LOUD], "broken"),
        ("existence(Mail.send[subject mentions Shop.find.id])", [LETTER, ORDER], "broken"),
        ("absence(Mail.send[text mentions Shop.find.phone])", [ORDER, LOUD], "broken"),
        ("existence(Mail.send[text omits Shop.find.phone])", [ORDER, LETTER], "holds"),
        ("existence(Shop.pay[code one of R1 | R2])", [PAY], "holds"),
        ("absence(Shop.pay[code none of R1 | R2])", [PAY_MORE], "broken"),
        ("absence(Shop.pay[amount > Shop.find.total])", [ORDER, PAY], "holds"),
        ("absence(Shop.pay[amount > Shop.find.total])", [ORDER, PAY_MORE], "broken"),
        ("absence(Shop.pay[amount > Shop.find.total])", [PAY_MORE], "holds"),
        ("existence(Shop.pay[amount sums Shop.list.total])", [ITEMS, PAY_MORE], "holds"),
        ("existence(Shop.pay[amount sums Shop.list.total where state = open])", [ITEMS, PAY], "holds"),
        ("existence(Shop.pay[amount sums Shop.list.total where state = open])", [ITEMS, PAY_MORE], "broken"),
        ("existence(Shop.pay[amount sums Shop.find.total])", [ORDER, ORDER, ORDER, PAY], "holds"),
        ("existence(Shop.pay[lines counts Shop.list])", [ITEMS, PAY_MORE], "holds"),
        ("existence(Shop.pay[lines counts Shop.list where state = open, total < 60])", [ITEMS, PAY], "holds"),
        ("existence(Shop.pay[id picks lowest price of Shop.open.lines])", [NESTED, PAY], "holds"),
        ("existence(Shop.pay[id picks lowest price of Shop.open.lines])", [NESTED, PAY_MORE], "broken"),
        ("existence(Shop.pay[id picks last of Shop.open.order.lines])", [NESTED, PAY_MORE], "holds"),
        ("existence(Shop.pay[id picks first of Shop.open.notes])", [NESTED, PAY], "broken"),
        ("existence(Shop.pay[lines counts Shop.open.lines])", [NESTED, PAY], "holds"),
        ("existence(Shop.pay) when Shop.open.notes has none", [NESTED], "broken"),
        ("existence(Shop.pay) when Shop.open.lines has none", [NESTED], "vacuous"),
        ("existence(Shop.pay) when Shop.open.lines has one where price > 5", [NESTED], "broken"),
        ("existence(Shop.pay[amount sums 0.5 times Shop.list.total])", [ITEMS, PAY_MORE], "broken"),
        ("existence(Shop.pay[amount sums 0.8 times Shop.list.total])", [ITEMS, PAY], "holds"),
        ("absence(Shop.pay[on falls on month end])", [call("Shop.pay", {"on": "2031-02-28"})], "broken"),
        ("absence(Shop.pay[on falls on month end])", [call("Shop.pay", {"on": "28.02.2032"})], "holds"),
        ("absence(Shop.pay[on falls on month end])", [call("Shop.pay", {"on": "9999-12-31"})], "broken"),
        ("existence(Shop.pay[on falls on month start])", [call("Shop.pay", {"on": "01.02.2032"})], "holds"),
        ("absence(Shop.pay[on falls on weekend])", [PAY], "holds"),
        ("absence(Shop.pay[on falls on weekend])", [PAY_MORE], "broken"),
        ("existence(Shop.pay[on falls on Monday])", [PAY], "holds"),
        ("existence(Shop.pay[on falls at most 7 days after Shop.find.due])", [ORDER, PAY], "holds"),
        ("existence(Shop.pay[on falls at most 7 days after Shop.find.due])", [ORDER, PAY_MORE], "broken"),
        ("existence(Shop.pay[on falls 7 days after task])", [PAY], "holds"),
        ("existence(Shop.pay[on falls before Shop.find.due])", [ORDER, PAY], "broken"),
        ("existence(Shop.pay[id picks lowest total of Shop.list where state = open])", [ITEMS, PAY_MORE], "holds"),
        ("existence(Shop.pay[id picks lowest total of Shop.list where state = open])", [ITEMS, PAY], "broken"),
        ("existence(Shop.pay[id picks city = Shop.user.city of Shop.list])", [USER, ITEMS, PAY_MORE], "holds"),
        ("existence(Shop.pay[id picks city = Shop.user.city of Shop.list])", [USER, ITEMS, PAY], "broken"),
        ("existence(Shop.pay[id picks highest seats of Shop.list where seats >= task])", [ITEMS, PAY], "broken"),
        ("existence(Shop.pay[id picks highest total of Shop.list])", [ITEMS, PAY], "holds"),
        ("existence(Shop.pay[id picks highest seats minus total of Shop.list])", [ITEMS, PAY], "broken"),
        ("existence(Shop.pay[id picks lowest seats minus total of Shop.list])", [ITEMS, PAY], "holds"),
        ("absence(Shop.pay) when Shop.list has one where state = held, total < 30", [ITEMS, PAY], "broken"),
        ("absence(Shop.pay) when Shop.list has one where state = held, total < 20", [ITEMS, PAY], "vacuous"),
        ("absence(Shop.pay) when Shop.list.total sums > 90", [ITEMS, PAY], "broken"),
        ("absence(Shop.pay) when Shop.list.total sums > 90 where state = open", [ITEMS, PAY], "vacuous"),
        ("absence(Shop.pay) when Shop.find.id starts with A-", [ORDER, PAY], "broken"),
        ("at_most(Shop.pay, 1)", [PAY, PAY_MORE], "broken"),
        ("at_most(Shop.pay by code, 1)", [PAY, PAY_MORE], "holds"),
        ("at_least(Shop.pay, 2)", [PAY], "broken"),
        ("at_least(Shop.pay by code, 2)", [PAY, PAY], "holds"),
        ("at_least(Shop.pay by code, 2)", [ORDER], "vacuous"),
        ('existence(finalize[text contains "done"])', [PAY], "holds"),
        ('absence(finalize[text lacks "A-4711"])', [PAY], "broken"),
        ("existence(writes(Mail)[cc has at most 1 item])", [LOUD], "holds"),
        ("existence(Mail.write[letter.body contains appeal])", [WRITTEN], "holds"),
        ("existence(Mail.write[letter.to.phone from Shop.find.phone])", [ORDER, WRITTEN], "holds"),
        ("existence(Mail.write[letter.to.phone is integer])", [WRITTEN], "broken"),
        ("existence(Mail.write[letter.subject given])", [WRITTEN], "broken"),
        ("existence(Mail.write[letter given])", [WRITTEN], "holds"),
    ],
)  # fmt: skip
def test_a_house_rule_gives_the_same_verdict_on_recorded_and_redacted_runs(
    guard: str, calls: list[Call], verdict: str
) -> None:
    recorded = run("a", True, *calls, "Done.", task=TASK)
    parsed = parse_guard(guard)
    assert parsed.replay(actions_of_run(recorded), recorded.task) == verdict
    redacted = packet(recorded)
    assert parsed.replay(actions_of_steps(redacted.runs[0].actions, redacted.recorded["A"]), TASK) == verdict
    assert str(parse_guard(str(parsed))) == str(parsed)
    assert parsed.sentence.endswith(".")


@pytest.mark.parametrize(
    ("guard", "sentence"),
    [
        (
            "existence(Shop.pay[id picks lowest total of Shop.list where state = open]) when Shop.pay",
            "`pay` with the `id` of the item of `Shop.list` with the lowest `total` among those whose `state` is open "
            "is called and succeeds, if `pay` is called.",
        ),
        (
            "existence(Shop.pay[id picks highest seats minus taken of Shop.list])",
            "`pay` with the `id` of the item of `Shop.list` with the highest `seats` minus `taken` is called and "
            "succeeds.",
        ),
        (
            "absence(Mail.send[text mentions Shop.find.phone])",
            "`send` with `text` that contains the `phone` of `Shop.find` is not called.",
        ),
        (
            "existence(Shop.pay[on falls at most 7 days after Shop.find.due])",
            "`pay` with `on` that falls at most 7 days after the `due` of `Shop.find` is called and succeeds.",
        ),
        ("at_most(Shop.pay by id, 3)", "`pay` succeeds at most 3 times with the same `id`."),
        (
            "absence(Shop.pay) when Shop.list.total sums > 90 where state = open",
            "`pay` is not called, if the `total` of `Shop.list`, summed over all items whose `state` is open, is above "
            "90.",
        ),
    ],
)
def test_a_house_rule_is_put_into_words(guard: str, sentence: str) -> None:
    assert parse_guard(guard).sentence == sentence


@pytest.mark.parametrize(
    ("guard", "complaint"),
    [
        ("existence(Shop.pay[on falls soon])", "is not a relation between dates"),
        ("existence(Shop.pay[text has 5])", "has at most 160 characters"),
        ("existence(Shop.pay[amount sums total])", "sums App.function.field"),
        ('existence(Mail.send[text mentions "hello"])', "`contains` and `lacks`"),
        ("existence(Shop.pay[id picks lowest total of Shop.list where open])", "not a condition on a record"),
        ("existence(Shop.pay[id picks tags contains Shop.user.tag of Shop.list])", "by `tags = Shop.user.tag`"),
        ("absence(Shop.pay) when Shop.list has one where tags lacks Shop.user.tag", "by `tags = Shop.user.tag`"),
        ("at_most(Shop.pay)", "takes a function and a number"),
        ("at_most(Shop.pay, few)", "is not a number of calls"),
    ],
)
def test_a_malformed_house_rule_is_refused_with_an_example(guard: str, complaint: str) -> None:
    with pytest.raises(GuardError, match=complaint):
        parse_guard(guard)


def test_the_functions_of_a_guard_include_those_that_values_are_looked_up_in() -> None:
    guard = parse_guard("existence(Shop.pay[id picks city = Shop.user.city of Shop.list]) when Shop.find.total > 5")
    assert guard.functions == ("Shop.pay", "Shop.list", "Shop.user", "Shop.find")
