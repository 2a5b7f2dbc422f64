"""Plain words: an ordinary English word in some field (`Backlog`, `general`, `START`). It identifies nothing.

Words that are also names of people (`cook`, `Page`) are plain only in lower case. Several words are a name that
somebody gave to something (`Good Night`, `Follow-up meeting`), however ordinary each is, unless they are joined into
one (`engaged_users`).
"""

from __future__ import annotations

import re
from functools import lru_cache

from contramem.contrast.english import EVERYDAY, GENERAL, IRREGULAR, SMALL_WORDS
from contramem.contrast.ordinary import ORDINARY_WORDS

MAX_CHARS = 40
_ENDINGS = ("s", "es", "ed", "d", "ing")
MIN_LEMMA_CHARS = 3
_PART = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+[.!?]?|[a-z]+(?:[_\-][a-z]+){1,3}")
_EXCEPTION = re.compile(r"(?:[A-Z][a-z]*)*(?:Error|Exception|Warning)")
"""The class of an exception: raised by a program, and nobody's name."""
_OF_WORK = frozenset(
    """abstract accurate action actual adjustment ah aha allocation alternate analysis analyze apparently
    approximately argument array aspect assess assumption avoid basically begin birth boolean boundary breakdown
    calculus cannot carefully challenge characteristic checker choose citation cite clarify compilation concept
    conclusion condition conduct confirm consider consideration continue coordinate creation critique define
    dependency derive description despite dimension documentation due dummy element ensure even exact expect
    experience explanation expression factor final finally fixture focus formula formulate fraction generator
    given hence hmm identification indicate info instance integer intelligence interpretation invalidate
    investigate known leg leverage logical mathematical meanwhile module mr mrs ms neither new notable
    observation observe oh oops optional organize outcome outline overcome physics point possibly previously
    prior probably quantity rational reach rebuild refine reliable representation reproduce request root row rule
    scroll segment simplify situation solve specific still subtask success symbol syntax therefore tier
    traceback trip true tuple understand unix usually validate validation verification verifier way weakness wow
    yeah""".split()
)
"""Words that people and programs use about work, code and plans."""
_DERIVED = re.compile(
    r"[a-z]{4,}(?:[ts]ion|ment|ology|ography|ability|ibility|i[sz]ed|i[sz]ing|ified|ifying|ated|ating"
    r"|ical|istic|ational|ically|ously|fully|lessly|ively|ately)s?"
)
"""Words that are made from others, which names of people are not: `Clement`, `Keating` and `Emily` are too short."""
_ALSO_NAMES = frozenset(
    """bank beach bench bill bird boot branch bridge brush burger carry cash chance child church city cloud
    coach cook cotton court cruise dance day dish driver drum fair farm field fine flower forest free friend
    gain garden gift glass glove goal gold good grant great guest hall hammer hand harbor hard head holiday hook
    hope house ice judge key kitchen lake land lane law lay leaf light little lock long love luck march mark
    market may milk money morning mountain nail night nurse olive page park partner pass peak pepper pick plant
    pool post power press price quick rain reader ride river road royal sale salt sharp shell ship shop silver
    sleep slide small snow song spring star steel stock storm street strong sugar summer sweet tower town tree
    trip walk wall water weather wheel will winter wood world worth yard""".split()
)
"""Ordinary words that are also names of people."""


@lru_cache(maxsize=1 << 14)
def is_plain(text: str) -> bool:
    """Is it an ordinary word, or several joined into one?"""
    text = text.strip()
    if len(text) > MAX_CHARS or _WORD.fullmatch(text) is None:
        return False
    return all(map(is_plain_word, _PART.findall(text)))


@lru_cache(maxsize=1 << 14)
def is_plain_word(word: str) -> bool:
    """Is it an ordinary word, given how it is capitalised?"""
    if _EXCEPTION.fullmatch(word) or _DERIVED.fullmatch(word.lower()):
        return True
    lemma = _lemma(word.lower())
    return lemma is not None and (word.islower() or lemma not in _ALSO_NAMES)


@lru_cache(maxsize=1 << 14)
def is_general(word: str) -> bool:
    """Is it a word that names no thing and no person, in any case?"""
    lemma = _lemma(word)
    return lemma in GENERAL and lemma not in _ALSO_NAMES


def _lemma(word: str) -> str | None:
    """The listed word that this is a form of. Only regular endings: a cruder rule would find `pen` in `Penny`."""
    if word in _WORDS:
        return word
    word = IRREGULAR.get(word, word)
    if word in _WORDS:
        return word
    stems = [word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending)]
    forms = [form for stem in stems for form in (stem, f"{stem}e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem)]
    if word.endswith(("ies", "ied")):
        forms.append(f"{word[:-3]}y")
    return next((form for form in forms if form in _WORDS and len(form) >= MIN_LEMMA_CHARS), None)


_WORDS = GENERAL | EVERYDAY | ORDINARY_WORDS | SMALL_WORDS | _OF_WORK
