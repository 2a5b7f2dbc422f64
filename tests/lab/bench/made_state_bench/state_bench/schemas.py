from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class StateDiff:
    changed: dict[str, Any]

    @classmethod
    def compute(cls, before: dict[str, Any], after: dict[str, Any]) -> StateDiff:
        return cls({key: value for key, value in after.items() if before.get(key) != value})


@dataclass
class TaskDefinition:
    task_id: str
    user_id: str
    now: str
    opening_message: str
    task_type: str
    wanted: dict[str, Any]
    reply: str
    task_requirements: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def load(cls, path: str | Path) -> TaskDefinition:
        return cls(**json.loads(Path(path).read_text()))
