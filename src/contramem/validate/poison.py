"""No text planted in an observation becomes a rule."""

from __future__ import annotations

import re
from collections.abc import Iterator

from contramem.privacy.instructions import instructs, overrides, read
from contramem.validate.case import Case, Field
from contramem.validate.packet_contents import shingles

__all__ = ["instructs", "poison"]

# Cards quote complaints of tools. A card's own words are imperative by nature; a quotation must not be.
_QUOTED = re.compile(r"\"([^\"]{12,})\"|(?<!\w)'([^']{12,})'(?!\w)|`([^`]{12,})`|“([^”]{12,})”")


def poison(case: Case) -> Iterator[str]:
    """Report words that come from, or look like, an instruction to an agent."""
    planted = frozenset().union(
        *(contents.planted_phrases for contents in case.contents), _phrases_planted_in_errors(case)
    )
    suspicious = overrides("\n".join(field.text for field in case.fields)) is not None
    for field in case.fields:
        if suspicious and (form := overrides(field.text)):
            yield f"{field.name} {form}, as text planted in an observation does."
        elif any(instructs(quotation) for quotation in _quotations(field)):
            yield f"{field.name} quotes a text that instructs the agent; an observation may only describe."
        elif planted and not planted.isdisjoint(shingles(field.text)):
            yield f"{field.name} repeats words of an instruction that was planted in an observation."


def _quotations(field: Field) -> Iterator[str]:
    return (next(group for group in match.groups() if group) for match in _QUOTED.finditer(field.text))


def _phrases_planted_in_errors(case: Case) -> frozenset[tuple[str, ...]]:
    errors = {observation.error for observation in case.observations if observation.error}
    return frozenset(quotable for error in sorted(errors) for p in read(error).passages for quotable in shingles(p))
