"""AreEnvironment: runs scenarios in ARE, each in its own process, and returns trajectories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from contramem.errors import ModelError, TaskError, UsageError
from contramem.inject.provider import MemoryProvider
from contramem.scratch import ScratchFolder
from contramem.traces.read import read_traces
from contramem.traces.trajectory import Origin, Outcome, Tool, Trajectory
from contramem_lab.bench.are.conversation import AreConversation
from contramem_lab.bench.are.installation import Installation, find_installation
from contramem_lab.bench.are.scenarios import AreTask, read_scenarios
from contramem_lab.bench.are.settings import DEFAULT_SETTINGS, AreSettings, AreTarget
from contramem_lab.bench.are.workers import workers_of
from contramem_lab.bench.limits import Limits

NAME = "are"
STOPPED = "Max iterations ("
"""How ARE's last message begins in the name of an agent that has used up its steps."""


@dataclass
class Overhead:
    """The time that memory and the temporal runtime took, over all runs that ended."""

    steps: int = 0
    """Replies of the models."""
    asked: int = 0
    seconds: float = 0.0
    """That loops waited for answers."""

    def add(self, steps: int, asked: int, seconds: float) -> None:
        self.steps, self.asked, self.seconds = self.steps + steps, self.asked + asked, self.seconds + seconds


@dataclass(frozen=True)
class AreEnvironment:
    """The scenarios at some places. Sessions share nothing: every run is a process."""

    places: tuple[str, ...]
    settings: AreSettings = DEFAULT_SETTINGS
    installation: Installation | None = None
    overhead: Overhead = field(default_factory=Overhead, compare=False)

    @property
    def name(self) -> str:
        return NAME

    @cached_property
    def problems(self) -> list[str]:
        """Files that are not scenarios."""
        return []

    @cached_property
    def _tasks(self) -> dict[str, AreTask]:
        return read_scenarios(self.places, self.problems)

    def tasks(self) -> Mapping[str, AreTask]:
        return self._tasks

    def tools(self, task_id: str) -> tuple[Tool, ...]:
        """Known only when the scenario runs."""
        return ()

    def attempt(
        self,
        task_id: str,
        target: AreTarget,
        provider: MemoryProvider | None,
        limits: Limits,
        *,
        trial: str = "0",
        raw: Path | None = None,
    ) -> Trajectory:
        """One run. What ARE exports goes to `raw`, if it is to be kept.

        A run that meets the time limit or ends with an exception failed, as in the paper, and is a run like any other.
        A model that cannot be reached and a scenario that cannot be loaded are errors instead: they say nothing.
        """
        task = self.tasks().get(task_id)
        if task is None:
            raise UsageError(f"ARE has no scenario {task_id!r} at {', '.join(self.places)}.")
        self.settings.judge.check()
        run_id = f"{NAME}/{task_id}/{target.name}/{trial}"
        talk = AreConversation(task, provider, target.engine, self.settings.runtime, run_id)
        with _folder(raw) as out:
            ended = self._run(task, target, limits, talk, out)
            run = _trajectory(task, target, talk, ended, out)
        if ended["what"] == "done":
            self.overhead.add(talk.usage.model_calls or 0, ended["asked"], ended["waited_s"])
        talk.finish(run.outcome)
        return msgspec.structs.replace(run, run=trial, guidance=tuple(talk.shown))

    def _run(
        self, task: AreTask, target: AreTarget, limits: Limits, talk: AreConversation, out: Path
    ) -> dict[str, Any]:
        installation = self.installation or find_installation()
        timed = task.ability == "time"
        job = {
            "scenario": str(Path(task.place).resolve()) if Path(task.place).exists() else task.place,
            "out": str(out),
            "judge": self.settings.judge.address | {"key": self.settings.judge.read_key()},
            "runtime": self.settings.runtime.for_ability(task.ability),
            "tick_s": self.settings.tick_s,
            "duration_s": self.settings.time_duration_s if timed else self.settings.duration_s,
            "max_steps": limits.steps,
            "key": target.read_key(),
            **target.address,
        }
        return workers_of(installation).run(job, talk, limits.seconds)


@contextmanager
def _folder(raw: Path | None) -> Iterator[Path]:
    if raw is not None:
        raw.mkdir(parents=True, exist_ok=True)
        yield raw
    else:
        with ScratchFolder("are-run") as folder:
            yield folder


def _trajectory(
    task: AreTask, target: AreTarget, talk: AreConversation, ended: Mapping[str, Any], out: Path
) -> Trajectory:
    outcome = _outcome(task, target, ended)
    exported = list(read_traces([out / "hf"])) if (out / "hf").exists() else []
    if exported and ended["what"] == "done":
        run = exported[0]
        events, agent_events = run.events, run.usage.agent_events
    else:  # no trace was exported: what was seen of the run on the way is not forgotten
        events, agent_events = talk.recorder.events(finalize=False), None
    if any(event.text.startswith(STOPPED) for event in events if event.kind == "final"):
        outcome = msgspec.structs.replace(outcome, ended="limit")
    return Trajectory(
        environment=NAME,
        task_id=task.id,
        source=target.name,
        origin=Origin(NAME, task.id),
        events=events,
        outcome=outcome,
        task=talk.wording,
        authored=True,
        scenario_id=task.family,
        ability=task.ability,
        apps=task.apps,
        usage=msgspec.structs.replace(talk.usage, agent_events=agent_events),
    )


def _outcome(task: AreTask, target: AreTarget, ended: Mapping[str, Any]) -> Outcome:
    what = ended["what"]
    if what == "timeout":
        return Outcome(False, 0.0, f"the limit of {ended['seconds']:g} seconds was met", "limit")
    if what == "refused":
        raise TaskError(f"{task.place}: ARE cannot run this scenario: {ended['error']}")
    if what == "unanswered":
        raise _no_answer(ended["who"], target, ended["error"])
    if what == "died":
        return Outcome(False, 0.0, f"ARE's process ended by itself: {ended['error']}", "limit")
    if ended["disk"] or (not ended["exported"] and not ended["exception"]):
        raise UsageError(f"{task.id}: ARE could not write its trace ({ended['exception'] or 'is the disk full?'}).")
    for who, error in ended["unanswered"].items():
        raise _no_answer(who, target, error)
    if ended["exception"]:
        return Outcome(False, 0.0, str(ended["exception"]), "limit")
    passed = ended["success"]
    return Outcome(passed, None if passed is None else float(passed), "" if passed else str(ended["rationale"]))


def _no_answer(who: str, target: AreTarget, error: str) -> ModelError:
    return ModelError(f"{target.name if who == 'target' else 'the judge'} does not answer: {error}")
