"""How memories that are no bank of cards are put before an agent: one text, at task start."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from contramem.evaluate.conditions.masked import own_names
from contramem.inject.aid import TextRun
from contramem.prompts import render
from contramem.traces.trajectory import Tool

TEMPLATE = "evaluate/conditions/prompts/shown.jinja"


@dataclass(frozen=True)
class Asked:
    """The task that a run begins at."""

    task: str
    ability: str | None = None
    own: frozenset[str] = frozenset()
    """What gives away that something was learned from this very task."""


@dataclass(frozen=True)
class TextAid:
    """Gives each task the text that `write` has for it."""

    write: Callable[[Asked], str]

    def start(
        self,
        task: str,
        *,
        ability: str | None = None,
        apps: Iterable[str] | None = None,
        tools: Iterable[str | Tool] | None = None,
        task_id: str | None = None,
        scenario_id: str | None = None,
        run_id: str | None = None,
    ) -> TextRun:
        return TextRun.of(self.write(Asked(task, ability, own_names(task, task_id, scenario_id))))


def shown_text(title: str, entries: Sequence[str]) -> str:
    """The entries under their title, with the policy that cards are shown with. Without entries, nothing."""
    return render(TEMPLATE, title=title, entries=entries).text.strip() if entries else ""
