"""Make the example runs: every scripted agent at every example task, really executed and judged by BFCL's checker.

    pip install --no-deps bfcl-eval mpmath
    python examples/make_runs.py [FOLDER]

Writes runs/bfcl.jsonl and heldout/bfcl.jsonl beside this file, or into FOLDER; the same bytes every time. Prints the
table of counts that README.md shows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from policies import POLICIES, Careful, GivesUpError
from tasks import EXAMPLES
from tasks.example import Example
from tools import DESCRIPTIONS, EFFECTS

from contramem.errors import ContramemError
from contramem.traces.normalize import Naming, Recorder
from contramem.traces.trajectory import Origin, Tool, Trajectory
from contramem.traces.write import write_traces
from contramem_lab.bfcl import BfclEnvironment


def make_runs(examples: Sequence[Example] = EXAMPLES) -> list[Trajectory]:
    """All runs, in the order of tasks and policies."""
    environment = BfclEnvironment([example.task for example in examples], DESCRIPTIONS)
    runs = []
    for example in examples:
        tools = environment.tools(example.task.id)
        attempts = [run(environment, example, policy, tools) for policy in POLICIES]
        runs += _with_tools(attempts, tools)
    return runs


def run(environment: BfclEnvironment, example: Example, policy: type[Careful], tools: Iterable[Tool]) -> Trajectory:
    """One agent at one task, in a fresh world."""
    task = example.task
    session, recorder = environment.start(task.id), Recorder(Naming(environment.name, effects=EFFECTS))
    apps = {name: app for app, _, name in (tool.function.rpartition(".") for tool in tools)}
    agent = policy(task.id, session, recorder, apps)
    for turn, (text, plan) in enumerate(zip(task.turns, example.plans, strict=True)):
        recorder.message("user", text)
        agent.open(turn)
        try:
            answer = plan(agent)
        except GivesUpError as reason:
            answer = str(reason)
        recorder.message("agent", answer)
        session.end_turn()
    return Trajectory(
        environment=f"bfcl/{task.family}",
        task_id=task.id,
        source=agent.source,
        origin=Origin("examples/make_runs.py", task.id),
        events=recorder.events(),
        outcome=session.verify(),
        task="\n\n".join(task.turns),
        authored=True,
        scenario_id=task.family,
        ability=task.ability,
        apps=task.apps,
    )


def _with_tools(attempts: Sequence[Trajectory], tools: Iterable[Tool]) -> list[Trajectory]:
    """The runs of one task, each with the tools that any of them used."""
    used = {event.function for attempt in attempts for event in attempt.calls}
    kept = tuple(tool for tool in tools if tool.function in used)
    return [msgspec.structs.replace(attempt, tools=kept) for attempt in attempts]


def split(runs: Iterable[Trajectory]) -> dict[str, list[Trajectory]]:
    """The runs by the file they belong in: one to learn from, one to be tested on."""
    held_out = {example.task.id for example in EXAMPLES if example.held_out}
    files: dict[str, list[Trajectory]] = {"runs/bfcl.jsonl": [], "heldout/bfcl.jsonl": []}
    for trajectory in runs:
        files["heldout/bfcl.jsonl" if trajectory.task_id in held_out else "runs/bfcl.jsonl"].append(trajectory)
    return files


def table(files: Mapping[str, Iterable[Trajectory]]) -> Iterator[str]:
    """Counts by file and family, as a Markdown table."""
    yield "| file | family | tasks | runs | passed | contrastive | all pass | all fail |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, runs in files.items():
        families: dict[str, list[Trajectory]] = {}
        for trajectory in runs:
            for family in (trajectory.scenario_id or "", "all"):
                families.setdefault(family, []).append(trajectory)
        for family in sorted(families, key=lambda family: (family == "all", family)):
            yield f"| {name} | {family} | {' | '.join(map(str, counts(families[family])))} |"


def counts(runs: Iterable[Trajectory]) -> tuple[int, int, int, int, int, int]:
    """Tasks, runs, passed runs, and tasks by how their runs ended: some passed, all passed, none passed."""
    verdicts: dict[str, list[bool]] = {}
    for trajectory in runs:
        verdicts.setdefault(trajectory.task_key, []).append(trajectory.outcome.passed is True)
    every, none = (sum(all(v) for v in verdicts.values()), sum(not any(v) for v in verdicts.values()))
    flat = [passed for task in verdicts.values() for passed in task]
    return len(verdicts), len(flat), sum(flat), len(verdicts) - every - none, every, none


def main(folder: Path) -> None:
    files = split(make_runs())
    for name, runs in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_traces(runs, folder / name)
    sys.stdout.write("\n".join(table(files)) + "\n")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
    except ContramemError as error:
        sys.exit(f"make_runs: {error}")
