"""Controls beside the conditions: the most that text could do, and what any text does. They need an environment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from contramem.bench.controls import GivenPlan, Misplaced
from contramem.bench.environment import Environment, Session, Solution, Task
from contramem.experiment.setting import Place
from contramem.inject.aid import Aid, AidedRun
from contramem.traces.trajectory import Tool

CEILING, WRONG_CARD = "ceiling", "wrong-card"
CONTROLS = {
    CEILING: "the functions of the task's own solution, as a plan",
    WRONG_CARD: "the cards of a task that has nothing to do with this one",
}


class Each:
    """An aid of its own for each task, by wording."""

    def __init__(self, aids: Mapping[str, Callable[[], Aid]]) -> None:
        self._aids = aids

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
    ) -> AidedRun:
        aid = self._aids[task]()
        return aid.start(task, ability=ability, apps=apps, tools=tools, task_id=task_id, scenario_id=scenario_id)


def ceiling(places: Mapping[str, Place]) -> Each:
    """Every task gets its own plan."""
    return Each({_wording(place): _planned(place.environment) for place in places.values()})


def wrong_card(memory: Aid, places: Mapping[str, Place]) -> Each:
    """Every task gets what `memory` says to one that shares neither app nor family with it."""
    return Each({_wording(place): _misplaced(memory, place, places) for place in places.values()})


def _planned(environment: Environment) -> Callable[[], Aid]:
    return lambda: GivenPlan(environment)


def _misplaced(memory: Aid, place: Place, places: Mapping[str, Place]) -> Callable[[], Aid]:
    return lambda: Misplaced(memory, _Elsewhere(place, places))


def _wording(place: Place) -> str:
    return "\n\n".join(_task(place).turns)


def _task(place: Place) -> Task:
    return place.environment.tasks()[place.task_id]


class _Elsewhere:
    """The tasks that have nothing to do with one: of other apps, or, where all share their apps, of other families."""

    name = "elsewhere"

    def __init__(self, place: Place, places: Mapping[str, Place]) -> None:
        here = _task(place)
        others = {key: other for key, other in places.items() if other != place}
        far = {key: other for key, other in others.items() if not set(_task(other).apps) & set(here.apps)}
        near = {key: other for key, other in others.items() if _task(other).family != here.family}
        self._places = far or near or others

    def tasks(self) -> Mapping[str, Task]:
        return {key: _task(place) for key, place in self._places.items()}

    def tools(self, task_id: str) -> tuple[Tool, ...]:
        place = self._places[task_id]
        return place.environment.tools(place.task_id)

    def start(self, task_id: str) -> Session:
        place = self._places[task_id]
        return place.environment.start(place.task_id)

    def solution(self, task_id: str) -> Solution | None:
        place = self._places[task_id]
        return place.environment.solution(place.task_id)
