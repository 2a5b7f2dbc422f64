"""What a build passes on: no secret that an issuer has marked, and names of arguments as their tool declares them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.made_runs import call, run
from tests.shipped import contramem, written

from contramem.traces.trajectory import ShownMemory, Tool, Trajectory

ISSUED = "ghp_" + "0123456789abcdefABCDEF"
CARS = "Cars.book"


def booking(source: str, day: int) -> Trajectory:
    """One agent passes the day of the return and books; the other forgets it and is refused."""
    has_day = source == "careful"
    arguments = {"dropoff_date": f"2026-06-{day}"} if has_day else {}
    step = call(CARS, arguments, {"booked": has_day}, None if has_day else "missing required argument")
    return run(source, has_day, step, task=f"Book a car until June {day}.", task_id=f"t{day}")


def bookings(**planted: Any) -> list[Trajectory]:
    runs = [booking(source, day) for day in range(10, 20) for source in ("careful", "hasty")]
    return [replace(each, **planted) for each in runs]


@pytest.mark.parametrize(
    "planted",
    [
        pytest.param({"tools": (Tool(CARS, f"Books a car, e.g. with {ISSUED}."),)}, id="description"),
        pytest.param(
            {"tools": (Tool(CARS, "", {"properties": {"dropoff_date": {"description": f"Like {ISSUED}."}}}),)},
            id="schema",
        ),
        pytest.param({"guidance": (ShownMemory(0, f"Pass {ISSUED} to {CARS}."),)}, id="guidance"),
        pytest.param({"system": f"Your token is {ISSUED}."}, id="system-prompt"),
    ],
)
def test_a_marked_secret_is_in_nothing_that_commands_print_or_write(tmp_path: Path, planted: dict[str, Any]) -> None:
    given = written(tmp_path / "given.jsonl", bookings(**planted))
    assert ISSUED in given.read_text()
    made = tmp_path / "made"
    made.mkdir()
    printed = [
        contramem("build", given, "--bank", made / "bank.db").output,
        contramem("contrast", given, "--json", "--values").output,
        contramem("cards", "show", made / "bank.db", f"function::{CARS}").output,
        contramem("cards", "freeze", made / "bank.db", "--out", made / "bank.jsonl").output,
    ]
    assert all(printed) and not [text for text in printed if ISSUED in text]
    assert not [path.name for path in made.iterdir() if ISSUED.encode() in path.read_bytes()]


def test_cards_and_guidance_call_an_argument_what_its_tool_declares(tmp_path: Path) -> None:
    """One run of many brings the schema of the tool. "Dropoff" is in no word list."""
    declared = Tool(CARS, "", {"properties": {"dropoff_date": {"type": "string"}}})
    first, *others = bookings()
    given = written(tmp_path / "runs.jsonl", [replace(first, tools=(declared,)), *others])
    store, file = tmp_path / "bank.db", tmp_path / "bank.jsonl"
    contramem("build", given, "--bank", store)
    contramem("cards", "freeze", store, "--out", file)
    shown = contramem("cards", "show", store, f"function::{CARS}").stdout
    guided = contramem("guide", "Book a car until June 25.", "--bank", file).stdout
    for text in (shown, guided):
        assert "dropoff_date" in text and "field_" not in text
