"""What names somebody by its form, and by its check digits."""

from __future__ import annotations

import pytest

from contramem.privacy.personal import find_personal, kind_of_person


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("ada.byron@example.org", "EMAIL"),
        ("https://shop.example/x", "URL"),
        ("shop.com/x", "URL"),
        ("DE89 3704 0044 0532 0130 00", "ACCOUNT"),
        ("4111 1111 1111 1111", "ACCOUNT"),
        ("+41 44 668 18 00", "PHONE"),
        ("(415) 555-2671", "PHONE"),
        ("123-45-6789", "PERSON"),
        ("QQ123456C", None),
        ("AB123456C", "PERSON"),
        ("756.9217.0769.85", "PERSON"),
        ("111.444.777-35", "PERSON"),
        ("11010519491231002X", "PERSON"),
        ("12345678Z", "PERSON"),
        ("131052-308T", "PERSON"),
        ("12 Mill Lane", "ADDRESS"),
        ("192.168.1.10", "HOST"),
        ("/home/ann", "HOST"),
    ],
)
def test_a_form_names_somebody(value: str, kind: str | None) -> None:
    assert kind_of_person(value) == kind


@pytest.mark.parametrize(
    "value",
    ["2026-05-04", "250916-0930", "10:30", "R4", "DE00 3704 0044 0532 0130 00", "4111 1111 1111 1112", "v1.2.3",
     "1200-400",     "12345678A", "756.9217.0769.86", "999999", "2026-05-04 10:30", "12 items"],
)  # fmt: skip
def test_a_date_a_code_and_wrong_check_digits_name_nobody(value: str) -> None:
    assert kind_of_person(value) is None


def test_it_is_found_inside_of_a_text() -> None:
    text = "Write to ada@example.org, then pay 500 to DE89370400440532013000."
    found = {(text[each.start : each.end], each.kind) for each in find_personal(text)}
    assert {("ada@example.org", "EMAIL"), ("DE89370400440532013000", "ACCOUNT")} <= found
