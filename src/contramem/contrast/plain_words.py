"""Plain words: an ordinary English word in some field (`Backlog`, `general`, `START`). It identifies nothing.

Words that are also names of people (`cook`, `Page`) are plain only in lower case. Several words are a name that
somebody gave to something (`Good Night`, `Follow-up meeting`), however ordinary each is, unless they are joined into
one (`engaged_users`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache

from contramem.contrast.english import COMMON, EVERYDAY, FUNCTION_WORDS, GENERAL, IRREGULAR, SMALL_WORDS
from contramem.contrast.ordinary import ORDINARY_WORDS
from contramem.contrast.program_words import PROGRAM_WORDS
from contramem.contrast.prose_words import PROSE_WORDS
from contramem.traces.effects import words

MAX_CHARS = 40
MIN_LEMMA_CHARS = 3
MIN_STEM_CHARS = 4
"""Of the word in `unused` or `freshly`: with shorter ones, names would be taken apart."""
MIN_PROSE_STEM_CHARS = 5
"""Of the word in `Haunted`: `Banning` and `Manning` are names."""
MAX_FOREIGN_WORDS = 3
MAX_CODE_CHARS = 5
"""`json`, `asc`, `GBP`."""
_OPENING = frozenset("code codes combination phrase word answer".split())
_CLASSIFIED = frozenset(
    """account action activity airline airport area branch carrier category center centre class color colour commodity
    company cost country currency department desk diagnosis error event exit exchange fare form group http iso item job
    language ledger locale location material office operation plant postal postcode priority procedure product project
    purpose queue reason region report result return role route sales sector service severity shop sign site source
    state station status stock store tariff tax team ticker transaction type unit warehouse zip zone""".split()
)
"""Codes that sort things and are no secret."""
_PART = re.compile(r"[^\W\d_]+")
_NAME_PART = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+")
MIN_WORDS_OF_PHRASE = 3
_SPACE = re.compile(r"[\s.:/]")
_NAME_AND_NUMBER = re.compile(r"[^\W\d_]{8,}\d\d")
"""As passwords are made: a long word, in no list, with a number."""
_WORD = re.compile(r"[^\W\d_]+[.!?]?|[a-z]+(?:[_\-][a-z]+){1,3}")
_EXCEPTION = re.compile(r"(?:[A-Z][a-z]*)*(?:Error|Exception|Warning)")
"""The class of an exception: raised by a program, and nobody's name."""
_CONTRACTED = re.compile(r"(?<=\w)(?:n['’]t|['’](?:s|re|ve|ll|d|m))\Z")
_DOUBLES = re.compile(r"[^aeiou]?[aeiou][^aeiouwxy]")
"""Words that double their last letter: the past of `jar` is `jarred`, so `Jared` is none."""
_FIRST_PARTS = frozenset("anti auto co cross e ex micro mid multi non post pre pro re semi sub super un".split())
_DERIVING = ("ly", "ness", "less", "able")
_PREFIXES = ("un", "non", "multi", "sub", "pre", "mis", "re", "auto", "dis", "over", "under")
_DERIVED = re.compile(
    r"[a-z]{4,}(?:[ts]ion|ment|ology|ography|[ai]bility|ality|ivity|osity|ism|i[sz]ed|i[sz]ing|ified|ifying|ated|ating"
    r"|ical|istic|ational|ically|ously|fully|lessly|ively|ately)s?"
)
"""Words that are made from others, which names of people are not: `Clement`, `Keating` and `Emily` are too short."""
_ALSO_NAMES = frozenset(
    """alpha bank beach bench bill bird boot branch bridge brush burger carry cash chance child church city cloud
    coach cook core corner cotton court cross cruise dance day del delta dish dot drew driver drum edge elif
    fair farm field fine flower forest free friend gain garden gates gift glass glove goal gold good grant great
    guest hall hammer hand hang harbor hard head heard held holiday hook hope house ice judge key kitchen lake
    land lane law lay leaf light little lively lock long lot love luck march mark market masters max may meta
    milk money morning mountain nail nan night nurse olive page park partner pass peak pepper pick ping plant
    pool post power press price quick rain reader render rich ride river road royal said sale salt sharp shell
    shields ship shop silver singleton sleep slide small snow song speed spring star steel stock storm strange
    street strong sugar summer sweet tower town tree trip uri val walk wall water weather wheel white wild will
    winter wood world worth yard""".split()
)
"""Ordinary words that are also names of people."""


@lru_cache(maxsize=1 << 14)
def is_plain(text: str) -> bool:
    """Is it an ordinary word, or several joined into one?"""
    text = text.strip()
    if len(text) > MAX_CHARS or _WORD.fullmatch(text) is None:
        return False
    return all(map(is_plain_word, _PART.findall(text)))


def is_plain_compound(text: str) -> bool:
    """Is it a plain word, or several with hyphens between them: `Read-only`, `Cross-check`?"""
    return _is_compound_of(text, is_plain_word)


def is_plain_in_prose(text: str) -> bool:
    """Is it an ordinary word where it is used in a sentence and fills no field? A hyphen may be left of a broken line
    (`Univer-sity`)."""
    return _is_compound_of(text, _is_prose_word) or ("-" in text and text.replace("-", "").lower() in _IN_PROSE)


def _is_compound_of(text: str, is_part: Callable[[str], bool]) -> bool:
    first, *rest = text.split("-")
    return (is_part(first) or bool(rest and first.lower() in _FIRST_PARTS)) and all(map(is_part, rest))


@lru_cache(maxsize=1 << 14)
def is_plain_word(word: str) -> bool:
    """Is it an ordinary word, given how it is capitalised?"""
    if _EXCEPTION.fullmatch(word) or _DERIVED.fullmatch(word.lower()):
        return True
    lemma = _lemma(word.lower())
    return lemma is not None and (word.islower() or _ALSO_NAMES.isdisjoint((lemma, word.lower())))


@lru_cache(maxsize=1 << 14)
def _is_prose_word(word: str) -> bool:
    if is_plain_word(word):
        return True
    if not (word[1:].islower() or word.isupper()):  # `PaLM` is a product
        return False
    lower = _CONTRACTED.sub("", word.lower())
    min_chars = MIN_LEMMA_CHARS if lower.endswith("s") else MIN_PROSE_STEM_CHARS
    forms = {lower, *(form for form in _base_forms(lower) if len(form) >= min_chars)}
    return not forms.isdisjoint(_IN_PROSE) and forms.isdisjoint(_ALSO_NAMES)


@lru_cache(maxsize=1 << 14)
def could_be_a_choice(text: str) -> bool:
    """Could a value be one of the words that an interface takes: a single word or code, English words, or a few words
    of another language? English words around a name are somebody's sentence (`ask Zanmel first`)."""
    words = [word for word in _PART.findall(text) if len(word) >= MIN_LEMMA_CHARS or word.lower() in FUNCTION_WORDS]
    strange = [word for word in words if word.lower() not in PROGRAM_WORDS and not _is_prose_word(word.lower())]
    if len(words) < 2:
        return not strange or not _NAME_AND_NUMBER.search(text)
    is_one_name = len(words) == 2 and not _SPACE.search(text)
    is_foreign = len(strange) == len(words) <= MAX_FOREIGN_WORDS
    return not strange or is_one_name or is_foreign


@lru_cache(maxsize=8192)  # the same few names stand in every run
def strange_words(name: str) -> tuple[str, ...]:
    """The words of a name that are in no list and no short code, if others are English. Where none is, the name is in
    another language."""
    parts = [part.lower() for part in _NAME_PART.findall(name)]
    strange = [part for part in parts if not is_known_part(part)]
    return tuple(strange) if len(strange) < len(parts) else ()


def is_phrase_with_name(name: str) -> bool:
    """Is it a name of several words, some English and some in no list: `owned_by_zanmel_trading`?"""
    return len(_NAME_PART.findall(name)) >= MIN_WORDS_OF_PHRASE and bool(strange_words(name))


@lru_cache(maxsize=1 << 14)
def is_known_part(word: str) -> bool:
    """Is this part of a name English, or a short code?"""
    return (len(word) <= MAX_CODE_CHARS and word.isascii()) or _is_prose_word(word)


@lru_cache(maxsize=1 << 14)
def may_name_constant(name: str) -> bool:
    """May a card show the value that an argument of this name always gets? Not if the name has no word that we know
    and is no short code, because it may say `password`, and not if it is a code for nobody knows what: `locker_code`
    opens something, `reason_code` does not."""
    parts = words(name)
    if parts and parts[-1] in _OPENING:
        return len(parts) > 1 and parts[-2] in _CLASSIFIED
    return any(part.isascii() and (len(part) <= MAX_CODE_CHARS or _is_prose_word(part)) for part in parts)


def sorts_things(name: str) -> bool:
    """Does an argument of this name say to what something belongs: `cost_center`, `reason_code`?"""
    return not _CLASSIFIED.isdisjoint(words(name))


def is_unknown_constant(choices: Collection[object]) -> bool:
    """Is there nothing to choose, and the one value no word or code of ours? Then it may be anybody's: a password as
    well."""
    value = next(iter(choices)) if len(choices) == 1 else None
    if not isinstance(value, str):
        return False
    parts = _PART.findall(value.lower())
    max_code_chars = MAX_CODE_CHARS if len(parts) == 1 else 2  # `ibis/onyx` is no code
    return any(len(part) > max_code_chars and part not in PROGRAM_WORDS and not is_plain_word(part) for part in parts)


@lru_cache(maxsize=1 << 14)
def is_general(word: str) -> bool:
    """Is it a word that names no thing and no person, in any case?"""
    lemma = _lemma(word)
    return lemma in GENERAL and lemma not in _ALSO_NAMES


def _lemma(word: str) -> str | None:
    """The listed word that this is a form of. Only regular endings: a cruder rule would find `pen` in `Penny`."""
    word = _CONTRACTED.sub("", word)
    if word in _WORDS or word in FUNCTION_WORDS:  # of which there are no forms: `Wells` is a name
        return word
    if (word := IRREGULAR.get(word, word)) in _WORDS:
        return word
    found = next((form for form in _base_forms(word) if form in _WORDS and len(form) >= MIN_LEMMA_CHARS), None)
    return found or _root(word)


def _base_forms(word: str) -> Iterator[str]:
    """What the word may be a regular plural, past or `-ing` form of."""
    if word.endswith(("ies", "ied")):
        yield f"{word[:-3]}y"
    if word.endswith("s"):
        yield word[:-1]
    if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        yield word[:-2]
    stem = next((word.removesuffix(ending) for ending in ("ed", "ing") if word.endswith(ending)), "")
    if stem[-1:] == stem[-2:-1]:
        yield from (stem[:-1], stem)
    elif stem:
        yield from (f"{stem}e",) if _DOUBLES.fullmatch(stem) else (f"{stem}e", stem)


def _root(word: str) -> str | None:
    """The listed word in `unused`, `freshly` or `usable`."""
    stems = [word.removesuffix(ending) for ending in _DERIVING if word.endswith(ending)]
    stems += [word.removeprefix(prefix) for prefix in _PREFIXES if word.startswith(prefix)]
    long_enough = (stem for stem in stems if len(stem) >= MIN_STEM_CHARS)
    return next(
        (form for stem in long_enough for form in (stem, *_base_forms(stem), f"{stem}e") if form in _WORDS), None
    )


_WORDS = GENERAL | EVERYDAY | ORDINARY_WORDS | COMMON | SMALL_WORDS
_IN_PROSE = _WORDS | PROSE_WORDS | PROGRAM_WORDS
