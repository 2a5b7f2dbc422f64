"""Cards as plain text: a heading, then one line per field. Rules and guards need no quoting.

    # Large credit notes go to the finance lead
    when: A customer is to be refunded or gets a credit note.
    rule: Assign a credit note above 500 to finance-lead after creating it; leave smaller ones alone.
    guard: response(Office.create_note, Office.assign_owner) when Office.create_note[amount > 500]
    guard: absence(Office.assign_owner) when Office.create_note[amount <= 500]
    reason: Runs that leave large notes unassigned fail.

A line that starts with no field continues the one above; a leading `- ` is ignored. A field that takes several values
(guard, kind, completion, function, tag, replaces) may be repeated.
"""

from __future__ import annotations

import re
from typing import Any

from contramem.errors import UsageError

_FIELD = re.compile(r"(?:[-*]\s+)?\**([A-Za-z_]+)\**\s*:\**\s*(.*)")
_SINGULAR = {"guard": "guards", "kind": "kinds", "function": "functions", "tag": "tags"}
LISTS = frozenset({"guards", "kinds", "completion", "functions", "tags", "replaces"})


def read_card_text(text: str, where: str, fields: frozenset[str]) -> list[dict[str, Any]]:
    """The cards in a text, as plain values. Raises UsageError for a line that belongs to no card."""
    cards: list[dict[str, Any]] = []
    field = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            cards.append({"title": line.lstrip("#").strip()})
            field = ""
        elif line.strip():
            if not cards:
                raise UsageError(f"{where}:{number}: a card begins with its title, such as `# Count before releasing`.")
            field = _add_line(cards[-1], line.strip(), field, fields, f"{where}:{number}")
    return cards


def _add_line(card: dict[str, Any], line: str, field: str, fields: frozenset[str], where: str) -> str:
    """Add a line to the card. Returns the field that it belongs to."""
    match = _FIELD.fullmatch(line)
    name = _SINGULAR.get(match[1].lower(), match[1].lower()) if match else ""
    if match and name in fields:
        if name in LISTS:
            card.setdefault(name, []).extend([match[2]] if match[2] else [])
        else:
            card[name] = f"{card[name]} {match[2]}" if name in card else match[2]
        return name
    if not field:
        raise UsageError(f"{where}: {line!r} begins with no field. Write `when: ...`, `rule: ...` or `guard: ...`.")
    if field in LISTS and (not card[field] or re.match(r"[-*]\s", line)):
        card[field].append(re.sub(r"^[-*]\s+", "", line))
    elif field in LISTS:
        card[field][-1] += f" {line}"
    else:
        card[field] = f"{card[field]} {line}".strip()
    return field
