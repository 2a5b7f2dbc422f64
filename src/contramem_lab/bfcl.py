"""The stateful apps of BFCL's multi-turn suite (files, tickets, trading, travel, ...), and its own tasks.

Needs `bfcl-eval`, whose declared dependencies are several gigabytes of model clients that nothing here uses. Install it
without them: `pip install --no-deps bfcl-eval mpmath`.

BFCL runs calls by `eval()` on text and keeps its worlds in module globals. Here an agent's calls go straight to the
methods of backends that belong to one session. Only the checker still evaluates text, and it gets none but what
`render_call` wrote.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from importlib import import_module
from importlib.resources import files
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from contramem.errors import UsageError
from contramem.traces.result_errors import error_in
from contramem.traces.trajectory import Outcome, Result, Tool
from contramem_lab.environment import EnvironmentCall, Solution, Task

_CONFIG = "bfcl_eval.constants.executable_backend_config"
_CHECKER = "bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker"
_EXECUTOR = "bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils"

# The checker keeps a world per name for the life of the process, so no two checks may share a name.
_CHECKS = itertools.count()


@dataclass(frozen=True)
class BfclTask(Task):
    """A task with its initial world and the calls that solve it, turn by turn."""

    initial_config: Mapping[str, Any] = field(default_factory=dict)
    """What the backend of each app loads."""
    ground_truth: tuple[tuple[EnvironmentCall, ...], ...] = ()
    """Functions without their app, as in BFCL."""
    long_context: bool = field(default=False, kw_only=True)
    """The world is padded with irrelevant things."""


class BfclEnvironment:
    """Tasks over the BFCL backends. `descriptions` replace the first lines of their docstrings, by function name."""

    def __init__(
        self, tasks: Iterable[BfclTask], descriptions: Mapping[str, str] | None = None, *, name: str = "bfcl"
    ) -> None:
        self.name = name
        self._tasks = {task.id: task for task in tasks}
        self._descriptions = descriptions or {}
        for task in self._tasks.values():
            _check_task(task)

    def tasks(self) -> Mapping[str, BfclTask]:
        return self._tasks

    def tools(self, task_id: str) -> tuple[Tool, ...]:
        return tuple(
            Tool(f"{app}.{name}", self._descriptions.get(name) or _first_line(method), _parameters(method))
            for app in self._tasks[task_id].apps
            for name, method in _methods(_backend_class(app)).items()
        )

    def start(self, task_id: str) -> BfclSession:
        return BfclSession(self._tasks[task_id])

    def solution(self, task_id: str) -> Solution:
        task = self._tasks[task_id]
        functions = app_functions(task.apps)
        return Solution(
            tuple(
                tuple(EnvironmentCall(functions[call.function][0], call.arguments) for call in turn)
                for turn in task.ground_truth
            )
        )


class BfclSession:
    """One run, with its own backends, which end with it."""

    def __init__(self, task: BfclTask) -> None:
        self._task = task
        self._methods: dict[str, Callable[..., Any]] = {}
        self._turns: list[list[EnvironmentCall]] = [[]]
        for app in task.apps:
            for name, method in _methods(_load_backend(app, task)).items():
                self._methods[f"{app}.{name}"] = method

    def call(self, function: str, arguments: Mapping[str, Any]) -> Result:
        method = self._methods.get(function)
        if method is None or self._task.later.get(function, 0) >= len(self._turns):
            return _error_result(f"There is no function {function}.")
        try:
            # A copy: backends keep their arguments, and the check must see what was really passed.
            arguments_json = json.loads(json.dumps(dict(arguments), allow_nan=False))
        except (TypeError, ValueError) as error:
            return _error_result(f"The arguments are not JSON: {error}")
        self._turns[-1].append(EnvironmentCall(function.rpartition(".")[2], deepcopy(arguments_json)))
        try:
            value = method(**arguments_json)
        except Exception as error:  # the agent observes whatever a backend raises, as in BFCL's own executor
            return _error_result(f"Error during execution: {error}")
        return Result(json.dumps(value, ensure_ascii=False, default=str), _error_of(value))

    def end_turn(self, answer: str = "") -> None:
        """BFCL judges what was done, never what was said about it."""
        self._turns.append([])

    def verify(self) -> Outcome:
        return check(self._task, self._turns)


def check(task: BfclTask, turns: Iterable[Iterable[EnvironmentCall]]) -> Outcome:
    """BFCL's verdict on the calls made in each turn: the state after the turn, and the results it had to see."""
    expected = [[render_call(call) for call in turn] for turn in task.ground_truth]
    made = [[[render_call(call)] for call in turn] for turn in turns][: len(expected)]
    made += [[] for _ in range(len(expected) - len(made))]
    # BFCL reads the kind of world from the id and makes variable names from it; the task's own id may say anything.
    entry_id = "long_context_0" if task.long_context else "task_0"
    entry = {"id": entry_id, "initial_config": task.initial_config, "involved_classes": list(task.apps)}
    name = f"contramem_check_{next(_CHECKS)}_"
    try:
        verdict = import_bfcl(_CHECKER).multi_turn_checker(made, expected, entry, "multi_turn", name)
    finally:
        _forget(name)
    return Outcome(passed=bool(verdict["valid"]), feedback=_feedback(verdict))


def render_call(call: EnvironmentCall) -> str:
    """The call as the text that BFCL's checker evaluates: a plain function name and literals, nothing else.

    Arguments are passed as one dictionary literal, so that their names need no syntax. Opening brackets inside strings
    are escaped, because BFCL rewrites any `name(` it finds, quoted or not.
    """
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", call.function) is None:
        raise UsageError(f"{call.function!r} is not a name that the BFCL checker can take for a function.")
    literal = repr(json.loads(json.dumps(dict(call.arguments), allow_nan=False))).replace("(", "\\x28")
    return f"{call.function}(**{literal})"


def _forget(name: str) -> None:
    worlds = vars(import_bfcl(_EXECUTOR))
    for key in [key for key in list(worlds) if key.startswith(name)]:  # a copy: other runs add worlds meanwhile
        del worlds[key]


def _feedback(verdict: Mapping[str, Any]) -> str:
    """The kind of the checker's complaint in a few words, without the values it saw or expected."""
    if verdict["valid"]:
        return ""
    kind = str(verdict.get("error_type", "failed")).rpartition(":")[2]
    fields = ", ".join(verdict.get("details", {}).get("differences", {}))
    return f"{kind.replace('_', ' ')}: {fields}" if fields else kind.replace("_", " ")


def _error_result(message: str) -> Result:
    return Result(message, message)


def _error_of(value: object) -> str | None:
    # Some functions return their error as the only item of the list they normally return.
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return error_in(value)


def _check_task(task: BfclTask) -> None:
    if len(task.turns) != len(task.ground_truth):
        raise UsageError(f"task {task.id} has {len(task.turns)} turns but ground truth for {len(task.ground_truth)}.")
    seen: dict[str, str] = {}
    for app in task.apps:
        for name in _methods(_backend_class(app)):
            if seen.setdefault(name, app) != app:
                raise UsageError(f"task {task.id}: {seen[name]} and {app} both have {name}, which BFCL cannot check.")


def app_functions(apps: Iterable[str]) -> dict[str, tuple[str, Any]]:
    """`App.function` and the method itself, by the bare name."""
    return {name: (f"{app}.{name}", method) for app in apps for name, method in _methods(_backend_class(app)).items()}


def _load_backend(app: str, task: BfclTask) -> Any:
    backend = _backend_class(app)()
    if app not in import_bfcl(_CONFIG).STATELESS_CLASSES:
        backend._load_scenario(deepcopy(task.initial_config.get(app, {})), long_context=task.long_context)
    return backend


def _backend_class(app: str) -> Any:
    modules = import_bfcl(_CONFIG).CLASS_FILE_PATH_MAPPING
    if app not in modules:
        raise UsageError(f"BFCL has no app {app!r}. It has: {', '.join(sorted(modules))}.")
    return getattr(import_bfcl(modules[app]), app)


def import_bfcl(module: str) -> Any:
    """A module of bfcl-eval, or an error that says how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"BFCL tasks need a package that is not installed ({error.name}). "
            "Install it with: pip install --no-deps bfcl-eval mpmath"
        ) from None


def _methods(backend: Any) -> dict[str, Callable[..., Any]]:
    return {name: method for name, method in inspect.getmembers(backend, inspect.isroutine) if not name.startswith("_")}


def _first_line(method: Callable[..., Any]) -> str:
    return (inspect.getdoc(method) or "").partition("\n")[0]


_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}


def _parameters(method: Callable[..., Any]) -> dict[str, Any]:
    """The JSON schema of a method's arguments, from its signature."""
    hints = get_type_hints(method)
    properties: dict[str, Any] = {}
    required = []
    for name, parameter in inspect.signature(method).parameters.items():
        if name == "self":
            continue
        properties[name] = _schema(hints.get(name, Any))
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
        elif parameter.default is not None:
            properties[name]["default"] = parameter.default
    return {"type": "object", "properties": properties, "required": required}


def _schema(hint: Any) -> dict[str, Any]:
    if get_origin(hint) in (Union, UnionType):
        members = [member for member in get_args(hint) if member is not NoneType]
        return _schema(members[0]) if len(members) == 1 else {"anyOf": [_schema(member) for member in members]}
    kind = _JSON_TYPES.get(get_origin(hint) or hint)
    if kind is None:
        return {}
    items = get_args(hint)
    return {"type": kind, "items": _schema(items[0])} if kind == "array" and items else {"type": kind}


LEFT_OUT = ("multi_turn_miss_func_49",)
"""Its solution calls a function two turns before the agent gets it, so no agent can pass."""

CATEGORIES = ("base", "long_context", "miss_func", "miss_param")


def official_environment(category: str | None = None) -> BfclEnvironment:
    """The tasks of one category, or of all."""
    if category is not None and category not in CATEGORIES:
        raise UsageError(f"BFCL has no multi-turn category {category!r} (categories: {', '.join(CATEGORIES)}).")
    chosen = CATEGORIES if category is None else (category,)
    name = "bfcl" if category is None else f"bfcl/{category}"
    return BfclEnvironment([task for each in chosen for task in official_tasks(each)], name=name)


def official_tasks(category: str) -> Iterator[BfclTask]:
    """One category. The solutions, which BFCL writes as Python, are parsed and never evaluated."""
    name = f"BFCL_v4_multi_turn_{category}.json"
    solutions = {row["id"]: row["ground_truth"] for row in _rows("possible_answer", name)}
    for row in _rows(name):
        if row["id"] in LEFT_OUT:
            continue
        apps = tuple(row["involved_classes"])
        functions = app_functions(apps)
        yield BfclTask(
            row["id"],
            tuple(_user_text(turn) for turn in row["question"]),
            apps,
            ability=category,
            later={
                functions[function][0]: int(turn)
                for turn, missed in row.get("missed_function", {}).items()
                for function in missed
            },
            initial_config=row["initial_config"],
            ground_truth=tuple(tuple(_parse_call(call, functions) for call in turn) for turn in solutions[row["id"]]),
            long_context=category == "long_context",
        )


def _rows(*path: str) -> list[dict[str, Any]]:
    import_bfcl("bfcl_eval")
    text = files("bfcl_eval").joinpath("data", *path).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _user_text(turn: list[dict[str, str]]) -> str:
    """What the user says. A turn that only adds functions has no words; BFCL's runner supplies some."""
    if not turn:
        return str(import_bfcl("bfcl_eval.constants.default_prompts").DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC)
    return "\n\n".join(message["content"] for message in turn)


def _parse_call(text: str, functions: dict[str, tuple[str, Any]]) -> EnvironmentCall:
    call = ast.parse(text, mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise UsageError(f"BFCL's solution {text!r} is not a call. Does contramem support this version of bfcl-eval?")
    names = [name for name in inspect.signature(functions[call.func.id][1]).parameters if name != "self"]
    positional = {name: ast.literal_eval(value) for name, value in zip(names, call.args, strict=False)}
    return EnvironmentCall(
        call.func.id, positional | {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    )
