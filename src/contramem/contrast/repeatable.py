"""What a card may repeat of a message or a manual, which whatever the agent talked to wrote.

A message that several tasks show, and that does not instruct: its words in small letters stay, and those of ordinary
language and of the interface; the others become `<VALUE>`. Of a manual, which the tool declares, the first sentence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from contramem.contrast.placeholder_types import BY_NAME
from contramem.privacy.instructions import instructs
from contramem.privacy.language import is_ordinary, stem
from contramem.privacy.personal import find_personal
from contramem.traces.effects import effect_of, words

MAX_QUOTED_CHARS = 120
MIN_LITERAL_WORDS = 2
"""A template with fewer words of its own says nothing and would match everything."""
MIN_TASKS = 2
MAX_RARE_WORDS = 6
"""Of a message that one task alone shows, all of them ordinary: more words may be anybody's."""
MAX_BARE_WORDS = 3
"""As few words are no order."""
MAX_MASKED_SHARE = 0.5
"""Of the words of a message: with more of them masked, it says nothing."""
KINDS = "|".join((*BY_NAME, "DATE", "VALUE"))
"""What a placeholder in a template may be called."""
PLACEHOLDER = re.compile(rf"<(?:(?:{KINDS})(?:_\d+)?\|?)+>")
_PREFIX = re.compile(r"^(?:[\w.]*(?:Error|Exception|Warning|Failure|Fault)\b[^:]{0,30}|[\w.]+): ")
_TOKEN = re.compile(rf"{PLACEHOLDER.pattern}|[\w.@/-]*\w")
_SENTENCE = re.compile(r"(.+?[.!?])(?:\s|$)", re.DOTALL)


def quote_message(template: str, seen_in_tasks: int, interface: Iterable[str] = ()) -> str:
    """What a card may repeat of a message; empty if it instructs, or hardly a word is left. One that only one task
    shows is repeated if it is short and of ordinary words.
    `interface`: names of functions, arguments and fields."""
    if len(template) > MAX_QUOTED_CHARS or instructs(template) or "<" in PLACEHOLDER.sub("", template):
        return ""
    names = frozenset(interface)
    named = {part for name in names for part in (name, *name.split("."), *words(name))}
    is_shared = seen_in_tasks >= MIN_TASKS
    quoted = _TOKEN.sub(lambda token: token[0] if _may_be_said(token[0], named, is_shared) else "<VALUE>", template)
    own, masked = count_own_words(quoted), quoted.count("<VALUE>") - template.count("<VALUE>")
    is_stated = own <= MAX_BARE_WORDS or not _STATING.isdisjoint(quoted.lower().split())
    if not is_shared and (masked or own > MAX_RARE_WORDS or not is_stated):
        return ""
    return (
        quoted
        if own >= MIN_LITERAL_WORDS + ("<VALUE>" in quoted) and masked <= MAX_MASKED_SHARE * (own + masked)
        else ""
    )


_STATING = frozenset("is are was were be been has have had not no cannot can't already".split())
"""A message that only one task shows has to say how something stands. Without one of these words it may be an order."""


def _may_be_said(token: str, named: Collection[str], is_shared: bool) -> bool:
    if is_shared and token.isalpha() and token.islower():
        return True
    if PLACEHOLDER.fullmatch(token) or token in named or token.lower() in named:
        return True
    is_error = token.endswith(("Error", "Exception", "Warning")) and is_ordinary(" ".join(words(token)))
    return is_error or is_ordinary(token.replace("/", " ")) or (token.isdecimal() and len(token) <= 3)


def quote_manual(description: str, function: str, arguments: Collection[str]) -> str:
    """The first sentence of a function's documentation, if it is about the function: it shares a word with its name or
    arguments. Empty if it instructs its reader or names somebody."""
    text = " ".join(description.split())
    match = _SENTENCE.match(text)
    first = match[1] if match else text
    named = {stem(word) for name in (function, *arguments) for word in words(name)}
    said = words(first)
    is_about_it = not named.isdisjoint(map(stem, said)) or effect_of(" ".join(said[:1])) != "unknown"
    unknown = sum(not is_ordinary(word) and stem(word) not in named for word in said)
    if not is_about_it or unknown > max(1, len(said) // 3) or instructs(first):
        return ""
    return "" if any(True for _ in find_personal(first)) else first


def count_own_words(template: str) -> int:
    """Words of a message beside its values and the name of its error."""
    return len(re.findall(r"[A-Za-z]{2,}", PLACEHOLDER.sub("", _PREFIX.sub("", template))))
