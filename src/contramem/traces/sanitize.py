"""Runs as the rest of contramem may see them: no hidden characters, no labels or names that are sentences or secrets.

A trace is written by whoever ran the agent, by the tools it talked to and by whoever could write to those. This is the
one door through which runs come in, so what is taken out here cannot reach a bank, a prompt or a report. Secrets in
values are masked by secrets.py, where all runs of a task are at hand.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from contramem.errors import TraceError
from contramem.traces.characters import remove_hidden
from contramem.traces.effects import words
from contramem.traces.secrets import mask_name
from contramem.traces.trajectory import Trajectory, digest

MAX_LABEL_CHARS = 40
MAX_LABEL_WORDS = 4
MAX_NAME_CHARS = 80
MAX_NAME_WORDS = 8
MAX_INTEGER = 2**63

_LABEL = re.compile(r"[^\W_][\w .:/+#&-]*")
_NAME = re.compile(r"[\w.:/@$-]+")
_LABELS = ("ability", "scenario_id")
_COUNTS = ("model_calls", "tokens_in", "tokens_out")


def sanitize(run: Trajectory) -> Trajectory:
    """The run without what no reader may get. Raises TraceError for one that cannot be stored."""
    if _is_clean(run):
        return run
    fields = msgspec.to_builtins(run)
    cleaned = _clean(fields)
    for event in cleaned["events"]:
        event["function"] = plain_name(event.get("function", ""))
    for tool in cleaned.get("tools", ()):
        tool["function"] = plain_name(tool["function"])
    for key in _LABELS:
        if cleaned.get(key):
            cleaned[key] = plain_label(cleaned[key])
    if cleaned == fields:
        return run
    try:
        return msgspec.convert(cleaned, Trajectory, strict=True)
    except msgspec.ValidationError as error:
        raise TraceError(f"holds what no run has ({error})", "Is a number or a position out of range?") from error


# Whatever is not found by this one look at the whole run needs no closer one: most runs are as they should be.
_SUSPECT = re.compile(
    rb"\\[bfur]|[\x7f-\xff]|[:,\[]-?\d{19}|AKIA|ASIA|gh[pousr]_|xox|AIza|glpat|hf_|eyJ|[^a-z][spr]k[-_]|ya29|npm_|pypi-"
    rb"|SG\.|PRIVATE KEY"
)


def _is_clean(run: Trajectory) -> bool:
    try:
        written = msgspec.json.encode(run)
    except (UnicodeEncodeError, OverflowError, ValueError):
        return False
    labels = [label for label in (run.ability, run.scenario_id) if label]
    names = {event.function for event in run.events}
    return (
        not _SUSPECT.search(written)
        and all(plain_label(label) == label for label in labels)
        and all(plain_name(name) == name for name in names)
    )


def plain_label(text: str) -> str:
    """A label as it may stand beside our own words: a few plain words. Any other text is named by a digest, so that
    runs of one label stay together though nobody reads it."""
    label = " ".join(remove_hidden(text).split())
    if len(label) <= MAX_LABEL_CHARS and len(label.split()) <= MAX_LABEL_WORDS and _LABEL.fullmatch(label):
        return label
    return f"label-{digest(text)[:6]}"


def plain_name(name: str) -> str:
    """The name of a function: what a program could call. One that is a sentence is named by a digest."""
    app, dot, function = name.partition(".")
    return f"{_plain_part(app)}{dot}{_plain_part(function)}"


def _plain_part(part: str) -> str:
    part = mask_name(part)
    if not part or (len(part) <= MAX_NAME_CHARS and len(words(part)) <= MAX_NAME_WORDS and _NAME.fullmatch(part)):
        return part
    return f"unnamed_{digest(part)[:6]}"


def _clean(value: Any) -> Any:
    """Without hidden characters, halves of surrogate pairs, and integers that nothing can store."""
    if isinstance(value, str):
        return _storable(remove_hidden(value))
    if isinstance(value, dict):
        return {
            mask_name(_storable(remove_hidden(key))): None if key in _COUNTS and _is_too_large(child) else _clean(child)
            for key, child in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_clean(child) for child in value]
    return str(value) if _is_too_large(value) else value


def _storable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _is_too_large(value: object) -> bool:
    return isinstance(value, int) and not -MAX_INTEGER <= value < 2 * MAX_INTEGER
