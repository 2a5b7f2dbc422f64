"""Data flow: where had the value of an argument been seen before the call? A value seen nowhere was made up.

Only values that could not stand there by chance are traced: a `2` or a `yes` is everywhere.
"""

from __future__ import annotations

from contramem.contrast.form import parse
from contramem.contrast.vocabulary import scalars
from contramem.traces.trajectory import Event

TASK, USER, NOWHERE = "task", "user", "nowhere"
MIN_TRACED_CHARS = 3


class Flow:
    """What one run has seen so far, event by event."""

    def __init__(self, task: str) -> None:
        self._task = task
        self._seen: list[tuple[str, str]] = [(TASK, task.lower())]

    def observe(self, event: Event) -> None:
        """Take in what an event showed to the agent."""
        if event.result is not None and event.function:
            content = event.result.content
            # Structured results are searched in the text of their values: a repr would add quotes and braces.
            text = content if isinstance(content, str) else "\n".join(str(leaf.value) for leaf in parse(content).leaves)
            if text:
                self._seen.append((event.function, text.lower()))
        elif event.text and event.actor != "agent" and event.text != self._task:
            self._seen.append((USER if event.actor == "user" else event.actor, event.text.lower()))

    def origins(self, event: Event) -> dict[str, str]:
        """For each argument of a call the latest place its value was seen in; arguments too short to tell are absent.

        A list has the origin of its least known item: one invented recipient makes the recipients invented.
        """
        found: dict[str, str] = {}
        for name, value in event.arguments.items():
            for _, scalar in scalars(value):
                text = str(scalar).lower().strip() if isinstance(scalar, (str, int, float)) else ""
                if len(text) >= MIN_TRACED_CHARS and not isinstance(scalar, bool) and found.get(name) != NOWHERE:
                    found[name] = self._origin(text)
        return found

    def _origin(self, text: str) -> str:
        for place, seen in reversed(self._seen):
            if text in seen:
                return place
        return NOWHERE
