"""A preview of guidance: what an agent would get for a request and before a call, which cards, why, and what not."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

from contramem.errors import UsageError
from contramem.inject.explain import explain_guidance
from contramem.server.listing import export_rows
from contramem.server.pages import Visit

MAX_TASK_CHARS = 20_000


def preview(visit: Visit) -> Response:
    """Ask as an agent would. Nothing is logged, and no run is kept."""
    task, function = visit.query("task")[:MAX_TASK_CHARS], visit.query("function").strip()
    memory, ability = visit.project.memory()[1].without_log(), visit.query("ability") or None
    if not task:
        return visit.page("preview.html", run=None, task="", function="", given=None, cards=[], problem="", broken=())
    run, problem, arguments = memory.start(task, ability=ability), "", dict[str, Any]()
    try:
        arguments = _arguments(visit.query("arguments"))
    except UsageError as error:
        problem = str(error)
    broken = run.would_break(function, arguments) if function and not problem else ()
    given = run.before_call(function, arguments) if function and not problem else None
    cards = explain_guidance(run)
    if visit.query("format") in ("csv", "json"):
        return export_rows(visit.query("format"), "preview", cards)
    return visit.page(
        "preview.html", run=run, task=task, function=function, given=given, cards=cards, problem=problem, broken=broken
    )


def _arguments(text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text or "{}")
    except ValueError as error:
        raise UsageError(f"The arguments aren't JSON ({error}).") from None
    if not isinstance(arguments, dict):
        raise UsageError('The arguments have to be a JSON object, such as {"ticket_id": 7}.')
    return arguments
