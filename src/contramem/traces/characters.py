"""Invisible characters: they hide text from people, reverse its direction or control a terminal.

Nothing that contramem learns from or shows needs one of them, so they are removed where runs come in and where texts go
out. What is left is what a person would have read.
"""

from __future__ import annotations

import re

# Escape sequences go whole: without its first character the rest of one would stand there as text.
_ESCAPE = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-Z\\\\-_])|\x9b[0-?]*[ -/]*[@-~]")
# So does what an override turns round: nobody could have read it in the order in which it stands.
_TURNED = re.compile("[\u202d\u202e][^\u202c\n]*\u202c?")
_LINE_BREAK = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
HIDDEN = (
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u2800-\u28ff\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
)
"""Control, zero-width, bidirectional, filler, variation, tag and private-use characters, as the inside of a
character class. And Braille: terminals draw with it, and a text in it is one that no check reads."""
_HIDDEN = re.compile(f"[{HIDDEN}]")
_SUSPECT = re.compile(f"[{HIDDEN}\r\x0b\x0c\x85\u2028\u2029]")

_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})")
_ESCAPED_SEQUENCE = re.compile(r"\\+u00(?:1[bB]\[|9[bB])[\d;?]*[A-Za-z]")
"""Of a terminal, as JSON writes it. It goes whole too."""
_SHORT_ESCAPES = {"\t": "t", **dict.fromkeys("\n\r\x0b\x0c\x85", "n")}
_HALF_OF_PAIR = re.compile("[\ud800-\udfff]")


def undo_escapes(text: str) -> str:
    """`text` with the letters and signs that JSON writes as numbers (`has\\u0142o`). Quotation marks and backslashes
    stay as they are written, so that JSON inside of a text stays JSON; line breaks of every kind become `\\n`, and
    other control characters are gone."""
    if "\\u" not in text:
        return text
    text = _ESCAPED.sub(_undo_escape, _ESCAPED_SEQUENCE.sub("", text))
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if _HALF_OF_PAIR.search(text) else text


def _undo_escape(escaped: re.Match[str]) -> str:
    char = chr(int(escaped[1], 16))
    if char in _SHORT_ESCAPES:
        return escaped[0][: -len("u0000")] + _SHORT_ESCAPES[char]
    if ord(char) > 0x9F or (char.isprintable() and char not in "\"'\\"):
        return char
    return escaped[0] if char.isprintable() else ""


def show_hidden(text: str) -> str:
    """The text with hidden characters as escapes: whoever reads the name of a file should see them, and no terminal
    should obey them."""
    return _HIDDEN.sub(lambda match: ascii(match[0])[1:-1], text)


def has_hidden(text: str) -> bool:
    """Does the text contain an invisible character?"""
    return _HIDDEN.search(text) is not None


def remove_hidden(text: str) -> str:
    """`text` as it is read: line breaks of every kind as one, escape sequences, overridden text and hidden characters
    gone."""
    if _is_plain_ascii(text) or not _SUSPECT.search(text):
        return text
    return _HIDDEN.sub("", _TURNED.sub("", _LINE_BREAK.sub("\n", _ESCAPE.sub("", text))))


def _is_plain_ascii(text: str) -> bool:
    """Told without searching for the pattern, which takes far longer: in ASCII, all that does not print is hidden or a
    line break, but for tabs and line feeds."""
    return text.isascii() and (text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable())
