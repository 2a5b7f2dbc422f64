from __future__ import annotations

import pytest

from contramem.traces.task_key import TaskKey


@pytest.mark.parametrize("name", ["desk/t1#abc123", "t1#abc123", "desk/t1", "t1"])
def test_a_task_is_named_by_its_key_or_the_end_of_it(name: str) -> None:
    assert TaskKey("desk/t1", "abc123").is_named(name)
    assert not TaskKey("desk/t11", "abc123").is_named(name)


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("desk/t1", TaskKey("desk/t1")),
        ("desk/t1#abc123", TaskKey("desk/t1", "abc123")),
        pytest.param("code/fix repo#42", TaskKey("code/fix repo#42"), id="id with a hash sign"),
        pytest.param("code/fix repo#42#abc123", TaskKey("code/fix repo#42", "abc123"), id="both"),
        pytest.param("desk/two\nlines#abc123", TaskKey("desk/two\nlines", "abc123"), id="id of two lines"),
    ],
)
def test_a_key_is_read_back_as_it_was_written(written: str, key: TaskKey) -> None:
    assert TaskKey.parse(written) == key
    assert str(key) == written
