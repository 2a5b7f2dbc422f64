"""Nothing about a person, an account or a task: no personal data, no secret, and nothing that is not public."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import accumulate

from contramem.contrast.placeholder_types import any_of, names_where
from contramem.contrast.values import TIME_PATTERN
from contramem.privacy.instructions import fold_case
from contramem.privacy.language import is_common, is_ordinary
from contramem.privacy.personal import find_personal
from contramem.privacy.public import Public
from contramem.privacy.secrets import find_secrets
from contramem.validate.case import Case
from contramem.validate.packet_contents import Names, PacketContents, shingles, stands_in

MAX_LISTED = 3
MAX_MUTE_CHARS = 2
"""Words as short (`rw`, `nd`) say nothing of anybody."""
MAX_ORDINARY_WORDS = 3
"""A value of as many plain words (`all files`) says nothing about a task."""
_IDENTIFYING = re.compile(rf"<(?:{any_of(names_where(lambda type_: type_.identifies))})")
"""Types of values that reveal something about a person, however plain the word."""
_PLACEHOLDER = re.compile(r"<[A-Z][A-Z_|\d]*>")
_COUNTED = re.compile(
    r"\b\d+\s+(?:(?:out\s+)?of\s+(?:the\s+|all\s+)?\d+|(?:passing|failing|runs?|tasks?|calls?|times?)\b)"
)
_TOKEN = re.compile(r"[^\W\d]\w*(?:[.:\-/]\w+)*")
_ERROR_CLASS = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b")
_FORM = re.compile(
    r"(?<!\w)(?=[\w/.:-]*(\w)\1)[YMDHSTNXWwAa9]+(?:[-/.:]?[YMDHSNXWwAa9TZ]+)*(?!\w)|\b[A-Z]?[9Aa]*9[9Aa]*\b"
)
"""How the form of a value is written: `A99-99999`, `YYYY-MM-DD`. It holds no digit of any value."""
_WORD = re.compile(r"[^\W\d_]\w*(?:['’/.-]\w+)*")
_LONG_NUMBER = re.compile(r"(?<![\w.])(?:[A-Za-z]{1,3}[-_]?)?\d{5,}(?!\w)")
_OPENS = re.compile(r"(?:^|[.!?:;“\"'‘(`]|\s[-–—])\s*$")
_LETTERS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_TIME = re.compile(TIME_PATTERN, re.IGNORECASE)
_KINDS = {"EMAIL": "an e-mail address", "URL": "a link with its host", "ACCOUNT": "an account number", "PHONE": "a "
          "telephone number", "PERSON": "a person's number", "ADDRESS": "a street address", "HOST": "an address of a "
          "machine"}  # fmt: skip
_MODEL = re.compile(
    r"\b(?:chatgpt|gpt-?[345o][\w.\-]*|claude(?:-[\w.\-]+)?|gemini-[\w.\-]+|gemma-?\d[\w.\-]*|llama-?\d[\w.\-]*|mixtral[\w.\-]*"
    r"|mistral-[\w.\-]+|command-r[\w.\-]*|qwen[\d.\-][\w.\-]*|deepseek[\w.\-]*|grok-\d[\w.\-]*|phi-\d[\w.\-]*|o[134]-(?:mini|"
    r"preview|pro)|sonnet|haiku-\d)\b",
    re.IGNORECASE,
)


class Privacy:
    """The privacy check. Where nothing is known of the runs, unknown words are let in."""

    def __init__(self, public: Public | None = None) -> None:
        self._public, self._is_known = public or Public(), bool(public and public.names)

    def __call__(self, case: Case) -> Iterator[str]:
        texts = mask_interface_names([field.text for field in case.fields], case.names)
        yield from _by_form(case, texts)
        yield from _by_source(case, texts)
        judged = frozenset().union(*(contents.judge_phrases for contents in case.contents))
        for field in case.fields if judged else ():
            if not judged.isdisjoint(shingles(field.text)):
                yield f"{field.name} repeats the judge's own words; say what was wrong in general terms."
        yield from self._find_copies(case, texts)
        if self._is_known and (case.packets or case.written):
            yield from self._find_unknown(case, texts)

    def _find_copies(self, case: Case, texts: list[str]) -> Iterator[str]:
        """Values of the packets."""
        # Dates and times are allowed: procedures depend on them.
        lines = [fold_case(" ".join(_TIME.sub(" ", text).split())) for text in texts]
        starts = [0, *accumulate(len(line) + 1 for line in lines)]
        whole, reported = "\n".join(lines), set[tuple[str, str]]()
        for contents in case.contents:
            for placeholder, value, position in contents.find_copies(whole):
                field = bisect(starts, position) - 1
                name = case.fields[field].name
                if (name, value) not in reported and not self._may_stand(
                    value, placeholder, texts[field], case.names, contents
                ):
                    reported.add((name, value))
                    yield f"{name} repeats a value of the runs; write {placeholder}, or what role it plays."

    def _may_stand(self, value: str, placeholder: str, text: str, names: Names, contents: PacketContents) -> bool:
        """Is the value a word of the interface, public, or ordinary words that the text has in lower case?"""
        if value in names.whole or value in contents.closed or self._public.shares(value) or self._public.says(value):
            return True
        parts = value.split()
        if not all(part in names.words or (part.isalpha() and is_ordinary(part)) for part in parts):
            return False
        is_short = len(parts) == 1 or (len(parts) <= MAX_ORDINARY_WORDS and not _IDENTIFYING.match(placeholder))
        return is_short and _is_in_lower_case(value, text)

    def _find_unknown(self, case: Case, texts: list[str]) -> Iterator[str]:
        """Words that are neither ordinary nor public. Whose they are, nobody knows."""
        for field, text in zip(case.fields, texts, strict=True):
            formless = _FORM.sub(" ", _TIME.sub(" ", text)) if field.name != "guards" else ""
            numbers = [number for number in _LONG_NUMBER.findall(formless) if not self._public.shares(number)]
            words = (word[0] for word in _WORD.finditer(formless) if not self._is_public(word, formless, case.names))
            if unknown := list(dict.fromkeys([*words, *numbers])):
                listed = ", ".join(map(repr, unknown[:MAX_LISTED]))
                yield f"{field.name} says {listed}, as hardly any run does; say it in other words."

    def _is_public(self, match: re.Match[str], text: str, names: Names) -> bool:
        word, public = match[0], self._public
        if public.shares(word) or public.word(word):
            return True
        # With a capital, a word may be a name, unless it opens a sentence or is a common one.
        is_plain = word[1:2].isupper() or word[0].islower() or _OPENS.search(text[: match.start()]) is not None
        if is_ordinary(word) and (is_plain or is_common(word, sizes=2)):
            return True
        parts = [part for part in _LETTERS.findall(word) if len(part.split("'")[0]) > MAX_MUTE_CHARS]
        is_word = is_ordinary if is_plain else public.word
        return all(part.lower() in names.words or public.word(part) or is_word(part) for part in parts)


def _is_in_lower_case(value: str, text: str) -> bool:
    if " " not in value:
        return re.search(rf"[^\s.!?:\"“‘'(]\s+[\"“‘'(]?{re.escape(value.capitalize())}(?!\w)", text) is None
    written = re.findall(rf"(?<!\w){re.escape(value)}(?!\w)".replace("\\ ", r"\s+"), text, re.IGNORECASE)
    opening = re.match(rf"\W*{re.escape(value)}", text, re.IGNORECASE)
    allowed = {value, value.capitalize()} if opening else {value}
    return all(" ".join(match.split()) in allowed for match in written)


def mask_interface_names(texts: Sequence[str], names: Names) -> list[str]:
    """Texts without placeholders, counts and names of the interface, none of which is private."""
    plain = _COUNTED.sub(" ", _PLACEHOLDER.sub(" <> ", "\0".join(text.replace("\0", " ") for text in texts)))
    plain = _TOKEN.sub(lambda match: " " if match.group().lower() in names.whole else match.group(), plain)
    return _ERROR_CLASS.sub(" ", plain).split("\0")


def _by_form(case: Case, texts: list[str]) -> Iterator[str]:
    for field, text in zip(case.fields, texts, strict=True):
        formless = _FORM.sub(" ", text)
        yield from dict.fromkeys(f"{field.name} holds {_KINDS[found.kind]}." for found in find_personal(formless))
        if any(not found.is_word for found in find_secrets(field.text)):
            yield f"{field.name} holds a secret."


def _by_source(case: Case, texts: list[str]) -> Iterator[str]:
    whole = "\n".join(texts).lower()
    sources = {source for contents in case.contents for source in contents.sources if source in whole}
    for field, text in zip(case.fields, texts, strict=True):
        if _MODEL.search(text) or any(stands_in(source, text.lower()) for source in sources):
            yield f"{field.name} names a model or agent that ran; a lesson holds whoever runs."
