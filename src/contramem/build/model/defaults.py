"""What a command line says about models without loading what builds with one."""

from __future__ import annotations

from typing import Literal, TypeAlias

Suite: TypeAlias = Literal["app_tool", "code_agent"]
SUITES: tuple[Suite, ...] = ("app_tool", "code_agent")
PACKET_BUDGET_TOKENS = 6_000
