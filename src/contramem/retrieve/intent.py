"""Intents: what a task asks for, as classes of verbs (paper, A.1). The profiles `time` and `small` filter by them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from contramem.retrieve.tokens import singular, tokenize

# The verbs of a row share an intent. A verb may be in several rows. Rows have verbs of tasks and of function names.
_INTENTS = {
    "read": """get list search find read view show check count fetch lookup look query describe see know tell which who
        what when where how many browse compare calculate retrieve monitor watch verify""",
    "send": """send email message text notify tell inform write post publish announce contact invite share alert remind
        ask let""",
    "reply": "reply respond answer",
    "forward": "forward share",
    "create": "create add schedule book set make plan new save insert put register open",
    "delete": "delete remove cancel clear drop trash discard",
    "update": "update edit change modify rename reschedule move postpone correct replace fix adjust shift delay",
    "order": "order buy purchase checkout pay shop take get call",
    "cancel": "cancel abort stop end revoke",
    "wait": "wait until after within every minute hour second later then timer sleep delay",
    "join": "join leave follow unfollow subscribe",
    "transfer": "transfer pay send refund deposit withdraw",
    "download": "download save upload attach copy",
}
_CLASSES: dict[str, frozenset[str]] = {}
for _intent, _row in _INTENTS.items():
    for _verb in map(singular, _row.split()):
        _CLASSES[_verb] = _CLASSES.get(_verb, frozenset()) | {_intent}

VERBS = frozenset(_CLASSES) - {"email", "message", "text", "minute", "hour", "second", "timer"}
"""Verbs in their index form, without words that are nouns as often as verbs."""


def intents(words: Sequence[str]) -> frozenset[str]:
    """The intents of the words of a task."""
    return frozenset().union(*(_CLASSES[word] for word in words if word in _CLASSES))


def serves(function: str, asked: frozenset[str]) -> bool:
    """Whether `App.function` does one of the things asked for. True if its name has no known verb."""
    own = _intents_of_name(function)
    return not own or not own.isdisjoint(asked)


def is_question(task: str) -> bool:
    """Whether a request only wants to know something: `Which payments are due?`, not `Can you pay them?`."""
    first = task.split(maxsplit=1)[:1]
    return task.rstrip().endswith("?") and bool(first) and first[0].casefold() in _QUESTION_WORDS


def asked_changes(task: str, asked: frozenset[str]) -> frozenset[str] | None:
    """What a request with these intents wants to have changed: nothing if it only wants to know something. None if its
    verbs do not tell."""
    if is_question(task):
        return frozenset()
    return asked if asked - _NO_WRITE else None


def only_changes(function: str) -> bool:
    """Whether the verb of `App.function` is one that looks nothing up."""
    own = _intents_of_name(function)
    return bool(own) and "read" not in own


_QUESTION_WORDS = frozenset(
    "what what's which who who's whom whose when where why how is are was were do does did has have had".split()
)
_NO_WRITE = frozenset({"read", "wait"})


@lru_cache(maxsize=65_536)
def _intents_of_name(function: str) -> frozenset[str]:
    """The intents of the first verb in the name, as in `search_emails` and `user_cancel_ride`."""
    verbs = (word for word in tokenize(function.rpartition(".")[2]) if word in VERBS)
    return _CLASSES.get(next(verbs, ""), frozenset())
