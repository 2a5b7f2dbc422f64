"""The scripted agents: one plan per task, and habits that decide what becomes of it.

A plan says what a good run does: what must hold first (`need`), what has to be read (`look`), the work itself (`act`,
for `each` item), what one may look at afterwards (`check`). `Careful` follows it. The others have a habit that changes
one of these verbs, and show it on some tasks only. All of them act on what they really observe.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

from contramem.traces.effects import effect_of
from contramem.traces.normalize import Recorder
from contramem.traces.trajectory import Result
from contramem_lab.environment import Session

NO_GUESS: Any = object()


class GivesUpError(Exception):
    """The agent ends its turn here; the message is its answer to the user."""


class Careful:
    """Meets every precondition first, reads identifiers instead of assuming them, looks again at the end."""

    source = "scripted-careful"
    odds: ClassVar[dict[str, float]] = {}
    """How often each habit shows, as a share of tasks."""
    openings: tuple[str, ...] = (
        "Let me see what has to be in place first.",
        "I'll look things up before I change anything.",
    )
    """What it says first, where its habit shows."""

    def __init__(self, task_id: str, session: Session, recorder: Recorder, apps: dict[str, str]) -> None:
        self.task_id = task_id
        self.kept: dict[str, Any] = {}
        """What a plan remembers from one turn to the next."""
        self._session = session
        self._recorder = recorder
        self._apps = apps

    def open(self, turn: int) -> None:
        typical = not self.odds or any(self.shows(habit) for habit in self.odds)
        openings = self.openings if typical else ("All right, let me do that.",)
        self.say(openings[int(self._draw(f"opening{turn}") * len(openings))])

    def need(self, step: Callable[[Any], object], cure: str = "") -> None:
        """Something that must hold before the work. `cure`: words of the error that shows when it does not."""
        step(self)

    def look(
        self, function: str, /, *, pick: Callable[[Any], Any], guess: Any = NO_GUESS, why: str = "", **given: Any
    ) -> Any:
        """A value read from the environment; `guess` is what somebody who does not look would assume."""
        self.explain(why)
        result = self._tried(function, given)
        if result.error is not None:
            return self._without(guess, result.error)
        return pick(json.loads(result.content))

    def act(self, function: str, /, *, why: str = "", **given: Any) -> bool:
        """The work itself. True when it went through, as far as the agent noticed."""
        self.explain(why)
        return self._tried(function, given).error is None

    def settle(self, right: Any, careless: Any, why: str = "") -> Any:
        """A detail that the task or the tool's documentation fixes, and that a careless reader gets wrong."""
        self.explain(why)
        return right

    def each(self, items: Iterable[Any]) -> Iterator[Any]:
        yield from items

    def check(self, function: str, /, **given: Any) -> None:
        self._call(function, given)

    def explain(self, why: str) -> None:
        self.say(why)

    def say(self, text: str) -> None:
        self._recorder.message("agent", text)

    def shows(self, habit: str) -> bool:
        return self._draw(habit) < self.odds.get(habit, 0.0)

    def _without(self, guess: Any, error: str) -> Any:
        raise GivesUpError(f"I could not find out what I need: {error}")

    def _tried(self, function: str, given: dict[str, Any]) -> Result:
        return self._call(function, given)

    def _call(self, function: str, given: dict[str, Any]) -> Result:
        # A value may be a function: what it gives then is known only at the moment of the call (a renewed token).
        arguments = {name: value() if callable(value) else value for name, value in given.items()}
        full = f"{self._apps[function]}.{function}"
        result = self._session.call(full, arguments)
        self._recorder.call(full, arguments)
        self._recorder.result(result.content, error=result.error or False)
        return result

    def _draw(self, what: str) -> float:
        """A number in [0, 1) that is always the same for this agent, task and purpose."""
        digest = hashlib.sha256(f"{self.source}/{self.task_id}/{what}".encode()).digest()
        return int.from_bytes(digest[:4], "big") / 2**32


class Hasty(Careful):
    """Goes straight to the work, stops after the first item, and calls it done without reading what came back."""

    source = "scripted-hasty"
    odds: ClassVar[dict[str, float]] = {"skips needs": 0.55, "first item only": 0.8, "ignores errors": 0.75}
    openings = ("On it.", "Sure, doing that right away.", "Quick one.")

    def need(self, step: Callable[[Any], object], cure: str = "") -> None:
        if not self.shows("skips needs"):
            step(self)

    def act(self, function: str, /, *, why: str = "", **given: Any) -> bool:
        went_through = super().act(function, **given)
        return went_through or self.shows("ignores errors")

    def each(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            yield item
            if self.shows("first item only"):
                return

    def check(self, function: str, /, **given: Any) -> None:
        pass

    def explain(self, why: str) -> None:
        pass

    def _without(self, guess: Any, error: str) -> Any:
        return super()._without(guess, error) if guess is NO_GUESS else guess


class Guesser(Careful):
    """Invents identifiers, prices and formats where it could have read them."""

    source = "scripted-guesser"
    odds: ClassVar[dict[str, float]] = {"guesses": 0.7}
    openings = ("I think I have what I need for this.", "This looks straightforward.")

    def look(
        self, function: str, /, *, pick: Callable[[Any], Any], guess: Any = NO_GUESS, why: str = "", **given: Any
    ) -> Any:
        if guess is NO_GUESS or not self.shows("guesses"):
            return super().look(function, pick=pick, guess=guess, **given)
        self.say(f"No need to look that up; I'll go with {json.dumps(guess) if guess else 'what I remember'}.")
        return guess

    def settle(self, right: Any, careless: Any, why: str = "") -> Any:
        return careless if self.shows("guesses") else right

    def check(self, function: str, /, **given: Any) -> None:
        pass

    def explain(self, why: str) -> None:
        pass

    def _without(self, guess: Any, error: str) -> Any:
        return super()._without(guess, error) if guess is NO_GUESS else guess


class Repeater(Careful):
    """Answers an error with the same call again, and does a finished write once more to be sure."""

    source = "scripted-repeater"
    odds: ClassVar[dict[str, float]] = {"skips needs": 0.5, "repeats writes": 0.65, "repeats reads": 0.4}
    openings = ("Working on it.", "Starting now.")

    def need(self, step: Callable[[Any], object], cure: str = "") -> None:
        if not (cure and self.shows("skips needs")):
            step(self)

    def look(
        self, function: str, /, *, pick: Callable[[Any], Any], guess: Any = NO_GUESS, why: str = "", **given: Any
    ) -> Any:
        if self.shows("repeats reads"):
            self._call(function, given)
        return super().look(function, pick=pick, guess=guess, **given)

    def act(self, function: str, /, *, why: str = "", **given: Any) -> bool:
        went_through = super().act(function, **given)
        if went_through and effect_of(function) != "read" and self.shows("repeats writes"):
            self.say("Once more, to be sure it went through.")
            self._call(function, given)
        return went_through

    def check(self, function: str, /, **given: Any) -> None:
        for _ in range(3 if self.shows("repeats reads") else 1):
            self._call(function, given)

    def explain(self, why: str) -> None:
        pass

    def _tried(self, function: str, given: dict[str, Any]) -> Result:
        result = self._call(function, given)
        for _ in range(2):
            if result.error is None:
                return result
            self.say("That failed. Trying again.")
            result = self._call(function, given)
        if result.error is not None:
            raise GivesUpError(f"I tried three times and always got: {result.error}")
        return result


class Quitter(Careful):
    """Tries the obvious call; the first error ends the turn."""

    source = "scripted-quitter"
    odds: ClassVar[dict[str, float]] = {"skips needs": 0.6}
    openings = ("I'll try that.", "Let me try.")

    def need(self, step: Callable[[Any], object], cure: str = "") -> None:
        if not (cure and self.shows("skips needs")):
            step(self)

    def check(self, function: str, /, **given: Any) -> None:
        pass

    def explain(self, why: str) -> None:
        pass

    def _tried(self, function: str, given: dict[str, Any]) -> Result:
        result = self._call(function, given)
        if result.error is not None:
            raise GivesUpError(f"This did not work, so I stopped: {result.error}")
        return result


class Recoverer(Careful):
    """Makes the hasty mistake too, but reads the error, does what it asks for, and tries again."""

    source = "scripted-recoverer"
    odds: ClassVar[dict[str, float]] = {"skips needs": 0.8}
    openings = ("I'll start with the request itself.", "Trying the direct way first.")

    def __init__(self, *run: Any) -> None:
        super().__init__(*run)
        self._owed: list[tuple[str, list[Callable[[Any], object]]]] = []

    def need(self, step: Callable[[Any], object], cure: str = "") -> None:
        if cure and self.shows("skips needs"):
            self._owed.append((cure, [step]))
        elif self._owed and not cure:  # belongs after what is still owed, so it waits with it
            self._owed[-1][1].append(step)
        else:
            step(self)

    def check(self, function: str, /, **given: Any) -> None:
        pass

    def explain(self, why: str) -> None:
        pass

    def _tried(self, function: str, given: dict[str, Any]) -> Result:
        result = self._call(function, given)
        while result.error is not None and (steps := self._cure(result.error)):
            self.say("The error says what is missing. I'll do that first, then try again.")
            for step in steps:
                step(self)
            result = self._call(function, given)
        return result

    def _cure(self, error: str) -> list[Callable[[Any], object]]:
        for owed in self._owed:
            if owed[0].lower() in error.lower():
                self._owed.remove(owed)
                return owed[1]
        return []


POLICIES: tuple[type[Careful], ...] = (Careful, Hasty, Guesser, Repeater, Quitter, Recoverer)
