"""Claude Agent SDK: `query(prompt=task, options=guided(options, memory))`. A session is a run, with all its prompts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Unpack, cast

from contramem.inject.adapters.starter import Starter, StartOptions, missing
from contramem.inject.hook.sessions import HookSessions
from contramem.inject.run import Memory, Run

try:
    from claude_agent_sdk import ClaudeAgentOptions, HookContext, HookMatcher
    from claude_agent_sdk.types import HookEvent, HookInput, HookJSONOutput
except ImportError as error:
    raise missing(__name__, "claude_agent_sdk", "claude-agent-sdk", error) from error


EVENTS = (
    "SessionStart", "UserPromptSubmit", "SubagentStart", "PreToolUse", "PostToolUse", "PostToolUseFailure",
    "PostToolBatch", "Stop",
)  # fmt: skip
"""The client has them all; the SDK's type does not list the first and the last but one yet."""


ENDING = ("max_turns", "max_budget_usd", "task_budget", "output_format")
"""Options that may end a session in any reply. `extra_args` may have more of them."""


def guided(
    options: ClaudeAgentOptions,
    memory: Memory,
    *,
    on_start: Callable[[Run], None] | None = None,
    **start_options: Unpack[StartOptions],
) -> ClaudeAgentOptions:
    """A copy of `options` with our hooks beside those it has. Calls are held only if nothing in it can end a session
    before they are made: `max_turns`, a budget, a structured answer. `on_start` is told of each run that starts;
    `start_options` are those of `Memory.start`."""
    unlimited = not options.extra_args and all(getattr(options, name, None) is None for name in ENDING)
    hooks = memory_hooks(memory, hooks=options.hooks, unlimited=unlimited, on_start=on_start, **start_options)
    return replace(options, hooks=hooks)


def memory_hooks(
    memory: Memory,
    *,
    unlimited: bool = False,
    hooks: Mapping[HookEvent, list[HookMatcher]] | None = None,
    on_start: Callable[[Run], None] | None = None,
    **options: Unpack[StartOptions],
) -> dict[HookEvent, list[HookMatcher]]:
    """Hooks that show guidance with a prompt, each card once a session, and notes beside results.

    With `unlimited`, a call that would do harm is held, and what is still open is asked for once at the end. Without,
    nothing is held, because a limit such as `max_turns`, of which hooks are not told, might come first. `hooks` are
    others to keep. `on_start` is told of each run that starts; `options` are those of `Memory.start`. One set of hooks
    serves any number of clients.
    """
    sessions = HookSessions(Starter(memory, options, on_start), "always" if unlimited else "never")

    async def answer(event: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        return cast("HookJSONOutput", sessions.answer(cast("dict[str, Any]", event)))

    joined = {event: list(matchers) for event, matchers in (hooks or {}).items()}
    for event in EVENTS:
        joined.setdefault(cast(HookEvent, event), []).append(HookMatcher(hooks=[answer]))
    return joined
