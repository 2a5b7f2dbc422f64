"""Speech: calls by which an agent talks to its user, such as `AgentUserInterface.send_message_to_user(content=...)`.

If an environment has a tool for talking, questions and the final answer are calls. They are read as messages.
"""

from __future__ import annotations

import re
from functools import lru_cache

from contramem.traces.effects import words
from contramem.traces.trajectory import Event

_VERBS = frozenset("ask answer inform message question reply respond say send speak talk tell".split())
_TEXTS = frozenset("answer content message question reply response text".split())
_PARTING = re.compile(
    r"\b(?:any|some)thing else\b|\bfurther (?:help|assistance|questions)\b|\bhelp you (?:further|more)\b"
)


def speech_of(event: Event) -> str:
    """What a call says to the user; empty if it does not talk to the user, or names another recipient."""
    if not event.function or event.actor != "agent" or not talks_to_user(event.function):
        return ""
    given = {name: value for name, value in event.arguments.items() if value not in (None, "", [], {})}
    if len(given) != 1:
        return ""
    ((name, value),) = given.items()
    return value if isinstance(value, str) and not _TEXTS.isdisjoint(words(name)) else ""


@lru_cache(maxsize=4096)
def talks_to_user(function: str) -> bool:
    """Does the name of this function say that it talks to the user?"""
    named = words(function.rpartition(".")[2])
    return "user" in named and not _VERBS.isdisjoint(named)


def asks(text: str) -> bool:
    """Does a message that ends a run leave a question open? An offer of further help does not."""
    return "?" in text and _PARTING.search(text.lower()) is None
