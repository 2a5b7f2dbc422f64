"""Which kind a value is of, told by its form and by the name of what it fills."""

from __future__ import annotations

import pytest

from contramem.contrast.values import (
    form_of_value,
    is_card_number,
    is_date_form,
    is_iban,
    is_list_form,
    is_phone,
    is_reference_form,
    is_time,
    kind_of_text,
)


@pytest.mark.parametrize(
    ("value", "role", "kind"),
    [
        pytest.param("emma.stone@mail.org", "", "EMAIL", id="e-mail"),
        pytest.param("josé@exämple.org", "to", "EMAIL", id="e-mail with accents"),
        pytest.param("https://shop.example/a?b=1#c", "", "URL", id="url"),
        pytest.param("www.example.com", "site", "URL", id="url without scheme"),
        pytest.param("+49 30 901820", "", "PHONE", id="phone with country"),
        pytest.param("(555) 123-2002", "", "PHONE", id="phone with area code"),
        pytest.param("5551232002", "phone_number", "PHONE", id="bare digits called phone"),
        pytest.param("4237-4252-7456-2574", "", "ACCOUNT", id="payment card"),
        pytest.param("DE89370400440532013000", "recipient", "ACCOUNT", id="iban"),
        pytest.param("DE89 3704 0044 0532 0130 00", "", "ACCOUNT", id="iban with blanks"),
        pytest.param("#W2378156", "", "ID", id="order number"),
        pytest.param("6e7f3a1c-1d2e-4a5b-8c9d-0e1f2a3b4c5d", "", "ID", id="uuid"),
        pytest.param("9513926", "order_id", "ID", id="digits called id"),
        pytest.param("192.168.1.10", "", "ID", id="ip address"),
        pytest.param("Emma", "first_name", "PERSON", id="first name"),
        pytest.param("emma", "username", "PERSON", id="user name in lower case"),
        pytest.param("王小明", "customer_name", "PERSON", id="name in another script"),
        pytest.param("Desk Lamp", "name", "NAME", id="a name may be a thing's"),
        pytest.param("Le Marais Boutique", "hotel_name", "NAME", id="name of a hotel"),
        pytest.param("443 Maple Drive", "", "ADDRESS", id="street"),
        pytest.param("Fort Worth", "city", "ADDRESS", id="city"),
        pytest.param("report-final.pdf", "", "FILE", id="file"),
        pytest.param("/home/emma/notes", "", "FILE", id="path"),
        pytest.param("C:\\Users\\Emma Lee\\notes.txt", "", "FILE", id="windows-path"),
        pytest.param("file:///home/emma/notes", "", "FILE", id="path-as-link"),
        pytest.param("$1,200.50", "", "AMOUNT", id="amount with currency"),
        pytest.param("20 EUR", "", "AMOUNT", id="currency behind"),
        pytest.param("1200.50", "price", "AMOUNT", id="digits called price"),
        pytest.param("64GB", "", "AMOUNT", id="a quantity is no identifier"),
        pytest.param("17", "", "NUMBER", id="number"),
        pytest.param("Please call me back before lunch.", "body", "TEXT", id="free text"),
    ],
)
def test_each_kind_of_value_is_recognised(value: str, role: str, kind: str) -> None:
    assert kind_of_text(value, role) == kind


@pytest.mark.parametrize(
    "value",
    [
        "2024-05-15", "2024-05-15T10:00:00Z", "2024-05-15 10:00", "15.05.2024", "5/15/2024", "12/2026", "10:30",
        "5pm", "5:30 p.m.", "May 5, 2024", "5th of May", "January 11th", "Monday", "30 minutes", "2 days", "1st",
        "2024-05-15 to 2024-05-20", "November",
    ],
)  # fmt: skip
def test_dates_and_times_are_no_values(value: str) -> None:
    assert is_time(value)
    assert kind_of_text(value, "anything") is None


@pytest.mark.parametrize("value", ["", "   ", "yes", "No", "ON", "n/a", "None", "true"])
def test_nothing_and_plain_answers_are_no_values(value: str) -> None:
    assert kind_of_text(value, "roaming") is None


@pytest.mark.parametrize(
    "value", ["and/or", "on/off", "4G/5G", "e.g.", "U.S.", "#general", "well-known", "24/7", "he/she/they"]
)
def test_words_with_marks_in_them_are_neither_files_nor_identifiers(value: str) -> None:
    assert kind_of_text(value, "") in ("TEXT", "NAME")


def test_check_digits_tell_accounts_from_long_numbers() -> None:
    assert is_iban("GB29NWBK60161331926819")
    assert not is_iban("GB29NWBK60161331926818")
    assert is_card_number("4111 1111 1111 1111")
    assert not is_card_number("4111 1111 1111 1112")
    assert not is_phone("12")


@pytest.mark.parametrize(
    ("value", "role", "form"),
    [
        ("2024-05-15", "day", "date YYYY-MM-DD"),
        ("emma@mail.org", "to", "e-mail address"),
        (["emma@mail.org", "tom@mail.org"], "to", "list of e-mail addresses"),
        ([], "to", "empty list"),
        (5, "n", "integer"),
        (True, "all", "boolean"),
        (None, "cc", "null"),
        ({"a": 1}, "filter", "object"),
        ("x" * 5000, "body", "text"),
    ],
)
def test_the_form_of_an_argument_tells_nothing_of_its_value(value: object, role: str, form: str) -> None:
    assert form_of_value(value, role) == form


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("05.11.2031", "date DD.MM.YYYY"),
        ("5.1.2031 09:30", "date DD.MM.YYYY HH:MM"),
        ("2031/5/1", "date YYYY/MM/DD"),
        ("5/1/2031", "date DD/MM/YYYY or MM/DD/YYYY"),
        ("2031-05-01T09:30:00Z", "date YYYY-MM-DDTHH:MM:SSZ"),
        ("next Monday", "text"),
    ],
)
def test_dates_are_told_by_how_they_are_written(value, form):
    assert form_of_value(value, "start_date") == form


def test_a_code_in_an_identifying_argument_is_no_quantity():
    assert form_of_value("64GB", "size") == "amount"
    assert form_of_value("64GB", "reservation_id") == "identifier"


@pytest.mark.parametrize(
    ("value", "role", "facts"),
    [
        pytest.param("2026-05-17", "day", {"date"}, id="date"),
        pytest.param(["2026-05-17", "2026-05-18"], "days", {"list", "date"}, id="dates"),
        pytest.param("ann@mail.org", "to", {"reference"}, id="e-mail"),
        pytest.param(["ann@mail.org", "#W2378156"], "to", {"list", "reference"}, id="references"),
        pytest.param("/home/ann/notes.txt", "path", {"reference"}, id="file"),
        pytest.param("Good morning to all of you.", "note", set(), id="text"),
        pytest.param(["some", "words"], "notes", {"list"}, id="texts"),
        pytest.param([], "to", set(), id="empty-list"),
        pytest.param(12, "count", set(), id="number"),
    ],
)
def test_a_form_says_whether_it_is_a_list_a_date_or_a_reference(value: object, role: str, facts: set[str]) -> None:
    form = form_of_value(value, role)
    read = {"list": is_list_form(form), "date": is_date_form(form), "reference": is_reference_form(form)}
    assert {name for name, is_so in read.items() if is_so} == facts
