"""BFCL's own multi-turn tasks, 200 in each of four categories, read from the installed package."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from contramem.errors import UsageError
from contramem_lab.bench.bfcl import BfclEnvironment, BfclTask, app_functions, import_bfcl
from contramem_lab.bench.environment import EnvironmentCall

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
