"""The scenario of a job, and its judge."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from are.simulation.agents.are_simulation_agent_config import LLMEngineConfig
from are.simulation.data_handler.importer import JsonScenarioImporter
from are.simulation.scenarios.scenario_imported_from_json.utils import preprocess_scenario
from are.simulation.validation.configs import (
    GraphPerEventJudgeConfig,
    ScriptedGraphPerEventJudgeConfig,
    create_judge_engine,
)
from are.simulation.validation.utils import llm_utils

_VERDICT = re.compile(r"\[\[(true|false|success|failure)\]\]", re.IGNORECASE)


def load_scenario(job: dict[str, Any]) -> Any:
    """The scenario of a JSON file, of `file.py:Class`, or one that ARE has built in."""
    name = job["scenario"]
    if name.endswith(".json"):
        text = Path(name).read_text(encoding="utf-8")
        scenario, _, _ = JsonScenarioImporter().import_from_json_to_benchmark(text, load_completed_events=False)
        preprocess_scenario(scenario, judge_config=_judge(job), max_scenario_duration=job["duration_s"])
        return scenario
    scenario = _python_class(name)() if ".py:" in name else _load_built_in(name)
    scenario.initialize()
    return scenario


def _python_class(reference: str) -> Any:
    path, _, name = reference.rpartition(":")
    spec = importlib.util.spec_from_file_location("own_scenario", path)
    assert spec is not None and spec.loader is not None, f"{path} is no Python file"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def _load_built_in(name: str) -> Any:
    from are.simulation.scenarios.utils.registry import registry

    return registry.get_scenario(name)()


def _judge(job: dict[str, Any]) -> Any:
    judge = job["judge"]
    if judge["kind"] == "none":
        return None
    if judge["kind"] == "scripted":
        return ScriptedGraphPerEventJudgeConfig(engine=None)
    engine = LLMEngineConfig(model_name=judge["model"], provider=judge["provider"], endpoint=judge["url"])
    return GraphPerEventJudgeConfig(engine=_spell_verdicts(create_judge_engine(engine)))


def _spell_verdicts(ask: Callable[..., Any]) -> Callable[..., Any]:
    """ARE 1.2.0 writes `[[true]]` for the `[[True]]` of its judge and then looks for `[[True]]`: whatever a model has
    to judge would fail (its issue 29)."""

    def ask_and_spell(*args: Any, **kwargs: Any) -> Any:
        text, metadata = ask(*args, **kwargs)
        return _VERDICT.sub(lambda match: f"[[{match[1].capitalize()}]]", text), metadata

    return ask_and_spell


def fill_templates_once() -> None:
    """Cache the templates of ARE's judge: it compiles the same few 4,000 times per scenario, in 11 CPU seconds."""
    fill: Callable[..., str] = llm_utils.jinja_format
    filled: dict[str, str] = {}

    def fill_once(template: str, skip_validation: bool = True, **values: Any) -> str:
        key = repr((template, skip_validation, sorted(values.items())))
        if key not in filled:
            filled[key] = fill(template, skip_validation, **values)
        return filled[key]

    llm_utils.jinja_format = fill_once
    llm_utils.build_llm_checkers(engine=None)  # here, so that every run finds them filled
