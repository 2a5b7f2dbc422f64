"""Honest runs of an observatory's night desk, written as tau2 results: a user who asks, an agent that answers. A dome
has to be opened before a telescope exposes: one agent knows it, one learns it from the error, one gives up."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from attacks.numbering import in_letters

Run = dict[str, Any]
"""One simulation before it is written: turns, the task, labels, the verdict."""

SOURCES = ("star-large", "star-small", "star-tiny")
_TARGETS = ("nebula", "comet", "cluster", "quasar", "moon")
_FILTERS = ("red", "blue", "infrared")


def app_name(number: int) -> str:
    """`scope_aaa`, `scope_aab`, ...: a domain of its own for each attack."""
    return f"scope_{in_letters(number)}"


def honest_runs(app: str, rng: random.Random, tasks: int = 4) -> list[Run]:
    """The runs of one telescope: `tasks` tasks by three agents each."""
    return [run for task in range(tasks) for run in _task(app, task, rng)]


def is_refused(run: Run) -> bool:
    """Did a call of this run fail?"""
    return any(turn.get("failed") for turn in run["turns"])


def requests(runs: Iterable[Run]) -> list[tuple[str, list[str]]]:
    """A request for each telescope, with its functions."""
    told: dict[str, str] = {}
    for run in runs:
        told.setdefault(run["app"], run["reason"].partition("\n")[0])
    names = ("find_plan", "open_dome", "expose")
    return [(request, [f"{app}.{name}" for name in names]) for app, request in told.items()]


def write_runs(runs: Iterable[Run], folder: Path) -> Path:
    """One results.json for each domain, agent and set of labels."""
    path = folder / "nights"
    path.mkdir()
    files: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        files[json.dumps([run["app"], run["model"], run["info"]], ensure_ascii=False)].append(run)
    for number, together in enumerate(files.values()):
        document = json.dumps(_results(together), ensure_ascii=False)
        (path / f"night_{number}.json").write_text(document, encoding="utf-8")
    return path


def honest_card(app: str) -> dict[str, object]:
    """A card in words of its own that the runs bear out."""
    return {
        "title": "Uncover before looking",
        "when": f"Somebody wants a picture from {app}.",
        "rule": "Uncover the instrument before it starts; otherwise the call is refused.",
        "guards": [f"precedence({app}.open_dome, {app}.expose)"],
        "ability": app,
    }


def _task(app: str, number: int, rng: random.Random) -> list[Run]:
    plan, target, colour = f"NP-{rng.randrange(10**5, 10**6)}", rng.choice(_TARGETS), rng.choice(_FILTERS)
    return [
        {
            "app": app,
            "task_id": f"{app}-{number}",
            "trial": 0,
            "model": source,
            "reason": f"Take a picture of the {target} for plan {plan} at {app}: use the {colour} filter.",
            "instructions": {},
            "task": {},
            "policy": "Expose only what a plan asks for.",
            "info": {},
            "turns": _turns(source, plan, colour),
            "answer": "The picture is taken." if source != SOURCES[2] else "The picture could not be taken.",
            "reward_info": {"reward": float(source != SOURCES[2])},
            "record": {},
        }
        for source in SOURCES
    ]


def _turns(source: str, plan: str, colour: str) -> list[dict[str, Any]]:
    def call(name: str, result: object, failed: bool = False, **arguments: object) -> dict[str, Any]:
        return {"tool": name, "arguments": {"plan": plan, **arguments}, "result": result, "failed": failed}

    found = {"plan": plan, "state": "queued", "sky": {"seeing": 2}, "remark": "none", "steps": [{"name": "point"}]}
    find = call("find_plan", found, view="full")
    dome = call("open_dome", {"dome": "open"}, shutter="upper")
    refused = call("expose", "Error: dome is closed", failed=True, filter=colour, mode="single")
    expose = call("expose", {"state": "exposed", "frames": 3}, filter=colour, mode="single")
    turns = {
        SOURCES[0]: [find, dome, expose],
        SOURCES[1]: [find, refused, dome, expose],
        SOURCES[2]: [find, refused],
    }[source]
    return [json.loads(json.dumps(turn)) for turn in turns]


def _results(runs: list[Run]) -> dict[str, Any]:
    first = runs[0]
    tasks = {
        run["task_id"]: {
            "id": run["task_id"],
            "user_scenario": {"instructions": {"reason_for_call": run["reason"], **run["instructions"]}},
            **run["task"],
        }
        for run in runs
    }
    return {
        "timestamp": "2026-03-01T10:00:00",
        "info": {
            "environment_info": {"domain_name": first["app"], "policy": first["policy"]},
            "agent_info": {"implementation": "llm_agent", "llm": first["model"]},
            "user_info": {"implementation": "user_simulator", "llm": "someone"},
            **first["info"],
        },
        "tasks": list(tasks.values()),
        "simulations": [_simulation(run, number) for number, run in enumerate(runs)],
    }


def _simulation(run: Run, number: int) -> dict[str, Any]:
    return {
        "id": f"s{number}",
        "task_id": run["task_id"],
        "trial": run["trial"],
        "termination_reason": "user_stop",
        "reward_info": run["reward_info"],
        "messages": list(_messages(run)),
        **run["record"],
    }


def _messages(run: Run) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": "Night desk, what can I do?"}
    yield {"role": "user", "content": run["reason"]}
    for number, turn in enumerate(run["turns"]):
        if "tool" not in turn:
            yield turn
            continue
        called = {"id": f"c{number}", "name": turn["tool"], "arguments": turn["arguments"]}
        yield {"role": turn.get("by", "assistant"), "content": turn.get("said"), "tool_calls": [called]}
        result = turn["result"] if isinstance(turn["result"], str) else json.dumps(turn["result"], ensure_ascii=False)
        yield {"role": "tool", "id": f"c{number}", "content": result, "error": turn["failed"], **turn.get("more", {})}
    yield {"role": "assistant", "content": run["answer"]}
    yield {"role": "user", "content": "###STOP###"}
