#!/usr/bin/env python
"""Make the runs to learn from: six scripted agents at 60 tasks, in the form that chat completion APIs use.

python examples/northline/record.py | xz > runs.jsonl.xz
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from northline.agents import draw_agents
from northline.judge import judge
from northline.scripts import run_script
from northline.tasks import NorthlineTask
from northline.tools import list_schemas
from northline.world import APP

TASKS, SEED = 60, 1
CHANCE_FAILURES = 0.04
"""The share of right runs that are recorded as failed, as a real judge errs at times."""


def record(tasks: int = TASKS, seed: int = SEED) -> Iterator[dict[str, object]]:
    for number in range(tasks):
        for agent in draw_agents():
            task = NorthlineTask(f"t{number:03d}", seed)
            run = run_script(task, agent, seed)
            fails_by_chance = run.rng.random() < CHANCE_FAILURES
            passed = not judge(task, run.calls) and not fails_by_chance
            yield {
                "task_id": task.id,
                "model": agent.name,
                "environment": APP,
                "task": task.request,
                "passed": passed,
                "feedback": "passed" if passed else "failed",
                "tools": list_schemas(),
                "messages": run.messages,
            }


if __name__ == "__main__":
    for made in record():
        print(json.dumps(made))
