"""Ordinary words, which are not names even when capitalised, whatever field they appeared in.

Without them, an error such as `All doors must be locked` would lose the word that matters because some field contained
it too. The lists are short and closed; words that might be names of people are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from contramem.contrast.placeholder_types import ROLES
from contramem.contrast.spans import OPENERS
from contramem.traces.effects import LEXICON

_VERBS = frozenset().union(*LEXICON.values())

_OF_COMPLAINTS = frozenset(
    """absent access already allowed ambiguous authenticated authorized available bad busy conflict connection corrupt
    credentials denied duplicate empty exceeded exception exists expired failed failure forbidden full funds illegal
    inactive incomplete incorrect inside insufficient internal invalid limit locked malformed maximum minimum mismatch
    missing must needed negative not offline online outside overdue overlap parameter parameters pending permission
    possible quota refused required running server session successful successfully supported suspended temporary
    timeout too unable unauthenticated unauthorized unavailable unexpected unknown unlocked unrecognized unsupported
    unsuccessful valid warning wrong""".split()
)
"""What programs say when they refuse or accept."""


def _inflect(verb: str) -> Iterator[str]:
    """`locked` and `locking`. Not `locks`: `Marks` is a name."""
    stem = verb.removesuffix("e")
    yield from (f"{stem}ed", f"{stem}ing")
    if len(verb) > 2 and verb[-1] not in "aeiouwxy" and verb[-2] in "aeiou":
        yield from (f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing")
    if verb.endswith("y"):
        yield f"{verb[:-1]}ied"


ORDINARY_WORDS = OPENERS.union(
    _VERBS, *ROLES.values(), _OF_COMPLAINTS, (form for verb in _VERBS if len(verb) > 2 for form in _inflect(verb))
)
"""Words that open sentences, verbs of functions and their past forms, names of fields, and complaints of programs."""
