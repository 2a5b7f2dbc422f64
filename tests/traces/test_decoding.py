"""JSON that was made to fill the memory."""

from __future__ import annotations

import pytest

from contramem.errors import TraceError
from contramem.traces import files
from contramem.traces.files import count_values, decode


def test_a_value_of_very_many_small_values_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_VALUES", 1000)
    assert decode(b"[" + b"[]," * 400 + b"1]") == [*([[]] * 400), 1]
    with pytest.raises(TraceError, match="values"):
        decode(b"[" + b"[]," * 600 + b"1]")


def test_values_are_counted_by_commas_and_brackets() -> None:
    assert count_values(b'{"a": [1, 2], "b": {}}') == 5
