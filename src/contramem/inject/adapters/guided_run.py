"""A run as adapters see it: what to show at the start, which call to hold, what to say beside a result and at the end.

Each adapter is a few lines over `GuidedRun`. docs/integrations.md shows how to write one.

Memory must never cost a run, so text is shown where it costs no step: at the start, in a tool's description, beside
a result. A call is held back only where it would do harm: it goes against a guard of a card (it would break the guard,
or the guard demands this call in another way), or it repeats a call that failed, unchanged and with nothing done since.
At most once for a function and twice in a run, and only if the run surely goes on. What a user chose to enforce
(`Memory(enforce="deny")`) is held every time.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal, TypeAlias

from contramem.inject.enforcement import Stop
from contramem.inject.provider import MemoryRun
from contramem.prompts import render
from contramem.traces.effects import effect_of
from contramem.traces.result_errors import error_in  # so that a live failure is what a failure in a trace is
from contramem.traces.shell import exit_code_error, function_called
from contramem.traces.trajectory import Event, Result

HELD = "inject/adapters/prompts/held.jinja"
BESIDE = "inject/adapters/prompts/beside_result.jinja"
MAX_HOLDS = 2
"""In a run. An agent that goes on after two warnings has its reasons, or does not read them."""

HoldPolicy: TypeAlias = Literal["harm", "first_call"]
"""`harm`: what this module says. `first_call`: the first call of every function that has a card is held and answered
with the card. It costs a step for each function, and is there to be compared with."""

_ENDING = frozenset("submit final_answer final_result attempt_completion complete_task end_conversation exit".split())


@dataclass(frozen=True)
class _Decision:
    turn: Hashable
    call: str | None
    text: str | None
    """None: the call was let through."""


@dataclass
class _Record:
    """What a run has been through. Guarded by the lock of its `GuidedRun`."""

    decisions: dict[str, _Decision] = field(default_factory=dict)
    """By function: the last one."""
    held: set[str] = field(default_factory=set)
    """Functions of which a call was held."""
    turn: Hashable = None
    """The reply that calls are from now."""
    failed_calls: dict[str, set[Hashable]] = field(default_factory=dict)
    """Calls that failed and have not worked since, with their arguments, and the replies in which others worked
    since."""
    answers: set[str] = field(default_factory=set)
    """Texts that held calls were answered with. A framework may hand them back as results."""
    events: int = 0
    final_asked: bool = False


class GuidedRun:
    """One run of an agent with memory. Threads may share it."""

    def __init__(self, run: MemoryRun, *, hold: HoldPolicy = "harm") -> None:
        self.run = run
        self._policy = hold
        self._record = _Record()
        self._lock = Lock()

    @property
    def guidance(self) -> str:
        """What to show before the first step; empty when there is nothing. It never changes, so that a provider can
        cache the prompt that begins with it."""
        return self.run.guidance.text

    def describe(self, function: str) -> str:
        """What to put after the description of a tool before the first step; empty when there is nothing to add."""
        return self.run.describe(function)

    def hold(
        self,
        function: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        ends_run: bool = True,
        turn: Hashable = None,
        call: str | None = None,
    ) -> str | None:
        """What to answer this call with instead of making it. None: make it.

        Pass `ends_run=False` if the model surely replies again: nothing else in its reply ends the run, and about three
        steps are left. Otherwise a held call could be lost, so it is made. `turn` names the model's reply that the call
        is from: calls of one function in one reply are held together or not at all, because the model had read nothing
        in between. `call` names the call: asked again about it, the answer stays the same.
        """
        name = function_called(function, arguments)
        if self._policy == "harm" and (stop := self.stop(function, arguments)) and stop.level == "deny":
            with self._lock:
                return self._answer(stop.text)
        with self._lock:
            self._record.turn = turn
            decision = self._record.decisions.get(name)
            if decision is None or turn is None or decision.turn != turn:
                text = self._decide(function, name, arguments, ends_run)
                self._record.decisions[name] = _Decision(turn, call, text)
                return text
        if decision.text is None or (call is not None and call == decision.call):
            return decision.text
        return self._answer(describe_held_call(function))

    def stop(self, function: str, arguments: Mapping[str, Any] | None = None) -> Stop | None:
        """Whether this call has to wait for a person, or is not to be made. The call of a tool that ends the run is
        never stopped."""
        return None if is_ending_tool(function) else self.run.stop(function, arguments)

    def _decide(self, function: str, name: str, arguments: Mapping[str, Any] | None, last: bool) -> str | None:
        """Called with the lock held."""
        if self._policy == "first_call":
            note = self.run.before_call(function, arguments)
            return self._answer(describe_held_call(function, note.text)) if note else None
        record = self._record
        if last or is_ending_tool(function) or name in record.held or len(record.held) >= MAX_HOLDS:
            return None
        note = self.run.before_harm(function, arguments, repeats=self._repeats(_key(name, arguments)))
        if not note:
            return None
        record.held.add(name)
        return self._answer(describe_held_call(function, note.text))

    def _repeats(self, key: str) -> bool:
        """Did this very call fail, and nothing work since that the model has read? After `git pull`, a `git push` that
        failed before is another try."""
        worked_since = self._record.failed_calls.get(key)
        if worked_since is None:
            return False
        return not worked_since or (self._record.turn is not None and worked_since == {self._record.turn})

    def _note_outcome(self, key: str, *, failed: bool) -> None:
        failures = self._record.failed_calls
        if failed:
            failures[key] = set()
            return
        failures.pop(key, None)
        for worked_since in failures.values():
            worked_since.add(self._record.turn)

    def _answer(self, text: str) -> str:
        self._record.answers.add(text)
        return text

    def tell(
        self, function: str, arguments: Mapping[str, Any] | None = None, content: object = None, error: object = None
    ) -> str:
        """Tell what came of a call that was made: `content`, or the `error` it ended with (a message or an exception).

        Returns what to put beside the result where the framework lets you; empty when there is nothing to say. After a
        failure that is the card of the function; after a call that broke a guard of a shown card, what it broke.
        """
        if isinstance(content, str) and content in self._record.answers:  # a call that was held was not made
            return ""
        name = function_called(function, arguments)
        message = _failure(name, content, error)
        with self._lock:
            position, self._record.events = self._record.events, self._record.events + 1
            self._note_outcome(_key(name, arguments), failed=message is not None)
        result = Result(content if isinstance(content, str | dict | list) else None, message)
        event = Event(position, "agent", "call", function=function, arguments=dict(arguments or {}), result=result)
        note = self.run.after_call(event)
        return render(BESIDE, note=note.text).text.strip() if note else ""

    def before_final(self) -> str:
        """What to show before the run ends, once; empty when there is nothing."""
        with self._lock:
            asked, self._record.final_asked = self._record.final_asked, True
        note = None if asked else self.run.before_final()
        return note.text if note else ""


def is_ending_tool(function: str) -> bool:
    """Does a tool of this name end the run? Its call is never held."""
    bare = function.rpartition(".")[2].rpartition("__")[2].lower()
    return bare in _ENDING or effect_of(bare) == "finalize"


def describe_held_call(function: str, card: str = "") -> str:
    """The answer to a held call: the card, or, without one, that it is the answer to another call of the same reply."""
    return render(HELD, function=function, card=card, elsewhere=not card).text.strip()


def _failure(name: str, content: object, error: object) -> str | None:
    if error is not None:
        return str(error) or type(error).__name__
    return error_in(content) or exit_code_error(name, _decode(content))


def _decode(content: object) -> object:
    if not isinstance(content, str) or not content.startswith("{"):
        return content
    try:
        return json.loads(content)
    except ValueError:
        return content


def _key(name: str, arguments: Mapping[str, Any] | None) -> str:
    return f"{name} {json.dumps(arguments or {}, sort_keys=True, default=str)}"
