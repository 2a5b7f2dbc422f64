"""What an argument is: its form, whether it is needed, and where its values come from."""

import msgspec
import pytest
from tests.observed_calls import RECORD, argument, call, card_of, failed, found

from contramem.bank.export import card_markdown
from contramem.contrast.form import ResultForm
from contramem.contrast.values import form_of_value
from contramem.contrast.vocabulary import Vocabulary
from contramem.traces.trajectory import Event, Origin, Result, Tool, Trajectory


def words_seen(function, name, values):
    """The vocabulary learned from one call per task."""
    return Vocabulary(
        [
            Trajectory(
                "env", f"t{n}", "m", Origin("f"), (Event(0, "agent", "call", function=function, arguments={name: v}),)
            )
        ]
        for n, v in enumerate(values)
    )


def test_an_argument_that_some_working_call_leaves_out_is_optional():
    card = card_of(call({"email_id": "<ID_1>", "folder": "x"}), *found())
    assert (argument(card, "folder").required, argument(card, "email_id").required) == (False, None)


def test_an_explicit_null_leaves_an_argument_out_but_an_empty_text_does_not():
    card = card_of(
        call({"cc": None, "body": "a"}),
        call({"cc": "<EMAIL_1>", "body": ""}, run="B", forms={"cc": "e-mail address", "body": "empty text"}),
        *found(arguments={"email_id": "<ID_1>", "body": "a"}),
    )
    assert (argument(card, "cc").required, argument(card, "body").required) == (False, None)


def test_an_argument_without_which_a_call_failed_is_required():
    card = card_of(call({"email_id": "<ID_1>"}), failed("TypeError: missing argument 'email_id'", run="B"))
    assert argument(card, "email_id").required is True


def test_an_argument_that_was_left_out_of_a_call_refused_for_something_else_is_not_required():
    late = failed("ValueError: bad start", {"start": "x"}, run="B")
    worked = [call({"start": "x", "place": "<NAME_1>"}, run=f"g{n}") for n in range(3)]
    assert argument(card_of(late, *worked, *found()), "place").required is not True


def test_where_nothing_is_documented_an_argument_of_one_call_in_a_hundred_is_not_listed():
    calls = [*found(100), call({"email_id": "<ID_1>", "vibe": "x"}, run="odd")]
    assert [a.name for a in card_of(*calls).arguments] == ["email_id"]


def test_the_schema_decides_on_need_unless_a_working_call_contradicts_it():
    properties = {"email_id": {"type": "string"}, "folder": {"type": "string"}}
    tool = Tool("Mail.delete_email", "Delete an email.", {"properties": properties, "required": ["email_id", "folder"]})
    origins = {"email_id": "Mail.search_emails", "folder": "task"}
    card = card_of(
        call({"email_id": "<ID_1>", "folder": "x"}, origins=origins),
        call({"email_id": "<ID_2>", "folder": "y"}, origins=origins, run="B"),
        call({"email_id": "<ID_2>"}, origins={"email_id": "Mail.search_emails"}, run="C"),
        tool=tool,
    )
    assert (argument(card, "email_id").required, argument(card, "folder").required) == (True, False)


def test_where_values_come_from_is_told_when_most_of_them_come_from_there():
    def told(tasks):
        calls = [
            call(
                {"email_id": f"<ID_{n}>"},
                run=chr(65 + n),
                task=f"t{n % tasks}",
                origins={"email_id": "Mail.search_emails" if n < 7 else "user"},
            )
            for n in range(10)
        ]
        return card_of(*calls)

    assert argument(told(tasks=5), "email_id").meaning == (
        "identifier of the email; values come from results of `search_emails`, or from the user"
    )
    assert "Take `email_id` exactly as earlier results show it." in told(tasks=5).usage_rules
    assert "; in the 2 tasks seen, values came from results" in argument(told(tasks=2), "email_id").meaning


def test_functions_of_another_app_keep_their_full_name():
    calls = [call({"email_id": "<ID_1>"}, run=run, origins={"email_id": "Contacts.find"}) for run in "ABC"]
    assert "results of `Contacts.find`" in argument(card_of(*calls), "email_id").meaning


def test_words_that_were_tried_are_examples_unless_the_tool_lists_them():
    vocabulary = words_seen("Mail.delete_email", "folder", ["inbox", "sent"] * 4)
    calls = [
        call({"folder": word, "email_id": "<ID_1>"}, run=run, origins={"email_id": "Mail.search"})
        for run, word in zip("ABCD", ["inbox", "sent"] * 2, strict=True)
    ]
    assert argument(card_of(*calls, vocabulary=vocabulary), "folder").form == "text such as inbox or sent"
    listing = Tool("Mail.delete_email", "", {"properties": {"folder": {"type": "string", "enum": ["inbox", "sent"]}}})
    assert argument(card_of(*calls, vocabulary=vocabulary, tool=listing), "folder").form == "one of inbox, sent"


def test_a_list_in_a_refusal_is_not_closed_once_another_word_has_worked():
    error = "cabin must be one of 'business', 'economy'"
    refused = Event(
        0, "agent", "call", function="Mail.delete_email", arguments={"cabin": "first"}, result=Result(error=error)
    )
    took = Event(
        1, "agent", "call", function="Mail.delete_email", arguments={"cabin": "economy"}, result=Result(content="ok")
    )
    runs = [[Trajectory("env", f"t{n}", "m", Origin("f"), (refused, took))] for n in range(2)]
    calls = [call({"cabin": "economy"}, run=run) for run in "AB"]
    card = card_of(*calls, *found(), vocabulary=Vocabulary(runs))
    assert argument(card, "cabin").form == "one of business, economy"
    card = card_of(*calls, call({"cabin": "basic_economy"}, run="C"), *found(), vocabulary=Vocabulary(runs))
    assert "one of" not in argument(card, "cabin").form


def test_a_word_that_nobody_tried_to_replace_is_not_said_to_be_the_only_one():
    vocabulary = words_seen("Mail.delete_email", "insurance", ["no"] * 8)
    calls = [
        call({"insurance": "no", "email_id": "<ID_1>"}, run=run, origins={"email_id": "Mail.search"}) for run in "ABCD"
    ]
    assert argument(card_of(*calls, vocabulary=vocabulary), "insurance").form == "text; only no was tried"


def test_a_form_that_no_passing_run_used_is_not_told():
    def weekly(number: int) -> dict[str, object]:
        return {"task": f"t{number}", "run": "A", "forms": {"due": "text"}, "passed": True}

    def dated(number: int) -> dict[str, object]:
        return {"task": f"t{number}", "run": "B", "forms": {"due": "date YYYY-MM-DD HH:MM"}, "passed": False}

    calls = [
        call({"due": "x", "email_id": "<ID_1>"}, **made(number)) for number in range(4) for made in (weekly, dated)
    ]
    known = [msgspec.structs.replace(each, origins={"email_id": "Mail.search"}) for each in calls]
    assert argument(card_of(*known), "due").form == "text"


def test_words_that_only_failed_do_not_make_a_vocabulary():
    vocabulary = words_seen("Mail.delete_email", "folder", ["inbox"] * 4)
    calls = [
        failed("ValueError: no such folder", {"folder": "inbox"}),
        call({"folder": "<TEXT_1>"}, run="B"),
        call({"folder": "<TEXT_2>"}, run="C"),
        *found(),
    ]
    assert argument(card_of(*calls, vocabulary=vocabulary), "folder").form == "text"


def test_a_plain_answer_is_a_word_and_not_an_empty_text():
    # `on` and `yes` belong to no task, so they stay readable; once they passed for empty texts.
    assert form_of_value("on", "mode") == "text"
    origins = {"email_id": "Mail.search"}
    words = zip("ABCD", ["on", "off"] * 2, strict=True)
    calls = [call({"mode": word, "email_id": "<ID_1>"}, run=run, origins=origins) for run, word in words]
    assert argument(card_of(*calls), "mode").form == "text such as off or on"


def test_with_documentation_the_meaning_of_an_argument_is_left_to_it_and_what_nobody_passed_is_not_listed():
    schema = {
        "email_id": {"type": "string", "description": "The email."},
        "hard": {"type": "boolean"},
        "why": {"type": "string", "description": "The reason."},
        "note": {"type": "array"},
    }
    tool = Tool("Mail.delete_email", "Delete an email.", {"properties": schema, "required": ["email_id", "hard"]})
    calls = found(arguments={"email_id": "<ID_1>", "hard": True, "why": "a"})
    card = card_of(*calls, tool=tool)
    assert [(a.name, a.form, a.required, a.meaning) for a in card.arguments] == [
        ("email_id", "text", True, "in the one task seen, values came from results of `search_emails`"),
        ("hard", "boolean", True, "hard, or not"),
        ("why", "text", False, "as documented"),
    ]


def test_a_run_that_goes_round_in_circles_does_not_decide_where_values_come_from():
    loop = [call({"email_id": "<ID_9>"}, run="L", position=n, origins={"email_id": "Mail.guess"}) for n in range(50)]
    assert argument(card_of(*found(9), *loop), "email_id").meaning.endswith("from results of `search_emails`")


def test_the_field_that_holds_a_value_is_named_where_it_is_called_otherwise():
    taken = card_of(*found(fields={"email_id": "id_"}))
    assert argument(taken, "email_id").meaning.endswith("from results of `search_emails` (`id_`)")
    alike = card_of(*found(fields={"email_id": "emailId"}))
    assert argument(alike, "email_id").meaning.endswith("from results of `search_emails`")


def test_an_argument_of_which_only_the_name_is_known_is_shown_without_a_meaning():
    calls = [
        call({"email_id": "<ID_1>", "why": "<TEXT_1>"}, run=f"{n}", origins={"email_id": "Mail.find"}) for n in range(3)
    ]
    card = card_of(*calls)
    assert argument(card, "why").says_only_its_name
    assert "- `why` (text)\n" in card_markdown(card)


def test_a_list_of_objects_names_the_keys_of_its_objects():
    flights = [{"flight_number": "<ID_1>", "date": "2031-05-01"}, {"flight_number": "<ID_2>"}]
    known = {"forms": {"email_id": "text", "flights": "list of objects"}, "origins": {"email_id": "Mail.find"}}
    calls = [call({"email_id": "<ID_3>", "flights": flights}, task=f"t{n}", **known) for n in range(3)]
    assert argument(card_of(*calls), "flights").form == "list of objects with date, flight_number"


def test_values_that_found_nothing_are_not_said_to_be_worked_out_for_the_call():
    empty = ResultForm("empty")
    guessed = [
        call({"email": "<EMAIL_1>"}, run=f"g{n}", origins={"email": "nowhere"}, effect="read", form=empty)
        for n in range(20)
    ]
    known = [
        call({"email": "<EMAIL_2>"}, run=f"k{n}", origins={"email": "Mail.find"}, effect="read", form=RECORD)
        for n in range(2)
    ]
    [refused] = [failed("missing email", {}, run="r", effect="read")]  # makes the argument worth a card
    assert "for the call" not in argument(card_of(*guessed, *known, refused), "email").meaning


@pytest.mark.parametrize(("form", "told"), [("date YYYY-MM-DD", False), ("number", False), ("e-mail address", True)])
def test_a_date_or_amount_that_often_equals_what_a_result_shows_is_not_said_to_come_from_there(form, told):
    calls = found(3) + [
        call({"email_id": "<ID_1>", "day": "x"}, run=f"d{n}", forms={"email_id": "text", "day": form},
             origins={"email_id": "Mail.search_emails", "day": "Mail.list_days" if n < 7 else "nowhere"})
        for n in range(10)
    ]  # fmt: skip
    assert ("list_days" in argument(card_of(*calls), "day").meaning) is told


def test_a_word_of_the_interface_is_not_said_to_come_from_a_result_that_has_it_too():
    vocabulary = words_seen("Mail.delete_email", "folder", ["inbox", "inbox", "trash", "trash"])
    calls = [
        call(
            {"email_id": "<ID_1>", "folder": word}, run=f"{n}{word}", origins={"email_id": "Mail.find", "folder": place}
        )
        for word in ("inbox", "trash")
        for n, place in enumerate(["Mail.find", "Mail.find", "user"])
    ]
    told = argument(card_of(*calls, vocabulary=vocabulary), "folder")
    assert (told.meaning, told.form) == ("folder", "text such as inbox or trash")


@pytest.mark.parametrize(
    ("form", "told"), [("date YYYY-MM-DD HH:MM", True), ("number", True), ("e-mail address", False), ("URL", False)]
)
def test_dates_and_numbers_are_worked_out_and_addresses_that_nobody_had_seen_are_not(form, told):
    calls = [
        call({"email_id": "<ID_1>", "when": "x"}, run=f"{n}", forms={"email_id": "text", "when": form},
             origins={"email_id": "Mail.find", "when": "nowhere"})
        for n in range(3)
    ]  # fmt: skip
    assert ("worked out for the call" in argument(card_of(*calls), "when").meaning) is told
