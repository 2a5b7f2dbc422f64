"""Files of JSON that are not UTF-8 with line feeds."""

from __future__ import annotations

import pytest

from contramem.traces.files import is_foreign, to_utf8

TEXT = '{"task": "Größe"}\n'


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
)
def test_every_way_to_write_json_is_recognized_and_becomes_utf8(encoding: str) -> None:
    content = TEXT.encode(encoding)
    assert is_foreign(content)
    assert to_utf8(content) == TEXT.encode()


def test_utf8_stays_as_it_is_and_lone_carriage_returns_end_lines() -> None:
    assert not is_foreign(TEXT.encode())
    assert to_utf8(TEXT.encode()) == TEXT.encode()
    assert to_utf8(b"{}\r{}\r") == b"{}\n{}\n"
