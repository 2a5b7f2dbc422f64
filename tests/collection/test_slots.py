"""Slots: every value of a call."""

from __future__ import annotations

from contramem.collection.slots import MAX_VALUES, leaves_of, slots_of
from contramem.traces.trajectory import Event, Origin, Result, Trajectory


def _run(*events: Event) -> Trajectory:
    return Trajectory("shop", "t1", "model-a", Origin("runs.jsonl"), events)


def _call(position: int, arguments: dict[str, object], content: object, error: str | None = None) -> Event:
    return Event(position, "agent", "call", "", "Shop.find", arguments, result=Result(content, error))


def test_arguments_and_results_are_slots_in_order() -> None:
    call = _call(3, {"word": "tent", "range": {"max": 80.0}}, '{"items": [{"id": 7, "tags": ["a", "b"]}, {"id": 8}]}')
    said = Event(0, "user", "message", "a tent, please")
    assert [(slot.position, slot.returned, slot.path, slot.item, slot.text) for slot in slots_of(_run(said, call))] == [
        (3, False, "word", "", "tent"),
        (3, False, "range.max", "", "80"),
        (3, True, "items.id", "0", "7"),
        (3, True, "items.tags", "0.0", "a"),
        (3, True, "items.tags", "0.1", "b"),
        (3, True, "items.id", "1", "8"),
    ]


def test_the_error_of_a_refused_call_is_no_value() -> None:
    assert [slot.path for slot in slots_of(_run(_call(0, {"id": 7}, "Error: none such", "none such")))] == ["id"]


def test_a_result_without_fields_is_one_slot() -> None:
    assert [(slot.path, slot.value) for slot in slots_of(_run(_call(0, {}, "It is done.")))] == [("", "It is done.")]


def test_a_long_listing_is_cut_and_what_is_empty_has_no_value() -> None:
    assert sum(1 for _ in leaves_of(list(range(2 * MAX_VALUES)))) == MAX_VALUES
    assert not [*leaves_of({"a": None, "b": [], "c": {}})]
