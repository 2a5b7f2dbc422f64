"""Decides whether a program could have written a message about a call, by what the message consists of.

The text of an error or a result was written by whatever the agent talked to. A program complains in typical words about
things that its interface names. Other words, in any language, mean that somebody else is speaking; one or two of them
are allowed, as the thing that the message is about.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from contramem.contrast.english import FUNCTION_WORDS, is_ordinary, stem
from contramem.contrast.ordinary import ORDINARY_WORDS
from contramem.contrast.program_words import PROGRAM_WORDS
from contramem.traces.effects import LEXICON, words

MAX_STRANGE_WORDS = 2
MAX_CODE_WORDS = 4
"""In the name of a field or function. Longer names, or names with letters beyond ASCII, may be a sentence."""
MAX_TOKENS_PER_WORD = 3
"""A message in words has at least one word among so many words and numbers. Encoded text has hardly any."""
MAX_SINGLE_LETTERS = 3
"""Besides the article. More of them spell something, whatever stands in between."""
MAX_WORDS_PER_LETTER = 3
"""In a text that spells something. Others name a few things by letters."""
CHARS_OF_A_WORD = 2
"""In scripts written without spaces."""

_PLACEHOLDER = re.compile(r"<[A-Z][A-Z_|\d]*>")
_WORD = re.compile(r"[^\W\d_]+")
_CODE = re.compile(
    r"[\w.]+(?:Error|Exception|Warning|Failure|Fault)\b|`[^`]*`|\b\w+(?:[._]\w+)+\b|\b[a-z]+(?:[A-Z][a-z]+)+\b"
)
"""Names of errors, functions and fields, as programs write them."""
_TOKEN = re.compile(r"<[A-Z][A-Z_|\d]*>|[^\W\d][\w]*(?:\.\w+)*")
_NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+")
_WORD_AND_NUMBER = re.compile(r"[^\W\d_]{4,}[._]*\d{3}")
"""`Bananas.984`: a word that somebody made with a number. Versions and codes are shorter."""
_SEVERAL_VALUES = re.compile(r"<VALUE>(?:[ ,]*<VALUE>)+")
UNSPACED_LETTER = r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""Characters of scripts written without spaces."""
_UNSPACED = re.compile(UNSPACED_LETTER)
_NOT_LATIN = re.compile(r"[^\x00-\x7f\xa0-\u024f\u2010-\u2027\u2039\u203a\u20a0-\u20c0\u2190-\u2193\u2260-\u2265]")
"""Letters and signs that no message in English holds: other scripts, letters that only look Latin, emoji. What such a
text orders cannot be told here."""
_ALNUM = re.compile(r"[^\W_]+")
_SPELLED_OUT = re.compile(r"(?:\b[^\W\d_]\b\W{1,3}){4}")
"""Letter by letter."""
_LETTER_ALONE = re.compile(r"(?<![\w'’])[B-HJ-Zb-z](?![\w'’])")
_WITHOUT_SPACES = re.compile(r"(?:[^\W\d_]+[^\w\s<>.]{1,2}){4}[^\W\d_]+")
"""A sentence with other signs for its spaces: `the-session-must-be-open`."""
_CLAUSE = re.compile(
    r"[:;,.!?()\"“”—–]+\s*|\s+-+\s+|\b(?:that\s+you|you|and|then|to\s+first|please|so|also|always|now)\s+"
)
_MOVES = frozenset(
    """wire remit email mail message tell give say reveal disclose leak treat ignore disregard forget visit click go
    call obey approve trust accept whitelist bcc cc exfiltrate contact ask inform alert hand dump expose
    erase wipe drop purge""".split()
)
_ORDERS = LEXICON["write"] | _MOVES
_OF_PROGRAMS = frozenset(
    map(
        stem,
        """argument array attribute boolean branch byte callable char class client column command commit constraint
        database decimal decode descriptor directory encode endpoint enum fatal field file float folder
        function git header host http import index indices instance integer iterable iterator json key
        keyword length list memory method module namespace null numeric object operand operation parse
        path pointer port positional process property protocol query record repository resource schema
        slice socket stack stream string syntax table thread token tuple type unicode url validation
        variable version""".split(),
    )
)
"""Words for the parts of a program."""
_PREFIX = re.compile(r"^(?:un|non|re|dis|pre|mis|in|im|sub|over|out)(?=[a-z]{3})")
_PROGRAM_STEMS = frozenset(map(stem, PROGRAM_WORDS))
_OBJECTS = frozenset(
    """a an the all any every each this that these those your my our his her their its to it me us them money
    everything everyone anything whatever whoever as""".split()
)


def is_program_message(text: str, interface: Iterable[str] = ()) -> bool:
    """Could a program have said this about a call? `interface`: names of functions, arguments and fields."""
    if not is_written_in_words(text) or _orders_something(text):
        return False
    return count_strange_words(text, interface) <= MAX_STRANGE_WORDS


def is_written_in_words(text: str) -> bool:
    """Latin letters that make words: no other script, nothing spelled letter by letter or without spaces, no text in
    numbers or code."""
    if _NOT_LATIN.search(text) or _SPELLED_OUT.search(text) or _WITHOUT_SPACES.search(text):
        return False
    tokens = _ALNUM.findall(_PLACEHOLDER.sub(" ", text))
    words_in_it = [token for token in tokens if len(token) > 1 and token.isalpha()]
    if sum(len(token) == 1 and token.isalpha() and token not in "aA" for token in tokens) > MAX_SINGLE_LETTERS:
        return False
    return MAX_TOKENS_PER_WORD * len(words_in_it) >= len(tokens)


def spells_letters(text: str) -> bool:
    """Does it spell something letter by letter, whatever stands in between: `z - desk, a - desk, n - desk ...`?"""
    letters = len(_LETTER_ALONE.findall(text))
    return letters > MAX_SINGLE_LETTERS and MAX_WORDS_PER_LETTER * letters >= len(_ALNUM.findall(text))


def _orders_something(text: str) -> bool:
    """A clause that starts with a verb of action followed by its object is an order, whatever precedes it."""
    for clause in _CLAUSE.split(_CODE.sub(_words_of_code, text)):
        first, _, rest = clause.strip().lower().partition(" ")
        if first in _ORDERS and rest and (rest.startswith("<") or rest.split()[0] in _OBJECTS):
            return True
    return False


def count_strange_words(text: str, interface: Iterable[str] = ()) -> int:
    """How many words of `text` are strange; in scripts without spaces, every two characters count as a word."""
    strange = find_strange_words(_PLACEHOLDER.sub(" ", text), interface)
    return sum(max(1, len(word) // CHARS_OF_A_WORD) if _UNSPACED.search(word) else 1 for word in strange)


def mask_foreign_words(text: str, interface: Iterable[str] = ()) -> str:
    """`text` with `<VALUE>` for every word, and every name from code, that holds a word of no list of ours or a long
    number."""
    named = _stems_of(interface)

    def mask(token: re.Match[str]) -> str:
        if _PLACEHOLDER.fullmatch(token[0]):
            return token[0]
        parts = _NAME_PART.findall(token[0])
        is_somebodys = _WORD_AND_NUMBER.search(token[0]) or any(_is_foreign(part, named) for part in parts)
        return "<VALUE>" if is_somebodys else token[0]

    return _SEVERAL_VALUES.sub("<VALUE>", _TOKEN.sub(mask, text))


def find_strange_words(text: str, interface: Iterable[str] = ()) -> Iterator[str]:
    """Words of `text` that are neither English, nor program vocabulary, nor names from code or the `interface`."""
    named = _stems_of(interface)
    for word in _WORD.findall(_CODE.sub(_words_of_code, text)):
        if _is_strange(word, named):
            yield word


def has_foreign_word(text: str, interface: Iterable[str] = ()) -> bool:
    """Does `text` hold a word that is neither English nor of the interface: anybody's name, in any language?"""
    return mask_foreign_words(text, interface) != text


def _is_foreign(word: str, named: Collection[str]) -> bool:
    return _is_strange(word, named) and not any(map(_is_of_programs, (word.lower(), _PREFIX.sub("", word.lower()))))


def _is_of_programs(word: str) -> bool:
    return word in PROGRAM_WORDS or stem(word) in _PROGRAM_STEMS or _is_known(word)


def _stems_of(interface: Iterable[str]) -> frozenset[str]:
    return _stems_of_names(interface if isinstance(interface, frozenset) else frozenset(interface))


@lru_cache(maxsize=256)  # one interface is asked about for every text of its runs
def _stems_of_names(names: frozenset[str]) -> frozenset[str]:
    return frozenset(stem(word.lower()) for name in names for word in words(name))


def _is_strange(word: str, named: Collection[str]) -> bool:
    is_named = stem(word.lower()) in named or _is_known(word.lower())
    return _UNSPACED.search(word) is not None or ((len(word) > 2 or not word.isascii()) and not is_named)


def _words_of_code(name: re.Match[str]) -> str:
    """Nothing if a program could have written the name; its words if it is a sentence without spaces."""
    parts = _NAME_PART.findall(name[0])
    return " " if len(parts) <= MAX_CODE_WORDS and name[0].isascii() else f" {' '.join(parts)} "


@lru_cache(maxsize=4096)
def _is_known(word: str) -> bool:
    """A word from program messages, from field names or from everyday English."""
    if not word.isascii():
        return False
    return word in FUNCTION_WORDS or word in ORDINARY_WORDS or stem(word) in _OF_PROGRAMS or is_ordinary(word)
