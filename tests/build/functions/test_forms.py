"""Which forms of a value work."""

from tests.observed_calls import call, card_of, failed, found


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
