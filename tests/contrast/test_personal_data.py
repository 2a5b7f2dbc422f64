"""What a text gives away by its form."""

from __future__ import annotations

import pytest

from contramem.contrast.personal_data import find_personal_data


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Write to someone@example.com.", "an e-mail address"),
        ("Open https://internal.example.net/login first.", "a link with its host"),
        ("Call +1 415 555 2671 first.", "a telephone number"),
        ("Pay to DE89370400440532013000.", "an account number"),
        ("Use 4111 1111 1111 1111 for it.", "a card number"),
        ("Ship to 742 Evergreen Terrace Lane.", "a street address"),
        ("Ship to 10 downing street.", "a street address"),
        ("Ship to 12 Free Lane.", "a street address"),
        ("Order 8273645 is special.", "a long identifier"),
        ("Take 7f9c2ba4e88f827d.", "a long identifier"),
        ("Take 550e8400-e29b-41d4-a716-446655440000.", "a long identifier"),
        ("Authenticate with sk-proj-abcDEF123456ghiJKL789.", "a secret"),
        ("The header is ghp_16C7e42F292c6912E7710c838347Ae178B4a.", "a secret"),
        ("It needs password=hunter2hunter.", "a secret"),
        ("Run unlock --passphrase=topakoguvo7 first.", "a secret"),
        ("The number 404-20-7248 is on file.", "a secret"),
        ("Clone https://desk:zuzete!@git.desk.example.", "a secret"),
    ],
)
def test_personal_data_is_recognised_by_its_form(text: str, what: str) -> None:
    assert what in find_personal_data(text)


@pytest.mark.parametrize(
    "text",
    [
        "Dates are YYYY-MM-DD, such as 2024-05-15 10:30; ISO 8601.",
        "The token: an identifier from `login`. The password: text.",
        "HTTP 404 in 12 of 130 calls; wait 5 minutes, then retry 3 times.",
        "References are written like A99-99999, and files like AAA-9999-9999.",
        "Read/write access, base64 or utf-8, and/or SHA256.",
        "Amounts are in cents: 123.45 (12345), 1234.56 12345.",
        "Keep 1 free lane open, leave 2 items in place, and move 40 units each way; the free lane 3 is for returns.",
    ],
)
def test_impersonal_values_are_left_alone(text: str) -> None:
    assert list(find_personal_data(text)) == []
