"""Finds names of people by form alone, for names that no run contains."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from contramem.contrast.english import ORDINARY_STEMS, stem
from contramem.contrast.ordinary import ORDINARY_WORDS

_CAPITAL = r"[A-ZÀ-Þ][a-zß-ÿ'’\-]+"
_TWO_OR_MORE = re.compile(rf"\b{_CAPITAL}(?:\s+(?:van|von|de|da|del|la|bin|al)\b)?(?:\s+{_CAPITAL})+")
_TITLED = re.compile(rf"\b(?:Mr|Mrs|Ms|Miss|Dr|Prof|Sir|Herr|Frau|Señora?|Monsieur|Madame)\.?\s+{_CAPITAL}")
_ADDRESSING = frozenset("ask tell phone email contact inform remind notify call".split())
_ADDRESSED = re.compile(rf"\b(?:{'|'.join(sorted(_ADDRESSING))}|(?:approved|signed) by)\s+({_CAPITAL})", re.IGNORECASE)


def find_person_names(text: str, known: Collection[str]) -> Iterator[str]:
    """What looks like a person's name: a title with a name, two unknown capitalised words, or one that is asked or told
    something. `known`: words of the interface and conventions, in lower case."""
    titled = [match[0] for match in _TITLED.finditer(text)]
    pairs = []
    for match in _TWO_OR_MORE.finditer(text):
        words = [word for word in match[0].split() if word[0].isupper() and _is_unknown(word, known)]
        if len(words) >= 2:
            pairs.append(" ".join(words))
    yield from (*titled, *pairs)
    for match in _ADDRESSED.finditer(text):
        is_named = match[1][0].isupper() and _is_unknown(match[1], known)
        if is_named and not any(match[1] in name for name in (*titled, *pairs)):
            yield match[1]


def _is_unknown(word: str, known: Collection[str]) -> bool:
    plain = word.lower().removesuffix("'s").removesuffix("’s")
    if plain in known or plain in ORDINARY_WORDS or plain in _ADDRESSING:
        return False
    return stem(plain) not in ORDINARY_STEMS
