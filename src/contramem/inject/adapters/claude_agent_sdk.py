"""Claude Agent SDK: `ClaudeAgentOptions(hooks=memory_hooks(memory))`. A session is a run, whatever is asked in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Unpack, cast

from contramem.inject.adapters.starter import Starter, StartOptions, missing
from contramem.inject.hook.sessions import HookSessions
from contramem.inject.run import Memory, Run

try:
    from claude_agent_sdk import HookContext, HookMatcher
    from claude_agent_sdk.types import HookEvent, HookInput, HookJSONOutput
except ImportError as error:
    raise missing(__name__, "claude_agent_sdk", "claude-agent-sdk", error) from error


EVENTS = (
    "SessionStart", "UserPromptSubmit", "SubagentStart", "PreToolUse", "PostToolUse", "PostToolUseFailure",
    "PostToolBatch", "Stop",
)  # fmt: skip
"""The client has them all; the SDK's type does not list the first and the last but one yet."""


def memory_hooks(
    memory: Memory,
    *,
    hooks: Mapping[HookEvent, list[HookMatcher]] | None = None,
    on_start: Callable[[Run], None] | None = None,
    **options: Unpack[StartOptions],
) -> dict[HookEvent, list[HookMatcher]]:
    """Hooks that show guidance with a prompt, each card once a session, and notes beside results.

    `hooks` are others to keep. `on_start` is told of each run that starts; `options` are those of `Memory.start`.
    One set of hooks serves any number of clients.
    """
    sessions = HookSessions(Starter(memory, options, on_start))

    async def answer(event: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        return cast("HookJSONOutput", sessions.answer(cast("dict[str, Any]", event)))

    joined = {event: list(matchers) for event, matchers in (hooks or {}).items()}
    for event in EVENTS:
        joined.setdefault(cast(HookEvent, event), []).append(HookMatcher(hooks=[answer]))
    return joined
