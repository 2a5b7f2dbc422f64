"""One campaign: honest runs with texts and secrets planted by a seed, through every command, and what comes out."""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from attacks import clinic, depot, desk, garage, harbour, observatory, theatre
from attacks.author import write_as_author
from attacks.credentials import Credential, make_credential
from attacks.desk import Run
from attacks.eighth_credentials import make_eighth_credential
from attacks.eighth_places import EIGHTH_PLACES, NAMED_EIGHTH_PLACES, READ_EIGHTH_PLACES, SECRET_EIGHTH_PLACES
from attacks.eleventh_credentials import make_eleventh_credential
from attacks.eleventh_family import (
    ELEVENTH_PLACES,
    NAMED_ELEVENTH_PLACES,
    READ_ELEVENTH_PLACES,
    SECRET_ELEVENTH_PLACES,
)
from attacks.exits import Written, write_everything
from attacks.fifth_credentials import make_fifth_credential
from attacks.fifth_places import FIFTH_PLACES, NAMED_FIFTH_PLACES, READ_FIFTH_PLACES, SECRET_FIFTH_PLACES
from attacks.fourth_credentials import make_fourth_credential
from attacks.fourth_places import FOURTH_PLACES, READ_FOURTH_PLACES, SECRET_FOURTH_PLACES
from attacks.ninth_family import (
    NAMED_NINTH_PLACES,
    NINTH_PLACES,
    READ_NINTH_PLACES,
    SECRET_NINTH_PLACES,
    make_ninth_credential,
)
from attacks.places import MARKED_PLACES, REACHES, READ_PLACES, SECRET_PLACES, TEXT_PLACES, Put, plant, plant_secret
from attacks.seventh_credentials import make_seventh_credential
from attacks.seventh_places import (
    NAMED_SEVENTH_PLACES,
    READ_SEVENTH_PLACES,
    SECRET_SEVENTH_PLACES,
    SEVENTH_PLACES,
)
from attacks.sixth_family import make_sixth_credential
from attacks.sixth_places import READ_SIXTH_PLACES, SIXTH_PLACES
from attacks.tenth_family import (
    NAMED_TENTH_PLACES,
    READ_TENTH_PLACES,
    SECRET_TENTH_PLACES,
    TENTH_PLACES,
    make_tenth_credential,
)
from attacks.texts import PlantedText, fold, make_text, shingles_of
from attacks.third_credentials import make_third_credential
from attacks.third_places import THIRD_PLACES, WHOLE_TEXT_PLACES
from contramem.traces.characters import HIDDEN

SECRETS_IN_AN_APP = 4
MAX_CHARS_ABOUT_ONE_APP = 20_000
_HIDDEN = re.compile(f"[{HIDDEN}]")
_CONTROL_RUNS = 3


PLACES = {
    3: THIRD_PLACES,
    4: FOURTH_PLACES,
    5: FIFTH_PLACES,
    6: SIXTH_PLACES,
    7: SEVENTH_PLACES,
    8: EIGHTH_PLACES,
    9: NINTH_PLACES,
    10: TENTH_PLACES,
    11: ELEVENTH_PLACES,
}
"""Where a family plants its texts; the first two share theirs."""
_READ_PLACES = {
    5: READ_FIFTH_PLACES,
    6: READ_SIXTH_PLACES,
    7: READ_SEVENTH_PLACES,
    8: READ_EIGHTH_PLACES,
    9: READ_NINTH_PLACES,
    10: READ_TENTH_PLACES,
    11: READ_ELEVENTH_PLACES,
}
"""Where whoever uses the instruments reads a text. Places of two families may have one name and be different."""
_READ_PLACES_OF_DESK = READ_PLACES | READ_FOURTH_PLACES


SECRETS = {
    5: (make_fifth_credential, SECRET_FIFTH_PLACES, NAMED_FIFTH_PLACES),
    6: (make_sixth_credential, SECRET_FIFTH_PLACES, NAMED_FIFTH_PLACES),
    7: (make_seventh_credential, SECRET_SEVENTH_PLACES, NAMED_SEVENTH_PLACES),
    8: (make_eighth_credential, SECRET_EIGHTH_PLACES, NAMED_EIGHTH_PLACES),
    9: (make_ninth_credential, SECRET_NINTH_PLACES, NAMED_NINTH_PLACES),
    10: (make_tenth_credential, SECRET_TENTH_PLACES, NAMED_TENTH_PLACES),
    11: (make_eleventh_credential, SECRET_ELEVENTH_PLACES, NAMED_ELEVENTH_PLACES),
}
"""What a family makes its secrets with, and where it puts them: in words, and under a name."""


class Attack(NamedTuple):
    """What was planted where."""

    what: str
    """`text` or `secret`."""
    place: str
    kind: str
    """Language and disguise of a text, kind of a secret."""
    reach: str
    needles: frozenset[str]
    shown: str
    app: str
    written: str
    """As it stands in the runs."""


class Leak(NamedTuple):
    """An attack that came out."""

    attack: Attack
    exit: str
    where: str
    found: str


def make_campaign(
    seed: int, texts: int, secrets: int, family: int = 1
) -> tuple[list[Run], list[Attack], list[tuple[str, list[str]]]]:
    """Runs with everything planted, what was planted, and the requests to ask guidance for."""
    rng = random.Random(seed)
    runs: list[Run] = []
    attacks: list[Attack] = []
    put_text = PLACES.get(family, TEXT_PLACES)
    places, world = list(put_text), world_of(family)
    for number in range(texts):
        app = world.app_name(number)
        honest = world.honest_runs(app, rng)
        text, place, reach = make_text(rng, number, family), places[number % len(places)], rng.choice(REACHES)
        plant(honest, place, put_text[place], text.written, reach, rng, world.is_refused)
        attacks.append(_text_attack(text, place, reach, app))
        runs += honest
    app, honest = "", []
    for number in range(secrets):
        if number % SECRETS_IN_AN_APP == 0:
            app = world.app_name(texts + number // SECRETS_IN_AN_APP)
            honest = world.honest_runs(app, rng)
            runs += honest
        attacks.append(_plant_secret(honest, app, number, rng, family))
    return runs, attacks, world.requests(runs)


def world_of(family: int) -> ModuleType:
    """Whose honest runs it is that a family plants in."""
    return {5: depot, 6: depot, 7: clinic, 8: garage, 9: theatre, 10: harbour, 11: observatory}.get(family, desk)


def _plant_named(runs: list[Run], app: str, number: int, rng: random.Random) -> Attack:
    """A secret in a field, in words or in a name."""
    secret, place = make_credential(rng, number), rng.choice(SECRET_PLACES)
    while not secret.marked and place.removeprefix("in ") in MARKED_PLACES:
        place = rng.choice(SECRET_PLACES)
    plant_secret(runs, place, secret, rng)
    return Attack(
        "secret", place, secret.kind, "every run", frozenset({_needle(secret)}), secret.value, app, secret.value
    )


def _plant_secret(runs: list[Run], app: str, number: int, rng: random.Random, family: int) -> Attack:
    if family == 3:
        return _plant_written(runs, app, make_third_credential(rng, number), WHOLE_TEXT_PLACES, rng)
    if family == 4:
        return _plant_written(runs, app, make_fourth_credential(rng, number), SECRET_FOURTH_PLACES, rng)
    if family > 4:
        make, places, named_places = SECRETS[family]
        secret = make(rng, number)
        return _plant_written(runs, app, secret, named_places if secret.kind.startswith("named ") else places, rng)
    return _plant_named(runs, app, number, rng)


def _plant_written(runs: list[Run], app: str, secret: Credential, places: dict[str, Put], rng: random.Random) -> Attack:
    """A secret with the text that it is found in."""
    text = f"{secret.names[0]}={secret.value}" if secret.kind.startswith("named ") else secret.names[0]
    place = rng.choice(list(places))
    while not _put(runs, places[place], text):
        place = rng.choice(list(places))
    return Attack("secret", place, secret.kind, "every run", frozenset({secret.value}), text, app, text)


def _put(runs: list[Run], put: Put, text: str) -> bool:
    """Was there such a place in the runs? An earlier secret may have renamed it."""
    try:
        for run in runs:
            put(run, text)
    except (StopIteration, IndexError):
        return False
    return True


def _text_attack(text: PlantedText, place: str, reach: str, app: str) -> Attack:
    needles = text.shingles | {text.target}
    return Attack("text", place, f"{text.language}, {text.disguise}", reach, needles, text.plain, app, text.written)


def _needle(secret: Credential) -> str:
    """What must not come out: of an address with a password the password, of a path the person."""
    if secret.kind == "database":
        return secret.value.partition("app:")[2].partition("@")[0]
    if secret.kind in ("home", "windows"):
        return re.split(r"[/\\]", secret.value)[2]
    return secret.value.removeprefix("Basic ").removesuffix("==").removeprefix("sid=")


def _whole(value: str) -> str:
    """Not inside of a longer number: a digest holds any six digits by chance."""
    return rf"(?<![0-9a-f]){value}(?![0-9a-f])" if value.isdigit() else re.escape(value)


class Search:
    """Looks for everything that was planted in whatever is written."""

    def __init__(self, attacks: Iterable[Attack], innocent: frozenset[str]) -> None:
        self.leaks: dict[tuple[str, str, str], Leak] = {}
        self.hidden: Counter[str] = Counter()
        self.texts: Counter[str] = Counter()
        self._by_shingle: dict[str, list[Attack]] = defaultdict(list)
        self._secrets: list[Attack] = []
        for attack in attacks:
            if attack.what == "secret":
                self._secrets.append(attack)
            else:
                for needle in attack.needles - innocent:
                    self._by_shingle[needle].append(attack)
        by_value = {needle: attack for attack in self._secrets for needle in attack.needles}
        self._any_secret = re.compile("|".join(map(_whole, sorted(by_value, key=len, reverse=True))) or "(?!)")
        self._by_value = by_value

    def look(self, written: Written) -> None:
        """Count what stands in one text."""
        self.texts[written.exit] += 1
        if _HIDDEN.search(written.text.replace("\r", "")):
            self.hidden[written.exit] += 1
        for needle in _words_of(written.text):
            for attack in self._planters(needle, written):
                self._add(attack, written, needle)
        for match in self._any_secret.finditer(written.text):
            self._add(self._by_value[match[0]], written, match[0])

    def _planters(self, needle: str, written: Written) -> list[Attack]:
        """Whose text it is. Words that several texts share belong to the app that the output is about."""
        attacks = self._by_shingle.get(needle, [])
        if len(attacks) < 2 or len(written.text) > MAX_CHARS_ABOUT_ONE_APP:
            return attacks[:1]
        return [attack for attack in attacks if attack.app in written.text or attack.app in written.about] or attacks[
            :1
        ]

    def _add(self, attack: Attack, written: Written, found: str) -> None:
        key = (written.exit, attack.place, attack.shown)
        if key not in self.leaks:
            at = written.text.find(found)
            around = written.text[max(0, at - 80) : at + 120] if at >= 0 else ""
            self.leaks[key] = Leak(attack, written.exit, written.where, f"{found} | {around!r}")


def _words_of(text: str) -> set[str]:
    """Runs of words, and words, also those that stand in a name with underscores."""
    apart = text.replace("_", " ")
    words = set(shingles_of(text)) | set(re.findall(r"\w+", fold(text)))
    return words | set(shingles_of(apart)) | set(re.findall(r"\w+", fold(apart)))


def run_campaign(
    seed: int, texts: int, secrets: int, folder: Path, family: int = 1, quick: bool = False
) -> tuple[Search, list[Attack], int]:
    """The whole campaign in `folder`. The words that honest outputs contain anyway are looked for in a control run."""
    runs, attacks, requests = make_campaign(seed, texts, secrets, family)
    world = world_of(family)
    innocent = _innocent_words(folder, world, quick)
    traces = world.write_runs(runs, folder)
    search = Search(attacks, innocent)
    read = _READ_PLACES.get(family, _READ_PLACES_OF_DESK)
    said = json.dumps(runs, ensure_ascii=False, default=str)
    planted = [
        (attack.app, attack.written)
        for attack in attacks
        if attack.what == "text" and attack.place in read and _stands_in(said, attack.written)
    ]
    for written in chain(
        write_everything(traces, requests, folder, quick), write_as_author(traces, folder, planted, world)
    ):
        search.look(written)
    return search, attacks, len(runs)


def _stands_in(said: str, text: str) -> bool:
    """Is its longest word in the runs, as JSON or as JSON inside of JSON writes it? Some places take a text only in
    passing runs, and what nobody said cannot be copied."""
    word = max(text.split(), key=len)
    once = {json.dumps(word, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False)}
    twice = {json.dumps(form, ensure_ascii=False)[1:-1] for form in once}
    return any(form in said for form in once | twice)


def _innocent_words(folder: Path, world: ModuleType, quick: bool) -> frozenset[str]:
    control = folder / "control"
    control.mkdir()
    rng = random.Random(0)
    runs = [run for number in range(_CONTROL_RUNS) for run in world.honest_runs(world.app_name(17000 + number), rng)]
    traces = world.write_runs(runs, control)
    words: set[str] = set()
    for written in write_everything(traces, world.requests(runs), control, quick):
        words |= _words_of(written.text)
    return frozenset(words)
