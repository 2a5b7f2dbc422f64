"""A made-up shop: agents look an order up, and refund it, ship it or write a letter. Tests say who does what."""

import random
from collections.abc import Callable, Iterator
from typing import Any

from contramem.mining.cards import mine_rules
from contramem.mining.lesson import Lesson
from contramem.mining.matrix import Domain
from contramem.mining.search import Rule, search
from contramem.traces.trajectory import Event, Origin, Outcome, Result, Trajectory

AGENTS = ("ash", "birch", "cedar", "elm")
Attempt = Callable[["Run", dict[str, Any], random.Random], bool]
"""What an agent does with a record; returns whether it passes."""


class Run:
    """Notes the calls of one attempt."""

    def __init__(self) -> None:
        self.events = list[Event]()

    def call(
        self, function: str, result: Any = "ok", effect: str = "write", error: str | None = None, **given: Any
    ) -> None:
        answer = Result(None if error else result, error)
        name = f"shop.{function}"
        self.events.append(Event(len(self.events), "agent", "call", "", name, given, effect, answer))  # type: ignore[arg-type]

    def look(self, function: str, result: Any, **given: Any) -> None:
        self.call(function, result, "read", **given)

    def say(self, text: str) -> None:
        self.events.append(Event(len(self.events), "agent", "final", text))


def made_runs(
    attempt: Attempt, records: list[dict[str, Any]], request: str = "Take care of order {id}."
) -> list[Trajectory]:
    """One run of each agent at each record."""
    return list(_attempts(attempt, records, request))


def _attempts(attempt: Attempt, records: list[dict[str, Any]], request: str) -> Iterator[Trajectory]:
    for number, record in enumerate(records):
        for agent in AGENTS:
            run = Run()
            passed = attempt(run, record, random.Random(f"{number} {agent}"))
            origin, outcome = Origin("runs.jsonl", str(number)), Outcome(passed=passed)
            task = request.format(**record)
            yield Trajectory("shop", f"t{number}", agent, origin, tuple(run.events), outcome, task=task)


def mine(runs: list[Trajectory]) -> list[Rule]:
    return search(Domain(runs))


def learn(runs: list[Trajectory]) -> list[Lesson]:
    return mine_rules(runs, "general")[0]
