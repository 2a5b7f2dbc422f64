"""Reads an experiment file. Errors say in one line where, what, and what would be right."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from contramem.errors import UsageError, nearest
from contramem_lab.experiment.config import ExperimentConfig


@dataclass(frozen=True)
class ExperimentFile:
    """A config, and the file it comes from."""

    path: Path
    config: ExperimentConfig
    text: str

    @property
    def digest(self) -> str:
        """A digest of the content, ignoring comments and order."""
        return hashlib.sha256(msgspec.json.encode(self.config, order="deterministic")).hexdigest()

    def beside(self, path: str) -> Path:
        """A path in the file, relative to the file's folder."""
        return self.path.parent / Path(path).expanduser()


def load_experiment(path: Path) -> ExperimentFile:
    """The experiment in `path`, with every key checked."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"{path}: cannot be read ({why}).") from None
    return ExperimentFile(path, parse(text, str(path)), text)


def parse(text: str, where: str) -> ExperimentConfig:
    """Parse an experiment; `where` is for messages."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{where}: is not valid TOML: {error}.") from None
    for problem in _unknown_keys(document, msgspec.inspect.type_info(ExperimentConfig), ()):
        raise UsageError(_describe_problem(where, text, *problem))
    try:
        return msgspec.convert(document, ExperimentConfig)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        keys = tuple(re.findall(r"[^.\[\]`.]+", re.sub(r"\[(\d+|\.\.\.)\]", "", place)))
        raise UsageError(_describe_problem(where, text, keys, _in_words(what, keys))) from None


Keys = tuple[str, ...]


def _unknown_keys(value: Any, kind: msgspec.inspect.Type, keys: Keys) -> Iterator[tuple[Keys, str]]:
    if isinstance(kind, msgspec.inspect.UnionType):
        for member in kind.types:
            yield from _unknown_keys(value, member, keys)
    elif not isinstance(value, Mapping):
        return
    elif isinstance(kind, msgspec.inspect.StructType):
        fields = {field.encode_name: field.type for field in kind.fields}
        for key, inner in value.items():
            if key in fields:
                yield from _unknown_keys(inner, fields[key], (*keys, key))
            else:
                yield (
                    (*keys, key),
                    f"there is no such key{nearest(key, fields)} {_place(keys)} takes {_join_names(fields)}",
                )
    elif isinstance(kind, msgspec.inspect.DictType):
        for key, inner in value.items():
            yield from _unknown_keys(inner, kind.value_type, (*keys, key))


def _place(keys: Keys) -> str:
    return f"[{'.'.join(keys)}]" if keys else "The file"


def _join_names(names: Mapping[str, object]) -> str:
    return ", ".join(sorted(names))


def _in_words(what: str, keys: Keys) -> str:
    missing = re.search(r"missing required field `(\w+)`", what)
    if missing:
        return f"{missing[1]!r} is missing"
    choice = re.search(r"Invalid enum value '(.*)'", what)
    if choice:
        return f"{choice[1]!r} is none of its values{_choices(keys, choice[1])}"
    return what[0].lower() + what[1:].replace("`", "'")


def _choices(keys: Keys, given: str) -> str:
    kind: Any = msgspec.inspect.type_info(ExperimentConfig)
    for key in keys:
        if isinstance(kind, msgspec.inspect.UnionType):
            kind = next(member for member in kind.types if not isinstance(member, msgspec.inspect.NoneType))
        if isinstance(kind, msgspec.inspect.StructType):
            kind = next(field.type for field in kind.fields if field.encode_name == key)
        elif isinstance(kind, msgspec.inspect.DictType):
            kind = kind.value_type
    values = tuple(map(str, getattr(kind, "values", ())))
    return f"{nearest(given, values)} It takes {', '.join(values)}" if values else ""


def _describe_problem(where: str, text: str, keys: Keys, what: str) -> str:
    line = _line_of(text, keys)
    place = f"{where}:{line}" if line else where
    return f"{place}: {'.'.join(keys)}: {what}." if keys else f"{place}: {what}."


def _line_of(text: str, keys: Keys) -> int | None:
    """The line of a key: in its table's part of the file or, for a table, its header."""
    if not keys:
        return None
    table: Keys = ()
    for number, line in enumerate(text.splitlines(), 1):
        head = re.match(r"\s*\[+\s*([^\[\]]+?)\s*\]+", line)
        if head:
            table = tuple(part.strip().strip("\"'") for part in head[1].split("."))
            if table == keys:
                return number
        key = re.match(r"\s*[\"']?([A-Za-z0-9_.-]+)[\"']?\s*=", line)
        if key and (*table, *key[1].split(".")) == keys[: len(table) + len(key[1].split("."))]:
            return number
    return None
