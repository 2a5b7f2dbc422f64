"""Vocabulary: what stays readable in packets, and what all runs show about an interface.

What is public is decided in privacy/public.py; here it is looked up as packets need it, by the name of an argument or
field. Beside it stand the values that a tool says it accepts, the conventions of passing runs, and functions that
change something against their name.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property, partial
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from contramem.collection.slots import leaves_of
from contramem.contrast.bounded_set import add_up_to
from contramem.contrast.conventions import Conventions, SharedValue
from contramem.contrast.form import is_field
from contramem.contrast.observed_effects import ObservedEffects
from contramem.contrast.permitted import find_allowed_values, role_of
from contramem.privacy.language import ENGLISH, is_ordinary, word_test
from contramem.privacy.public import QUORUM, Counts, Public, Quorum, canon
from contramem.traces.sanitize import digest_field
from contramem.traces.trajectory import Event, Trajectory, digest

MAX_WORDS = 12
"""A slot that takes more values has no closed vocabulary."""
MAX_CODE_CHARS = 4
MIN_TASKS_REFUSING = 2
"""A list of permitted values that only one task's refusals show may belong to that task."""


class Trust(NamedTuple):
    """What it takes to be public."""

    quorum: Quorum = QUORUM
    language: str | None = ENGLISH


TRUST = Trust()


class Vocabulary:
    """Which values of which argument or field stay readable."""

    def __init__(self, tasks: Iterable[list[Trajectory]] = (), trust: Trust = TRUST) -> None:
        self.trust = trust
        self._counts = Counts()
        # slot -> list of permitted values in a refusal -> tasks it was seen in
        self._listed: dict[tuple[str, str], dict[tuple[str, ...], set[str]]] = defaultdict(partial(defaultdict, set))
        self._conventions = Conventions()
        self._effects = ObservedEffects()
        for runs in tasks:
            self._learn(runs)

    @classmethod
    def combine(cls, parts: Iterable[Vocabulary], trust: Trust = TRUST) -> Vocabulary:
        """Combine vocabularies of different tasks; the result equals one learned from all of them."""
        whole = cls(trust=trust)
        for part in parts:
            whole._add(part)
        return whole

    def _learn(self, runs: list[Trajectory]) -> None:
        self._counts.learn(runs, word_test(self.trust.language))
        self._conventions.learn(runs)
        for run in runs:
            self._effects.learn(run)
            for event in run.events:
                if event.function and event.result is not None and event.result.error:
                    self._learn_refusal(event, event.result.error, run.task_key)

    def _learn_refusal(self, event: Event, error: str, task: str) -> None:
        permitted = find_allowed_values(error)
        slots = [(path.rpartition(".")[2], value) for path, _, value in leaves_of(event.arguments)]
        role = role_of(error, permitted, slots) if permitted is not None else None
        if permitted is not None and role is not None:
            add_up_to(MIN_TASKS_REFUSING, self._listed[event.function, role][permitted.values], [task])

    def _add(self, other: Vocabulary) -> None:
        """Add what was learned from other tasks."""
        self._counts.add(other._counts)
        for slot, lists in other._listed.items():
            for listed, tasks in lists.items():
                add_up_to(MIN_TASKS_REFUSING, self._listed[slot][listed], tasks)
        self._conventions.add(other._conventions)
        self._effects.add(other._effects)

    # Asking, once all is learned

    @cached_property
    def public(self) -> Public:
        return self._counts.settle(self.trust.quorum, self.trust.language).also(self._permitted)

    def keeps(self, function: str, role: str, value: object) -> bool:
        """Does `value` stay readable in the argument or field `role` of `function`?"""
        if value is None or isinstance(value, bool):
            return True
        if not isinstance(value, (str, int, float)):
            return False
        return canon(value) in self._by_role.get((function.partition(".")[0], role), {})

    def words(self, function: str, role: str) -> frozenset[object]:
        """The closed vocabulary of an argument or field; empty if there is none."""
        slots = [slot for slot in self._slots.get((function, role), ()) if slot not in self.public.open_slots]
        found = frozenset[object](value for slot in slots for value in self.public.values[slot].values())
        return (found if len(found) <= MAX_WORDS else frozenset()) | frozenset(self.read_permitted(function, role))

    def read_permitted(self, function: str, role: str) -> tuple[str, ...]:
        """All values that the function itself says an argument may take, in its order; empty if it never did."""
        return self._permitted.get((function, role), ())

    def shared(self, function: str, argument: str, value: object) -> SharedValue | None:
        """The convention behind a value, if it is one."""
        return self._conventions.of(function, argument, value) if self.keeps(function, argument, value) else None

    @property
    def closed(self) -> frozenset[str]:
        """Every public value, as a card would print it."""
        return frozenset(str(value) for shared in self._by_role.values() for value in shared.values())

    @cached_property
    def listed_words(self) -> frozenset[str]:
        """Values that tools list as permitted, in lower case."""
        return frozenset(value.lower() for values in self._permitted.values() for value in values)

    @cached_property
    def writers(self) -> frozenset[str]:
        """Functions that runs show to change something, against their name."""
        return frozenset(self._effects.writers())

    @cached_property
    def _permitted(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """Lists that occurred in several tasks. A list that changes from call to call contains things, not words."""
        return {
            slot: values
            for slot, lists in self._listed.items()
            for values, tasks in lists.items()
            if len(lists) == 1 and len(tasks) >= MIN_TASKS_REFUSING
        }

    @cached_property
    def _slots(self) -> dict[tuple[str, str], list[tuple[str, str, bool]]]:
        found: dict[tuple[str, str], list[tuple[str, str, bool]]] = defaultdict(list)
        for slot in self.public.values:
            found[slot[0], slot[1].rpartition(".")[2]].append(slot)
        return dict(found)

    @cached_property
    def _by_role(self) -> dict[tuple[str, str], dict[str, Any]]:
        """By app and role: functions of one app share their words."""
        found: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
        for (function, path, _), shared in self.public.values.items():
            found[function.partition(".")[0], path.rpartition(".")[2]].update(shared)
        for (function, role), values in self._permitted.items():
            found[function.partition(".")[0], role].update((canon(value), value) for value in values)
        return dict(found)

    @cached_property
    def substitutes(self) -> NameSubstitutes:
        """What stands for names that are not public."""
        return NameSubstitutes(frozenset(self._counts.called), self.public)

    def digest_for(self, functions: Iterable[str]) -> bytes:
        """Changes whenever `keeps`, `listed_words`, `writers` or `substitutes` would answer differently about these
        functions."""
        hasher = blake2b(repr((self.trust, sorted(self.listed_words))).encode(), digest_size=16)
        for function in sorted(functions):
            hasher.update(self._digest_function(function))
        return hasher.digest()

    def _digest_function(self, function: str) -> bytes:
        """Cached per function: most tasks call the same ones."""
        if function not in self._digests:
            app = function.partition(".")[0]
            kept = sorted((role, sorted(shared)) for (named, role), shared in self._by_role.items() if named == app)
            names = sorted(name for name in self._counts.called if self.public.name(name))
            text = repr((function, kept, names, function in self.writers))
            self._digests[function] = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        return self._digests[function]

    @cached_property
    def _digests(self) -> dict[str, bytes]:
        return {}


class NameSubstitutes:
    """What stands for names of functions and arguments that one run alone brought: their calls still count."""

    def __init__(self, called: frozenset[str], public: Public) -> None:
        self._private = {name for name in called if not public.name(name)}
        self._apps = {name.partition(".")[0] for name in called - self._private}

    def in_run(self, run: Trajectory) -> Trajectory:
        """The run with them; the same run where every name is public."""
        if all(self._private.isdisjoint((event.function, *event.arguments)) for event in run.events):
            return run
        return msgspec.structs.replace(run, events=tuple(map(self._in_event, run.events)))

    def _in_event(self, event: Event) -> Event:
        arguments = {
            digest_field(name) if name in self._private else name: value for name, value in event.arguments.items()
        }
        return msgspec.structs.replace(event, function=self._of_function(event.function), arguments=arguments)

    def _of_function(self, function: str) -> str:
        if function not in self._private:
            return function
        app = function.partition(".")[0]
        return f"{app if app in self._apps else f'unnamed_{digest(app)[:6]}'}.unnamed_{digest(function)[:6]}"


def is_vocabulary(values: Iterable[str]) -> bool:
    """Could a tool's list of permitted values be its own words, and not names of somebody's things?"""
    return all(len(value) <= MAX_CODE_CHARS or is_ordinary(re.sub(r"[_/-]", " ", value)) for value in values)


def scalars(value: Any, role: str = "") -> list[tuple[str, Any]]:
    """(role, scalar) of everything in an argument. Items of a list, and keys that are data, have the role of their
    container."""
    if isinstance(value, dict):
        found = []
        for key, child in value.items():
            name = str(key)
            if is_field(name):
                found += scalars(child, name)
            else:
                found.append((role, name))
                found += scalars(child, role)
        return found
    if isinstance(value, (list, tuple)):
        return [scalar for child in value for scalar in scalars(child, role)]
    return [(role, value)]
