"""Stems: "pay", "paid", "paying" and "payment" count as one word.

Uses a few rules of English, and the irregular verbs common in requests and function names. A foreign word or a name
loses at most an ending that looks English, and it does so in tasks and cards alike.
"""

from __future__ import annotations

from functools import lru_cache

_FAMILIES = """pay paid; send sent; buy bought; make made; hold held; tell told; write wrote written; find found; give
gave given; take took taken; get got gotten; choose chose chosen; go went gone; run ran; meet met; leave left; lose
lost; keep kept; begin began begun; break broke broken; bring brought; sell sold; speak spoke spoken; think thought;
know knew known; see saw seen; say said; spend spent; lend lent; build built; forget forgot forgotten; withdraw withdrew
withdrawn; drive drove driven; deliver delivery; add addition; teach taught; catch caught; show shown; do did done"""
_IRREGULAR = {form: verb for family in _FAMILIES.split(";") for verb, *forms in [family.split()] for form in forms}
_ENDINGS = (
    ("ification", "ifi", 2),
    ("ation", "", 4),
    ("ition", "", 4),
    ("ment", "", 3),
    ("ness", "", 3),
    ("able", "", 3),
    ("ible", "", 3),
    ("tion", "t", 3),
    ("sion", "s", 3),
    ("ing", "", 3),
    ("ied", "y", 2),
    ("ed", "", 3),
)
"""The ending, its replacement, and how many letters must remain before it. The first match is applied."""
_SHORT = 3
"""Words of up to this many letters are left unchanged."""


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a lower-case, singular `word`."""
    if not (word.isascii() and word.isalpha()):
        return word
    return _fold(_IRREGULAR.get(word) or _cut(word))


def _cut(word: str) -> str:
    for ending, instead, least in _ENDINGS:
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= least and any(letter in "aeiouy" for letter in rest):
            return rest + instead
    return word


def _fold(word: str) -> str:
    """Drop a final e or a doubled consonant (`cancell`, `transferr`), and turn y into i (`reply`, `replied`)."""
    if len(word) <= _SHORT:
        return word
    if word.endswith("e") or (word[-1] == word[-2] and word[-1] not in "aeious"):
        return word[:-1]
    return word[:-1] + "i" if word.endswith("y") and word[-2] not in "aeiou" else word
