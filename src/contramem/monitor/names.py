"""Names that were perhaps meant: what to say to somebody who wrote one that is not there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches


def suggest_name(name: str, names: Iterable[str]) -> str:
    """` Perhaps Mail.search?`, or nothing when no name is near. A name without its app is near to that of any app."""
    candidates = sorted(names)
    same = [candidate for candidate in candidates if candidate.rpartition(".")[2] == name.rpartition(".")[2]]
    near = same or get_close_matches(name, candidates, n=1)
    return f" Perhaps {near[0]}?" if near else ""


def suggest_full_names(text: str, functions: Iterable[str]) -> str:
    """` Write Mail.search.` for a text that names `search`: a function without its app is a common slip in a guard."""
    by_name = {function.rpartition(".")[2]: function for function in sorted(functions)}
    meant = [by_name[word] for word in _WORD.findall(text.partition("(")[2]) if word in by_name]
    return f" Write {' and '.join(dict.fromkeys(meant))}." if meant else ""


_WORD = re.compile(r"(?<![\w.])\w+(?![\w.])")
