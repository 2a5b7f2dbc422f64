"""How to call a function, and how not to: counted, and only where chance does not explain it."""

import msgspec
from tests.observed_calls import argument, call, card_of, failed, found

from contramem.contrast.form import ResultForm
from contramem.contrast.observation import ResultUse

EMPTY, HITS = ResultForm("empty", size=0), ResultForm("list", ("id",), 3)


def searches(*shown, **other):
    """Reads with one argument each: (origin of the query, form of the result, further arguments)."""
    read = {"effect": "read", "function": "Mail.search"} | other
    return [
        call(
            {"query": f"<TEXT_{n}>", **more}, task=f"t{n % 3}", run=f"{n}", form=form, origins={"query": origin}, **read
        )
        for n, (origin, form, more) in enumerate(shown)
    ]


def test_empty_results_are_told_by_the_values_that_led_to_them():
    seen, new = [("task", HITS, {})] * 20, [("nowhere", EMPTY, {})] * 4
    card = card_of(*searches(*seen, *new), function="Mail.search")
    assert card.returns.endswith("may come back empty (4 of 24 calls that worked).")
    assert card.usage_rules == (
        "When `query` had not been seen in the task or an earlier result, it came back empty in 4 of 4 calls, "
        "against 0 of 20 otherwise: take that for a wrong `query`, not for an answer.",
    )


def test_empty_results_are_told_by_the_filter_that_led_to_them():
    wide, narrow = [("task", HITS, {})] * 20, [("task", EMPTY, {"sender": "<EMAIL_1>"})] * 5
    assert card_of(*searches(*wide, *narrow), function="Mail.search").usage_rules == (
        "With `sender` it came back empty in 5 of 5 calls, without it in 0 of 20: leave it out when nothing is found.",
    )


def test_an_argument_blamed_for_its_unknown_values_is_not_asked_for_as_well():
    """Made-up addresses find nothing. That the few known ones do is no reason to give one."""

    def searched(run, place, found_some):
        given = {"owner": "<EMAIL_1>"} if place else {}
        form = ResultForm("list", ("id",), 2) if found_some else ResultForm("empty", (), 0)
        origins = {"owner": place} if place else {}
        return call(given, run=run, function="Mail.search", effect="read", form=form, origins=origins)

    calls = [searched(f"n{n}", "nowhere", False) for n in range(30)]
    calls += [searched(f"k{n}", "Mail.people", True) for n in range(10)]
    calls += [searched(f"w{n}", "", n % 2 == 0) for n in range(40)]
    rules = card_of(*calls, function="Mail.search").usage_rules
    assert any(rule.startswith("When `owner` had not been seen") for rule in rules)
    assert not any(rule.startswith("Without `owner`") for rule in rules)


def test_nothing_is_said_of_empty_results_that_nothing_separates():
    mixed = [("task", HITS, {}), ("task", EMPTY, {}), ("nowhere", HITS, {}), ("nowhere", EMPTY, {})] * 5
    assert card_of(*searches(*mixed), function="Mail.search") is None


def test_what_found_something_after_an_empty_result_is_told():
    calls = [
        call({"query": f"<TEXT_{n}>"}, task=f"t{run}", position=n, form=form, effect="read", function="Mail.search")
        for run in "ABC"
        for n, form in enumerate((EMPTY, HITS))
    ]
    assert card_of(*calls, function="Mail.search").usage_rules == (
        "After an empty result, calling again with another `query` found something in 3 of 3 retries.",
    )


def test_what_the_results_are_used_for_is_told():
    use = (ResultUse("Mail.search", "Mail.delete_email", "email_id"), ResultUse("Mail.search", "Files.get", "file_id"))
    calls = searches(*[("task", HITS, {})] * 6, feeds=use)
    assert card_of(*calls, function="Mail.search").returns.endswith(
        "Its results in 6 runs held the `email_id` for `delete_email` (6 times); "
        "the `file_id` for `Files.get` (6 times)."
    )


def test_a_format_that_failed_is_told_beside_the_one_that_worked():
    good = [
        call({"start": "2024-05-01 10:00"}, run=f"g{n}", forms={"start": "date YYYY-MM-DD HH:MM"}) for n in range(9)
    ]
    bad = [
        failed("ValueError: unconverted data remains", {"start": "2024-05-01"}, run=f"b{n}", forms={"start": "date X"})
        for n in range(3)
    ]
    assert card_of(*good, *bad).usage_rules == (
        "Give `start` as YYYY-MM-DD HH:MM: it worked in 9 of 9 calls; X failed in 3 of 3.",
    )


def test_a_function_called_once_per_item_says_so():
    calls = [
        call({"email_id": f"<ID_{n}>", "folder": "x"}, task=task, run="A", position=n)
        for task in ("t1", "t2")
        for n in range(3)
    ]
    assert card_of(*calls) is None  # by itself it is what any function does
    known = [msgspec.structs.replace(call, origins={"email_id": "Mail.search"}) for call in calls]
    assert card_of(*known).usage_rules[:1] == (
        "Call once per `email_id`: 2 of 2 runs with this function called it again with only `email_id` changed.",
    )


def test_values_seen_nowhere_before_that_fail_are_a_mistake():
    known = [call({"order_id": "<ID_1>"}, run=f"k{n}", origins={"order_id": "Mail.search"}) for n in range(20)]
    guess = [
        failed("KeyError: id", {"order_id": "<ID_2>"}, run=f"g{n}", origins={"order_id": "nowhere"}, task=f"t{n}")
        for n in range(4)
    ]
    assert "`order_id` values seen nowhere before failed in 4 of 4 calls, against 0 of 20 for values seen earlier." in (
        card_of(*known, *guess).common_mistakes
    )


def test_of_two_unknown_values_only_the_one_that_explains_the_failures_is_a_mistake():
    """Whoever makes up the id makes up the recipient too; the id is what is refused."""

    def forwarded(n, email_id, recipient="nowhere", **other):
        given = {"email_id": f"<ID_{n}>", "recipient": "<EMAIL_1>"}
        return call(given, run=f"r{n}", origins={"email_id": email_id, "recipient": recipient}, **other)

    right = [forwarded(n, "Mail.search") for n in range(12)]
    wrong = [forwarded(n, "nowhere", error="Email not found.", form=None) for n in range(20, 32)]
    told = [forwarded(n, "Mail.search", recipient="task") for n in range(40, 48)]
    mistakes = card_of(*right, *wrong, *told).common_mistakes
    assert [line for line in mistakes if "seen nowhere before" in line] == [
        "`email_id` values seen nowhere before failed in 12 of 12 calls, against 0 of 20 for values seen earlier."
    ]


def test_a_date_that_nobody_had_seen_is_worked_out_and_not_made_up():
    dated = {"forms": {"day": "date YYYY-MM-DD"}}
    seen = [call({"day": "2031-01-02"}, run=f"k{n}", origins={"day": "task"}, **dated) for n in range(9)]
    new = [failed("Busy.", {"day": "2031-01-03"}, run=f"n{n}", origins={"day": "nowhere"}, **dated) for n in range(6)]
    assert not any("seen nowhere" in line for line in card_of(*seen, *new, *found()).common_mistakes)


def test_needless_repeats_of_a_read_are_counted_by_runs():
    one_loop = [call({"id": "<ID_1>"}, position=n, redundant=n > 0, looped=n > 0) for n in range(60)]
    others = [call({"id": "<ID_1>"}, run=f"{run}", position=n, redundant=n > 0) for run in range(3) for n in range(2)]
    known = [call({"id": "<ID_1>"}, run=f"k{n}", origins={"id": "Mail.search"}) for n in range(9)]
    read = [msgspec.structs.replace(c, effect="read", function="Mail.get_email") for c in (*one_loop, *others, *known)]
    assert card_of(*read, function="Mail.get_email").common_mistakes == (
        "Asking again for what it had already returned, with nothing changed in between: 4 of 13 runs.",
    )
    assert card_of(*read[:60], *read[-9:], function="Mail.get_email").common_mistakes == ()


def test_what_few_runs_use_the_results_for_is_not_told():
    use = (ResultUse("Mail.search", "Mail.delete_email", "email_id"),)
    fed, others = searches(*[("task", HITS, {})] * 4, feeds=use), searches(*[("user", HITS, {})] * 16)
    apart = [msgspec.structs.replace(each, task_key=f"other {number}") for number, each in enumerate(others)]
    card = card_of(*fed, *apart, function="Mail.search")
    assert card is None or "delete_email" not in card.returns


def test_a_function_that_a_third_of_the_runs_call_again_is_not_called_once_per_item():
    calls = [call({"email_id": "<ID_1>"}, task=f"t{n}", run="A", origins={"email_id": "Mail.search"}) for n in range(4)]
    again = [
        call({"email_id": f"<ID_{n}>"}, task=task, run="B", position=n, origins={"email_id": "Mail.search"})
        for task in ("t1", "t2")
        for n in range(2)
    ]
    assert not [rule for rule in card_of(*calls, *again).usage_rules if rule.startswith("Call once per")]


def test_that_nothing_was_given_is_not_told_as_a_form_that_failed():
    good = [call({"name": "x"}, run=f"g{n}") for n in range(9)]
    nothing = [failed("Name not provided.", {"name": None}, run=f"b{n}") for n in range(4)]
    card = card_of(*good, *nothing)
    assert (card.usage_rules, argument(card, "name").required) == ((), True)
