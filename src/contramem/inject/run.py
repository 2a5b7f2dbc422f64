"""Memory and Run: how an agent gets its guidance, in three lines and whatever framework it runs in.

memory = Memory.load("bank.jsonl")
run = memory.start(task, ability="search")
prompt = f"{run.guidance.text}\\n\\n{task}"        # and run.before_call(function, arguments) at each call
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from contramem.bank.card import FunctionCard
from contramem.bank.frozen import FrozenBank, load_frozen
from contramem.inject.guidance import Guidance, Writer, nothing
from contramem.retrieve.hit import Query
from contramem.retrieve.profiles import Profile, profile_named
from contramem.retrieve.retriever import Retrieval, Retriever
from contramem.traces.trajectory import Event, Tool

OFF = "CONTRAMEM_OFF"
"""The kill switch: set to 1, runs that start from then on get no guidance at all."""


class Memory:
    """A frozen bank, ready to guide any number of runs at once. It does not change, and threads may share it."""

    def __init__(self, bank: FrozenBank) -> None:
        self.bank = bank
        self.retriever = Retriever(
            bank.skills,
            bank.functions,
            taught_by={card.card_id: card.taught_by for card in bank.skills},
            scopes={card.card_id: card.scope for card in bank.skills if card.scope},
        )
        self.writer = Writer()

    @classmethod
    def load(cls, path: str | Path) -> Memory:
        """Read the frozen bank at `path`. Nothing is read after that; the index is made by the first `start`."""
        return cls(load_frozen(Path(path)))

    def start(
        self,
        task: str,
        *,
        ability: str | None = None,
        apps: Iterable[str] | None = None,
        tools: Iterable[str | Tool] | None = None,
        task_id: str | None = None,
        scenario_id: str | None = None,
        run_id: str | None = None,
        profile: str | Profile | None = None,
    ) -> Run:
        """Begin a run at `task`.

        `apps` are those the task is about; left out, its words tell. `tools` are the functions the agent has: it is
        shown cards of no others. With `task_id` or `scenario_id`, no card comes back that was learned from that task,
        its text or that scenario. The profile is the bank's own unless one is given.
        """
        chosen = self._profile(profile)
        if _switched_off():
            return Run(self, task, chosen, run_id, None)
        query = Query(
            task,
            ability=ability,
            apps=None if apps is None else frozenset(apps),
            functions=None if tools is None else frozenset(_name(tool) for tool in tools),
            task_id=task_id,
            scenario_id=scenario_id,
        )
        return Run(self, task, chosen, run_id, self.retriever.retrieve(query, chosen))

    def _profile(self, profile: str | Profile | None) -> Profile:
        if isinstance(profile, Profile):
            return profile
        return profile_named(profile or self.bank.header.profile)


class Run:
    """One attempt of an agent at one task. Its state is its own; calls may come from any thread."""

    def __init__(
        self, memory: Memory, task: str, profile: Profile, run_id: str | None, retrieval: Retrieval | None
    ) -> None:
        self.task, self.profile, self.run_id, self.retrieval = task, profile, run_id, retrieval
        self._writer, self._find = memory.writer, memory.retriever.names.find
        self._shown: set[str] = set()
        self._failed: set[str] = set()
        self._reminded = False
        self._lock = Lock()
        self.guidance: Guidance = (
            nothing(f"{OFF} is set") if retrieval is None else self._writer.at_start(retrieval, profile)
        )
        """What to show before the first step."""

    def before_call(self, function: str, arguments: Mapping[str, Any] | None = None) -> Guidance | None:
        """What to show before this call; None when there is nothing, or it was shown already.

        A function brings its card once a run, and again after it failed. `function` may be spelled in any of the usual
        ways (`App.function`, `App__function`, the bare name where one app has it). Arguments, where given, are looked
        through for required ones that are missing.
        """
        card = self._find(function)
        if card is None or self.retrieval is None or not _wanted(card, self.profile):
            return None
        with self._lock:
            failed = card.card_id in self._failed
            if card.card_id in self._shown and not failed:
                return None
            self._shown.add(card.card_id)
            self._failed.discard(card.card_id)
        return self._writer.before_call(card, self.profile, failed=failed, missing=_missing(card, arguments)) or None

    def before_final(self) -> Guidance | None:
        """The finalization card, once, where the profile repeats it. Call this when the last timer is about to end."""
        final = self.retrieval.final if self.retrieval else None
        with self._lock:
            if final is None or self._reminded:
                return None
            self._reminded = True
        return self._writer.before_final(final.card, self.profile) or None

    def observe(self, event: Event) -> None:
        """Tell what happened. A call that failed brings its card back before the next call of that function."""
        if event.result is not None and event.result.error is not None and (card := self._find(event.function)):
            with self._lock:
                self._failed.add(card.card_id)


def _wanted(card: FunctionCard, profile: Profile) -> bool:
    if profile.before_call == "risky":
        return bool(card.side_effects or card.common_mistakes)
    return profile.before_call == "always"


def _missing(card: FunctionCard, arguments: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Required arguments that a call lacks. Unknown arguments lack nothing."""
    if arguments is None:
        return ()
    return tuple(argument.name for argument in card.arguments if argument.required and argument.name not in arguments)


def _name(tool: str | Tool) -> str:
    return tool if isinstance(tool, str) else tool.function


def _switched_off() -> bool:
    return os.environ.get(OFF, "").strip().lower() not in ("", "0", "false", "no", "off")
