"""Data flow: where had an argument's value been seen before the call? A value seen nowhere was made up.

Only distinctive values are traced: a `2` or a `yes` occurs everywhere by chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from contramem.contrast.form import Leaf, parse
from contramem.contrast.seen_texts import SeenTexts
from contramem.contrast.vocabulary import scalars
from contramem.traces.effects import effect_of, words
from contramem.traces.trajectory import Event

TASK, USER, NOWHERE = "task", "user", "nowhere"
MIN_TRACED_CHARS = 3


_ID_WORDS = frozenset("id ids uuid number".split())


class _SeenValue(NamedTuple):
    place: str
    text: str
    given: frozenset[str] = frozenset()
    """The argument values of the call itself: a result that contains them only echoes them."""
    content: object = None
    """The result itself, if it is a text."""
    leaves: tuple[Leaf, ...] = ()
    """What is in it, if it has a structure."""

    def fields_with(self, text: str) -> Iterator[str]:
        """The fields of the result whose value is `text`."""
        leaves = parse(self.content).leaves if isinstance(self.content, str) else self.leaves
        return (leaf.field for leaf in leaves if _searchable_text(leaf.value) == text)


class _Sightings:
    """What was seen, in order."""

    def __init__(self) -> None:
        self._all: list[_SeenValue] = []
        self._texts = SeenTexts()
        self.user_spoke = False

    def append(self, sighting: _SeenValue) -> None:
        self._all.append(sighting)
        self._texts.append(sighting.text)
        self.user_spoke = self.user_spoke or sighting.place == USER

    def showing(self, text: str) -> Iterator[_SeenValue]:
        """The sightings whose text contains `text`, earliest first."""
        return (self._all[place] for place in self._texts.places(text))


class Flow:
    """What one run has seen so far, updated event by event."""

    def __init__(self, task: str) -> None:
        self._task = _SeenValue(TASK, task.lower())
        self._task_text = task
        self._seen = _Sightings()
        self._task_is_told = False

    def observe(self, event: Event) -> None:
        """Record what an event showed the agent."""
        if event.result is not None and event.function:
            content = event.result.content
            # Structured results are searched in the text of their values: a repr would add quotes and braces.
            leaves = () if isinstance(content, str) else parse(content).leaves
            text = content if isinstance(content, str) else "\n".join(str(leaf.value) for leaf in leaves)
            if text:
                given = frozenset(
                    _searchable_text(scalar) for value in event.arguments.values() for _, scalar in scalars(value)
                )
                self._seen.append(_SeenValue(event.function, text.lower(), given, content, leaves))
        elif event.text and event.actor != "agent":
            if event.text == self._task_text:
                self._task_is_told = True
            else:
                self._seen.append(_SeenValue(USER if event.actor == "user" else event.actor, event.text.lower()))

    def origins(self, event: Event) -> dict[str, str]:
        """For each argument of a call, the first place where its value was seen. Arguments too short to trace are
        absent.

        A list has the origin of its least known item: one invented recipient makes the recipients invented. Numbers in
        records are not traced: the amount of a payment does not come from where its account does. Of short values, only
        identifiers are traced, and only to a field that contains them; no short value is ever called made up.
        """
        places: dict[str, str] = {}
        for name, value in event.arguments.items():
            is_record = _is_record(value)
            for _, scalar in scalars(value):
                text = "" if is_record and isinstance(scalar, (int, float)) else _searchable_text(scalar)
                if len(text) >= MIN_TRACED_CHARS and places.get(name) != NOWHERE:
                    places[name] = self._origin(text)
                elif text and name not in places and (place := self._giver(text, name, event.function)):
                    places[name] = place
        return places

    def fields(self, event: Event, origins: dict[str, str]) -> dict[str, str]:
        """For arguments whose value came from a result: the name of the field that contained it, if there was one."""
        names = {}
        for name, place in origins.items():
            if "." not in place:
                continue
            for _, scalar in scalars(event.arguments[name]):
                if field := self._field(place, _searchable_text(scalar)):
                    names[name] = field
                    break
        return names

    def _field(self, place: str, text: str) -> str:
        for sighting in self._seen.showing(text):
            if sighting.place == place and text not in sighting.given:
                return next(sighting.fields_with(text), "")
        return ""

    def _origin(self, text: str) -> str:
        """Where the value came from. A result that echoes its own arguments counts only if nothing else showed the
        value."""
        # Instructions to a simulated user are not a message: the agent learns of them when the user says so.
        hidden = not self._task_is_told and self._seen.user_spoke
        if not hidden and text in self._task.text:
            return TASK
        echo = ""
        for sighting in self._seen.showing(text):
            if text not in sighting.given:
                return sighting.place
            echo = echo or sighting.place
        return echo or (TASK if text in self._task.text else NOWHERE)

    def _giver(self, text: str, name: str, function: str) -> str | None:
        """The first function whose result contains the value as an identifier of this kind of thing."""
        if _ID_WORDS.isdisjoint(words(name)):
            return None
        kind = _nouns(name) or _nouns(function.partition(".")[2])
        for sighting in self._seen.showing(text):
            if "." in sighting.place and not kind.isdisjoint(_nouns(sighting.place.partition(".")[2])):
                fields = sighting.fields_with(text)
                if text not in sighting.given and any(not _ID_WORDS.isdisjoint(words(field)) for field in fields):
                    return sighting.place
        return None


def _is_record(value: object) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value))


def _nouns(name: str) -> frozenset[str]:
    return frozenset(
        word.removesuffix("s") for word in words(name) if word not in _ID_WORDS and effect_of(word) == "unknown"
    )


def _searchable_text(scalar: object) -> str:
    """A value in the form in which it is searched; empty if it cannot be searched."""
    return str(scalar).lower().strip() if isinstance(scalar, (str, int, float)) and not isinstance(scalar, bool) else ""
