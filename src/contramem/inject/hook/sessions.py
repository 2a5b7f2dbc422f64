"""The answers to hook events of Claude Code, Codex and the Claude Agent SDK, by session.

All three send the same events in the same format. A prompt is answered with the cards that fit it, each once per
session; a call is held only if it would do harm; notes are added to results; what is still owed is said once before the
end. Where a limit that hooks cannot see may end the session first, nothing is held.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from threading import Lock
from typing import Any, TypeAlias

from contramem.inject.adapters.guided_run import GuidedRun
from contramem.inject.adapters.starter import Conversation, Runs, Starter
from contramem.inject.enforcement import ALLOW
from contramem.inject.hook.place import HookHold
from contramem.inject.run import Run

ENTRYPOINT = "contramem_entrypoint"
"""The key that says how Claude Code was started. The client's own events lack it."""
_ATTENDED = ("cli", "")
"""A person at a terminal; Codex, which has no limit."""

HookEvent: TypeAlias = Mapping[str, Any]
HookAnswer: TypeAlias = dict[str, Any]
"""The answer in the JSON format of the clients. Empty if there is nothing to say; a call then needs the client's own
permissions."""

_NOTICE = re.compile(r"\s*<([a-z]+(?:-[a-z]+)+)>.*</\1>\s*$", re.DOTALL)
"""A message of the client instead of a user's prompt: a sub-agent is done, a command was run."""


class HookSession:
    """One conversation: of the main agent, or of a sub-agent, which has not seen what the main agent has."""

    def __init__(self, starter: Starter, run_id: str) -> None:
        self._conversation = Conversation(starter, run_id)
        self.prompts: list[str] = []
        self.turn: int | None = None
        """The number of the current reply, if the client says when the calls of a reply are done."""
        self._given: set[int] = set()

    @property
    def run(self) -> GuidedRun:
        return self._conversation.at(self.prompts)

    def ask(self, prompt: str) -> str:
        """What to show with this prompt: cards that the conversation has not seen yet."""
        self.prompts.append(prompt)
        self._conversation.at(self.prompts)
        return self._take()

    def allow(self, card_id: str) -> None:
        """The person allows calls that go against a card."""
        if isinstance(run := self.run.run, Run):
            run.allow(card_id)

    def show_again(self) -> str:
        """Everything that was shown, for a conversation that lost it by compaction."""
        self._given.clear()
        return self._take()

    def _take(self) -> str:
        notes = {number: text for number, text in self._conversation.notes.items() if number not in self._given}
        self._given.update(notes)
        return "\n\n".join(notes.values())


class HookSessions:
    """Answers the events of any number of sessions. Thread-safe."""

    def __init__(self, starter: Starter, hold: HookHold = "attended") -> None:
        self._starter, self._hold = starter, hold
        self._sessions: Runs[HookSession] = Runs()
        self._lock = Lock()
        self._answers = {
            "SessionStart": self._at_session,
            "UserPromptSubmit": self._at_prompt,
            "SubagentStart": self._at_subagent,
            "PreToolUse": self._before_call,
            "PostToolUse": self._after_call,
            "PostToolUseFailure": self._after_call,
            "PostToolBatch": self._after_turn,
            "Stop": self._at_end,
        }

    def answer(self, event: HookEvent) -> HookAnswer:
        """The answer to an event; empty for an unknown one."""
        answer = self._answers.get(str(event.get("hook_event_name")))
        if answer is None:
            return {}
        with self._lock:
            return answer(event, self._session(event.get("session_id"), event.get("agent_id")))

    def _session(self, session_id: object, agent_id: object = None) -> HookSession:
        run_id = str(session_id or "")
        return self._sessions.get((run_id, agent_id or None), lambda: HookSession(self._starter, run_id))

    def _at_session(self, event: HookEvent, session: HookSession) -> HookAnswer:
        return _context(event, session.show_again()) if event.get("source") == "compact" and session.prompts else {}

    def _at_prompt(self, event: HookEvent, session: HookSession) -> HookAnswer:
        prompt = str(event.get("prompt", ""))
        for card_id in ALLOW.findall(prompt):
            session.allow(card_id)
        return {} if _NOTICE.match(prompt) else _context(event, session.ask(prompt))

    def _at_subagent(self, event: HookEvent, session: HookSession) -> HookAnswer:
        """The request of a sub-agent is unknown; the requests of the main agent are the best guess."""
        return _context(event, session.ask("\n\n".join(self._session(event.get("session_id")).prompts)))

    def _before_call(self, event: HookEvent, session: HookSession) -> HookAnswer:
        call = event.get("tool_use_id")
        name = call and str(call)
        last = not self._may_hold(event)
        stop = session.run.stop(_tool(event), _arguments(event))
        if stop and (stop.level == "deny" or self._can_ask(event)):
            return _output(event, permissionDecision=stop.level, permissionDecisionReason=stop.text)
        answer = session.run.hold(_tool(event), _arguments(event), ends_run=last, turn=session.turn, call=name)
        if answer is None:
            return {}
        return _output(event, permissionDecision="deny", permissionDecisionReason=answer)

    def _after_call(self, event: HookEvent, session: HookSession) -> HookAnswer:
        if event.get("is_interrupt"):
            return {}
        content, error = _plain(event.get("tool_response")), event.get("error")
        return _context(event, session.run.tell(_tool(event), _arguments(event), content, error))

    def _after_turn(self, event: HookEvent, session: HookSession) -> HookAnswer:
        session.turn = (session.turn or 0) + 1
        return {}

    def _at_end(self, event: HookEvent, session: HookSession) -> HookAnswer:
        if event.get("stop_hook_active") or not self._may_hold(event):
            return {}
        note = session.run.before_final()
        return {"decision": "block", "reason": note} if note else {}

    def _can_ask(self, event: HookEvent) -> bool:
        """Whether a person is there who can be asked. Codex has no such question."""
        return event.get(ENTRYPOINT) == "cli" and not event.get("agent_id")

    def _may_hold(self, event: HookEvent) -> bool:
        """Whether there is surely room for a few more replies."""
        if self._hold == "attended":
            return event.get(ENTRYPOINT) in _ATTENDED and not event.get("agent_id")
        return self._hold == "always" and not event.get("agent_id")


def _tool(event: HookEvent) -> str:
    return str(event.get("tool_name", ""))


def _arguments(event: HookEvent) -> dict[str, Any]:
    arguments = event.get("tool_input")
    return dict(arguments) if isinstance(arguments, Mapping) else {}


def _context(event: HookEvent, text: str) -> HookAnswer:
    return _output(event, additionalContext=text) if text else {}


def _output(event: HookEvent, **fields: str) -> HookAnswer:
    return {"hookSpecificOutput": {"hookEventName": event["hook_event_name"], **fields}}


def _plain(response: object) -> object:
    """The response of a tool, with blocks of text joined."""
    if isinstance(response, list) and all(isinstance(block, dict) and "text" in block for block in response):
        return "\n".join(str(block["text"]) for block in response)
    return response
