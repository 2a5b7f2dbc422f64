"""Encodings of JSON files other than UTF-8 with line feeds."""

from __future__ import annotations

_UTF8_MARK = b"\xef\xbb\xbf"
_ENCODINGS = (
    (b"\xff\xfe\x00\x00", "utf-32"), (b"\x00\x00\xfe\xff", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"),
    (b"{\x00\x00\x00", "utf-32-le"), (b"[\x00\x00\x00", "utf-32-le"), (b"{\x00", "utf-16-le"), (b"[\x00", "utf-16-le"),
    (b"\x00\x00\x00{", "utf-32-be"), (b"\x00\x00\x00[", "utf-32-be"), (b"\x00{", "utf-16-be"), (b"\x00[", "utf-16-be"),
)  # fmt: skip
"""The first bytes of a JSON file, and the encoding they reveal."""


def is_foreign(beginning: bytes) -> bool:
    """Is this the beginning of a file that is not UTF-8, or whose lines end with carriage returns alone?"""
    is_old_mac = b"\r" in beginning and b"\n" not in beginning
    return is_old_mac or beginning.startswith((_UTF8_MARK, *(mark for mark, _ in _ENCODINGS)))


def to_utf8(content: bytes) -> bytes:
    """`content` as UTF-8 with line feeds, whichever way it was written."""
    encoding = next((name for mark, name in _ENCODINGS if content.startswith(mark)), None)
    if encoding is not None:
        content = content.decode(encoding, "replace").encode()
    content = content.removeprefix(_UTF8_MARK)
    # A carriage return inside a value is written as an escape, so these end lines.
    return content.replace(b"\r", b"\n") if b"\r" in content and b"\n" not in content else content
