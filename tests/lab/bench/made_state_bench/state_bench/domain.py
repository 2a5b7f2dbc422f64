from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class Desk:
    """Bookings that can be looked up and cancelled."""

    def __init__(self, data: Bookings, now: str) -> None:
        self.bookings = data.bookings

    @property
    def tool_handlers(self) -> dict[str, Callable[[dict[str, Any]], Any]]:
        return {"get_booking": self._get, "cancel_booking": self._cancel}

    def _get(self, arguments: dict[str, Any]) -> Any:
        return {"booking": arguments["booking"], "status": self.bookings[arguments["booking"]]}

    def _cancel(self, arguments: dict[str, Any]) -> Any:
        if arguments["booking"] not in self.bookings:
            return {"error": "There is no such booking"}
        self.bookings[arguments["booking"]] = "cancelled"
        return {"cancelled": arguments["booking"]}

    def get_full_snapshot(self) -> dict[str, Any]:
        return self.bookings


@dataclass
class Bookings:
    bookings: dict[str, str]

    def deep_copy(self) -> Bookings:
        return Bookings(dict(self.bookings))


def _schema(name: str) -> dict[str, Any]:
    properties = {"booking": {"type": "string"}}
    return {
        "type": "function",
        "name": name,
        "description": name.replace("_", " "),
        "parameters": {"type": "object", "properties": properties, "required": ["booking"]},
    }


@dataclass
class DomainConfig:
    name: str
    environment_class: type
    tool_schemas: list[dict[str, Any]]
    agent_system_prompt: str
    build_simulator_prompt: Callable[..., str]
    prompts_dir: Path
    judge_system_prompt: str
    max_agent_turns: int
    check_termination: Callable[[str], bool]


def get_domain_config(name: str) -> DomainConfig:
    return DomainConfig(
        name, Desk, [_schema("get_booking"), _schema("cancel_booking")], "Today is {now}. You help {user_id}.",
        lambda task, data, user_id: f"You are {user_id}. Say: {task.reply}", Path(__file__).parent, "Judge.", 3,
        lambda text: "[TASK_DONE]" in text,
    )  # fmt: skip
