"""Cards as plain text: nothing needs quotes, and what is wrong is told with its line."""

from __future__ import annotations

import pytest

from contramem.errors import UsageError
from contramem.study.card_text import read_card_text

FIELDS = frozenset({"title", "when", "rule", "guards", "reason", "kinds"})


def test_a_card_is_a_heading_and_its_fields() -> None:
    text = """# Assign large notes
when: A customer gets a "credit note": now.
rule: Assign it to finance-lead;
  leave smaller ones alone.
guard: response(A.note, A.assign) when A.note[amount > 500]
- guard: absence(A.assign) when A.note[amount <= 500]

## Another
**When:** An order.
Rule: Release it.
Guards:
- precedence(A.count, A.release)
- covers(A.order.sku, A.count.sku)
  when A.release
"""
    first, second = read_card_text(text, "cards.md", FIELDS)
    assert first == {
        "title": "Assign large notes",
        "when": 'A customer gets a "credit note": now.',
        "rule": "Assign it to finance-lead; leave smaller ones alone.",
        "guards": [
            "response(A.note, A.assign) when A.note[amount > 500]",
            "absence(A.assign) when A.note[amount <= 500]",
        ],
    }
    assert second["when"] == "An order."
    assert second["guards"] == ["precedence(A.count, A.release)", "covers(A.order.sku, A.count.sku) when A.release"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("when: An order.", "cards.md:1: a card begins with its title"),
        ("# Count first\n\nAn order is released.", "cards.md:3: .An order is released.. begins with no field"),
    ],
)
def test_a_line_that_belongs_nowhere_is_told_with_its_number(text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        read_card_text(text, "cards.md", FIELDS)
