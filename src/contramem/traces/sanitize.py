"""Runs as the rest of contramem may see them: no hidden characters, no labels or names that are sentences or secrets.

A trace is written by whoever ran the agent, by the tools it talked to and by whoever could write to those. This is the
one door through which runs come in, so what is taken out here cannot reach a bank, a prompt or a report. Secrets in
values are masked by secrets.py, where all runs of a task are at hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec
from ahocorasick_rs import BytesAhoCorasick

from contramem.errors import TraceError
from contramem.traces.characters import has_hidden, remove_hidden, undo_escapes
from contramem.traces.plain_names import (
    MAX_FIELD_CHARS,
    digest_field,
    plain_ability,
    plain_argument,
    plain_environment,
    plain_field,
    plain_file,
    plain_key,
    plain_label,
    plain_name,
    plain_source,
)
from contramem.traces.secrets import mask_name
from contramem.traces.trajectory import Trajectory

MAX_INTEGER = 2**63
MIN_KEPT_CHARS, MAX_KEPT_CHARS = 100, 20_000
"""Shorter texts are cleaned in a moment, longer ones would fill the memory: neither is cached."""

_LABELS: dict[str, Callable[[str], str]] = {
    "ability": plain_ability,
    "scenario_id": plain_label,
    "source": plain_source,
    "run": plain_source,
    "task_id": plain_key,
    "environment": plain_environment,
}
_COUNTS = ("model_calls", "tokens_in", "tokens_out")


def sanitize(run: Trajectory) -> Trajectory:
    """The run without what no reader may get. Raises TraceError for one that cannot be stored."""
    if _is_clean(run):
        return run
    fields = msgspec.to_builtins(run)
    cleaned = _clean(fields)
    for event in cleaned["events"]:
        event["function"] = _if_text(plain_name, event.get("function", ""))
        if event.get("arguments"):
            event["arguments"] = {
                plain_argument(name): _plain_fields(value) for name, value in event["arguments"].items()
            }
        if event.get("result"):
            event["result"]["content"] = _plain_fields(event["result"].get("content"))
    for tool in cleaned.get("tools", ()):
        tool["function"] = _if_text(plain_name, tool["function"])
    for key, clean in _LABELS.items():
        if cleaned.get(key) and isinstance(cleaned[key], str):
            cleaned[key] = clean(_read(fields[key]))
    cleaned["origin"]["file"] = _if_text(plain_file, cleaned["origin"]["file"])
    if cleaned["origin"].get("position"):
        cleaned["origin"]["position"] = _if_text(plain_key, cleaned["origin"]["position"])
    if cleaned == fields:
        return run
    try:
        return msgspec.convert(cleaned, Trajectory, strict=True)
    except msgspec.ValidationError as error:
        raise TraceError(
            f"contains a value that no run can have ({error})", "Is a number or a position out of range?"
        ) from error


def _read(label: str) -> str:
    """A label with its hidden characters: it is named by a digest if it has any, because what they leave may be the
    part that somebody wanted to arrive."""
    return _storable(undo_escapes(label.strip("\ufeff")))


def _if_text(clean: Callable[[str], str], value: Any) -> Any:
    return clean(value) if isinstance(value, str) else value


# Whatever is not found by this one look at the whole run needs no closer one: most runs are as they should be.
_SUSPECT = re.compile(
    rb"\\[bfur]|[\x7f-\xff]|[:,\[]-?\d{19}|AKIA|ASIA|gh[pousr]_|xox|AIza|glpat|hf_|eyJ|[^a-z][spr]k[-_]|ya29|npm_|pypi-"
    rb"|SG\.|PRIVATE KEY|:\\\\+Users"
    # the name of a field that is no name: long, a sentence, a path or an address
    rb"|[{,]\"[^\"\\]*\\[nt\\\"/]"
    rb"|\"[^\"\\]{61,}\":|\"[^\"\\ ]+ [^\"\\ ]+ [^\"\\ ]+ [^\"\\]+\":|\"[^\"\\]*(?:[@<>{}\[\]=]|://|/home/|/Users/|\d\.\d+\.\d|\d{9})[^\"\\]*\":"
)


# Searching for these is far quicker than for the pattern. Where one occurs, the pattern matches; where none does, and
# all names of fields are plain, it can match only what the patterns below look for.
_MARKS = BytesAhoCorasick(
    [
        *(rb"\b", rb"\f", rb"\u", rb"\r", b"\x7f", b"AKIA", b"ASIA", b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"),
        *(b"xox", b"AIza", b"glpat", b"hf_", b"eyJ", b"ya29", b"npm_", b"pypi-", b"SG.", b"PRIVATE KEY"),
    ]
)
# These begin with one fixed character, so that the search leaps from one such character to the next.
_MARK_OF_KEY = re.compile(rb"k[-_](?<=[^a-z][spr]k.)")
_ESCAPE_IN_NAME = re.compile(rb"\"(?<=[{,]\")[^\"\\]*\\[nt\\\"/]")
_DIGITS_AS_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_NINETEEN_DIGITS = b"0" * 19
_LONG_INTEGER = re.compile(rb"[:,\[]-?\d{19}")
_FIELD_NAMES = re.compile(rb'"([^"\\]*+)":')
_PLAIN_FIELD = re.compile(rb"(?!.*\d{9})(?!.*\d\.\d)[\w\-.]{0,60}(?: [\w\-.]{1,20}){0,2}")
_plain_fields_seen: set[bytes] = set()
MAX_FIELDS_SEEN = 1 << 16


def _is_suspect(written: bytes) -> bool:
    """Does the pattern find something? Asked only where a quicker look does not answer."""
    if not written.isascii() or _MARKS.find_matches_as_indexes(written):
        return True
    is_odd = b"Users" in written
    for field in {*_FIELD_NAMES.findall(written)} - _plain_fields_seen:
        if plain_field(name := field.decode()) != name:
            return True
        if len(field) > MAX_FIELD_CHARS or not _PLAIN_FIELD.fullmatch(field):
            is_odd = True
        elif len(_plain_fields_seen) < MAX_FIELDS_SEEN:
            _plain_fields_seen.add(field)
    is_odd = (
        is_odd
        or _MARK_OF_KEY.search(written) is not None
        or _ESCAPE_IN_NAME.search(written) is not None
        or (_NINETEEN_DIGITS in written.translate(_DIGITS_AS_ZEROS) and _LONG_INTEGER.search(written) is not None)
    )
    return is_odd and _SUSPECT.search(written) is not None


def _is_clean(run: Trajectory) -> bool:
    try:
        written = msgspec.json.encode(run)
    except (UnicodeEncodeError, OverflowError, ValueError):
        return False
    labels = {key: label for key in _LABELS if (label := getattr(run, key))}
    names = {event.function for event in run.events} | {tool.function for tool in run.tools}
    arguments = {name for event in run.events for name in event.arguments}
    if not all(isinstance(text, str) for text in (*labels.values(), *names, run.origin.file, run.origin.position)):
        return False  # nothing checks the types of a struct when it is made
    return (
        not _is_suspect(written)
        and all(_LABELS[key](label) == label for key, label in labels.items())
        and all(plain_name(name) == name for name in names)
        and all(plain_argument(name) == name for name in arguments)
        and plain_file(run.origin.file) == run.origin.file
        and (not run.origin.position or plain_key(run.origin.position) == run.origin.position)
    )


def _plain_fields(value: Any) -> Any:
    if isinstance(value, dict):
        return {plain_field(key): _plain_fields(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_plain_fields(child) for child in value]
    return value


def _clean(value: Any) -> Any:
    """Without hidden characters, halves of surrogate pairs, and integers that nothing can store."""
    if isinstance(value, str):
        return _clean_once(value) if MIN_KEPT_CHARS <= len(value) <= MAX_KEPT_CHARS else _clean_text(value)
    if isinstance(value, dict):
        return {
            _clean_key(key): None if key in _COUNTS and _is_too_large(child) else _clean(child)
            for key, child in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_clean(child) for child in value]
    return str(value) if _is_too_large(value) else value


def _clean_text(text: str) -> str:
    return _storable(remove_hidden(undo_escapes(text)))


_clean_once = lru_cache(maxsize=1024)(_clean_text)  # runs of one task mostly read the same results


@lru_cache(maxsize=8192)  # the same few names stand in every run
def _clean_key(key: str) -> str:
    """The name of a field; a digest if something is hidden in it."""
    name = _read(key)
    return digest_field(name) if has_hidden(name) else mask_name(name)


def _storable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _is_too_large(value: object) -> bool:
    return isinstance(value, int) and not -MAX_INTEGER <= value < 2 * MAX_INTEGER
