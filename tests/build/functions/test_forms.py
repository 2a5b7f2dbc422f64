"""Which forms of a value work."""

from tests.observed_calls import argument, call, card_of, failed, found


def test_a_form_that_fails_for_half_the_calls_is_not_forbidden():
    """Another argument decides what the value has to be: an address for one field, a text for another."""
    texts = [call({"value": "x"}, run=f"t{n}") for n in range(20)]
    mails = [call({"value": "y"}, run=f"m{n}", forms={"value": "e-mail address"}) for n in range(20)]
    wrong = [failed("Not valid.", {"value": "z"}, run=f"w{n}", forms={"value": "e-mail address"}) for n in range(22)]
    late = [failed("Not valid.", {"value": "x"}, run="late")]
    assert not any("Give `value`" in rule for rule in card_of(*texts, *mails, *wrong, *late, *found()).usage_rules)


def test_odd_forms_that_each_failed_once_prove_together_what_none_proves_alone():
    good = [call({"name": "x"}, run=f"g{n}") for n in range(9)]
    bad = [failed("E", {"name": None}, run="b"), failed("E", {"name": ["x"]}, run="c")]
    assert card_of(*good, *bad).usage_rules == (
        "Give `name` as text: it worked in 9 of 9 calls; list of texts failed in 1 of 1 and null failed in 1 of 1.",
    )


def test_a_format_is_not_blamed_for_failures_that_chance_explains():
    good = [call({"start": "x"}, run=f"g{n}", forms={"start": "date A"}) for n in range(3)]
    other = [failed("ValueError: busy", {"start": "x"}, run=f"f{n}", forms={"start": "date A"}) for n in range(3)]
    bad = [failed("ValueError: busy", {"start": "y"}, run=f"b{n}", forms={"start": "date B"}) for n in range(2)]
    assert not any("Give `start`" in rule for rule in card_of(*good, *other, *bad).usage_rules)


def given(form, passed, count, **other):
    """Calls that worked, of as many runs and tasks, in a form."""
    runs = [f"{form}{passed}{number}" for number in range(count)]
    return [call({"due": "x"}, run=run, task=run, forms={"due": form}, passed=passed, **other) for run in runs]


def test_a_form_that_the_tool_accepts_and_passing_runs_hardly_use_is_not_recommended():
    calls = [*given("date YYYY-Www", True, 12), *given("date YYYY-MM-DD", False, 8), *given("date YYYY-MM-DD", True, 1)]
    assert argument(card_of(*calls, *found()), "due").form == "date YYYY-Www"


def test_without_passing_runs_of_several_tasks_every_form_that_worked_is_told():
    calls = [*given("date YYYY-Www", True, 1), *given("date YYYY-MM-DD", None, 4)]
    assert argument(card_of(*calls, *found()), "due").form == "date YYYY-MM-DD or date YYYY-Www"


def test_values_come_from_where_passing_runs_took_them():
    right = given("text", True, 5, origins={"due": "Mail.owner_of"})
    wrong = given("text", False, 9, origins={"due": "Mail.contact_of"})
    meaning = argument(card_of(*right, *wrong, *found()), "due").meaning
    assert "`owner_of`" in meaning
    assert "`contact_of`" not in meaning
