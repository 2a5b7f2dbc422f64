"""Small runs for tests, written as what was done: `run("A", True, call("Mail.search", {...}, result), "done")`."""

from __future__ import annotations

from typing import Any

from contramem.contrast.packet import Packet, packet_of
from contramem.contrast.vocabulary import Vocabulary
from contramem.traces.normalize import Naming, Recorder
from contramem.traces.trajectory import Origin, Outcome, Trajectory

TASK = "Delete the newsletter that Ada Byron sent to ada@example.org."


class Call:
    def __init__(self, function: str, arguments: dict[str, Any], result: Any = "ok", error: str | None = None) -> None:
        self.function, self.arguments, self.result, self.error = function, arguments, result, error


def call(function: str, arguments: dict[str, Any] | None = None, result: Any = "ok", error: str | None = None) -> Call:
    return Call(function, arguments or {}, result, error)


def run(
    source: str,
    passed: bool | None,
    *steps: Call | str | tuple[str, str],
    task: str = TASK,
    task_id: str = "t1",
    trial: str = "0",
    ended: str = "complete",
    feedback: str = "",
    ability: str = "execution",
) -> Trajectory:
    """A run: calls, texts of the agent, and ("user", text). A last text is the final answer."""
    recorder = Recorder(Naming())
    recorder.message("user", task)
    for step in steps:
        if isinstance(step, Call):
            recorder.call(step.function, step.arguments)
            recorder.result(step.result, error=step.error or False)
        elif isinstance(step, tuple):
            recorder.message("user", step[1])
        else:
            recorder.message("agent", step)
    return Trajectory(
        environment="test",
        task_id=task_id,
        source=source,
        origin=Origin("made.jsonl", source),
        events=recorder.events(),
        outcome=Outcome(passed=passed, ended=ended, feedback=feedback),  # type: ignore[arg-type]
        run=trial,
        task=task,
        authored=True,
        ability=ability,
    )


def packet(*runs: Trajectory) -> Packet:
    return packet_of(list(runs), Vocabulary())


def kinds(of: Packet) -> set[str]:
    return {signal.kind for signal in of.signals}


def signal(of: Packet, kind: str) -> Any:
    return next(signal for signal in of.signals if signal.kind == kind)
