"""Where values stand in prose."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contramem.contrast.spans import spans


def found(text: str, *, also_times: bool = False) -> set[tuple[str, str]]:
    return {(text[start:end], kind) for start, end, kind in spans(text) if also_times or kind != "TIME"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write to emma@mail.org, please.", {("emma@mail.org", "EMAIL")}),
        ("Emma <emma@mail.org> or [x](mailto:t@mail.org)", {("emma@mail.org", "EMAIL"), ("t@mail.org", "EMAIL")}),
        ("see https://a.example/x_y?b=1!", {("https://a.example/x_y?b=1", "URL")}),
        ("(www.example.com/alice).", {("www.example.com/alice", "URL")}),
        ("it is on example.org now", {("example.org", "URL")}),
        ("call +1 555 123 2002 or (555) 123-2003.", {("+1 555 123 2002", "PHONE"), ("(555) 123-2003", "PHONE")}),
        ("card 4237-4252-7456-2574", {("4237-4252-7456-2574", "ACCOUNT")}),
        ("to DE89 3704 0044 0532 0130 00 now", {("DE89 3704 0044 0532 0130 00", "ACCOUNT")}),
        ("order #W2378156.", {("#W2378156", "ID")}),
        ("pay $1,200.50 or 20€", {("$1,200.50", "AMOUNT"), ("20€", "AMOUNT")}),
        ("open report.pdf and ~/notes/a", {("report.pdf", "FILE"), ("~/notes/a", "FILE")}),
        ("I met Anna-Maria O'Brien.", {("Anna-Maria O'Brien", "NAME")}),
        ("a song by Ludwig van Beethoven", {("Ludwig van Beethoven", "NAME")}),
        ("thanks to Łukasz Żak", {("Łukasz Żak", "NAME")}),
        ("сказал Иван Петров вчера", {("Иван Петров", "NAME")}),
        ("send Emma's file", {("Emma", "NAME")}),
        ("He lives at 12 Elm Street, Suite 4.", {("12 Elm Street, Suite 4", "ADDRESS")}),
        ("1. first\n2. second", {("1", "NUMBER"), ("2", "NUMBER")}),
        ("`id`: 4711, 4712", {("4711", "NUMBER"), ("4712", "NUMBER")}),
    ],
)  # fmt: skip
def test_values_are_found_whole_and_without_the_marks_around_them(text: str, expected: set[tuple[str, str]]) -> None:
    longest = {item for item in found(text) if not any(item != other and item[0] in other[0] for other in found(text))}
    assert longest == expected


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("from January 11th to January 15th 2025.", {"11th", "15th 2025"}),
        ("on May 5, 2024 at 10:30 PM", {"5, 2024", "10:30 PM"}),
        ("(2024-06-01).\n4. next", {"2024-06-01"}),
        ("June 3-5, 2024", {"3-5, 2024"}),
        ("on the 15th", {"15th"}),
        ("in 2024, for 30 minutes", {"2024", "30 minutes"}),
        ("since 2024-05-15T10:00:00Z", {"2024-05-15T10:00:00Z"}),
    ],
)
def test_dates_are_found_as_dates(text: str, dates: set[str]) -> None:
    assert {part for part, kind in found(text, also_times=True) if kind == "TIME"} == dates


def test_a_card_ending_in_a_number_is_no_year() -> None:
    assert ("2024", "TIME") not in found("the card ending in 2024", also_times=True)


@pytest.mark.parametrize(
    "text",
    [
        "The best option is here.", "Yes. Maybe Tuesday. Thanks!", "Use the IDs and URLs, then send DMs.",
        "either and/or on/off, e.g. this, i.e. that", "<thinking> ok </thinking>", "<EMAIL_1> wrote to <PERSON|NAME_2>",
        "post it in #general",
    ],
)  # fmt: skip
def test_plain_prose_holds_no_values(text: str) -> None:
    assert not {(part, kind) for part, kind in found(text) if kind != "OPENING"}


@given(st.text(max_size=300))
def test_spans_lie_in_the_text_and_are_not_empty(text: str) -> None:
    assert all(0 <= start < end <= len(text) for start, end, _ in spans(text))


@pytest.mark.parametrize(
    "part", ["a.", "a-", "a/", "a@", "1,", "11 ", "Aa ", "<", "a1_-", "#a", "(1", "www.", "May 1 ", "/."]
)
def test_a_long_text_takes_time_in_proportion(part: str) -> None:
    start = time.process_time()
    spans(part * 20_000)
    assert time.process_time() - start < 2
