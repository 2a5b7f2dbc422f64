"""Forms in the words that people use."""

from __future__ import annotations

import pytest

from contramem.build.rules.form_names import describe_shape, name_form


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["2026-W05", "2025-W14"], "an ISO week, YYYY-Www"),
        (["2026-01-05", "2026-11-30"], "a date without a time, YYYY-MM-DD"),
        (["jane.doe@north.example", "max.roe@south.example"], "an e-mail address, name.surname@domain"),
        (["jd7@north.example", "max.roe@south.example"], "an e-mail address"),
        (["AB-104", "CX-377"], "`XX-NNN` (N: a digit, X: a capital letter)"),
        (["00762", "13306"], "5 digits, filled up with zeros in front"),
        (["11762", "13306"], "`NNNNN` (N: a digit)"),
        (["16.08.2026", "20.01.2026"], "a date, DD.MM.YYYY"),
        (["2026-W05"], ""),
        (["AB-1", "AB-22"], ""),
    ],
)
def test_values_have_a_form(values: list[str], words: str) -> None:
    assert name_form(values) == words


def test_a_shape_comes_with_what_its_letters_stand_for() -> None:
    assert describe_shape("Aa_9") == "`Aa_9` (9: digits, Aa: a capitalized word)"
