"""Runs of the made-up scenarios by scripted engines, in ARE's own environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.lab.bench.are_engine import ScriptedEngine

from contramem.inject.provider import MemoryProvider
from contramem.inject.run import Memory
from contramem.traces.trajectory import Trajectory
from contramem_lab.are import AreEngine, AreSettings, AreTarget, Installation, Judge, TimeRuntime, default_folder
from contramem_lab.are_runs import AreEnvironment
from contramem_lab.environment import Limits
from contramem_lab.jobs import ProfileByAbility
from contramem_lab.memory import time_profile

SCENARIOS = Path(__file__).with_name("are_scenarios")
LIMITS = Limits(steps=25, seconds=300)
needs_are = pytest.mark.skipif(
    not Installation(default_folder()).is_there, reason="ARE is not installed: contramem lab bench are --install"
)


def made_up(**parts: bool) -> AreEnvironment:
    """All made-up scenarios, with the parts of the temporal runtime that are not switched off."""
    return AreEnvironment((str(SCENARIOS),), AreSettings(Judge("scripted"), TimeRuntime(**parts)))


def run(
    task_id: str, engine: str | AreEngine = "careful", memory: Memory | MemoryProvider | None = None, **parts: bool
) -> Trajectory:
    target = ScriptedEngine(engine) if isinstance(engine, str) else engine
    if isinstance(memory, Memory):
        memory = ProfileByAbility(memory, "gaia2", {"time": time_profile(parts.get("universal", True))})
    return made_up(**parts).attempt(task_id, AreTarget(target.name, engine=target), memory, LIMITS)
