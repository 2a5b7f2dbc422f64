"""Runs scenarios in ARE, each in its own process, and returns trajectories. Memory and judgement stay here.

`Workers` is the process that has ARE loaded (are_worker.py), with one child for every run. `AreConversation` answers
what the child asks and records what happened.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import msgspec

from contramem.counting import count_tokens
from contramem.errors import ModelError, TaskError, UsageError
from contramem.guards.watch import Obligation
from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.guidance import Guidance
from contramem.inject.provider import MemoryProvider, MemoryRun, NotedRun
from contramem.inject.run import Run
from contramem.scratch import ScratchFolder
from contramem.traces.normalize import Naming, Recorder
from contramem.traces.read import read_traces
from contramem.traces.trajectory import Origin, Outcome, RunUsage, ShownMemory, Tool, Trajectory
from contramem_lab.are import (
    DEFAULT_SETTINGS,
    AreEngine,
    AreSettings,
    AreTarget,
    AreTask,
    Installation,
    TimeRuntime,
    find_installation,
    read_scenarios,
)
from contramem_lab.environment import Limits


@dataclass(frozen=True)
class Answer:
    """What is sent back to the worker."""

    text: str | None = None
    usage: Mapping[str, int] | None = None

    def as_json(self) -> dict[str, Any]:
        return {"text": self.text} | ({"usage": dict(self.usage)} if self.usage else {})


class AreConversation:
    """One run as this process sees it."""

    def __init__(
        self,
        task: AreTask,
        provider: MemoryProvider | None,
        engine: AreEngine | None,
        runtime: TimeRuntime,
        run_id: str,
    ) -> None:
        self._task, self._provider, self._engine = task, provider, engine
        self._runtime, self._run_id = runtime, run_id
        self._memory_run: MemoryRun | None = None
        self._guided: GuidedRun | None = None
        self._turn = 0
        self.recorder = Recorder(Naming("are"))
        self.shown: list[ShownMemory] = []
        self.usage = RunUsage(model_calls=0, tokens_in=0, tokens_out=0)
        self.wording = task.wording

    def answer(self, message: Mapping[str, Any]) -> Answer | None:
        """None: the worker only reported something."""
        what = message["what"]
        if what == "reply":
            return self._reply(message)
        if what == "called":
            self._record(message)
            return None
        if what == "usage":
            self._count(message["tokens_in"], message["tokens_out"])
            return None
        answers = {"start": self._start, "before_call": self._before_call, "tick": self._pending,
                   "pending": self._pending, "boundary": self._boundary}  # fmt: skip
        return Answer(answers[what](message))

    def finish(self, outcome: Outcome) -> None:
        if self._memory_run is not None:
            self._memory_run.finish(outcome)

    def _start(self, message: Mapping[str, Any]) -> str | None:
        self.wording = self._task.wording or str(message["task"])
        self.recorder = Recorder(Naming("are", aliases=message["apps"]))
        self.recorder.message("user", self.wording, message["time"])
        if self._provider is None:
            return None
        tools = [Tool(self.recorder.naming.function(name)) for name in message["tools"]]
        query = replace(
            self._task.query(tools), task=self.wording, task_id=self._task.id, scenario_id=self._task.family
        )
        self._memory_run = self._provider.begin(query, run_id=self._run_id)
        self._guided = GuidedRun(NotedRun(self._memory_run, self._note), hold="first_call")
        return self._note(self._memory_run.guidance)

    def _before_call(self, message: Mapping[str, Any]) -> str | None:
        if self._guided is None:
            return None
        function = self.recorder.naming.function(message["tool"])
        return self._guided.hold(function, message["arguments"], ends_run=False, turn=self._turn)

    def _pending(self, message: Mapping[str, Any]) -> str | None:
        """What the shown cards still demand."""
        if not self._runtime.guards or not isinstance(self._memory_run, Run):
            return None
        owed = [_describe(obligation, message["time"]) for obligation in self._memory_run.pending()]
        if not owed:
            return None
        text = "Still pending by the cards you were shown:\n" + "\n".join(f"- {line}" for line in owed)
        self.shown.append(ShownMemory(self._position(), text, "", (), count_tokens(text)))
        return text

    def _boundary(self, message: Mapping[str, Any]) -> str | None:
        if not isinstance(self._memory_run, Run):
            return None
        guidance = self._memory_run.before_final()
        return self._note(guidance) if guidance else None

    def _reply(self, message: Mapping[str, Any]) -> Answer:
        assert self._engine is not None, "the worker asks only when it was told to"
        self._turn += 1
        text = self._engine.complete(message["messages"])
        read = sum(count_tokens(str(each["content"])) for each in message["messages"])
        written = count_tokens(text)
        self._count(read, written)
        return Answer(text, {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written})

    def _count(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """Count one reply of the model. If a server does not report tokens, the sum is unknown."""
        used = self.usage
        self.usage = RunUsage(
            model_calls=(used.model_calls or 0) + 1,
            tokens_in=None if None in (used.tokens_in, tokens_in) else (used.tokens_in or 0) + (tokens_in or 0),
            tokens_out=None if None in (used.tokens_out, tokens_out) else (used.tokens_out or 0) + (tokens_out or 0),
        )

    def _record(self, message: Mapping[str, Any]) -> None:
        self._turn += 1
        self.recorder.call(message["tool"], message["arguments"], time=message["time"])
        self.recorder.result(message.get("content"), error=message.get("error") or False)
        if self._memory_run is not None:
            self._memory_run.observe(self.recorder.events(finalize=False)[-1])

    def _note(self, guidance: Guidance, function: str = "") -> str | None:
        if not guidance:
            return None
        cards, tokens = guidance.card_ids, guidance.tokens
        self.shown.append(ShownMemory(self._position(), guidance.text, function, cards, tokens))
        return guidance.text

    def _position(self) -> int:
        return len(self.recorder.events(finalize=False))


def _describe(obligation: Obligation, now: float) -> str:
    """What is pending, with its deadline on the agent's clock."""
    if obligation.due is None:
        return obligation.text
    left = round(obligation.due - now)
    moment = f"in {left} seconds" if left >= 0 else f"{-left} seconds ago"
    return f"{obligation.text} Due at {datetime.fromtimestamp(obligation.due, tz=UTC):%H:%M:%S} UTC, {moment}."


HERE = Path(__file__).parent
# At the end of the path: nothing of ARE's is found here by mistake. `are_worker` uses nothing else of contramem.
START = "import sys; sys.path.append(sys.argv[1]); from are_worker import serve; serve(sys.argv[2])"
LAST_WORDS = ("done", "refused", "unanswered")
START_S = 300
"""How long importing ARE may take."""


class Workers:
    """Started when the first run asks for it, and ended with this process."""

    def __init__(self, installation: Installation) -> None:
        self._scratch = ScratchFolder("are")
        self._folder = self._scratch.path
        self._log = (self._folder / "log").open("w+")
        self._socket = str(self._folder / "socket")
        self._process = subprocess.Popen(
            [str(installation.python), "-c", START, str(HERE), self._socket],
            stdin=subprocess.PIPE, stdout=self._log, stderr=self._log, env=os.environ | {"TMPDIR": str(self._folder)},
        )  # fmt: skip
        atexit.register(self.close)

    @property
    def pid(self) -> int:
        """Of the process that has ARE loaded."""
        return self._process.pid

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._log.close()
        self._scratch.close()

    def run(self, job: Mapping[str, Any], talk: AreConversation, seconds: float | None) -> dict[str, Any]:
        """The run's last message: one of LAST_WORDS, or `timeout` or `died`, which it cannot send itself."""
        with self._connect() as connection, contextlib.ExitStack() as closing:
            reader = closing.enter_context(connection.makefile("r", encoding="utf-8"))
            pid = json.loads(reader.readline())["pid"]
            limit = _TimeLimit(pid, seconds)
            try:
                last: dict[str, Any] | None = _converse(connection, reader, job, talk)
            finally:
                limit.cancel()
                _kill(pid)
        if last is not None:
            return last
        return {"what": "timeout", "seconds": seconds} if limit.met else {"what": "died", "error": self._last_words()}

    def _connect(self) -> socket.socket:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(self._socket)
                return connection
            except (FileNotFoundError, ConnectionRefusedError):
                connection.close()
            if self._process.poll() is not None:
                break
            time.sleep(0.05)
        raise UsageError(f"ARE did not start: {self._last_words()}")

    def _last_words(self) -> str:
        text = (self._folder / "log").read_text(encoding="utf-8", errors="replace").strip()
        return (text.splitlines() or ["it said nothing"])[-1]


class _TimeLimit:
    """Ends the process of a run when its time is up."""

    def __init__(self, pid: int, seconds: float | None) -> None:
        self.met, self._pid = False, pid
        self._timer = None if seconds is None else threading.Timer(seconds, self._end)
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    def _end(self) -> None:
        self.met = True
        _kill(self._pid)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _converse(connection: socket.socket, reader: Any, job: Mapping[str, Any], talk: AreConversation) -> Any:
    try:
        _send(connection, job)
        for line in reader:
            message: dict[str, Any] = json.loads(line)
            if message["what"] in LAST_WORDS:
                return message
            if message["what"] != "loaded" and (answer := talk.answer(message)) is not None:
                _send(connection, answer.as_json())
    except (ConnectionError, json.JSONDecodeError):
        pass  # it ended in the middle of a line; whoever waits for it says why
    return None


def _send(connection: socket.socket, value: Mapping[str, Any]) -> None:
    connection.sendall(json.dumps(value).encode() + b"\n")


@lru_cache(maxsize=4)
def workers_of(installation: Installation) -> Workers:
    """One for each installation; all runs of this process share it."""
    return Workers(installation)


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
