"""Suggestions for a name that does not exist: the closest one that does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches


def suggest_name(name: str, names: Iterable[str]) -> str:
    """` Perhaps Mail.search?`, or "" if no name is close. The same function name in any app counts as close."""
    candidates = sorted(names)
    same = [candidate for candidate in candidates if candidate.rpartition(".")[2] == name.rpartition(".")[2]]
    near = same or get_close_matches(name, candidates, n=1)
    return f" Perhaps {near[0]}?" if near else ""


def suggest_full_names(text: str, functions: Iterable[str]) -> str:
    """` Write Mail.search.` if `text` names `search`: forgetting the app is a common mistake in guards."""
    by_name = {function.rpartition(".")[2]: function for function in sorted(functions)}
    meant = [by_name[word] for word in _WORD.findall(text.partition("(")[2]) if word in by_name]
    return f" Write {' and '.join(dict.fromkeys(meant))}." if meant else ""


_WORD = re.compile(r"(?<![\w.])\w+(?![\w.])")
