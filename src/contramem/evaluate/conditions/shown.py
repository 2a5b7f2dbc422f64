"""The words in which memories that are no bank of cards are put before an agent."""

from __future__ import annotations

from collections.abc import Sequence

from contramem.prompts import render

TEMPLATE = "evaluate/conditions/prompts/shown.jinja"


def render_entries(title: str, entries: Sequence[str]) -> str:
    """The entries under their title, with the policy that cards are shown with. Without entries, nothing."""
    return render(TEMPLATE, title=title, entries=entries).text.strip() if entries else ""
