"""What helped after an error."""

from tests.observed_calls import call, card_of, failed

from contramem.contrast.observation import ResultUse


def test_an_error_is_counted_with_the_change_that_fixed_it():
    calls = [
        observation
        for run in "ABC"
        for observation in (
            failed("ValueError: No emails found. Try a different query.", {"query": "<TEXT_1>"}, run=run),
            call({"query": "<TEXT_2>"}, run=run, position=1),
        )
    ]
    assert card_of(*calls).common_mistakes == (
        '"ValueError: No emails found." in 3 of 6 calls; changing `query` worked in 3 of 3 retries.',
    )


def test_of_several_arguments_changed_at_once_the_one_that_the_error_speaks_of_is_named():
    calls = [
        observation
        for run in "ABC"
        for observation in (
            failed("Error: card cannot be used", {"order_id": "<ID_1>", "items": ["a"], "card_id": "<ID_1>"}, run=run),
            call({"order_id": "<ID_1>", "items": ["b"], "card_id": "<ID_2>"}, run=run, position=1),
        )
    ]
    assert card_of(*calls).common_mistakes == (
        '"Error: card cannot be used" in 3 of 6 calls; changing `card_id` worked in 3 of 3 retries.',
    )


def test_two_retries_with_another_value_prove_nothing_unless_the_error_names_it():
    def refused(error: str) -> tuple[str, ...]:
        calls = [
            observation
            for run in "AB"
            for observation in (
                failed(error, {"cabin": "<TEXT_1>", "flight": "<TEXT_3>"}, run=run),
                call({"cabin": "<TEXT_2>", "flight": "<TEXT_3>"}, run=run, position=1),
            )
        ]
        return card_of(*calls).common_mistakes

    assert refused("Error: balance is not enough") == ('"Error: balance is not enough" in 2 of 4 calls.',)
    assert refused("Error: no such cabin")[0].endswith("changing `cabin` worked in 2 of 2 retries.")


def test_a_write_to_another_thing_is_no_recovery():
    origins = {"order_id": "Shop.find"}
    calls = [
        observation
        for run in "ABC"
        for observation in (
            failed("Error: order cannot be cancelled", {"order_id": "<ID_1>"}, run=run, origins=origins),
            call({"order_id": "<ID_2>"}, run=run, position=1, origins=origins),
        )
    ]
    assert card_of(*calls).common_mistakes == ('"Error: order cannot be cancelled" in 3 of 6 calls.',)


def test_another_function_that_gives_the_same_is_named_first_when_it_helped_more_often():
    use, other = (ResultUse(f"Shop.{name}", "Shop.get_user", "user_id") for name in ("find_by_email", "find_by_name"))
    read = {"function": "Shop.find_by_email", "effect": "read"}
    worked = [call({"email": "<EMAIL_1>"}, run=f"w{n}", feeds=(use,), **read) for n in range(3)]
    no = "Error: user not found"
    helped = [
        failed(no, {"email": "<EMAIL_2>"}, run=f"h{n}", instead=("Shop.find_by_name",), rescued=(other,), **read)
        for n in range(4)
    ]
    changed = [
        failed(no, {"email": "<EMAIL_3>"}, run="c", **read),
        call({"email": "<EMAIL_1>"}, run="c", position=1, **read),
    ]
    unrelated = failed(no, {"email": "<EMAIL_4>"}, run="u", instead=("Shop.list_all",), **read)
    card = card_of(*worked, *helped, *changed, unrelated, function="Shop.find_by_email")
    assert card.common_mistakes == (
        '"Error: user not found" in 6 of 10 calls; `find_by_name`, which also gives the `user_id`, then worked in '
        "4 of 6.",
    )


def test_an_argument_that_had_to_go_is_said_to_be_left_out():
    calls = [failed("TypeError: unexpected argument 'all'", {"all": True}), call(position=1)]
    assert "leaving out `all` worked in 1 of 1 retries" in card_of(*calls).common_mistakes[0]


def test_a_call_that_worked_unchanged_after_another_function_names_it():
    calls = [
        failed("Error: user not authenticated", {"email_id": "<ID_1>"}, between=("Mail.list_folders", "Mail.login")),
        call({"email_id": "<ID_1>"}, position=5),
    ]
    assert card_of(*calls).common_mistakes == (
        '"Error: user not authenticated" in 1 of 2 calls; the same call worked after `login` in 1 of 1 retries.',
    )


def test_what_mostly_failed_again_is_no_way_out():
    calls = [
        observation
        for number, run in enumerate("ABCDEFGH")
        for observation in (
            failed("Error: no such query", {"query": "<TEXT_1>"}, run=run),
            (call if number < 3 else lambda *given, **other: failed("Error: no such query", *given, **other))(
                {"query": f"<TEXT_{number + 2}>"}, run=run, position=1
            ),
        )
    ]
    assert card_of(*calls).common_mistakes == ('"Error: no such query" in 13 of 16 calls.',)
