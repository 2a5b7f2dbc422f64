"""Words that carry no content of their own: English function words, and the words that cards are written with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from contramem.privacy.language import FUNCTION_WORDS, stem

# Words in which any procedure is written. They name no app, rule or condition, so a rewrite may introduce them.
GLUE = frozenset(
    """act action actual agent allow answer apply argument ask avoid base begin call case change check choose
    clear close come common complete completion condition confirm consider contain continue correct count
    current decide decision depend detail direct do effect ensure error exact example exist expect explicit fail
    failing failure fill final finish fix follow form full function general give handle happen hold include
    input item keep kind know later lead leave list match mean meet mention mistake name note number observation
    observe obtain occur open order outcome pass passing place point possible present prevent proceed prior
    produce provide put reach read ready record relevant rely remain repeat require request rest result retry
    return rule run same second separate set show side sign simple single skip source specific stand start state
    stay step stop success successful take target task tell time tool true try turn type unresolved user value
    verify wait way work write written wrong""".split()
)

# The plural of an abbreviation (`IDs`) counts as the abbreviation.
_PART = re.compile(r"[A-Z]{2,}(?=s(?![a-z]))|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_PLACEHOLDER = re.compile(r"<[A-Z][A-Z_|\d]*>")


@lru_cache(maxsize=1 << 12)  # a build checks the same lines of its cards with every task that teaches them
def content_words(text: str) -> tuple[tuple[str, str], ...]:
    """(stem, word) of each word that says something. Names are split: `search_emails` becomes search and emails."""
    return tuple(_find_content_words(text))


def _find_content_words(text: str) -> Iterator[tuple[str, str]]:
    for match in _PART.finditer(_PLACEHOLDER.sub(" ", text)):
        word = match.group().lower()
        if len(word) > 1 and word not in FUNCTION_WORDS and word not in GLUE:
            root = stem(word)
            if root not in _PLAIN_STEMS:
                yield root, word


_PLAIN_STEMS = frozenset(stem(word) for word in GLUE | {w for w in FUNCTION_WORDS if len(w) > 2})
