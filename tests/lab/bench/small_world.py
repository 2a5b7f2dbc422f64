"""A house with lamps: an environment small enough to see through, with real state and a verdict on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contramem.traces.trajectory import Outcome, Result, Tool
from contramem_lab.environment import EnvironmentCall, Solution, Task

LAMP = {"type": "object", "properties": {"lamp": {"type": "string"}}, "required": ["lamp"]}
TOOLS = (
    Tool("house.list_lamps", "List all lamps.", {"type": "object", "properties": {}}),
    Tool("house.switch_on", "Switch a lamp on.", LAMP),
    Tool("house.switch_off", "Switch a lamp off.", LAMP),
)
TASKS = {
    task.id: task
    for task in (
        Task("hall", ("Switch the lamp in the hall on.",), ("house",), ability="light", family="one lamp"),
        Task("report", ("How many lamps are there?",), ("house",), ability="light", context="You work for Ada."),
        Task(
            "twice",
            ("Switch the hall lamp on.", "And off again."),
            ("house",),
            ability="light",
            later={"house.switch_off": 1},
        ),
        Task("nothing", ("Leave it dark.",), ("house",)),
    )
}
ON, OFF = (EnvironmentCall(f"house.switch_{way}", {"lamp": "hall lamp"}) for way in ("on", "off"))
SOLUTIONS = {
    "hall": Solution(((EnvironmentCall("house.list_lamps", {}), ON),)),
    "report": Solution(((EnvironmentCall("house.list_lamps", {}),),), "There are 2."),
    "twice": Solution(((ON,), (OFF,))),
    "nothing": Solution(((),)),
}


class House:
    name = "house"

    def tasks(self) -> Mapping[str, Task]:
        return TASKS

    def tools(self, task_id: str) -> tuple[Tool, ...]:
        return TOOLS

    def start(self, task_id: str) -> HouseSession:
        return HouseSession(task_id)

    def solution(self, task_id: str) -> Solution:
        return SOLUTIONS[task_id]


class HouseSession:
    def __init__(self, task_id: str) -> None:
        self.task_id = task_id
        self.lit: dict[str, bool] = {"hall lamp": False, "desk lamp": False}
        self.after_turns: list[bool] = []
        self.answer = ""

    def call(self, function: str, arguments: Mapping[str, Any]) -> Result:
        if function == "house.list_lamps":
            return Result(list(self.lit))
        if function not in ("house.switch_on", "house.switch_off"):
            return Result(None, f"There is no function {function}.")
        if arguments.get("lamp") not in self.lit:
            return Result(None, f"There is no lamp {arguments.get('lamp')}.")
        self.lit[arguments["lamp"]] = function.endswith("on")
        return Result({"ok": True})

    def end_turn(self, answer: str = "") -> None:
        self.answer = answer
        self.after_turns.append(self.lit["hall lamp"])

    def verify(self) -> Outcome:
        if self.task_id == "report":
            return Outcome(passed="2" in self.answer)
        wanted = {"hall": [True], "twice": [True, False], "nothing": [False]}[self.task_id]
        passed = (self.after_turns or [self.lit["hall lamp"]]) == wanted
        return Outcome(passed=passed, feedback="" if passed else "lamps differ")
