"""Words that carry no content of their own: English function words, and the words that cards are written with."""

from __future__ import annotations

import re
from collections.abc import Iterator

from contramem.contrast.english import stem

FUNCTION_WORDS = frozenset(
    """a about above after again against all already also although always am among an and another any anyone
    anything are around as at away back be because been before being below between both but by can cannot could
    did do does doing done down during each either else end enough even ever every everything few first for from
    further get give given go had has have having he her here hers him his how however i if in instead into is
    it its itself just last later least less let like made make many may me might more most much must my near
    need neither never new next no none nor not nothing now of off often old on once one ones only onto or other
    others otherwise our out over own per please previous rather same say see several shall she should since so
    some something soon still such than that the their them then there therefore these they thing things this
    those though through thus to together too toward two three four five until unless up upon us use used uses
    using very via was we well were what whatever when whenever where whether which while who whole whom whose
    why will with within without would yet you your""".split()
)

# What any procedure is told in. They name no app, no rule and no condition, so a rewrite may bring them in.
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

# The plural of an abbreviation (`IDs`) is the abbreviation.
_PART = re.compile(r"[A-Z]{2,}(?=s(?![a-z]))|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_PLACEHOLDER = re.compile(r"<[A-Z][A-Z_|\d]*>")


def content_words(text: str) -> Iterator[tuple[str, str]]:
    """(stem, word) of each word that says something. Names are taken apart: `search_emails` is search and emails."""
    for match in _PART.finditer(_PLACEHOLDER.sub(" ", text)):
        word = match.group().lower()
        if len(word) > 1 and word not in FUNCTION_WORDS and word not in GLUE:
            root = stem(word)
            if root not in _PLAIN_STEMS:
                yield root, word


_PLAIN_STEMS = frozenset(stem(word) for word in GLUE | {w for w in FUNCTION_WORDS if len(w) > 2})
