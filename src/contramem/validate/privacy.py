"""Nothing about a person, an account or a task: no contact data, secret, identifier or value of a trace."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import accumulate

from contramem.bank.card import SkillDelta
from contramem.contrast.english import FUNCTION_WORDS, ORDINARY_STEMS, stem
from contramem.contrast.instructions import fold_case
from contramem.contrast.ordinary import ORDINARY_WORDS
from contramem.contrast.personal_data import find_personal_data
from contramem.contrast.placeholder_types import any_of, names_where
from contramem.contrast.plain_words import is_plain_in_prose, is_plain_word
from contramem.contrast.values import TIME_PATTERN
from contramem.errors import GuardError
from contramem.guards.guard import parse_guard
from contramem.validate.case import Case, Text
from contramem.validate.lexicon import content_words
from contramem.validate.packet_contents import Names, PacketContents, shingles, stands_in

MAX_ORDINARY_WORDS = 3
"""A value of this many plain words of the interface (`all files`) says nothing about a task."""

_IDENTIFYING = re.compile(rf"<(?:{any_of(names_where(lambda type_: type_.identifies))})")
"""Types of values that reveal something about a person, however plain the word."""
_PLACEHOLDER = re.compile(r"<[A-Z][A-Z_|\d]*>")
_COUNTED = re.compile(
    r"\b\d+\s+(?:(?:out\s+)?of\s+(?:the\s+|all\s+)?\d+|(?:passing|failing|runs?|tasks?|calls?|times?)\b)"
)
_TOKEN = re.compile(r"[^\W\d]\w*(?:[.:\-/]\w+)*")
_ERROR_CLASS = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b")
_SUSPICIOUS = re.compile(r"[\d@]|://|www\.|-----")
"""All personal data contain one of these."""
_FORM = re.compile(r"like \"?[9Aa]+(?:[^\w\"]+[9Aa]+)*\"?(?=[\]\s])")
"""How a guard writes the form of a value: `like A99-99999` holds no digit of any value."""
_DIGIT = re.compile(r"\d")
_CODE = re.compile(r"\w+(?:[-./]\w+)*")
MAX_CODE_CHARS = 40
_TIME = re.compile(TIME_PATTERN, re.IGNORECASE)

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
    """The privacy check. `closed`: words of closed vocabularies, in addition to those that a packet itself shows."""

    def __init__(self, closed: frozenset[str] = frozenset()) -> None:
        whole = {word.lower() for word in closed}
        # If `search engine` is a word of the interface, so is the `engine` in it.
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
        # Dates and times are allowed: procedures depend on them.
        timeless = [_TIME.sub(" ", text) if _DIGIT.search(text) else text for text in texts]
        lines = [fold_case(" ".join(text.split())) for text in timeless]
        starts = [0, *accumulate(len(line) + 1 for line in lines)]
        whole, demanded = "\n".join(lines), list(_demanded_phrases(case.text))
        reported: set[tuple[str, str]] = set()
        for contents in case.contents:
            for placeholder, value, position in contents.find_copies(whole):
                field = bisect(starts, position) - 1
                name = case.fields[field].name
                if (name, value) in reported or self._ordinary(value, case.names, contents):
                    continue
                if self._is_part_of_word(whole, value, position) or any(value in phrase for phrase in demanded):
                    continue
                if not _is_only_a_word(value, placeholder, texts[field], contents, case.names):
                    reported.add((name, value))
                    yield f"{name} repeats a value of the runs; write {placeholder}, or what role it plays."

    def _is_part_of_word(self, text: str, value: str, position: int) -> bool:
        """Is it only a part of a longer word of a closed vocabulary: the number in `HA-412`?"""
        words = (match for match in _CODE.finditer(text, max(0, position - MAX_CODE_CHARS), position + MAX_CODE_CHARS))
        around = next((word[0] for word in words if word.start() <= position < word.end()), "")
        return len(around) > len(value) and value in around and around in self._closed

    def _ordinary(self, value: str, names: Names, contents: PacketContents) -> bool:
        """May a card contain these words anyway: words of the interface, of a closed vocabulary, of any text?"""
        if value in names.whole or value in contents.closed or value in self._closed:
            return True
        parts = value.split()
        if len(parts) > MAX_ORDINARY_WORDS or not all(part.isalpha() for part in parts):
            return False
        return all(part in FUNCTION_WORDS or part in names.words or not any(content_words(part)) for part in parts)


def _demanded_phrases(text: Text) -> Iterator[str]:
    """The phrases that guards ask for or forbid in a text, if all their words are ordinary: an organization may want
    its letters to say them, and they are about nobody."""
    for guard in text.guards if isinstance(text, SkillDelta) else ():
        try:
            conditions = [condition for pattern in parse_guard(guard).patterns for condition in pattern.conditions]
        except GuardError:
            continue  # another check says so
        for condition in conditions:
            phrase = condition.value.strip('"').lower()
            if condition.test in ("contains", "lacks") and all(map(_is_about_nobody, phrase.split())):
                yield phrase


def _is_about_nobody(word: str) -> bool:
    word = word.strip(".,;:!?")
    return word in FUNCTION_WORDS or is_plain_in_prose(word) or (word.isdecimal() and len(word) <= 3)


def _is_only_a_word(value: str, placeholder: str, text: str, contents: PacketContents, names: Names) -> bool:
    """Ordinary words that some field contained (`locked`, `rent`, `overdue tasks`), written as words: in lower case, or
    opening a sentence. `Grant` in the middle of one may be a person, and so may any word from a person's field."""
    if value in ORDINARY_WORDS:
        capital = re.escape(value.capitalize())
        return re.search(rf"[^\s.!?:\"“‘'(]\s+[\"“‘'(]?{capital}(?!\w)", text) is None
    identifies = _IDENTIFYING.match(placeholder) is not None or not _is_plain(value, contents, names)
    return not identifies and _is_in_lower_case(value, text)


def _is_plain(value: str, contents: PacketContents, names: Names) -> bool:
    """An ordinary English word, a few words that the packet itself shows in lower case, or ordinary words about a thing
    in the functions' names (`overdue tasks`, of `search_tasks`): they identify nothing."""
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
    return all(" ".join(match.split()) in allowed for match in written)


def mask_interface_names(texts: Sequence[str], names: Names) -> list[str]:
    """Texts without placeholders, counts and names of the interface, none of which is private."""
    plain = _COUNTED.sub(" ", _PLACEHOLDER.sub(" <> ", "\0".join(text.replace("\0", " ") for text in texts)))
    plain = _TOKEN.sub(lambda match: " " if match.group().lower() in names.whole else match.group(), plain)
    return _ERROR_CLASS.sub(" ", plain).split("\0")


def _by_form(case: Case, texts: list[str]) -> Iterator[str]:
    for field, text in zip(case.fields, texts, strict=True):
        if field.name == "guards":
            text = _FORM.sub("like", text)
        if _SUSPICIOUS.search(text):
            yield from (f"{field.name} holds {what}." for what in find_personal_data(text))


def _by_source(case: Case, texts: list[str]) -> Iterator[str]:
    whole = "\n".join(texts).lower()
    sources = {source for contents in case.contents for source in contents.sources if source in whole}
    families = any(family in whole for family in _FAMILIES)
    for field, text in zip(case.fields, texts, strict=True) if sources or families else ():
        if _MODEL.search(text) or any(stands_in(source, text.lower()) for source in sources):
            yield f"{field.name} names a model or agent that ran; a lesson holds whoever runs."
