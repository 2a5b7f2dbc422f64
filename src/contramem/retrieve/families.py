"""Word families: "pay the rent" and `send_money` are about the same subject without sharing a word.

Each row is a subject of everyday or office work; verbs have the intents of intent.py. A task and a function share a
family if each has a word of it. Sharing a family counts less than sharing a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contramem.retrieve.intent import intents
from contramem.retrieve.stems import stem
from contramem.retrieve.tokens import tokenize

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
