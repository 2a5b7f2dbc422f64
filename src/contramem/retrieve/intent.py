"""What the words of a task and of a function are about: intents (classes of verbs; paper, A.1), subjects, and apps.

"Pay the rent" and `send_money` are about the same subject without sharing a word. Each row of subjects is one of
everyday or office work. A task and a function share a family if each has a word of it, which counts less than sharing a
word.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from contramem.retrieve.tokens import singular, stem, tokenize

# Intents


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


# Families of words


_SUBJECTS = {
    "money": """money pay payment bill invoice rent transfer transaction deposit refund charge salary wage dollar euro
        pound cash spend expense bank balance debt loan subscription iban""",
    "price": "price cost fee rate tariff quote cheap expensive afford budget discount",
    "calendar": """calendar event meeting appointment schedule agenda invitation invite participant attendee reschedule
        reservation slot conference call""",
    "mail": "mail email inbox mailbox letter newsletter correspondence",
    "chat": "message chat channel dm sms conversation thread announce announcement post reply",
    "file": "file document folder drive directory draft attachment pdf spreadsheet note upload download",
    "people": "people person contact friend colleague user member team employee staff everybody everyone who name",
    "profile": "account profile user login password credential street address phone personal detail",
    "place": "address location street city town place map where near route direction",
    "lodging": "hotel room stay night accommodation lodging hostel apartment guest",
    "flight": "flight fly plane airline airport ticket boarding",
    "car": "car vehicle rental rent drive driver ride taxi cab fuel electric",
    "food": "restaurant dinner lunch breakfast dish food meal eat cuisine dietary vegetarian vegan table menu recipe",
    "opinion": "review rating rate rated star recommend recommendation best opinion score feedback",
    "shopping": "order purchase buy item product cart basket shop shopping delivery deliver shipment parcel return",
    "stock": "stock inventory warehouse supply quantity share trade portfolio",
    "task": "task todo reminder issue ticket bug assignment project board deadline",
    "web": "web page website url link site browser blog article",
    "hours": "hour opening open close closed time",
    "code": "code repository repo commit branch merge test compile script function package module",
    "customer": "customer client lead subscriber buyer account complaint",
    "security": "password credential token permission access right lock unlock security",
    "weather": "weather temperature rain wind forecast",
    "music": "song music playlist album artist track",
    "health": "patient doctor visit prescription medication drug allergy hospital",
}
_SUBJECTS_OF: dict[str, frozenset[str]] = {}
for _subject, _row in _SUBJECTS.items():
    for _word in map(stem, tokenize(_row)):
        _SUBJECTS_OF[_word] = _SUBJECTS_OF.get(_word, frozenset()) | {_subject}


def subjects_of(words: Iterable[str]) -> list[str]:
    """The subjects of a task's or function's words, as index terms: sorted, each once."""
    return sorted({f"about {subject}" for word in words for subject in _SUBJECTS_OF.get(stem(word), ())})


def acts_of(words: Sequence[str]) -> list[str]:
    """The intents of a task's or function's words, as index terms: sorted, each once."""
    return sorted(f"to {intent}" for intent in intents(words))


# Apps


# Parts of app names that name no subject: EmailClientV2, CabApp, company_directory_service.
_GENERIC = frozenset("app client service system tool api server manager v agent user interface general default".split())


class AppVocabulary:
    """The words that identify one app. Built once per bank, so that a query is a few dictionary look-ups."""

    def __init__(self, functions: Iterable[str]) -> None:
        """Takes names of the form `App.function`. A word identifies an app if it occurs only in that app's name, or in
        no app's name and only in that app's functions. Verbs (`send`, `list`) identify none."""
        in_names, in_functions = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        for app, _, function in (name.partition(".") for name in functions):
            for word in tokenize(app):
                in_names[word].add(app)
            for word in tokenize(function):
                in_functions[word].add(app)
        owners = {word: in_names.get(word) or apps for word, apps in (in_functions | in_names).items()}
        self._app_of = {
            word: next(iter(apps))
            for word, apps in owners.items()
            if len(apps) == 1 and word not in _GENERIC and word not in VERBS and not word.isdigit()
        }

    def apps_in(self, words: Sequence[str]) -> frozenset[str]:
        """The apps that the words of a task identify; empty if the task names none."""
        app_of = self._app_of
        return frozenset(app_of[word] for word in words if word in app_of)
