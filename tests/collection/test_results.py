"""What calls returned, read as data."""

from __future__ import annotations

import pytest

from contramem.collection.results import decode_objects, is_object_repr
from contramem.contrast.form import parse


def test_objects_become_records_of_their_fields() -> None:
    text = "[Contact(name='Ann', kind=<Kind.WORK: 'work'>, born=datetime.date(1990, 5, 4), lent=-2, tags=('a', 'b'))]"
    assert decode_objects(text) == [
        {"name": "Ann", "kind": "work", "born": "1990-05-04", "lent": -2, "tags": ["a", "b"]}
    ]
    assert parse(text).form.fields == ("name", "kind", "born", "lent", "tags")


def test_an_object_inside_another_keeps_its_fields() -> None:
    assert decode_objects("Page(items=[Mail(read=False)], total=1)") == {"items": [{"read": False}], "total": 1}
    assert decode_objects("Event(at=datetime.datetime(2026, 5, 4, 9, 30))") == {"at": "2026-05-04 09:30"}


@pytest.mark.parametrize("text", ["Call(me)", "Total(a=1) + 2", "Broken(a=1", "Say(a=lambda: 1)", "{**Map(a=1)}", "no"])
def test_anything_else_is_not_read(text: str) -> None:
    assert decode_objects(text) is None


def test_only_an_object_with_fields_looks_like_one() -> None:
    assert is_object_repr("Contact(name='Ann')")
    assert not is_object_repr("Contact Ann (home)") and not is_object_repr("print(x=1)")
