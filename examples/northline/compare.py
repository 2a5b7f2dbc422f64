#!/usr/bin/env python
"""The held-out runs of Northline without memory and with two banks, side by side, judged again from their calls.

    python examples/northline/compare.py [--json]

Every call of every recorded run is executed anew in a fresh world and judged by judge.py, so the verdicts in the files
are not taken on trust. The statistics are those of `contramem evaluate compare`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent))

from contramem.evaluate.stats import mcnemar_exact  # noqa: E402
from contramem.traces.read import read_traces  # noqa: E402
from contramem.traces.trajectory import Event, Trajectory  # noqa: E402
from northline.calls import Executed  # noqa: E402
from northline.environment import HELD_OUT_SEED  # noqa: E402
from northline.judge import judge  # noqa: E402
from northline.rules import RULES  # noqa: E402
from northline.tasks import NorthlineTask  # noqa: E402
from northline.tools import run_tool  # noqa: E402

ARMS = {
    "none": "no memory",
    "rules": "bank by rules",
    "model": "bank by a strong model",
}


class Verdict(NamedTuple):
    """One run, judged again."""

    task_id: str
    broken: tuple[str, ...]
    executed: int
    held: int
    """Calls that the memory held once, to show a card first."""

    @property
    def passed(self) -> bool:
        return not self.broken


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="For programs.")
    arms = {arm: judge_file(FOLDER / f"heldout-{arm}.jsonl.xz") for arm in ARMS}
    rows = [summarize(arm, arms[arm], arms["none"]) for arm in ARMS]
    if parser.parse_args().json:
        print(json.dumps({"arms": rows, "rules_broken": broken_rules(arms)}, indent=1))
        return
    print("36 held-out tasks of Northline Supply, the same strong model in every arm, one run each\n")
    print_table(
        ["", "passed", "gained", "harmed", "exact p", "agent events", "of them held"], [_cells(row) for row in rows]
    )
    print("\nRuns that broke each house rule\n")
    broken = broken_rules(arms)
    print_table(
        ["rule", *ARMS.values()], [[_name(rule), *map(str, counts.values())] for rule, counts in broken.items()]
    )


def judge_file(path: Path) -> list[Verdict]:
    return [judge_run(run) for run in read_traces([path])]


def judge_run(run: Trajectory) -> Verdict:
    """Execute what the run executed, in a fresh world."""
    task = NorthlineTask(run.task_id, HELD_OUT_SEED)
    calls: list[Executed] = []
    made = [event for event in run.events if event.function and event.kind == "call"]
    for event in made:
        if not is_held(event):
            tool = event.function.rpartition(".")[2]
            _, value = run_tool(task.world, tool, dict(event.arguments))
            calls.append(Executed(tool, dict(event.arguments), value))
    return Verdict(run.task_id, tuple(judge(task, calls)), len(calls), len(made) - len(calls))


def is_held(event: Event) -> bool:
    """Did the memory hold this call, so that the tool never saw it? Only what came back tells."""
    return event.result is not None and str(event.result.content).startswith("Held, not executed.")


def summarize(arm: str, verdicts: Sequence[Verdict], without: Sequence[Verdict]) -> dict[str, Any]:
    base = {verdict.task_id: verdict.passed for verdict in without}
    passed = {verdict.task_id: verdict.passed for verdict in verdicts}
    gained = sorted(task for task, outcome in passed.items() if outcome and not base[task])
    harmed = sorted(task for task, outcome in passed.items() if not outcome and base[task])
    return {
        "arm": arm,
        "tasks": len(verdicts),
        "passed": sum(passed.values()),
        "gained": gained,
        "harmed": harmed,
        "p": mcnemar_exact(len(gained), len(harmed)),
        "events": round(sum(verdict.executed + verdict.held + 1 for verdict in verdicts) / len(verdicts), 1),
        "held": round(sum(verdict.held for verdict in verdicts) / len(verdicts), 1),
    }


def broken_rules(arms: dict[str, list[Verdict]]) -> dict[str, dict[str, int]]:
    names = [*(rule.id for rule in RULES), "goal"]
    return {
        name: {arm: sum(name in verdict.broken for verdict in verdicts) for arm, verdicts in arms.items()}
        for name in names
    }


def _name(rule: str) -> str:
    return next((f"{rule} {house.statement}" for house in RULES if house.id == rule), "the request itself was not met")


def _cells(row: dict[str, Any]) -> list[str]:
    compared = (
        ["", "", ""] if row["p"] is None else [str(len(row["gained"])), str(len(row["harmed"])), f"{row['p']:.2g}"]
    )
    return [ARMS[row["arm"]], f"{row['passed']} of {row['tasks']}", *compared, str(row["events"]), str(row["held"])]


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    for row in (header, *rows):
        print("  ".join([row[0].ljust(widths[0]), *(cell.rjust(widths[i]) for i, cell in enumerate(row) if i)]))


if __name__ == "__main__":
    main()
