"""What calls show about an argument is kept as values, whatever the card says in words."""

from tests.observed_calls import argument, call, card_of, found

from contramem.build.functions.facts import gather_argument_facts

SEND = "Mail.delete_email"


def calls_with(origins, fields=None, form="identifier"):
    arguments, forms = {"email_id": "<ID_1>"}, {"email_id": form}
    return [
        call(arguments, run=f"r{n}", origins={"email_id": origin}, fields=fields or {}, forms=forms)
        for n, origin in enumerate(origins)
    ]


def test_forms_are_kept_with_the_words_of_the_card():
    calls = [
        call({"when": "<DATE_1>"}, run="A", forms={"when": "date DD.MM.YYYY"}),
        call({"when": "42"}, run="B", forms={"when": "number as text"}),
    ]
    facts = gather_argument_facts(SEND, calls)["when"]
    assert facts.forms == {"date DD.MM.YYYY": "date DD.MM.YYYY", "number as text": "number written as text"}
    assert argument(card_of(*calls, *found()), "when").form == " or ".join(facts.forms.values())


def test_sources_are_places_as_guards_write_them():
    facts = gather_argument_facts(SEND, calls_with(["Mail.search_emails"] * 3 + ["task"] * 2))
    assert facts["email_id"].sources == ("Mail.search_emails", "task")
    with_field = calls_with(["Mail.search_emails"] * 3, fields={"email_id": "message_ref"})
    assert gather_argument_facts(SEND, with_field)["email_id"].sources == ("Mail.search_emails.message_ref",)


def test_no_source_is_kept_if_too_few_values_were_traced():
    assert gather_argument_facts(SEND, calls_with(["task"]))["email_id"].sources == ()


def test_the_usage_rule_about_the_form_is_the_one_on_the_card():
    calls = found(4)
    [rule] = gather_argument_facts(SEND, calls)["email_id"].form_rules
    assert rule in card_of(*calls).usage_rules
