"""Renders memories other than cards for an agent."""

from __future__ import annotations

from collections.abc import Sequence

from contramem.prompts import render

TEMPLATE = "conditions/prompts/shown.jinja"


def render_entries(title: str, entries: Sequence[str]) -> str:
    """The entries under a title, with the same policy as for cards; empty without entries."""
    return render(TEMPLATE, "contramem_lab", title=title, entries=entries).text.strip() if entries else ""
