"""How the guard of a convention is put into the sentences of a card."""

from __future__ import annotations

import pytest

from contramem.build.rules.convention_words import MAX_TITLE_CHARS, ConventionWords, find_right_shape
from contramem.guards.guard import parse_guard


def words(guard: str, instead: str = "", form: str = "") -> ConventionWords:
    return ConventionWords(parse_guard(guard), instead, form)


def test_a_forbidden_call_names_the_call_to_make_instead() -> None:
    said = words("absence(Shop.cancel) when Shop.find.status = shipped", instead="Shop.open_return")
    assert said.title == "Do not call cancel if find shows a status of shipped"
    assert said.rule == (
        "Do not call `cancel` if `find` shows a `status` of shipped; call `open_return` instead. "
        "Look with `find` before you decide."
    )


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("Shop.pay[amount > 500]", "Call `pay` with `amount` of at most 500."),
        ("Mail.send[cc missing]", "Call `send` with `cc`."),
        ("Mail.send[text has at least 161 characters]", "Call `send` with `text` of at most 160 characters."),
    ],
)
def test_a_forbidden_way_to_make_a_call_is_worded_as_the_right_way(wrong: str, right: str) -> None:
    assert words(f"absence({wrong})").rule == right


def test_the_wrong_choice_is_named_unless_the_right_one_is_its_opposite() -> None:
    opposite = words(
        "absence(Shop.pay[id picks highest due of Shop.list])", "Shop.pay[id picks lowest due of Shop.list]"
    )
    other = words("absence(Shop.pay[id picks highest due of Shop.list])", "Shop.pay[id picks first of Shop.list]")
    assert ", not " not in opposite.rule
    assert ", not with the `id` of the item of `list` with the highest `due`" in other.rule


def test_a_rule_about_the_words_of_a_request_has_them_in_its_title() -> None:
    assert words("existence(Mail.escalate) when task contains urgent").title == "Requests about “urgent”: call escalate"


def test_whoever_found_nothing_has_looked() -> None:
    assert words("existence(Files.search) when Files.find has none").rule == "Call `search` if `find` returns no items."


def test_a_read_that_words_of_a_request_ask_for_is_a_look() -> None:
    said = words("existence(Mail.search_emails) when task contains reply")
    assert said.title == "Requests about “reply”: look with search_emails"
    assert said.rule == "Look with `search_emails` before you act or answer if the request says “reply”."


def test_the_occasion_says_what_the_agent_is_about_to_do() -> None:
    assert words("precedence(Shop.find, Shop.pay)").occasion == "You are about to call `pay`."
    assert words("response(Shop.pay, Mail.send)").occasion == "`pay` has succeeded."


def test_a_title_that_would_be_too_long_leaves_its_conditions_out() -> None:
    conditions = " and ".join(f"Shop.find.field{number} = value{number}" for number in range(6))
    title = words(f"existence(Mail.send) when {conditions}").title
    assert title == "When to call send"
    assert len(title) <= MAX_TITLE_CHARS


def test_a_written_form_is_worded_as_passing_runs_write_it() -> None:
    said = words("absence(Shop.pay[due like 9/9/9])", "Shop.pay[due like 9-9-9]", form="a date YYYY-MM-DD")
    assert "with `due` as a date YYYY-MM-DD" in said.rule


def test_the_right_shape_is_that_of_the_call_to_make() -> None:
    forbidding = parse_guard("absence(Shop.pay[due like 9/9/9])")
    assert find_right_shape(forbidding, "Shop.pay[due like 9-9-9]") == "9-9-9"
    assert find_right_shape(parse_guard("existence(Shop.pay)"), "") == ""


def test_a_title_too_long_for_its_condition_does_not_give_the_order_without_it() -> None:
    long = " and ".join(f"Shop.find.{name}_of_the_customer = certified" for name in ("standing", "licence", "account"))
    assert words(f"absence(Shop.cancel) when {long}").title == "When not to call cancel"
    assert words(f"existence(Shop.cancel) when {long}").title == "When to call cancel"
    assert words(f"existence(Shop.cancel[fee = 0]) when {long}").title == "Call cancel with fee set to 0"


def test_an_exception_is_said_after_the_condition() -> None:
    said = words("absence(Shop.cancel) when Shop.find.status = shipped unless Shop.find.tier = A")
    assert said.rule == (
        "Do not call `cancel` if `find` shows a `status` of shipped, unless `find` shows a `tier` of A. "
        "Look with `find` before you decide."
    )


def test_a_call_that_must_not_follow_is_forbidden_unless_passing_runs_make_it_before() -> None:
    guard = parse_guard("not_succession(Desk.repair, Desk.hand_over)")
    forbidden, ordered = ConventionWords(guard), ConventionWords(guard, comes_first=True)
    assert forbidden.rule == "Do not call `hand_over` after `repair`."
    assert forbidden.occasion == "`repair` has succeeded, and you are about to call `hand_over`."
    assert ordered.rule == "Call `hand_over` before `repair`, not after it."
