"""Semantic closure: a patch may combine, compress, narrow or rephrase its sources, and adds nothing."""

from __future__ import annotations

from collections.abc import Iterator

from contramem.bank.card import SkillDelta
from contramem.privacy.language import common_stems, stem
from contramem.validate.case import Case, Text, functions_of
from contramem.validate.case import fields as fields_of
from contramem.validate.lexicon import content_words

MAX_LISTED = 5
NEGATIONS = ("un", "in", "im", "non", "dis", "mis", "re")
"""`unsuitable` says nothing that `suitable` does not."""


def closure(case: Case) -> Iterator[str]:
    """Report words and functions of a patch that neither its delta, its targets nor related cards contain."""
    if case.sources is None:
        return
    allowed = {root for source in case.sources for text in _texts(source) for root, _ in content_words(text)}
    for field in case.fields:
        if field.name == "guards":
            continue  # guards are replayed instead
        new = dict.fromkeys(word for root, word in content_words(field.text) if not _is_covered(word, allowed))
        if new:
            listed = ", ".join(list(new)[:MAX_LISTED]) + (", …" if len(new) > MAX_LISTED else "")
            yield f"{field.name} says what neither the delta, the targets nor related cards say: {listed}."
    functions = {function for source in case.sources for function in functions_of(source)}
    for function in functions_of(case.text):
        if function not in functions:
            yield f"The patch brings in {function}, which neither the delta nor its targets are about."


def _is_covered(word: str, allowed: set[str]) -> bool:
    """Do the sources contain the word, or what it negates, or does it claim nothing by itself?"""
    without = (word.removeprefix(prefix) for prefix in NEGATIONS if word.startswith(prefix) and len(word) > 5)
    roots = {stem(word), *map(stem, without)}
    return not roots.isdisjoint(allowed) or not roots.isdisjoint(common_stems())


def _texts(source: Text) -> Iterator[str]:
    yield from (field.text for field in fields_of(source))
    yield from functions_of(source)
    if isinstance(source, SkillDelta):
        yield getattr(source, "ability", "")
