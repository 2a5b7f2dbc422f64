"""Runs made for the comparison tests: only what a comparison looks at is given, the rest is as small as can be."""

from contramem.traces.trajectory import Event, Origin, Outcome, RunUsage, Trajectory

CALL = Event(0, "agent", "call", function="Mail.send", effect="write")
FINAL = Event(1, "agent", "final", text="Done.")


def run(
    task,
    passed=True,
    *,
    side="base",
    source="model",
    trial="0",
    ended="complete",
    events=(CALL, FINAL),
    text="",
    **more,
):
    """One run of `task`. The origin tells the sides apart, as two folders would."""
    return Trajectory(
        environment=more.pop("environment", "env"),
        task_id=task,
        source=source,
        origin=Origin(f"{side}/{source}/{task}-{trial}.json"),
        events=tuple(events),
        outcome=Outcome(passed=passed, ended=ended),
        run=trial,
        task=text,
        authored=bool(text),
        usage=RunUsage(**more.pop("usage", {})),
        **more,
    )


def runs(side, outcomes, **more):
    """One run a task: `runs("base", {"t1": "pass"})`."""
    return [run(task, outcome == "pass", side=side, **more) for task, outcome in outcomes.items()]


def sides(gained=0, lost=0, passed=0, failed=0, **more):
    """Two lists of runs with so many tasks of each kind: (base, memory)."""
    base, memory = [], []
    kinds = {"gained": (gained, False, True), "lost": (lost, True, False)}
    kinds |= {"passed": (passed, True, True), "failed": (failed, False, False)}
    for kind, (count, before, after) in kinds.items():
        for number in range(count):
            base.append(run(f"{kind}-{number}", before, side="base", **more))
            memory.append(run(f"{kind}-{number}", after, side="memory", **more))
    return base, memory
