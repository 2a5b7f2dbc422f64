"""Texts and results as authors see them, with values as placeholders."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from contramem.contrast.form import ParsedResult, ResultForm, parse_recorded
from contramem.contrast.placeholders import Placeholders
from contramem.contrast.quotation import quote_words
from contramem.privacy.instructions import without_instructions

MAX_SHOWN_CHARS = 400
"""Maximum length of a plain-text result. Longer and structured results are described by their form."""
MAX_SHOWN_LEAVES = 60
"""Maximum size of a result with fields. Larger ones are described by their form."""
MAX_CONTENT_TEXT_CHARS = 60
"""Maximum length of a text in a result. Longer ones are placeholders."""


class ShownResult(NamedTuple):
    """What authors see of a result. Step documents the fields."""

    form: ResultForm
    returned: str
    contents: tuple[tuple[tuple[str, str], ...], ...]


class ShownResults:
    """The results of one task. Its runs mostly get the same ones, so each text is redacted once."""

    def __init__(self, placeholders: Placeholders) -> None:
        self.placeholders = placeholders
        self._shown: dict[tuple[str, str], ShownResult] = {}

    def show(self, function: str, content: object) -> ShownResult:
        """A result of `function`, redacted."""
        if not isinstance(content, str):
            return self._redact(function, content)
        shown = self._shown.get((function, content))
        if shown is None:
            shown = self._shown[function, content] = self._redact(function, content)
        return shown

    def _redact(self, function: str, content: object) -> ShownResult:
        parsed = parse_recorded(content)
        returned = _result_text(content, parsed.form, self.placeholders)
        return ShownResult(parsed.form, returned, _contents(function, parsed, self.placeholders))


def _result_text(content: object, form: ResultForm, placeholders: Placeholders) -> str:
    if form.kind == "text" and isinstance(content, str) and len(content) <= MAX_SHOWN_CHARS:
        return redact_text(content.strip(), placeholders.text)
    return str(form)


def _contents(
    function: str, parsed: ParsedResult, placeholders: Placeholders
) -> tuple[tuple[tuple[str, str], ...], ...]:
    """The items of a short result. A field that came before starts the next item, unless it repeats the last one: a
    list of values."""
    if parsed.form.kind not in ("list", "record", "map") or len(parsed.shown) > MAX_SHOWN_LEAVES:
        return ()
    items: list[list[tuple[str, str]]] = [[]]
    for name, value in parsed.shown:
        if any(name == field for field, _ in items[-1]) and items[-1][-1][0] != name:
            items.append([])
        items[-1].append((name, _content_text(function, name, value, placeholders)))
    return tuple(map(tuple, items)) if items[0] else ()


def _content_text(function: str, name: str, value: object, placeholders: Placeholders) -> str:
    """A leaf as authors see it: a short text in its words, with the values in it replaced."""
    shown = placeholders.value(function, name, value)
    if isinstance(value, str) and len(value) <= MAX_CONTENT_TEXT_CHARS and str(shown).startswith("<TEXT"):
        return quote_words(redact_text(value, placeholders.received))
    return str(shown).lower() if isinstance(shown, bool) else str(shown)


def redact_text(text: str, redact: Callable[[str], str]) -> str:
    """A text as authors see it. Instructions are removed first: behind a placeholder, their cues would not be found."""
    text = without_instructions(text)
    return redact(_SPELLED_ADDRESS.sub("<EMAIL>", text) if "dot" in text.lower() else text)


_SPELLED_ADDRESS = re.compile(
    r"[\w.+-]+ ?(?:\(at\)|\[at\]| at ) ?[\w-]+ ?(?:\(dot\)|\[dot\]| dot ) ?\w+", re.IGNORECASE
)
"""An e-mail address in words: `ann at desk dot com`."""
