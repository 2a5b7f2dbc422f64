"""Errors of a function as a card may show them: one template per complaint, its count, and what helped.

The text of an error was written by whatever the agent talked to, so it is untrusted: contrast/repeatable.py decides
what may be quoted of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from contramem.build.functions.calls import Calls, tasks
from contramem.contrast.observation import Observation
from contramem.contrast.permitted import find_allowed_values
from contramem.contrast.placeholder_types import names_where
from contramem.contrast.repeatable import MIN_LITERAL_WORDS, PLACEHOLDER, count_own_words, quote_refusal
from contramem.contrast.values import TIME_PATTERN
from contramem.contrast.vocabulary import scalars

_TELLING = frozenset({"<DATE>", *(f"<{name}>" for name in names_where(lambda type_: type_.is_certain))})
"""Types whose name in a message is always right; for others it depends on where the value was first seen."""
_TIME = re.compile(TIME_PATTERN, re.IGNORECASE)
_QUOTE = re.compile(r"(['\"])([^'\"]{1,40})\1")
_NUMBER = re.compile(r"(?<![\w<%.])-?\d(?:[\d,.]*\d)?(?![\w>])(?! (?:validation|required|positional|missing)\b)")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+(?=\S)|(?<=[。！？])|\s*[;\n]|\s/\s")
_QUOTED_WORDS = re.compile(
    r"(?<![\w>)])(['\"`])[^\s'\"`]+(?:\s+[^\s'\"`]+){2,}\1(?!\w)|«[^«»]*»|“[^“”]*\s[^“”]*\s[^“”]*”"
)
"""Several words that a message quotes are somebody's, and no name of an argument or a class."""
# Pydantic's format: a title, then field, complaint and value, one per line.
_VALIDATOR = re.compile(r"^.*?\d+ validation errors? for .*? / ([\w.]+) / ([^\[\]/]+?)\s*(?:\[type=.*)?$")
_VALIDATED = re.compile(r"(?<=: )<\w+>(?= should be)")
_ASKING = re.compile(r"(?:\w+: )?please (?:provide|specify|give|supply|enter)\b(?P<rest>.{3,100})$", re.IGNORECASE)
_ASKING_WORDS = frozenset(
    "all the a an and or both either at least one of valid required missing following field fields argument arguments "
    "parameter parameters value values".split()
)


@dataclass(frozen=True)
class Complaint:
    """One way in which calls failed."""

    text: str
    """The text to quote; empty if it must not be quoted."""
    calls: Sequence[Observation]


def complaints(calls: Calls) -> list[Complaint]:
    """The ways in which calls of a function failed, most frequent first; those that must not be quoted count as one."""
    groups = _merge_complaints(calls.failed)
    quotable: list[Complaint] = []
    unquoted: list[Observation] = []
    for text, members in groups.items():
        asked = text if _asks_for_arguments(text, calls.argument_names) else ""
        if quoted := quote_refusal(text, tasks(members), calls.interface) or asked:
            quotable.append(Complaint(quoted, members))
        else:
            unquoted += members
    if unquoted:
        quotable.append(Complaint("", unquoted))
    return sorted(quotable, key=lambda complaint: (-len(complaint.calls), complaint.text))


def _asks_for_arguments(template: str, arguments: Sequence[str]) -> bool:
    """`Please provide all required fields: name, status` addresses its reader, but only about the function's own
    arguments: that is a contract, not an instruction."""
    match = _ASKING.match(template)
    if match is None:
        return False
    asked = set(re.findall(r"\w+", match["rest"])) - {"VALUE", "TEXT", "NAME"}
    return not asked.isdisjoint(arguments) and asked <= {*arguments, *_ASKING_WORDS}


@lru_cache(maxsize=4096)  # tools say the same again and again
def generalize(template: str) -> str:
    """The first sentence of a message, without dates, numbers and placeholder types that may be wrong."""
    template = _VALIDATOR.sub(r"\1: \2", template)
    if permitted := find_allowed_values(template):  # the card lists them with the argument
        template = f"{template[: permitted.start]}<VALUE>{template[permitted.end :]}"
    template = _VALIDATED.sub("Input", template)
    template = _QUOTED_WORDS.sub("<VALUE>", template)
    first = _SENTENCE_END.split(template.strip(), maxsplit=1)[0].strip()
    # `may` is a month and a verb: outside quotes, a date must contain digits.
    dated = _QUOTE.sub(lambda match: f"{match[1]}<DATE>{match[1]}" if _TIME.search(match[2]) else match[0], first)
    dated = _TIME.sub(lambda match: "<DATE>" if re.search(r"\d", match[0]) else match[0], dated)
    typed = PLACEHOLDER.sub(
        lambda match: match[0] if match[0] in _TELLING else "<VALUE>", _NUMBER.sub("<VALUE>", dated)
    )
    return re.sub(r"<VALUE>(?:[ ,]*<VALUE>)+", "<VALUE>", typed)


def _template(call: Observation) -> str:
    """The complaint of a call without words from its own arguments: words of closed vocabularies stay readable in
    arguments, but they are values here."""
    text = call.error
    given = {value for _, value in scalars(call.arguments) if isinstance(value, str) and len(value) > 1}
    for value in sorted(given, key=lambda value: (-len(value), value)):
        if value in text and not PLACEHOLDER.fullmatch(value):
            text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "<VALUE>", text)
    return generalize(text)


def _merge_complaints(failed: Sequence[Observation]) -> dict[str, list[Observation]]:
    """Failed calls by complaint. `<VALUE> not found` and `Channel <ID> not found` are the same: what is a value in one
    task may be part of the wording in another."""
    groups: dict[str, list[Observation]] = {}
    for call in failed:
        groups.setdefault(_template(call), []).append(call)
    # Most general first, so that it absorbs the others.
    for general in sorted(groups, key=lambda text: (count_own_words(text), text)):
        if general not in groups or count_own_words(general) < MIN_LITERAL_WORDS + 1 or not PLACEHOLDER.search(general):
            continue
        pattern = _matching(general)
        alike = [text for text in groups if pattern.fullmatch(text)]
        members = [call for text in alike for call in groups.pop(text)]
        groups[_representative(alike, members, general)] = members
    return groups


def _matching(general: str) -> re.Pattern[str]:
    parts = [re.escape(part.strip()) for part in PLACEHOLDER.split(general)]
    return re.compile(r"\s*.{0,40}?\s*".join(parts))


def _representative(alike: Sequence[str], members: Sequence[Observation], general: str) -> str:
    """The most informative wording among those that more than one task showed."""
    seen = Counter(text for text, _ in {(_template(call), call.task_key) for call in members})
    # A wording without a placeholder contains a value where the others have one.
    shared = [text for text in alike if seen[text] >= 2 and PLACEHOLDER.search(text)]
    return min(shared, key=lambda text: (-count_own_words(text), -text.count("<VALUE>"), text), default=general)


def quote_complaint(refused: Sequence[Observation], calls: Calls) -> str:
    """The complaint of most of the calls, in brackets; empty if it must not be quoted."""
    places = {(call.task_key, call.cite) for call in refused}
    met = [(sum((c.task_key, c.cite) in places for c in group.calls), group.text) for group in complaints(calls)]
    count, text = max(met, key=lambda item: (item[0], item[1]), default=(0, ""))
    return f' ("{text}")' if text and count * 2 >= len(refused) else ""
