"""Which names of functions and arguments the collection itself attests.

Whoever writes a trace names its functions, and a card repeats the name. English words around one that is in no list
(`ask_zanmel_first`) may be somebody's sentence, or a product that the interface is about (`get_netsuite_invoice`). The
word does not tell them apart, but who else uses it does: the toolbox that declares the function, runs of several
sources and tasks whose calls were answered, another name of the same app, somebody's request. The last two do not
attest a name that is a clause (`copy_before_the_dome_opens`). Only a toolbox attests a clause with a word of no list
(`pass_is_zanmel`), and an argument that is a clause. A name that nothing attests is replaced by a digest, so that its
calls still count.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import msgspec

from contramem.contrast.plain_words import is_known_part, is_phrase_with_name, strange_words
from contramem.traces.effects import words
from contramem.traces.plain_names import digest_field
from contramem.traces.trajectory import Event, Tool, Trajectory, digest

MIN_NAMES = 2
"""Of one app that use a word: one name cannot attest itself."""
MIN_SOURCES = 2
"""Whose calls were answered, where as many use the app."""
MIN_TASKS = 2
"""In which the calls of so many sources were answered."""
MAX_WORDS_KEPT = 1 << 16
"""Of requests."""
_REQUESTED = re.compile(r"[^\W\d_]{6,}")
_OF_CLAUSES = frozenset(
    """the a an is are was were be been has have had must will shall should can could would may might you your we our us
    i my me it its that this these those they them their he she his her who which whoever until before after because
    if when then so always never please""".split()
)
"""Beyond the first word of a name: `is_open` and `can_pay` are names."""
_MIXED_JOINTS = re.compile(r"[^\W_](?:_\w+-|-[\w-]+_)[^\W_]")
"""`orcid_heron-beryl`: no interface joins words in two ways."""
_OF_COMMANDS = "shell"
"""The app whose functions are programs: their names are no words, and no toolbox declares them."""


Name: TypeAlias = tuple[str, str]
"""A function and the name of an argument; empty for the function itself."""


class AttestedNames:
    """What runs show about names, over all tasks."""

    def __init__(self) -> None:
        self._declared: set[str] = set()
        self._declared_arguments: set[tuple[str, str]] = set()
        self._called: set[str] = set()
        self._passed: set[tuple[str, str]] = set()
        # Of no more sources, tasks and names than are asked for: further ones change nothing.
        self._callers: defaultdict[str, set[str]] = defaultdict(set)
        self._answered: defaultdict[Name, set[str]] = defaultdict(set)
        self._answered_in: defaultdict[Name, set[str]] = defaultdict(set)
        self._names_with: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        self._requested: set[str] = set()

    def learn(self, runs: Iterable[Trajectory]) -> None:
        """Learn from the runs of one task."""
        texts = set()
        for run in runs:
            texts |= {run.task, run.system}
            for tool in run.tools:
                self._learn_tool(tool)
            for event in run.events:
                if event.function:
                    self._learn_call(event, run)
        found = {word.lower() for text in texts for word in _REQUESTED.findall(text)}
        self._request({word for word in found if not is_known_part(word)})

    def _learn_tool(self, tool: Tool) -> None:
        self._declared.add(tool.function)
        properties = tool.parameters.get("properties")
        if isinstance(properties, dict):
            self._declared_arguments |= {(tool.function, str(name)) for name in properties}

    def _learn_call(self, event: Event, run: Trajectory) -> None:
        app, _, name = event.function.partition(".")
        _keep(self._callers[app], [run.source], MIN_SOURCES)
        if event.result is not None and not event.result.error:
            for used in ((event.function, ""), *((event.function, argument) for argument in event.arguments)):
                _keep(self._answered[used], [run.source], MIN_SOURCES)
                _keep(self._answered_in[used], [run.task_key], MIN_TASKS)
        if event.function not in self._called:
            self._called.add(event.function)
            self._learn_name(app, name)
        for argument in event.arguments:
            if (event.function, argument) not in self._passed:
                self._passed.add((event.function, argument))
                self._learn_name(app, argument)

    def _learn_name(self, app: str, name: str) -> None:
        for word in strange_words(name):
            _keep(self._names_with[app, word], [name], MIN_NAMES)

    def _request(self, asked: Iterable[str]) -> None:
        if len(self._requested) < MAX_WORDS_KEPT:
            self._requested.update(asked)

    def add(self, other: AttestedNames) -> None:
        """Add what was learned from other tasks."""
        self._declared |= other._declared
        self._declared_arguments |= other._declared_arguments
        self._called |= other._called
        self._passed |= other._passed
        for app, sources in other._callers.items():
            _keep(self._callers[app], sources, MIN_SOURCES)
        for used, sources in other._answered.items():
            _keep(self._answered[used], sources, MIN_SOURCES)
        for used, tasks in other._answered_in.items():
            _keep(self._answered_in[used], tasks, MIN_TASKS)
        for key, names in other._names_with.items():
            _keep(self._names_with[key], names, MIN_NAMES)
        self._request(other._requested)

    def find_substitutes(self) -> NameSubstitutes:
        """What stands for the names that nothing attests."""
        toolboxes = {function.partition(".")[0] for function in self._declared}
        functions = {
            function: f"{function.partition('.')[0]}.unnamed_{digest(function)[:6]}"
            for function in self._called - self._declared
            if not self._is_attested(function, toolboxes)
        }
        arguments: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for function, argument in self._passed - self._declared_arguments:
            strange = strange_words(argument)
            is_used = self._is_used((function, argument)) or self._are_shared(function.partition(".")[0], strange)
            if _is_clause(argument) or not is_used:
                arguments[function][argument] = digest_field(argument)
        return NameSubstitutes(functions, dict(arguments))

    def _is_attested(self, function: str, toolboxes: set[str]) -> bool:
        app, _, name = function.partition(".")
        strange = strange_words(name)
        is_odd = _is_clause(name) or (app != _OF_COMMANDS and _MIXED_JOINTS.search(name) is not None)
        if app not in toolboxes and self._is_used((function, "")) and not (is_odd and strange):
            return True
        if is_odd:
            return False
        if not strange or (app == _OF_COMMANDS and not is_phrase_with_name(name)):
            return True
        if app in toolboxes:
            return False
        return len(self._answered[function, ""]) >= len(self._callers[app]) and self._are_shared(app, strange)

    def _is_used(self, name: Name) -> bool:
        """Were calls with this name answered in runs of several sources and tasks? Nobody makes that up in one run."""
        return len(self._answered[name]) >= MIN_SOURCES and len(self._answered_in[name]) >= MIN_TASKS

    def _are_shared(self, app: str, strange: Iterable[str]) -> bool:
        """Does each of these words stand in another name, in the app's own or in a request?"""
        return all(
            len(self._names_with[app, word]) >= MIN_NAMES or word in app.lower() or word in self._requested
            for word in strange
        )


class NameSubstitutes(msgspec.Struct, frozen=True):
    """What stands for names of functions, and for names of their arguments."""

    functions: Mapping[str, str] = {}
    arguments: Mapping[str, Mapping[str, str]] = {}

    def in_run(self, run: Trajectory) -> Trajectory:
        """The run with them; the same run where it has no such name."""
        if not any(event.function in self.functions or event.function in self.arguments for event in run.events):
            return run
        return msgspec.structs.replace(run, events=tuple(map(self._in_event, run.events)))

    def _in_event(self, event: Event) -> Event:
        arguments = self.arguments.get(event.function, {})
        return msgspec.structs.replace(
            event,
            function=self.functions.get(event.function, event.function),
            arguments={arguments.get(name, name): value for name, value in event.arguments.items()},
        )

    def of(self, function: str) -> tuple[str | None, list[tuple[str, str]]]:
        """Of one function and its arguments."""
        return self.functions.get(function), sorted(self.arguments.get(function, {}).items())


def _is_clause(name: str) -> bool:
    return not _OF_CLAUSES.isdisjoint(words(name)[1:])


def _keep(kept: set[str], more: Iterable[str], most: int) -> None:
    if len(kept) < most:
        kept.update(sorted(more)[: most - len(kept)])
