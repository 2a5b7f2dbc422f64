"""STATE-Bench (microsoft/STATE-Bench, MIT) from a checkout that you name: its sandbox, its simulated user, its verdict.

Nothing of it is vendored: tasks, tools, prompts and scoring are the benchmark's own code, imported from the checkout.
Runs that teach come from its train split alone; `verdicts` opens no other file.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from contramem.bank.export import card_markdown
from contramem.errors import ModelError, TraceError, UsageError
from contramem.inject.provider import MemoryProvider
from contramem.inject.run import Memory
from contramem.traces.read import read_traces
from contramem.traces.reader import ReadOptions
from contramem.traces.result_errors import error_in
from contramem.traces.trajectory import Outcome, Result, Tool, Trajectory
from contramem_lab.agent import attempt
from contramem_lab.environment import Limits, Task
from contramem_lab.target import ChatMessage, Target

Domain: TypeAlias = Literal["travel", "customer_support", "shopping_assistant"]
Split: TypeAlias = Literal["train", "test"]
DOMAINS: tuple[Domain, ...] = get_args(Domain)
SPLITS: tuple[Split, ...] = get_args(Split)
Retrieve: TypeAlias = Callable[[str, int], list[str]]
"""A query and a number of learnings; the learnings."""
TOP_K = 3
"""How many learnings the benchmark allows for a query."""


class StateBench:
    """One domain of a checkout: its tasks, its tools and fresh sandboxes."""

    def __init__(self, checkout: Path, domain: Domain) -> None:
        self.checkout, self.domain = checkout.resolve(), domain
        if not (self.checkout / "state_bench" / "domain.py").exists():
            raise UsageError(
                f"{checkout}: no checkout of STATE-Bench (it has no state_bench/domain.py). "
                "Get one with: git clone https://github.com/microsoft/STATE-Bench"
            )
        self.config = self._import("domain").get_domain_config(domain)
        self._folder = self.checkout / "state_bench" / "domains" / domain

    def _import(self, module: str) -> Any:
        if str(self.checkout) not in sys.path:
            sys.path.insert(0, str(self.checkout))
        try:
            found = import_module(f"state_bench.{module}")
        except ModuleNotFoundError as error:
            raise UsageError(
                f"STATE-Bench needs {error.name}, which is not installed here. Install what it needs: {self._install}"
            ) from None
        if not Path(found.__file__ or "").is_relative_to(self.checkout):
            raise UsageError(f"another STATE-Bench than the one in {self.checkout} is installed: {found.__file__}.")
        return found

    @property
    def _install(self) -> str:
        project = self.checkout / "pyproject.toml"
        needed = tomllib.loads(project.read_text())["project"]["dependencies"] if project.exists() else []
        return " ".join(["pip install", *(f"'{each}'" for each in needed)])

    def check_parties(self) -> None:
        """Raise now, and not in the first run, if the benchmark's user or judge cannot be imported."""
        self._import("simulator")
        self._import("scoring")

    @cached_property
    def _splits(self) -> Mapping[str, Sequence[str]]:
        files = sorted((self._folder / "splits").glob("*.json"))
        splits: dict[str, Sequence[str]] = json.loads(files[0].read_text())["splits"] if files else {}
        return splits

    def ids(self, split: Split) -> tuple[str, ...]:
        """The tasks of a split, in the benchmark's order."""
        return tuple(self._splits.get(split, ()))

    def definition(self, task_id: str) -> Any:
        """The benchmark's own definition of a task."""
        return self._import("schemas").TaskDefinition.load(self._folder / "tasks" / f"{task_id}.json")

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        declared = (schema.get("function", schema) for schema in self.config.tool_schemas)
        return tuple(
            Tool(f"{self.domain}.{each['name']}", each.get("description", ""), each.get("parameters", {}))
            for each in declared
        )

    def open(self, task_id: str) -> Sandbox:
        definition = self.definition(task_id)
        data, _ = self._import("env_loader").load_task_environment(self.config, definition)
        return Sandbox(self, definition, data)

    def judge_state(self, definition: Any, before: Any, after: Any) -> Any:
        """The benchmark's own score of the final state, with its reason."""
        difference = self._import("schemas").StateDiff.compute(before, after)
        return self._import("scoring").evaluate_state_requirements(definition, difference)

    def simulate_user(self, client: Any, definition: Any, data: Any) -> Any:
        prompt = self.config.build_simulator_prompt(definition, data, definition.user_id)
        return self._import("simulator").UserSimulator(client, prompt)

    def judge_dialogue(self, client: Any, definition: Any, conversation: Sequence[Mapping[str, Any]]) -> Any:
        """The benchmark's own judgement of what was said; None if the judge's reply cannot be used."""
        calls = [call for message in conversation for call in message.get("tool_calls") or ()]
        judge = self._import("scoring").TaskRequirementsJudge(
            client, self.config.prompts_dir, self.config.judge_system_prompt
        )
        return judge.evaluate(definition, list(conversation), calls, None)

    @cached_property
    def learning_tool(self) -> tuple[Tool, str]:
        """`retrieve_learnings`, as the benchmark's own agent has it, and what that agent is told about it."""
        own = self._import("agents.state_bench")
        schema = own.RETRIEVE_LEARNINGS_TOOL_SCHEMA
        name = f"{self.domain}.{own.RETRIEVE_LEARNINGS_TOOL_NAME}"
        return Tool(name, schema["description"], schema["parameters"]), str(own.RETRIEVAL_SYSTEM_INSTRUCTION)


class Sandbox:
    """The world of one task. Its tools are deterministic: the same calls give the same results."""

    def __init__(self, bench: StateBench, definition: Any, data: Any) -> None:
        self._bench, self.definition, self.data = bench, definition, data
        self._world = bench.config.environment_class(data.deep_copy(), now=definition.now)
        self._before = self._snapshot()

    def call(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """What the tool returns. A call that it cannot take returns an error as the tools write one."""
        handler = self._world.tool_handlers.get(function.rpartition(".")[2])
        if handler is None:
            return {"error": f"Unknown tool: {function}"}
        try:
            return _through_json(handler(_through_json(arguments)))
        except Exception as error:  # whatever a tool raises is what its caller observes
            return {"error": f"{type(error).__name__}: {error}"}

    def score(self) -> tuple[bool, str]:
        """Does the state satisfy the task, and why not? Asking changes nothing."""
        score = self._bench.judge_state(self.definition, self._before, self._snapshot())
        return score.score == 1, str(score.reasoning)

    def _snapshot(self) -> Any:
        return _through_json(self._world.get_full_snapshot())  # a copy: the records in it are live


def _through_json(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


# Verdicts for recorded runs


@dataclass
class Replay:
    """How the recorded runs of the train split fared when their calls were made again."""

    runs: list[Trajectory] = field(default_factory=list)
    calls: int = 0
    different: int = 0
    """Calls that returned something else than recorded."""

    @property
    def passed(self) -> int:
        return sum(run.outcome.passed is True for run in self.runs)


def replay_train_runs(bench: StateBench) -> Replay:
    """The recorded runs of the train split, each with the verdict on the state that its calls lead to.

    The dialogue is not judged: that takes a model. Tools come with their documentation.
    """
    replay, train = Replay(), set(bench.ids("train"))
    for task_id, run in _recorded_runs(bench):
        if task_id not in train:
            raise TraceError(f"{run.origin.file}: {task_id!r} is no task of the train split.")
        sandbox = bench.open(task_id)
        for event in run.events:
            if event.function:
                replay.calls += 1
                replay.different += not _same(sandbox.call(event.function, event.arguments), event.result)
        passed, why = sandbox.score()
        outcome = Outcome(passed, feedback="" if passed else why)
        definition = sandbox.definition
        replay.runs.append(
            msgspec.structs.replace(
                run,
                environment=bench.domain,
                ability=bench.domain,
                scenario_id=definition.task_type,
                tools=bench.tools,
                outcome=outcome,
            )
        )
    return replay


def _recorded_runs(bench: StateBench) -> Iterator[tuple[str, Trajectory]]:
    """By the ids of their tasks, which files are named after: in a run, a long id is shortened."""
    folder = bench.checkout / "datasets" / "train_task_trajectories" / bench.domain
    if not folder.is_dir():
        raise UsageError(f"{folder}: the recorded runs of {bench.domain} are not there.")
    for path in sorted(folder.glob("*.json")):
        runs = read_traces([path], ReadOptions(fields={"task_id": "path:-1"}, app=bench.domain))
        yield from ((path.stem, run) for run in runs)
        if runs.problems:
            raise TraceError(f"{path} could not be read. {runs.problems[0]}")


def _same(value: Any, recorded: Result | None) -> bool:
    content = recorded.content if recorded else None
    if isinstance(content, str):
        try:
            content = json.loads(content)
        except ValueError:
            return bool(value == content)
    return bool(value == content)


# Runs of an agent


class ChatClient:
    """A target in the place of the benchmark's client: it plays the user, or judges the dialogue."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def complete_chat(self, messages: Sequence[Mapping[str, str]], **_: Any) -> str:
        return self._target.reply([ChatMessage(each["role"], each["content"]) for each in messages], ()).text  # type: ignore[arg-type]

    def complete_json(self, prompt: str, system_prompt: str, **_: Any) -> Any:
        text = self.complete_chat([{"role": "system", "content": system_prompt}, {"role": "user", "content": prompt}])
        return json.loads(text[text.find("{") : text.rfind("}") + 1])


@dataclass(frozen=True)
class StateBenchEnvironment:
    """The tasks of one split, with a user and, if there is one, a judge of the dialogue."""

    bench: StateBench
    split: Split
    user: Target
    judge: Target | None = None
    retrieve: Retrieve | None = None
    """Gives the agent the benchmark's own tool for learnings."""

    def __post_init__(self) -> None:
        self.bench.check_parties()

    @property
    def name(self) -> str:
        return self.bench.domain

    @property
    def problems(self) -> tuple[str, ...]:
        """Always empty: the tasks are those of the split."""
        return ()

    @cached_property
    def _tasks(self) -> Mapping[str, Task]:
        return {task_id: self._task(task_id) for task_id in self.bench.ids(self.split)}

    def tasks(self) -> Mapping[str, Task]:
        return self._tasks

    def _task(self, task_id: str) -> Task:
        definition = self.bench.definition(task_id)
        context = self.bench.config.agent_system_prompt.format(now=definition.now, user_id=definition.user_id)
        if self.retrieve is not None:
            context = f"{context}\n\n{self.bench.learning_tool[1]}"
        # Its task type is a kind, not a family of near copies: cards learned from other tasks of the type are shown.
        return Task(
            task_id, (definition.opening_message,), (self.bench.domain,), ability=self.bench.domain, context=context
        )

    def tools(self, task_id: str) -> tuple[Tool, ...]:
        return self.bench.tools if self.retrieve is None else (*self.bench.tools, self.bench.learning_tool[0])

    def start(self, task_id: str) -> StateBenchSession:
        return StateBenchSession(self, self.bench.open(task_id))

    def solution(self, task_id: str) -> None:
        """The benchmark gives none."""

    def attempt(
        self, task_id: str, target: Any, provider: MemoryProvider | None, limits: Limits, *, trial: str = "0"
    ) -> Trajectory:
        return attempt(self, task_id, target, provider, limits, trial=trial)


class StateBenchSession:
    """One conversation, in its own sandbox."""

    def __init__(self, environment: StateBenchEnvironment, sandbox: Sandbox) -> None:
        self._environment, self._sandbox = environment, sandbox
        self._user = environment.bench.simulate_user(ChatClient(environment.user), sandbox.definition, sandbox.data)
        self._conversation: list[dict[str, Any]] = [{"role": "user", "content": sandbox.definition.opening_message}]
        self._calls: list[dict[str, Any]] = []
        self._turns = 0

    def call(self, function: str, arguments: Mapping[str, Any]) -> Result:
        value = self._look_up(function, arguments)
        if value is None:
            value = self._sandbox.call(function, arguments)
        self._calls.append({"name": function.rpartition(".")[2], "arguments": dict(arguments), "result": value})
        return Result(json.dumps(value, ensure_ascii=False), error_in(value))

    def _look_up(self, function: str, arguments: Mapping[str, Any]) -> Any:
        retrieve = self._environment.retrieve
        if retrieve is None or function != self._environment.bench.learning_tool[0].function:
            return None
        return {"learnings": retrieve(str(arguments.get("query", "")), TOP_K)}

    def end_turn(self, answer: str = "") -> str | None:
        """What the user says to the answer; None once the user is done, or the benchmark's turns are used up."""
        config = self._environment.bench.config
        self._conversation.append({"role": "assistant", "content": answer, "tool_calls": self._calls or None})
        self._calls, self._turns = [], self._turns + 1
        if self._turns >= config.max_agent_turns:
            return None
        reply = str(self._user.respond(self._conversation))
        self._conversation.append({"role": "user", "content": reply})
        return None if config.check_termination(reply) else reply

    def verify(self) -> Outcome:
        passed, why = self._sandbox.score()
        judge = self._environment.judge
        if judge is None:
            return Outcome(passed, feedback="" if passed else why)
        said = self._environment.bench.judge_dialogue(ChatClient(judge), self._sandbox.definition, self._conversation)
        if said is None:
            raise ModelError(f"{judge.name}: the judgement of the dialogue could not be read.")
        reasons = [reason for done, reason in ((passed, why), (said.score == 1, said.reasoning)) if not done]
        return Outcome(not reasons, feedback="; ".join(reasons))


def card_texts(bank: Path, tools: Sequence[Tool]) -> Retrieve:
    """The cards of a bank as learnings: those that fit a query best, whole."""
    memory, functions = Memory.load(bank), [tool.function for tool in tools]

    def retrieve(query: str, top_k: int) -> list[str]:
        hits = memory.start(query, tools=functions).guidance.hits
        return [card_markdown(hit.card) for hit in hits if hit.kind == "skill"][:top_k]

    return retrieve
