"""Runs as the rest of contramem may see them: no hidden characters, and labels and names that are short.

A trace is written by whoever ran the agent, by the tools it talked to and by whoever could write to those. This is the
one door through which runs come in. What of them may be read is decided later, where all runs are at hand (privacy/).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from contramem.errors import TraceError
from contramem.privacy.personal import find_personal
from contramem.privacy.secrets import find_secrets, has_issued, is_secret_name
from contramem.traces.characters import has_hidden, remove_hidden, undo_escapes
from contramem.traces.trajectory import Trajectory, digest

MAX_INTEGER = 2**63
MIN_KEPT_CHARS, MAX_KEPT_CHARS = 100, 20_000
"""Shorter texts are cleaned in a moment, longer ones would fill the memory: neither is cached."""


class _Form(NamedTuple):
    """What a name or label may be; another text is named by a digest, so that what has it in common stays together."""

    name: str
    pattern: re.Pattern[str]
    max_chars: int
    max_words: int
    """However they are joined: more are a sentence."""
    digest_chars: int = 6


_WORDS = r"[^\W_][\w.:/+#&()@,=~$-]*(?: [\w.:/+#&()@,=~$-]+)"
_LABEL = _Form("label", re.compile(_WORDS + "{0,3}"), 60, 10)
_ABILITY = _LABEL._replace(max_words=6)
_KEY = _Form("key", re.compile(r"[\w.:/+#&()@,=~%*|'\[\]-]+(?: [\w.:/+#&()@,=~%*|'\[\]-]+){0,3}"), 120, 12, 12)
_NAME = _Form("unnamed", re.compile(r"[\w.:/@$-]+"), 80, 8)
_FIELD = _Form("field", re.compile(r"[\w.:/+#&()@,~%*?|'$-]+(?: [\w.:/+#&()@,~%*?|'$-]+){0,2}"), 60, 8)
_FILE = _Form("file", re.compile(r"[^\n<>{}\[\]|?]+"), 500, 16)
_LABELS: dict[str, _Form] = {
    "ability": _ABILITY, "scenario_id": _LABEL, "source": _LABEL, "run": _LABEL, "task_id": _KEY, "environment": _KEY,
}  # fmt: skip
_COUNTS = ("model_calls", "tokens_in", "tokens_out")


@lru_cache(maxsize=1 << 15)  # the same few names stand in every run
def _clean_label(text: str, form: _Form) -> str:
    """The text, if it has the form and names neither a secret nor anybody; else a digest."""
    label = " ".join(remove_hidden(text).split())
    if not label:
        return label
    is_short = len(label) <= form.max_chars and form.pattern.fullmatch(label) is not None and not has_hidden(text)
    if is_short and len(_LETTERS.findall(label)) <= form.max_words and not _names_one(label, form):
        return label
    return f"{form.name}-{digest(text)[: form.digest_chars]}"


_LETTERS = re.compile(r"[A-Z]?[^\W\d_A-Z]{2,}|[A-Z]{2,}")
_NUMBER_IN_NAME = re.compile(
    r"(?<![A-Za-z\d])(?!(?:19|20)\d\d)\d{4}|(?<![A-Za-z\d])(?:[A-Z]+\d+[A-Z]+\d|\d+[A-Z]+\d+[A-Z])"
)
"""Of what is called by name: a long number that is no year, or one that letters and digits make up."""


def _names_one(label: str, form: _Form) -> bool:
    """Does a name hold a secret, the number of somebody, or in the name of a function or field any long number? Signs
    that join words may stand for any other."""
    if unicodedata.normalize("NFKC", label) != label or has_issued(label):
        return True
    readings = (
        {label, re.sub(r"[_-]", " ", label), label.replace("-", " ").replace("_", "-")}
        if form is not _FILE
        else {label}
    )
    if any(any(True for _ in find_personal(each)) or any(True for _ in find_secrets(each)) for each in readings):
        return True
    is_called = form in (_NAME, _FIELD, _ABILITY)
    return is_called and (_NUMBER_IN_NAME.search(label) is not None or "=" in label)


def plain_label(text: str) -> str:
    """The name of a model, an agent, a trial, an ability: a few words."""
    return _clean_label(text, _LABEL)


def plain_key(text: str) -> str:
    """The id of a task."""
    return _clean_label(text, _KEY)


def plain_field(name: str) -> str:
    """The name of an argument or of a field of a result."""
    field = _clean_label(name, _FIELD)
    return digest_field(name) if field.startswith("field-") and field != name else field


def digest_field(name: str) -> str:
    """A digest that still says whether the field holds a secret."""
    return f"{'secret' if is_secret_name(name) else 'field'}_{digest(name)[:6]}"


def plain_name(name: str) -> str:
    """The name of a function: what a program could call."""
    app, dot, function = name.partition(".")
    return dot.join(
        _clean_label(part, _NAME).replace("unnamed-", "unnamed_") for part in (app, function) if part or not dot
    )


def plain_file(path: str) -> str:
    """Where a run was read. A part of the path that names somebody is named by a digest."""
    parts = re.split(r"([/\\!])", path)
    return "".join(_clean_label(part, _FILE) if part.strip() else part for part in parts) if len(path) < 2_000 else ""


def sanitize(run: Trajectory) -> Trajectory:
    """The run without what no reader may get. Raises TraceError for one that cannot be stored."""
    if _is_clean(run):
        return run
    fields = msgspec.to_builtins(run)
    cleaned = _clean(fields)
    for event in cleaned["events"]:
        event["function"] = _if_text(plain_name, event.get("function", ""))
        if event.get("arguments"):
            event["arguments"] = _plain_fields(event["arguments"])
        if event.get("result"):
            event["result"]["content"] = _plain_fields(event["result"].get("content"))
    for tool in cleaned.get("tools", ()):
        tool["function"] = _if_text(plain_name, tool["function"])
    for key, form in _LABELS.items():
        if cleaned.get(key) and isinstance(cleaned[key], str):
            cleaned[key] = _clean_label(_storable(undo_escapes(fields[key].strip("\ufeff"))), form)
    origin = cleaned["origin"]
    origin["file"] = _if_text(plain_file, origin["file"])
    if origin.get("position"):
        origin["position"] = _if_text(plain_key, origin["position"])
    if cleaned == fields:
        return run
    try:
        return msgspec.convert(cleaned, Trajectory, strict=True)
    except msgspec.ValidationError as error:
        raise TraceError(
            f"contains a value that no run can have ({error})", "Is a number or a position out of range?"
        ) from error


# Whatever is not found by this one look at the whole run needs no closer one: most runs are as they should be.
_SUSPECT = re.compile(rb"\\[bfur]|[\x7f-\xff]|[:,\[]-?\d{19}")
_FIELD_NAMES = re.compile(rb'"((?:[^"\\]|\\.)*+)":')


def _is_clean(run: Trajectory) -> bool:
    try:
        written = msgspec.json.encode(run)
    except (UnicodeEncodeError, OverflowError, ValueError):
        return False
    labels = [(getattr(run, key), form) for key, form in _LABELS.items() if getattr(run, key)]
    labels += [(run.origin.position, _KEY)] if run.origin.position else []
    names = {event.function for event in run.events} | {tool.function for tool in run.tools}
    if not all(isinstance(text, str) for text in (*names, run.origin.file, *(label for label, _ in labels))):
        return False  # nothing checks the types of a struct when it is made
    return (
        not _SUSPECT.search(written)
        and all(_clean_label(label, form) == label for label, form in labels)
        and all(plain_name(name) == name for name in names)
        and plain_file(run.origin.file) == run.origin.file
        and all(_is_plain_field(field) for field in set(_FIELD_NAMES.findall(written)))
    )


@lru_cache(maxsize=1 << 16)
def _is_plain_field(written: bytes) -> bool:
    return b"\\" not in written and plain_field(name := written.decode()) == name


def _if_text(clean: Callable[[str], str], value: Any) -> Any:
    return clean(value) if isinstance(value, str) else value


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
            _clean_field(key): None if key in _COUNTS and _is_too_large(child) else _clean(child)
            for key, child in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_clean(child) for child in value]
    return str(value) if _is_too_large(value) else value


def _clean_text(text: str) -> str:
    return _storable(remove_hidden(undo_escapes(text)))


_clean_once = lru_cache(maxsize=1024)(_clean_text)  # runs of one task mostly read the same results


def _clean_field(key: str) -> str:
    """The name of a field; a digest if something is hidden in it."""
    name = _storable(undo_escapes(key))
    return f"field_{digest(name)[:6]}" if has_hidden(name) else name


def _storable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _is_too_large(value: object) -> bool:
    return isinstance(value, int) and not -MAX_INTEGER <= value < 2 * MAX_INTEGER
