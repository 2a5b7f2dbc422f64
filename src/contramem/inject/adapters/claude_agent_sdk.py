"""Claude Agent SDK: `ClaudeAgentOptions(hooks=memory_hooks(memory))`. A session is a run, whatever is asked in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Unpack, cast

from contramem.inject.adapters.guided_run import GuidedRun, Runs, Starter, StartOptions, missing
from contramem.inject.run import Memory, Run

try:
    from claude_agent_sdk import HookContext, HookMatcher
    from claude_agent_sdk.types import HookCallback, HookEvent, HookInput, HookJSONOutput
except ImportError as error:
    raise missing(__name__, "claude_agent_sdk", "claude-agent-sdk", error) from error


def memory_hooks(
    memory: Memory,
    *,
    hooks: Mapping[HookEvent, list[HookMatcher]] | None = None,
    on_start: Callable[[Run], None] | None = None,
    **options: Unpack[StartOptions],
) -> dict[HookEvent, list[HookMatcher]]:
    """Hooks that show guidance with each prompt, and hold the first call of a function that has a card.

    `hooks` are others to keep. `on_start` is told of each run that starts; `options` are those of `Memory.start`.
    One set of hooks serves any number of clients.
    """
    desk = _HookAnswers(Starter(memory, options, on_start))
    ours: dict[str, HookCallback] = {
        "UserPromptSubmit": desk.at_prompt,
        "PreToolUse": desk.before_call,
        "PostToolUse": desk.after_call,
        "PostToolUseFailure": desk.after_call,
        "PostToolBatch": desk.after_turn,  # the CLI has it, the SDK's type does not list it yet
    }
    joined = {event: list(matchers) for event, matchers in (hooks or {}).items()}
    for event, callback in ours.items():
        joined.setdefault(cast(HookEvent, event), []).append(HookMatcher(hooks=[callback]))
    return joined


class _SdkConversation:
    """One conversation: of a client, or of a sub-agent, which has not read what the main agent has."""

    def __init__(self, run: GuidedRun) -> None:
        self.run = run
        self.turn = 0
        self.shown = ""
        """The guidance that was last given. A second prompt that gets the same gets nothing."""


class _HookAnswers:
    """Answers the hooks of all sessions."""

    def __init__(self, starter: Starter) -> None:
        self._starter = starter
        self._sessions: Runs[_SdkConversation] = Runs()

    async def at_prompt(self, event: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        told = _fields(event)
        run = self._starter.start(told["prompt"], run_id=told["session_id"])
        # Later prompts get guidance of their own, but what was held stays held: it is still in the conversation.
        session = self._sessions.get(_key(told), lambda: _SdkConversation(run))
        if not run.guidance or run.guidance == session.shown:
            return {}
        session.shown = run.guidance
        return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": run.guidance}}

    async def before_call(self, event: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        told, session = _fields(event), self._session(event)
        held = session.run.hold(told["tool_name"], told["tool_input"], turn=session.turn, call=told.get("tool_use_id"))
        if held is None:
            return {}
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": held,
            }
        }

    async def after_call(self, event: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        told = _fields(event)
        if not told.get("is_interrupt"):
            content = _plain(told.get("tool_response"))
            self._session(event).run.tell(told["tool_name"], told["tool_input"], content, told.get("error"))
        return {}

    async def after_turn(self, event: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        self._session(event).turn += 1
        return {}

    def _session(self, event: HookInput) -> _SdkConversation:
        told = _fields(event)
        # A sub-agent, or a session that goes on in another process: what was asked is not known here.
        return self._sessions.get(
            _key(told), lambda: _SdkConversation(self._starter.start("", run_id=told["session_id"]))
        )


def _fields(event: HookInput) -> dict[str, Any]:
    return cast(dict[str, Any], event)


def _key(told: Mapping[str, Any]) -> tuple[str, str | None]:
    return told["session_id"], told.get("agent_id")


def _plain(response: object) -> object:
    """What a tool answered, blocks of text as text."""
    if isinstance(response, list) and all(isinstance(block, dict) and "text" in block for block in response):
        return "\n".join(str(block["text"]) for block in response)
    return response
