"""Memories of an experiment: built once by their condition, frozen on disk with a hash, and loaded from there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from contramem.bank.frozen import load_frozen, write_frozen
from contramem.errors import UsageError
from contramem.inject.provider import MemoryProvider, MemoryRun, TextMemory
from contramem.inject.run import Memory
from contramem.retrieve.hit import Query
from contramem.retrieve.profiles import Profile, profile_named
from contramem_lab.conditions import BuiltMemory
from contramem_lab.experiment.config import ConditionsConfig
from contramem_lab.experiment.folder import ResultFolder
from contramem_lab.split import Grouping

BANK, SHOWN, FACTS = "bank.jsonl", "shown.jsonl", "memory.json"


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about a memory besides the memory itself."""

    condition: str
    fold: int
    target: str | None
    """Whose own runs it is made from, if that matters."""
    inputs: str
    """A digest of what it was made from. With another digest, another memory is built."""
    sha256: str
    """Hash of the bank, or of the texts shown to tasks."""
    items: int
    unit: str
    tokens: int
    construction: dict[str, Any]
    reason: str = ""
    """Why these runs cannot make it. Then there is no memory."""


@dataclass(frozen=True)
class ProfiledProvider:
    """A provider with the experiment's settings: which profile, and what counts as already knowing the task."""

    provider: MemoryProvider
    rules: ConditionsConfig
    by: Grouping
    universal: bool = True
    """Universal cards come first for Time."""

    def begin(self, query: Query, *, run_id: str | None = None) -> MemoryRun:
        if self.rules.allow_same_task:
            query = replace(query, task_id=None, scenario_id=None)
        elif self.by != "scenario":
            # A split by task puts one scenario on both sides on purpose; its other tasks may teach.
            query = replace(query, scenario_id=None)
        if isinstance(self.provider, Memory):
            profile: str | Profile | None = self.rules.profile_of(query.ability)
            if profile == "time":
                profile = time_profile(self.universal)
            return self.provider.begin(query, run_id=run_id, profile=profile)
        return self.provider.begin(query, run_id=run_id)


def time_profile(universal: bool) -> Profile:
    """How cards are shown for Time, with or without slots reserved for universal cards."""
    profile = profile_named("time")
    return profile if universal else replace(profile, universal_skills=0)


def place_of(condition: str, fold: int, target: str | None) -> str:
    """Where a memory is stored in the result folder."""
    return f"memory/fold-{fold + 1}/{condition}{f'@{target}' if target else ''}"


def frozen_memory(folder: ResultFolder, place: str, inputs: str) -> tuple[Facts, MemoryProvider | None] | None:
    """The memory at `place`, if it exists and was made from these inputs. A modified file is refused."""
    document = folder.read_json(f"{place}/{FACTS}")
    if document is None or document.get("inputs") != inputs:
        return None
    facts = msgspec.convert(document, Facts)
    if facts.reason:
        return facts, None
    path = folder.path / place
    if (path / BANK).exists():
        bank = load_frozen(path / BANK)
        _check(path / BANK, bank.header.content_sha256, facts.sha256)
        return facts, Memory(bank)
    content = (path / SHOWN).read_bytes()
    _check(path / SHOWN, hashlib.sha256(content).hexdigest(), facts.sha256)
    rows = map(msgspec.json.decode, content.splitlines())
    texts = {row["task"]: row["text"] for row in rows}
    return facts, TextMemory(lambda query: texts[query.task])


def _check(path: Path, found: str, expected: str) -> None:
    if found != expected:
        raise UsageError(f"{path}: was changed after it was frozen. Delete {path.parent} and run again.")


def freeze_memory(
    folder: ResultFolder,
    place: str,
    facts: Facts,
    built: BuiltMemory,
    profiled: ProfiledProvider,
    queries: Mapping[str, Query],
) -> Facts:
    """Write a memory to its place, with the facts that mark it as complete last. `queries`: the tasks, by key."""
    path = folder.path / place
    for name in (FACTS, BANK, SHOWN):
        (path / name).unlink(missing_ok=True)
    if isinstance(built.provider, Memory):
        path.mkdir(parents=True, exist_ok=True)
        bank = built.provider.bank
        header = write_frozen(path / BANK, bank.to_bank(), bank.header.profile, bank.header.ability_profiles)
        sha256 = header.content_sha256
    else:
        content = b"".join(msgspec.json.encode(_row(profiled, key, query)) + b"\n" for key, query in queries.items())
        folder.write(f"{place}/{SHOWN}", content)
        sha256 = hashlib.sha256(content).hexdigest()
    whole = msgspec.structs.replace(
        facts,
        sha256=sha256,
        items=built.items,
        unit=built.unit,
        tokens=built.tokens,
        construction=asdict(built.construction),
    )
    folder.write_json(f"{place}/{FACTS}", whole)
    return whole


def _row(profiled: ProfiledProvider, key: str, query: Query) -> dict[str, str]:
    return {"key": key, "task": query.task, "text": profiled.begin(query).guidance.text}
