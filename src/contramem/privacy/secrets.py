"""Secrets in runs, told by the name of their field or the mark of their issuer (secrets.toml), never by looking random.

Each is replaced by `<SECRET_1>` wherever else in the runs of its task it stands, so that it is still seen which call
took the token that another one returned. A password that is a common word is replaced only where it is called one.

This module imports no other room: runs are searched where they come in.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from importlib.resources import files
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
from ahocorasick_rs import AhoCorasick, MatchKind

from contramem.privacy.language import is_common, is_ordinary
from contramem.traces.effects import words
from contramem.traces.trajectory import Trajectory, digest

MIN_SEARCHED_CHARS = 4
"""A shorter secret is masked in its field only: it stands in other texts by chance."""
MIN_JOINED_CHARS = 5
"""Of the name of a secret that is found at the end of a longer word: `dbpassword`."""
FAKE_NUMBER = 9_000_000_000
MAX_TEXTS_REMEMBERED = 1 << 16
MAX_NAME_WORDS = 3

_TABLE = tomllib.loads((files("contramem.privacy") / "secrets.toml").read_text("utf-8"))
_ISSUED = re.compile("|".join(f"(?<![A-Za-z]){issuer['pattern']}" for issuer in _TABLE["issuers"]))
_MARKS = AhoCorasick([issuer["mark"] for issuer in _TABLE["issuers"]])
_QUOTED = r"\\?\"[^\"\\\n]{1,120}\\?\"|'[^'\n]{1,120}'|`[^`\n]{1,120}`|“[^”\n]{1,120}”"
_WORD = r"[^\s,;<>\"'`“”。]{3,200}"
_FOLLOWS = re.compile(
    rf"[\"'`*\\]{{0,3}}(?:\s{{0,3}}(?:[:=：]|=>|->)\s{{0,3}}|\s{{1,3}}(?:is|was|are|to|es|ist|lautet|est|è|é|on)\s{{1,3}}|[是は为])"
    rf"(?:(?:basic|bearer)\s+)?(?:(?P<quoted>{_QUOTED})|(?P<word>{_WORD}))"
    rf"|\s{{1,3}}(?:(?P<told>{_QUOTED})|(?P<bare>(?=\S{{4}})(?=\S*\d)(?=\S*[A-Za-z]){_WORD}))",
    re.IGNORECASE,
)
"""How a text gives a value after its name."""
_EDGES = ".,:!?()[]{}*。"
_MARK = re.compile(r"<SECRET_\d+>")


class SecretNames:
    """The names of fields that hold secrets."""

    def __init__(self, secret: Iterable[str] = (), public: Iterable[str] = ()) -> None:
        """`secret` and `public`: names of fields that do and that do not, whatever our list says."""
        self.key = tuple(sorted(set(secret))), tuple(sorted(set(public)))
        self._public = {_split(name) for name in self.key[1]}
        known = [*_TABLE["fields"], *self.key[0]]
        self._names = {_split(name) for name in known}
        self._endings = tuple(name for name in known if " " not in name and len(name) >= MIN_JOINED_CHARS)
        written = {joint.join(name) for name in self._names for joint in (" ", "")}
        self.in_text = AhoCorasick(sorted(written), matchkind=MatchKind.LeftmostLongest)
        self._told: dict[str, bool] = {}

    def __contains__(self, name: str) -> bool:
        if name not in self._told:
            self._told[name] = self._is_secret(_split(name))
        return self._told[name]

    def _is_secret(self, named: tuple[str, ...]) -> bool:
        if named in self._public:
            return False
        while len(named) > 1 and (named[-1].isdecimal() or named[-1] in ("value", "text")):
            named = named[:-1]
        tails = (named[-size:] for size in range(1, MAX_NAME_WORDS + 1))
        return any(tail in self._names for tail in tails) or "".join(named[-1:]).endswith(self._endings)


@lru_cache(maxsize=8192)  # the same few names stand in every run
def _split(name: str) -> tuple[str, ...]:
    """`accessKey`, `access_key` and `Access key` are the same name."""
    parts = words(name) if name.isascii() else name.casefold().replace("_", " ").replace("-", " ").split()
    return tuple(parts)


NAMES = SecretNames()


class Found(NamedTuple):
    """A secret in a text."""

    start: int
    end: int
    is_word: bool
    """Is it a common word, which other texts may hold by chance?"""


def is_secret_name(name: str, value: object = "") -> bool:
    """Does the name of an argument or field say that its value is a secret? No switch is one."""
    return not isinstance(value, bool) and value is not None and name in NAMES


def has_issued(text: str) -> bool:
    """Does an issuer's mark stand in it?"""
    return bool(_MARKS.find_matches_as_indexes(text.lower())) and _ISSUED.search(text) is not None


def mask_issued(text: str) -> str:
    return _ISSUED.sub("SECRET", text) if has_issued(text) else text


def find_secrets(text: str, names: SecretNames = NAMES) -> Iterator[Found]:
    """What an issuer has marked, and what the text itself calls a secret."""
    lowered = text.lower()
    if len(lowered) == len(text) and _MARKS.find_matches_as_indexes(lowered):
        yield from (Found(match.start(), match.end(), False) for match in _ISSUED.finditer(text))
    lowered = (lowered if len(lowered) == len(text) else text).replace("_", " ").replace("-", " ")
    for _, start, end in names.in_text.find_matches_as_indexes(lowered):
        is_whole = not (start and lowered[start].isascii() and lowered[start - 1].isalnum())
        match = _FOLLOWS.match(text, end) if is_whole or end - start >= MIN_JOINED_CHARS else None
        if match is not None:
            yield from _value_in(text, match)


def _value_in(text: str, match: re.Match[str]) -> Iterator[Found]:
    group = match.lastgroup or ""
    value = match[group].strip("\\\"'`“”" if group in ("quoted", "told") else _EDGES)
    start = text.find(value, match.start(group)) if value else -1
    is_told = group in ("quoted", "told") or not (value.isalpha() and is_ordinary(value))
    if start >= 0 and is_told and not _MARK.fullmatch(value):
        yield Found(start, start + len(value), is_common(value))


def mask_secrets(runs: Sequence[Trajectory], names: SecretNames = NAMES) -> list[Trajectory]:
    """The runs of one task with their secrets masked; what one run shows to be a secret is masked in all of them."""
    mask = SecretMask(names)
    mask.collect(runs)
    return [mask_run(run, mask) for run in runs] if mask else list(runs)


def mask_run(run: Trajectory, mask: SecretMask) -> Trajectory:
    masked: Trajectory = mask.apply(run)
    if masked.task == run.task:
        return masked
    return msgspec.structs.replace(masked, text_digest=run.text_digest or digest(run.task))


@cache
def searched_fields(kind: type[msgspec.Struct]) -> dict[str, str]:
    """The fields of a struct that can hold a secret, and where: "anywhere", or only "in texts". Those are all that can
    hold a text, but for the ones that their declaration marks otherwise."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: where for name in kind.__struct_fields__ if (where := _where_secrets_are(hints[name])) != "none"}


def _where_secrets_are(hint: Any) -> str:
    if get_origin(hint) is Annotated:
        marks = [meta.extra["secrets"] for meta in hint.__metadata__ if meta.extra]
        return str(marks[0]) if marks else _where_secrets_are(hint.__origin__)
    if hint in (int, float, bool, NoneType) or get_origin(hint) is Literal:
        return "none"
    parts = [part for part in get_args(hint) if part is not Ellipsis]
    return next(
        (where for part in parts if (where := _where_secrets_are(part)) != "none"), "none" if parts else "anywhere"
    )


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list, tuple)):
        for child in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(child)


_NAMES_OF_PAIRS = ("name", "key", "field", "header", "label", "variable")
_without_secrets: set[bytes] = set()
"""Digests of texts in which nothing was found: a build reads each run twice, and many runs hold the same texts."""


class SecretMask:
    """The secrets of some runs and what stands for each."""

    def __init__(self, names: SecretNames = NAMES) -> None:
        self._names = names
        self._marks: dict[str, str] = {}
        self._sorted: list[tuple[str, str]] = []
        self._searched: set[str] = set()
        self._words: set[str] = set()
        """Secrets that are common words."""
        self._masked: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self._marks)

    def collect(self, value: Any, name: str = "") -> None:
        """Take in every secret under `value`, whose own field is called `name`."""
        if isinstance(value, msgspec.Struct):
            for field, where in searched_fields(type(value)).items():
                child = getattr(value, field)
                for part in (child,) if where == "anywhere" else _texts_in(child):
                    self.collect(part)
        elif isinstance(value, dict):
            for key, child in value.items():
                self.collect(child, self._name_of(value, str(key), name))
                self.collect(str(key))
        elif isinstance(value, (list, tuple)):
            for child in value:
                self.collect(child, self._name_in_pair(value, child) or name)
        elif isinstance(value, str):
            if name and name in self._names:
                self._take(value, is_common(value))
            elif value not in self._searched:  # runs of one task read the same results
                self._searched.add(value)
                self._search(value)
        elif isinstance(value, int) and not isinstance(value, bool) and value < FAKE_NUMBER and name in self._names:
            self._take(str(value), is_word=False)

    def _name_of(self, around: Mapping[str, Any], key: str, outer: str) -> str:
        """What decides about a value: its own name, that of the object around it (`credentials: {user: ...}`), or the
        one beside it (`{"name": "api_key", "value": ...}`)."""
        if key in self._names:
            return key
        beside = next((name for pair in _NAMES_OF_PAIRS if isinstance(name := around.get(pair), str)), "")
        return beside if key == "value" and beside in self._names else outer if outer in self._names else ""

    def _name_in_pair(self, items: Sequence[Any], item: object) -> str:
        """`["api_key", ...]`: what the second of two is called."""
        is_second = len(items) == 2 and item is items[1] and isinstance(items[0], str) and items[0] in self._names
        return str(items[0]) if is_second else ""

    def _search(self, text: str) -> None:
        name = blake2b(repr(self._names.key).encode() + text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if name in _without_secrets:
            return
        found = list(find_secrets(text, self._names))
        for start, end, is_word in found:
            self._take(text[start:end], is_word)
        if not found and len(_without_secrets) < MAX_TEXTS_REMEMBERED:
            _without_secrets.add(name)

    def _take(self, value: str, is_word: bool) -> None:
        value = value.strip()
        if value and not _MARK.fullmatch(value):
            self._marks.setdefault(value, f"<SECRET_{len(self._marks) + 1}>")
            if is_word:
                self._words.add(value)
            self._masked.clear()

    def apply(self, value: Any, name: str = "") -> Any:
        """`value` with its secrets replaced, in names of fields too."""
        if isinstance(value, msgspec.Struct):
            fields = searched_fields(type(value))
            return msgspec.structs.replace(value, **{field: self.apply(getattr(value, field)) for field in fields})
        if isinstance(value, dict):
            return {
                self.in_text(key): self.apply(child, self._name_of(value, str(key), name))
                for key, child in value.items()
            }
        if isinstance(value, (list, tuple)):
            masked = [self.apply(child, self._name_in_pair(value, child) or name) for child in value]
            return tuple(masked) if isinstance(value, tuple) else masked
        if isinstance(value, str):
            mark = self._marks.get(value.strip()) if name and name in self._names else None
            return mark or self.in_text(value)
        if isinstance(value, int) and not isinstance(value, bool) and str(value) in self._marks:
            # A number stays a number: a card must not say that a PIN is a text.
            return FAKE_NUMBER + list(self._marks).index(str(value)) if name in self._names else value
        return value

    def in_text(self, text: str) -> str:
        masked = self._masked.get(text)
        if masked is None:  # runs of one task read the same results
            masked = self._masked[text] = self._mask_text(text)
        return masked

    def _mask_text(self, text: str) -> str:
        for start, end, is_word in reversed(list(find_secrets(text, self._names)) if self._words else []):
            if is_word:
                text = f"{text[:start]}{self._marks.get(text[start:end], '<SECRET_0>')}{text[end:]}"
        for secret, mark in self._longest_first():
            if len(secret) >= MIN_SEARCHED_CHARS and secret not in self._words and secret in text:
                text = re.sub(rf"(?<!{_edge(secret[0])}){re.escape(secret)}(?!{_edge(secret[-1])})", mark, text)
        return _ISSUED.sub("<SECRET_0>", text) if has_issued(text) else text

    def _longest_first(self) -> list[tuple[str, str]]:
        if len(self._sorted) < len(self._marks):
            self._sorted = sorted(self._marks.items(), key=lambda item: (-len(item[0]), item[0]))
        return self._sorted


def _edge(char: str) -> str:
    """What would make the secret part of a longer word. Around Latin letters, scripts without spaces do not."""
    return r"[A-Za-z\d]" if char.isascii() else r"[^\W_]"
