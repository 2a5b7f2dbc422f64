"""Workflows by a model: one call for all demonstrations of an ability, then a check that needs no model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from contramem.bank.card import Line, Strict
from contramem.build.model.replies import parse_reply
from contramem.contrast.instructions import overrides
from contramem.prompts import fence
from contramem_lab.conditions.asking import Asking, Work, converse
from contramem_lab.conditions.awm import MIN_ACTIONS, Workflow
from contramem_lab.conditions.masked import MaskedRun


class WorkflowText(Strict):
    about: Line
    actions: tuple[Line, ...]
    demonstrations: Annotated[tuple[int, ...], Field(min_length=1)]


class InducerReply(Strict):
    workflows: tuple[WorkflowText, ...]


def induce_by_model(
    demonstrations: Mapping[str, Sequence[Sequence[MaskedRun]]], model: Asking
) -> dict[str, list[Workflow]]:
    """Workflows by ability. Abilities are asked about in parallel."""
    works = [
        _induce(ability, [run for task in tasks for run in task], model) for ability, tasks in demonstrations.items()
    ]
    return dict(zip(demonstrations, model.side_by_side(works), strict=True))


def _induce(ability: str, runs: Sequence[MaskedRun], model: Asking) -> Work[list[Workflow]]:
    demonstrations = "\n\n".join(_demonstration(number, run) for number, run in enumerate(runs, 1))
    request = model.request(
        "awm_inducer",
        "builder",
        ability,
        InducerReply,
        ability=fence("ability", ability),
        demonstrations=fence("runs", demonstrations),
    )
    reply = yield from converse(request, lambda text: parse_reply(text, InducerReply))
    checked = (_check_workflow(text, runs) for text in reply.workflows) if reply else ()
    return [workflow for workflow in checked if workflow is not None]


def _demonstration(number: int, run: MaskedRun) -> str:
    # Actions and the shape of their results, without the outcome of the run.
    return "\n".join([f"Run {number}. Task: {run.task}", *run.lines])


_CALLED = re.compile(r"\s*([\w.\-]+)\(")


def _check_workflow(text: WorkflowText, runs: Sequence[MaskedRun]) -> Workflow | None:
    """None if it is too short, names a function that no run calls or a run that doesn't exist, or has planted text."""
    called = {step.function for run in runs for step in run.calls}
    functions = tuple(match[1] for action in text.actions if (match := _CALLED.match(action)))
    if len(functions) < MIN_ACTIONS or len(functions) < len(text.actions) or not called.issuperset(functions):
        return None
    if not all(1 <= number <= len(runs) for number in text.demonstrations):
        return None
    if any(overrides(words) for words in (text.about, *text.actions)):
        return None
    taught_by = frozenset().union(*(runs[number - 1].identity for number in text.demonstrations))
    return Workflow(text.about, text.actions, functions, taught_by)
