"""Controls beside the conditions: the most that text could achieve, and what any text achieves. They need an
environment."""

from __future__ import annotations

from collections.abc import Mapping

from contramem.inject.provider import MemoryProvider, TextMemory
from contramem.retrieve.hit import Query
from contramem_lab.bench.controls import plan_of, text_for_another_task
from contramem_lab.experiment.opened import RunnableTask

CEILING, WRONG_CARD = "ceiling", "wrong-card"
CONTROLS = {
    CEILING: "the functions of the task's own solution, as a plan",
    WRONG_CARD: "the cards of a task that has nothing to do with this one",
}


def ceiling(places: Mapping[str, RunnableTask]) -> TextMemory:
    """Shows every task its own plan."""
    by_wording = _by_wording(places)

    def write(query: Query) -> str:
        place = by_wording[query.task]
        return plan_of(place.environment, place.task_id)

    return TextMemory(write)


def wrong_card(memory: MemoryProvider, places: Mapping[str, RunnableTask]) -> TextMemory:
    """Shows every task what `memory` says for a task that shares neither app nor family with it."""
    by_wording = _by_wording(places)

    def write(query: Query) -> str:
        unrelated = _pick_unrelated(by_wording[query.task], places)
        return text_for_another_task(memory, query.task, {key: place.query for key, place in unrelated.items()})

    return TextMemory(write)


def _by_wording(places: Mapping[str, RunnableTask]) -> dict[str, RunnableTask]:
    return {place.task.wording: place for place in places.values()}


def _pick_unrelated(place: RunnableTask, places: Mapping[str, RunnableTask]) -> dict[str, RunnableTask]:
    """Tasks unrelated to this one: of other apps or, if all share their apps, of other families."""
    here = place.task
    others = {key: other for key, other in places.items() if other != place}
    far = {key: other for key, other in others.items() if not set(other.task.apps) & set(here.apps)}
    near = {key: other for key, other in others.items() if other.task.family != here.family}
    return far or near or others
