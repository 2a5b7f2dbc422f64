"""Nothing of a person, an account or a task: no contact data, no secret, no identifier, no value of a trace."""

from __future__ import annotations

import math
import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

from contramem.contrast.english import ORDINARY_STEMS, stem
from contramem.contrast.instructions import fold_case
from contramem.contrast.ordinary import ORDINARY_WORDS
from contramem.contrast.placeholder_types import any_of, names_where
from contramem.contrast.plain_words import is_plain_word
from contramem.contrast.values import EMAIL_PATTERN, IBAN_PATTERN, TIME_PATTERN, is_card_number, is_iban, is_phone
from contramem.validate.case import Case
from contramem.validate.lexicon import FUNCTION_WORDS, content_words
from contramem.validate.packet_contents import Names, PacketContents, shingles, stands_in

MIN_IDENTIFIER_CHARS = 9
MIN_IDENTIFIER_DIGITS = 3
MIN_SECRET_CHARS = 20
MIN_SECRET_BITS = 3.5
"""Shannon entropy per character. Names of functions stay below: they are made of words."""
MAX_ORDINARY_WORDS = 3
"""A value of so many plain words of the interface (`all files`) says nothing about a task."""

_IDENTIFYING = re.compile(rf"<(?:{any_of(names_where(lambda type_: type_.identifies))})")
"""Placeholders of values that tell on somebody, however plain the word."""
_PLACEHOLDER = re.compile(r"<[A-Z][A-Z_|\d]*>")
_COUNTED = re.compile(
    r"\b\d+\s+(?:(?:out\s+)?of\s+(?:the\s+|all\s+)?\d+|(?:passing|failing|runs?|tasks?|calls?|times?)\b)"
)
_TOKEN = re.compile(r"[^\W\d]\w*(?:[.:\-/]\w+)*")
_ERROR_CLASS = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b")
_SUSPICIOUS = re.compile(r"[\d@]|://|www\.|-----")
"""Nothing personal is without one of these."""
_DIGIT = re.compile(r"\d")
_TIME = re.compile(TIME_PATTERN, re.IGNORECASE)

_EMAIL = re.compile(EMAIL_PATTERN)
_URL = re.compile(r"\b(?:[a-z][a-z0-9+.\-]{1,12}://|www\.)[\w\-]+(?:\.[\w\-]+)*", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])\+?\(?\d[\d\s().\-]{5,22}\d(?!\w)")
_DECIMAL = re.compile(r"(?<![\d.\-])\d{1,7}\.\d{1,2}(?![\d.\-])")
"""`123.45`: an amount. With the number behind it, it would look like a telephone number."""
_IBAN = re.compile(IBAN_PATTERN)
_STREET = re.compile(
    r"\b\d{1,5}[a-z]?,?\s(?P<name>(?:[A-Z][\w'’.\-]*\s){1,3})(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|"
    r"blvd|square|way|court|ct|place|pl|highway|hwy|rue|platz|straße|strasse)\b"
    r"|\b(?P<name_before_number>(?:[A-Z]\w+\s){1,3})(?:Street|Avenue|Road|Lane)\s\d+",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_\-]*[A-Za-z0-9])?")
# The marks that issuers put on their secrets, so that scanners find them.
_SECRET = re.compile(
    r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9_\-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\bxox[abprs]-[A-Za-z0-9\-]{10,}|\bAIza[\w\-]{30,}|\bglpat-[\w\-]{16,}"
    r"|\bhf_[A-Za-z0-9]{20,}|\beyJ[\w\-]{10,}\.[\w\-]{10,}|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|\b(?:password|passwd|secret|token|api[_-]?key)\s*[=:]\s*['\"]?(?=[^\s'\"<>]*\d)[^\s'\"<>]{6,}"
)
_FAMILIES = (
    "gpt claude gemini gemma llama mixtral mistral command-r qwen deepseek grok phi- o1- o3- o4- sonnet haiku".split()
)
_MODEL = re.compile(
    r"\b(?:chatgpt|gpt-?[345o][\w.\-]*|claude(?:-[\w.\-]+)?|gemini-[\w.\-]+|gemma-?\d[\w.\-]*|llama-?\d[\w.\-]*|mixtral[\w.\-]*"
    r"|mistral-[\w.\-]+|command-r[\w.\-]*|qwen[\d.\-][\w.\-]*|deepseek[\w.\-]*|grok-\d[\w.\-]*|phi-\d[\w.\-]*|o[134]-(?:mini|"
    r"preview|pro)|sonnet|haiku-\d)\b",
    re.IGNORECASE,
)


class Privacy:
    """The privacy check. `closed` are words of closed vocabularies, beside those that a packet itself shows."""

    def __init__(self, closed: frozenset[str] = frozenset()) -> None:
        whole = {word.lower() for word in closed}
        # `search engine` is a word of the interface, and so is the `engine` in it.
        self._closed = frozenset(whole | {part for word in whole for part in word.split()})

    def __call__(self, case: Case) -> Iterator[str]:
        texts = mask_interface_names([field.text for field in case.fields], case.names)
        yield from _by_form(case, texts)
        yield from _by_source(case, texts)
        judged = frozenset().union(*(contents.judge_phrases for contents in case.contents))
        for field in case.fields if judged else ():
            if not judged.isdisjoint(shingles(field.text)):
                yield f"{field.name} repeats the judge's own words; say what was wrong in general terms."
        yield from self._find_copies(case, texts)

    def _find_copies(self, case: Case, texts: list[str]) -> Iterator[str]:
        # Dates and times stay where they are: procedures turn on them.
        timeless = [_TIME.sub(" ", text) if _DIGIT.search(text) else text for text in texts]
        lines = [fold_case(" ".join(text.split())) for text in timeless]
        starts = [0, *accumulate(len(line) + 1 for line in lines)]
        reported: set[tuple[str, str]] = set()
        for contents in case.contents:
            for placeholder, value, position in contents.find_copies("\n".join(lines)):
                field = bisect(starts, position) - 1
                name = case.fields[field].name
                if (name, value) in reported or self._ordinary(value, case.names, contents):
                    continue
                if not _is_only_a_word(value, placeholder, texts[field], contents, case.names):
                    reported.add((name, value))
                    yield f"{name} repeats a value of the runs; write {placeholder}, or what role it plays."

    def _ordinary(self, value: str, names: Names, contents: PacketContents) -> bool:
        """Would these words stand in a card anyway: words of the interface, of a closed vocabulary, of any text?"""
        if value in names.whole or value in contents.closed or value in self._closed:
            return True
        parts = value.split()
        if len(parts) > MAX_ORDINARY_WORDS or not all(part.isalpha() for part in parts):
            return False
        return all(part in FUNCTION_WORDS or part in names.words or not any(content_words(part)) for part in parts)


def _is_only_a_word(value: str, placeholder: str, text: str, contents: PacketContents, names: Names) -> bool:
    """Ordinary words that some field held (`locked`, `rent`, `overdue tasks`), written as words: in lower case, or
    opening a sentence. `Grant` in the middle of one may be a person, and so may any word that a person's field held."""
    if value in ORDINARY_WORDS:
        capital = re.escape(value.capitalize())
        return re.search(rf"[^\s.!?:\"“‘'(]\s+[\"“‘'(]?{capital}(?!\w)", text) is None
    identifies = _IDENTIFYING.match(placeholder) is not None or not _is_plain(value, contents, names)
    return not identifies and _is_in_lower_case(value, text)


def _is_plain(value: str, contents: PacketContents, names: Names) -> bool:
    """An ordinary English word, a few words that the packet itself shows in lower case, or ordinary words about a thing
    that the functions are called after (`overdue tasks`, of `search_tasks`): they identify nothing."""
    parts = value.split()
    if len(parts) > MAX_ORDINARY_WORDS or not all(part.isalpha() for part in parts):
        return False
    if len(parts) == 1 and stem(value) in ORDINARY_STEMS:
        return True
    if len(parts) > 1 and not names.words.isdisjoint(parts):
        return all(part in names.words or is_plain_word(part) for part in parts)
    return all(part in FUNCTION_WORDS or part in contents.shown_words for part in parts)


def _is_in_lower_case(value: str, text: str) -> bool:
    written = re.findall(rf"(?<!\w){re.escape(value)}(?!\w)".replace("\\ ", r"\s+"), text, re.IGNORECASE)
    opening = re.match(rf"\W*{re.escape(value)}", text, re.IGNORECASE)
    allowed = {value, value.capitalize()} if opening else {value}
    return all(" ".join(found.split()) in allowed for found in written)


def mask_interface_names(texts: Sequence[str], names: Names) -> list[str]:
    """Texts without placeholders, counts and names of the interface, none of which is anybody's."""
    plain = _COUNTED.sub(" ", _PLACEHOLDER.sub(" <> ", "\0".join(text.replace("\0", " ") for text in texts)))
    plain = _TOKEN.sub(lambda match: " " if match.group().lower() in names.whole else match.group(), plain)
    return _ERROR_CLASS.sub(" ", plain).split("\0")


def _by_form(case: Case, texts: list[str]) -> Iterator[str]:
    for field, text in zip(case.fields, texts, strict=True):
        if _SUSPICIOUS.search(text):
            yield from (f"{field.name} holds {what}." for what in personal(text))


def _by_source(case: Case, texts: list[str]) -> Iterator[str]:
    whole = "\n".join(texts).lower()
    sources = {source for contents in case.contents for source in contents.sources if source in whole}
    families = any(family in whole for family in _FAMILIES)
    for field, text in zip(case.fields, texts, strict=True) if sources or families else ():
        if _MODEL.search(text) or any(stands_in(source, text.lower()) for source in sources):
            yield f"{field.name} names a model or agent that ran; a lesson holds whoever runs."


def personal(text: str) -> Iterator[str]:
    """What a text gives away by its form alone, in words."""
    if _EMAIL.search(text):
        yield "an e-mail address"
    if _URL.search(text):
        yield "a link with its host"
    if _SECRET.search(text):
        yield "a secret"
    if any(_names_a_street(match) for match in _STREET.finditer(text)):
        yield "a street address"
    if any(is_iban(match.group()) for match in _IBAN.finditer(text)):
        yield "an account number"
    timeless = _TIME.sub(" ", text)
    numbers = [match.group().strip() for match in _NUMBER.finditer(_DECIMAL.sub("<>", timeless))]
    if any(is_card_number(number) for number in numbers):
        yield "a card number"
    elif any(is_phone(number) for number in numbers):
        yield "a telephone number"
    if any(_is_identifier(match.group()) for match in _IDENTIFIER.finditer(timeless)):
        yield "a long identifier"


def _names_a_street(match: re.Match[str]) -> bool:
    """`1 free lane` and `2 items in place` are plain words, `12 Free Lane` and `10 downing street` are addresses."""
    words = (match["name"] or match["name_before_number"]).split()
    if not all(word.islower() for word in words):
        return True
    return FUNCTION_WORDS.isdisjoint(words) and not all(stem(word) in ORDINARY_STEMS for word in words)


def _is_identifier(token: str) -> bool:
    if len(token) < 7:
        return False
    digits = sum(char.isdigit() for char in token)
    if digits == len(token):
        return True
    if len(token) >= MIN_SECRET_CHARS and digits and _bits(token) >= MIN_SECRET_BITS:
        return True
    return len(token) >= MIN_IDENTIFIER_CHARS and digits >= MIN_IDENTIFIER_DIGITS


def _bits(token: str) -> float:
    """Shannon entropy per character."""
    return -sum(n / len(token) * math.log2(n / len(token)) for n in Counter(token).values())
