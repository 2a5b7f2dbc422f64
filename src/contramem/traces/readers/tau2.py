"""tau2-bench results: `results.json` with its simulations in it, or beside it in `simulations/*.json`.

    {"info": {"environment_info": {"domain_name": "retail"}, "agent_info": {"llm": "..."}}, "tasks": [...],
     "simulations": [{"task_id": "7", "trial": 0, "termination_reason": "user_stop", "reward_info": {"reward": 1.0},
                      "messages": [...]}]}

The user mode is part of the environment: without a user the agent gets a ticket and the user's tools, which makes them
different tasks with the same ids. Simulated users call tools on their own device; those calls are not the agent's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from contramem.errors import TraceError
from contramem.traces.decoding import number
from contramem.traces.files import TraceFile
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.plain_names import plain_label
from contramem.traces.reader import Problem, ReadOptions, SkippedRun, each_run
from contramem.traces.readers.meter import Meter
from contramem.traces.readers.records import label
from contramem.traces.readers.tau_bench import answer_at, without_stop
from contramem.traces.trajectory import Actor, Ending, Origin, Outcome, RunUsage, Trajectory

_PERSONA = re.compile(r"\[PERSONA:[^\]]*\]$")
_PLAIN = re.compile(r"[\w\-.]{1,100}")
_ENDINGS: dict[str, Ending] = {
    "max_steps": "limit",
    "timeout": "limit",
    "too_many_errors": "limit",
    "context_window_exceeded": "limit",
    "infrastructure_error": "interrupted",
    "unexpected_error": "interrupted",
    "user_error": "interrupted",
}


class Tau2Reader:
    name = "tau2"

    def claims(self, file: TraceFile) -> bool:
        return _is_results(file.head) or _is_simulation(file.head)

    def read(self, file: TraceFile, options: ReadOptions) -> Iterator[Trajectory | Problem | SkippedRun]:
        document = file.document
        runs: Iterable[tuple[object, Any]]
        if _is_simulation(document):
            settings, runs = _settings_above(file), [("", document)]
        elif _is_results(document):
            settings, runs = Tau2Info(document), enumerate(_list_under(document, "simulations"))
            yield from _missing_simulations(file, document)
        else:
            raise TraceError("is neither a tau2 results.json nor a simulation", "Choose a reader with --format.")

        def build(run: dict[str, Any], position: str) -> Trajectory:
            return _trajectory(run, Origin(file.origin, position), settings, options)

        yield from each_run(file, runs, build)


def _is_results(document: object) -> bool:
    info = document.get("info") if isinstance(document, dict) else None
    return isinstance(info, dict) and isinstance(info.get("environment_info"), dict) and "agent_info" in info


def _is_simulation(document: object) -> bool:
    return isinstance(document, dict) and {"task_id", "termination_reason", "messages"} <= document.keys()


def _list_under(results: Mapping[str, Any], key: str) -> list[Any]:
    value = results.get(key) or []
    if not isinstance(value, list):
        raise TraceError(f"has {key} that are not a list", "Is this tau2's results.json?")
    return value


class Tau2Info:
    """What a results.json says about all of its simulations."""

    def __init__(self, results: Mapping[str, Any]) -> None:
        try:
            info = results["info"]
            agent, user = info["agent_info"], info.get("user_info") or {}
            self.domain = label(info["environment_info"]["domain_name"], "domain") or "tau2"
            self.policy = text_of(info["environment_info"].get("policy"))
            self.solo = "solo" in str(agent.get("implementation")) or user.get("implementation") == "dummy_user"
            self.source = label(agent.get("llm"), "llm") or label(agent.get("implementation"), "agent") or "unknown"
            self.tasks = {task["id"]: task for task in results.get("tasks") or ()}
        except (KeyError, TypeError, AttributeError) as error:
            raise TraceError(
                f"does not name domain, agent and tasks ({error!r})", "Is this tau2's results.json?"
            ) from None

    @property
    def environment(self) -> str:
        return f"tau2/{self.domain.removesuffix('-no-user')}{'-no-user' if self.solo else ''}"

    def text(self, task_id: object) -> str:
        """The authored text of a task: the ticket an agent without a user gets, or what the user is to ask for."""
        task = self.tasks.get(task_id) or {}
        ticket = text_of(task.get("ticket"))
        if self.solo and ticket:
            return ticket
        instructions = (task.get("user_scenario") or {}).get("instructions")
        if not isinstance(instructions, dict):
            return text_of(instructions) or ticket
        parts = ("reason_for_call", "known_info", "unknown_info", "task_instructions")
        return "\n".join(text for part in parts if (text := text_of(instructions.get(part)).strip()))


def _settings_above(file: TraceFile) -> Tau2Info:
    results = file.beside("../results.json")
    if results is None:
        raise TraceError("has no results.json in the folder above", "Pass the folder that holds results.json.")
    try:
        return _settings_at(str(results.path), results.path.stat().st_mtime_ns)
    except TraceError as error:
        raise TraceError(f"belongs to {results.origin}, which {error.what}", error.hint) from None


@lru_cache(maxsize=4)
def _settings_at(path: str, changed: int) -> Tau2Info:
    # Hundreds of simulations share one results.json, which holds every task.
    return Tau2Info(TraceFile(Path(path)).document)


def _missing_simulations(file: TraceFile, results: Mapping[str, Any]) -> Iterator[Problem]:
    """Simulations that the index of the folder format lists and that are not there."""
    if results.get("simulations"):
        return
    for entry in _list_under(results, "simulation_index"):
        name = entry.get("id") if isinstance(entry, dict) else None
        # The id comes from the file: only one that is a plain name is looked for.
        if isinstance(name, str) and _PLAIN.fullmatch(name) and file.beside(f"simulations/{name}.json") is None:
            yield Problem(file.origin, f"lists the simulation {name!r}, which is not in simulations/", "Was it moved?")


def _trajectory(run: dict[str, Any], origin: Origin, settings: Tau2Info, options: ReadOptions) -> Trajectory:
    task_id = label(run["task_id"], "task_id") or ""
    outcome = _outcome(run)
    recorder = Recorder(options.naming(settings.domain))
    usage = _tell(recorder, run, settings.solo)
    if not recorder.system:
        # tau2 leaves the system message out of its simulations; what it says is the policy of the domain.
        recorder.instruct(settings.policy)
    task = settings.text(run["task_id"])
    return Trajectory(
        environment=settings.environment,
        task_id=task_id,
        source=settings.source,
        origin=origin,
        events=recorder.events(finalize=outcome.ended == "complete"),
        outcome=outcome,
        run=label(run.get("trial"), "trial") or "0",
        task=task,
        authored=bool(task),
        scenario_id=_scenario(task_id),
        ability=settings.domain,
        usage=usage,
        system=recorder.system,
    )


def _scenario(task_id: str) -> str | None:
    """Tasks with the same problem and another persona are near copies: they share a scenario."""
    trouble = _PERSONA.sub("", task_id)
    return trouble if trouble != task_id else None


def _tell(recorder: Recorder, run: Mapping[str, Any], solo: bool) -> RunUsage:
    messages, meter = run["messages"], Meter()
    if not messages:
        raise TraceError("has no messages", "Voice runs keep ticks instead, which are not read.")
    answer = answer_at(messages)
    for index, message in enumerate(messages):
        role = message["role"]
        if role == "assistant":
            meter.add(message.get("usage"), message.get("cost"))
            _tell_turn(recorder, "agent", message, final=index == answer, solo=solo)
        elif role == "user":
            _tell_turn(recorder, "user", message)
        elif role == "tool":
            for result in message.get("tool_messages") or (message,):
                recorder.result(text_of(result.get("content")), result.get("id"), error=bool(result.get("error")))
        elif role == "system":
            recorder.instruct(text_of(message.get("content")))
        else:
            raise TraceError(
                f"has a message with the unknown role {plain_label(str(role))!r}", "Is this a tau2 simulation?"
            )
    if meter.cost_usd is None:
        meter.spend(run.get("agent_cost"))
    return meter.usage()


def _tell_turn(
    recorder: Recorder, actor: Actor, message: Mapping[str, Any], final: bool = False, solo: bool = False
) -> None:
    text = text_of(message.get("content"))
    spoken = without_stop(text)
    if text and not spoken and solo:
        # tau2 writes the `done` call of an agent without a user as its stop token.
        recorder.call("done", {}, "###STOP###", effect="finalize")
    recorder.message(actor, spoken, kind="final" if final else "message")
    for call in message.get("tool_calls") or ():
        recorder.call(call["name"], call["arguments"], call.get("id"), actor=actor)


def _outcome(run: Mapping[str, Any]) -> Outcome:
    judged = run.get("reward_info") or {}
    reward = number(judged.get("reward"))
    return Outcome(
        passed=None if reward is None else reward >= 1,
        reward=reward,
        feedback="\n".join(_complaints(judged)),
        ended=_ENDINGS.get(run["termination_reason"], "complete"),
    )


def _complaints(judged: Mapping[str, Any]) -> Iterator[str]:
    """What the verifier found missing, without the actions that it expected."""
    for basis, reward in (judged.get("reward_breakdown") or {}).items():
        if number(reward) == 0:
            yield f"{basis} failed."
    for check in judged.get("env_assertions") or ():
        if not check.get("met"):
            yield f"{text_of(check['env_assertion'].get('func_name'))} does not hold."
    for key, wanted in (("nl_assertions", "nl_assertion"), ("communicate_checks", "info")):
        for check in judged.get(key) or ():
            if not check.get("met"):
                yield f"Not met: {text_of(check.get(wanted))}"
