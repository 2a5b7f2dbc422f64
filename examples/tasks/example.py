"""One example: a task, the plan that the scripted agents work from, and the side of the split it is on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from policies import Careful

from contramem_lab.bfcl import BfclTask
from contramem_lab.environment import EnvironmentCall

Plan = Callable[[Careful], str]
"""What a good run does in one turn; gives the answer to the user."""


@dataclass(frozen=True)
class Example:
    """A task and what the scripted agents know about doing it."""

    task: BfclTask
    plans: tuple[Plan, ...]
    held_out: bool = False


def calls(*pairs: tuple[str, dict[str, Any]]) -> tuple[EnvironmentCall, ...]:
    """Ground truth of one turn."""
    return tuple(EnvironmentCall(function, arguments) for function, arguments in pairs)
