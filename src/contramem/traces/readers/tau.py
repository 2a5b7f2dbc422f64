"""tau-bench, the first version and tau2: an agent of a shop or a provider, and a user that a model simulates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from contramem.errors import TraceError
from contramem.traces.files import TraceFile, number
from contramem.traces.normalize import Recorder, text_of
from contramem.traces.reader import Problem, Reading, ReadOptions, SkippedRun, each_run, first_of
from contramem.traces.readers.messages import Meter, record_call, unknown_role
from contramem.traces.readers.records import label
from contramem.traces.trajectory import Actor, Ending, Origin, Outcome, RunUsage, Trajectory

Messages = Sequence[Mapping[str, Any]]
_STOP = re.compile(r"\s*###(?:STOP|TRANSFER|OUT-OF-SCOPE)###\s*")


def _answer_at(messages: Messages) -> int:
    """Where the agent gave its final answer: its message before the one with which the user ends the run. Or -1.

    The user's goodbye may hold words of its own, so the answer is not always the last thing said."""
    if len(messages) < 2 or messages[-1]["role"] != "user" or messages[-2]["role"] != "assistant":
        return -1
    stopped = _STOP.search(text_of(messages[-1].get("content"))) and not messages[-2].get("tool_calls")
    return len(messages) - 2 if stopped else -1


def _without_stop(text: str) -> str:
    """What the user said, without the tokens that only the simulation reads."""
    return _STOP.sub(" ", text).strip() if "###" in text else text


_RUN_NAME = re.compile(r"^(?:tool-calling|act|react|few-shot)-(.+?)(?:-\d+(?:\.\d+)?)?_range_")
_DOMAIN = re.compile(r"(?<![a-z])(retail|airline)(?![a-z])")
_TRANSFER = "transfer_to_human_agents"
"""The one tool after which the environment ends the run."""


def is_tau_bench(file: TraceFile) -> bool:
    row = first_of(file.head) if isinstance(file.head, list) else None
    return isinstance(row, dict) and {"task_id", "reward", "info", "traj"} <= row.keys()


def read_tau_bench(file: TraceFile, options: ReadOptions) -> Reading:
    """Results of the first version: one list of rows per file, one row per run.

    {"task_id": 3, "reward": 1.0, "trial": 0, "info": {"task": {"instruction": "..."}},
     "traj": [{"role": "user", "content": "..."}, {"role": "assistant", "tool_calls": [...]}, {"role": "tool", ...}]}

    The model is only in the file name (`tool-calling-<model>-<temperature>_range_...`, or `<model>-<domain>.json`).
    The instruction of the simulated user is the authored text of the task; it is the same in every file for one task
    id. The row also holds the expected actions: they did not happen and are ignored."""
    if not isinstance(file.document, list):
        raise TraceError("is not a list of rows", "Is this a tau-bench result? Choose a reader with --format.")
    domain, source = domain_of(file), source_of(file.name)

    def build(row: dict[str, Any], position: str) -> Trajectory | SkippedRun:
        origin = Origin(file.origin, position)
        if row["info"].get("error") and not row.get("traj"):
            return SkippedRun(str(origin), "api error")
        return _row(row, origin, domain, source, options)

    yield from each_run(file, enumerate(file.document), build)


def source_of(name: str) -> str:
    """The model that a result file is named after."""
    stem = name.removesuffix(".json")
    if named := _RUN_NAME.match(stem):
        return named.group(1)
    domain = _DOMAIN.search(stem)
    return (stem[: domain.start()].rstrip("-_. ") if domain else stem) or stem or "unknown"


def domain_of(file: TraceFile) -> str:
    """`retail` or `airline`, from the file's name or the nearest folder that says so; empty when none does."""
    matches = (_DOMAIN.search(part.lower()) for part in reversed(file.parts))
    return next((match.group(1) for match in matches if match), "")


def _row(row: dict[str, Any], origin: Origin, domain: str, source: str, options: ReadOptions) -> Trajectory:
    info, messages, reward = row["info"], row["traj"], number(row.get("reward"))
    recorder = Recorder(options.naming(domain or "tau-bench"))
    asked = _tell_row(recorder, messages)
    judged, last = info.get("reward_info"), messages[-1] if messages else {}
    is_end = last.get("name") == _TRANSFER if last.get("role") == "tool" else _STOP.search(text_of(last.get("content")))
    # The environment judges a run when it ends; one that it has not judged ran out of steps.
    ended: Ending = "complete" if is_end or judged else "limit"
    instruction = text_of((info.get("task") or {}).get("instruction"))
    return Trajectory(
        environment=f"tau-bench/{domain}" if domain else "tau-bench",
        task_id=label(row["task_id"], "task_id") or "",
        source=source,
        origin=origin,
        events=recorder.events(finalize=ended == "complete"),
        outcome=Outcome(
            passed=None if reward is None else reward >= 1,
            reward=reward,
            feedback=_feedback(judged.get("info") or {}) if isinstance(judged, dict) else "",
            ended=ended,
        ),
        run=label(row.get("trial"), "trial") or "0",
        task=instruction or asked,
        authored=bool(instruction),
        ability=domain or None,
        system=recorder.system,
    )


def _tell_row(recorder: Recorder, messages: Messages) -> str:
    """Record the conversation. Returns the user's first words."""
    first, answer = "", _answer_at(messages)
    for index, message in enumerate(messages):
        role, text = message["role"], text_of(message.get("content"))
        if role == "assistant":
            recorder.message("agent", text, kind="final" if index == answer else "message")
            for call in message.get("tool_calls") or ():
                if call["function"]["name"] == _TRANSFER:
                    recorder.call(_TRANSFER, call["function"]["arguments"], call.get("id"), effect="finalize")
                else:
                    record_call(recorder, call)
        elif role == "tool":
            recorder.result(text, message.get("tool_call_id"))
        elif role == "user":
            first = first or _without_stop(text)
            recorder.message("user", _without_stop(text))
        elif role == "system":
            recorder.instruct(text)
        else:
            raise unknown_role(role, "Is this a tau-bench result?")
    return first


def _feedback(details: Mapping[str, Any]) -> str:
    if number(details.get("r_actions")) == 0:
        return "The final state of the database is not the expected one."
    if number(details.get("r_outputs")) == 0:
        return "The user was not told everything that was asked for."
    return ""


# tau2

_PERSONA = re.compile(r"\[PERSONA:[^\]]*\]$")
_PLAIN = re.compile(r"[\w\-.]{1,100}")
_ENDINGS: dict[str, Ending] = {
    **dict.fromkeys(("max_steps", "timeout", "too_many_errors", "context_window_exceeded"), "limit"),
    **dict.fromkeys(("infrastructure_error", "unexpected_error", "user_error"), "interrupted"),
}


def is_tau2(file: TraceFile) -> bool:
    return _is_results(file.head) or _is_simulation(file.head)


def read_tau2(file: TraceFile, options: ReadOptions) -> Reading:
    """`results.json` with its simulations in it, or beside it in `simulations/*.json`.

    {"info": {"environment_info": {"domain_name": "retail"}, "agent_info": {"llm": "..."}}, "tasks": [...],
     "simulations": [{"task_id": "7", "trial": 0, "termination_reason": "user_stop", "reward_info": {"reward": 1.0},
                      "messages": [...]}]}

    The user mode is part of the environment: without a user the agent gets a ticket and the user's tools, which makes
    them different tasks with the same ids. Simulated users call tools on their own device; those calls are not the
    agent's."""
    document = file.document
    runs: Iterable[tuple[object, Any]]
    if _is_simulation(document):
        settings, runs = _settings_above(file), [("", document)]
    elif _is_results(document):
        settings, runs = _Tau2Info(document), enumerate(_list_under(document, "simulations"))
        yield from _missing_simulations(file, document)
    else:
        raise TraceError("is neither a tau2 results.json nor a simulation", "Choose a reader with --format.")
    yield from each_run(file, runs, lambda run, at: _simulation(run, Origin(file.origin, at), settings, options))


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


class _Tau2Info:
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
            what = f"does not name domain, agent and tasks ({error!r})"
            raise TraceError(what, "Is this tau2's results.json?") from None

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


def _settings_above(file: TraceFile) -> _Tau2Info:
    results = file.beside("../results.json")
    if results is None:
        raise TraceError("has no results.json in the folder above", "Pass the folder that holds results.json.")
    try:
        return _settings_at(str(results.path), results.path.stat().st_mtime_ns)
    except TraceError as error:
        raise TraceError(f"belongs to {results.origin}, which {error.what}", error.hint) from None


@lru_cache(maxsize=4)
def _settings_at(path: str, changed: int) -> _Tau2Info:
    # Hundreds of simulations share one results.json, which holds every task.
    return _Tau2Info(TraceFile(Path(path)).document)


def _missing_simulations(file: TraceFile, results: Mapping[str, Any]) -> Iterator[Problem]:
    """Simulations that the index of the folder format lists and that are not there."""
    if results.get("simulations"):
        return
    for entry in _list_under(results, "simulation_index"):
        name = entry.get("id") if isinstance(entry, dict) else None
        # The id comes from the file: only one that is a plain name is looked for.
        if isinstance(name, str) and _PLAIN.fullmatch(name) and file.beside(f"simulations/{name}.json") is None:
            yield Problem(file.origin, f"lists the simulation {name!r}, which is not in simulations/", "Was it moved?")


def _simulation(run: dict[str, Any], origin: Origin, settings: _Tau2Info, options: ReadOptions) -> Trajectory:
    task_id, task = label(run["task_id"], "task_id") or "", settings.text(run["task_id"])
    judged, ended = run.get("reward_info") or {}, _ENDINGS.get(run["termination_reason"], "complete")
    reward = number(judged.get("reward"))
    recorder = Recorder(options.naming(settings.domain))
    usage = _tell_simulation(recorder, run, settings.solo)
    if not recorder.system:
        # tau2 leaves the system message out of its simulations; what it says is the policy of the domain.
        recorder.instruct(settings.policy)
    # Tasks with the same problem and another persona are near copies: they share a scenario.
    trouble = _PERSONA.sub("", task_id)
    return Trajectory(
        environment=settings.environment,
        task_id=task_id,
        source=settings.source,
        origin=origin,
        events=recorder.events(finalize=ended == "complete"),
        outcome=Outcome(None if reward is None else reward >= 1, reward, "\n".join(_complaints(judged)), ended),
        run=label(run.get("trial"), "trial") or "0",
        task=task,
        authored=bool(task),
        scenario_id=trouble if trouble != task_id else None,
        ability=settings.domain,
        usage=usage,
        system=recorder.system,
    )


def _tell_simulation(recorder: Recorder, run: Mapping[str, Any], solo: bool) -> RunUsage:
    messages, meter = run["messages"], Meter()
    if not messages:
        raise TraceError("has no messages", "Voice runs keep ticks instead, which are not read.")
    answer = _answer_at(messages)
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
            raise unknown_role(role, "Is this a tau2 simulation?")
    if meter.cost_usd is None:
        meter.add(None, run.get("agent_cost"))
    return meter.usage()


def _tell_turn(
    recorder: Recorder, actor: Actor, message: Mapping[str, Any], final: bool = False, solo: bool = False
) -> None:
    text = text_of(message.get("content"))
    spoken = _without_stop(text)
    if text and not spoken and solo:
        # tau2 writes the `done` call of an agent without a user as its stop token.
        recorder.call("done", {}, "###STOP###", effect="finalize")
    recorder.message(actor, spoken, kind="final" if final else "message")
    for call in message.get("tool_calls") or ():
        recorder.call(call["name"], call["arguments"], call.get("id"), actor=actor)


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
