"""Which names of functions and arguments the collection itself attests.

Whoever writes a trace names its functions, and a card repeats the name. So one run among many attests none. A name that
a toolbox declares, of whatever run, is the interface's own and is shown as declared. Any other is attested by its use:

- A name of plain words, if several runs call it. Where its app has a toolbox, which then does not declare it, it must
  have been answered for several sources in several tasks.
- English words around an unknown one, which is in no word list (`ask_zanmel_first`), may be somebody's sentence, or a
  product that the interface is about (`get_netsuite_invoice`). Such a name must be answered for several sources in
  several tasks; or another name of the app or a request uses the word, and whoever uses the app uses the name.
- A name like a sentence (`copy_before_the_dome_opens`), or one that is joined in two ways (`badge_heron-beryl`), must
  be answered for several sources in several tasks, and none of its words may be unknown.
- Such an argument, or one that the schema of its function leaves out, is not attested by any use.

A name that nothing attests is replaced by a digest, so that its calls still count.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias
from zlib import crc32

import msgspec

from contramem.contrast.bounded_set import add_up_to
from contramem.contrast.plain_words import is_known_part, is_phrase_with_name, strange_words
from contramem.traces.effects import words
from contramem.traces.plain_names import digest_field
from contramem.traces.trajectory import Event, Tool, Trajectory, digest

QUORUM = 2
"""Sources, tasks or runs that attest a name, where there are as many."""
MANY_RUNS = 8
"""Of which one alone attests nothing."""
MIN_NAMES = 2
"""Of one app that use a word: one name cannot attest itself."""
MAX_WORDS_KEPT = 1 << 16
"""Of requests."""
_REQUESTED = re.compile(r"[^\W\d_]{6,}")
_OF_CLAUSES = frozenset(
    """the a an is are was were be been has have had must will shall should can could would may might you your we our us
    i my me it its that this these those they them their he she his her who which whoever until before after because
    if when then so always never please without every no not nobody none only via instead""".split()
)
"""Beyond the first word of a name: `is_open` and `can_pay` are names."""
_MIXED_JOINTS = re.compile(r"[^\W_](?:_\w+-|-[\w-]+_)[^\W_]")
"""`orcid_heron-beryl`: no interface joins words in two ways."""
_OF_COMMANDS = "shell"
"""The app whose functions are programs: their names are no words, and no toolbox declares them."""


Name: TypeAlias = tuple[str, str]
"""A function and the name of an argument; empty for the function itself."""


class Witness(NamedTuple):
    """A run, as far as it matters who says something."""

    source: str
    task: str
    run: str

    @classmethod
    def of(cls, run: Trajectory) -> Witness:
        return cls(run.source, run.task_key, f"{run.task_key}\n{run.source}\n{run.run}")


class Witnesses:
    """The sources, tasks and runs in which something was seen, as many as a quorum takes."""

    __slots__ = ("runs", "sources", "tasks")

    def __init__(self) -> None:
        self.sources, self.tasks, self.runs = set[str](), set[str](), set[str]()

    def hear(self, witness: Witness) -> None:
        if len(self.runs) < MANY_RUNS:  # more of them change nothing
            self.runs.add(witness.run)
        if len(self.sources) < QUORUM:
            self.sources.add(witness.source)
        if len(self.tasks) < QUORUM:
            self.tasks.add(witness.task)

    def add(self, other: Witnesses) -> None:
        add_up_to(QUORUM, self.sources, other.sources)
        add_up_to(QUORUM, self.tasks, other.tasks)
        add_up_to(MANY_RUNS, self.runs, other.runs)

    @property
    def are_enough(self) -> bool:
        return len(self.sources) >= QUORUM and len(self.tasks) >= QUORUM

    def are_all(self, present: Witnesses) -> bool:
        """Are they enough, or as many as there are?"""
        return self.are_all_sources(present) and len(self.tasks) >= len(present.tasks)

    def are_all_sources(self, present: Witnesses) -> bool:
        return len(self.sources) >= len(present.sources)

    def are_several(self, present: Witnesses) -> bool:
        """Are there several runs, if many are present? Among a few, one says as much as another."""
        return len(self.runs) >= QUORUM or len(present.runs) < MANY_RUNS


_Seen: TypeAlias = defaultdict[Name, Witnesses]


class AttestedNames:
    """What runs show about names, over all tasks."""

    def __init__(self) -> None:
        self._in_environment: defaultdict[str, Witnesses] = defaultdict(Witnesses)
        """All runs of an environment."""
        self._app_used: defaultdict[tuple[str, str], Witnesses] = defaultdict(Witnesses)
        """By app and environment: runs that call one of its functions."""
        self._has_toolbox: defaultdict[str, Witnesses] = defaultdict(Witnesses)
        """By app: runs that declare some of its functions."""
        self._declared = set[Name]()
        self._has_schema: _Seen = defaultdict(Witnesses)
        """Functions that are declared with arguments."""
        self._called: _Seen = defaultdict(Witnesses)
        self._answered: _Seen = defaultdict(Witnesses)
        self._names_with: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        self._requested: set[str] = set()

    def learn(self, runs: Iterable[Trajectory]) -> None:
        """Learn from the runs of one task."""
        texts = set()
        for run in runs:
            texts |= {run.task, run.system}
            witness = Witness.of(run)
            self._in_environment[run.environment].hear(witness)
            for tool in run.tools:
                self._learn_tool(tool, witness)
            for event in run.events:
                if event.function:
                    self._learn_call(event, run.environment, witness)
        found = {word.lower() for text in texts for word in _REQUESTED.findall(text)}
        self._request({word for word in found if not is_known_part(word)})

    def _learn_tool(self, tool: Tool, witness: Witness) -> None:
        self._has_toolbox[tool.function.partition(".")[0]].hear(witness)
        self._declared.add((tool.function, ""))
        properties = tool.parameters.get("properties")
        if isinstance(properties, dict) and properties:
            self._has_schema[tool.function, ""].hear(witness)
            self._declared.update((tool.function, str(name)) for name in properties)

    def _learn_call(self, event: Event, environment: str, witness: Witness) -> None:
        app, _, name = event.function.partition(".")
        self._app_used[app, environment].hear(witness)
        is_answered = event.result is not None and not event.result.error
        for argument in ("", *event.arguments):
            used = (event.function, argument)
            if used not in self._called:
                for word in strange_words(argument or name):
                    add_up_to(MIN_NAMES, self._names_with[app, word], [argument or name])
            self._called[used].hear(witness)
            if is_answered:
                self._answered[used].hear(witness)

    def _request(self, asked: Iterable[str]) -> None:
        self._requested.update(asked)
        if len(self._requested) > 2 * MAX_WORDS_KEPT:
            self._draw_requested()

    def _draw_requested(self) -> None:
        """Keep some words of many: the same ones in whatever order the tasks come."""
        drawn = sorted(self._requested, key=lambda word: (crc32(word.encode("utf-8", "replace")), word))
        self._requested = set(drawn[:MAX_WORDS_KEPT])

    def add(self, other: AttestedNames) -> None:
        """Add what was learned from other tasks."""
        for own, others in (
            (self._has_schema, other._has_schema),
            (self._called, other._called),
            (self._answered, other._answered),
            (self._app_used, other._app_used),
        ):
            for name, witnesses in others.items():
                own[name].add(witnesses)
        for key, witnesses in other._in_environment.items():
            self._in_environment[key].add(witnesses)
        for key, witnesses in other._has_toolbox.items():
            self._has_toolbox[key].add(witnesses)
        for app_and_word, names in other._names_with.items():
            add_up_to(MIN_NAMES, self._names_with[app_and_word], names)
        self._declared |= other._declared
        self._request(other._requested)

    def find_substitutes(self) -> NameSubstitutes:
        """What stands for the names that nothing attests."""
        self._draw_requested()
        using = defaultdict[str, Witnesses](Witnesses)
        known_apps = set[str]()
        for (app, environment), users in self._app_used.items():
            using[app].add(users)
            if users.are_several(self._in_environment[environment]):
                known_apps.add(app)
        functions: dict[str, str] = {}
        arguments: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for function, argument in self._called:
            app = function.partition(".")[0]
            if (function, argument) in self._declared:
                continue
            if argument:
                if not self._is_argument_attested(function, argument):
                    arguments[function][argument] = digest_field(argument)
            elif app not in known_apps:
                functions[function] = f"unnamed_{digest(app)[:6]}.unnamed_{digest(function)[:6]}"
            elif not self._is_function_attested(function, using[app]):
                functions[function] = f"{app}.unnamed_{digest(function)[:6]}"
        return NameSubstitutes(functions, dict(arguments))

    def _is_function_attested(self, function: str, using: Witnesses) -> bool:
        app, _, name = function.partition(".")
        called = (function, "")
        answered, strange = self._answered[called], strange_words(name)
        toolboxes = self._has_toolbox[app]
        has_toolbox = bool(toolboxes.runs) and toolboxes.are_all(using)  # that of one run says nothing
        if app == _OF_COMMANDS and not is_phrase_with_name(name):
            return not _is_clause(name)
        if _is_odd(name):
            return answered.are_enough and not strange and not has_toolbox
        if has_toolbox:
            return answered.are_all(using) and not strange
        if not strange:
            return self._called[called].are_several(using)
        return answered.are_enough or (answered.are_all_sources(using) and self._are_shared(app, strange))

    def _is_argument_attested(self, function: str, argument: str) -> bool:
        passed, called = (function, argument), self._called[function, ""]
        schemas, strange = self._has_schema[function, ""], strange_words(argument)
        if _is_odd(argument) or (schemas.runs and schemas.are_all(called)):
            return False
        if not strange:
            return self._called[passed].are_several(called)
        return self._answered[passed].are_enough or self._are_shared(function.partition(".")[0], strange)

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


def _is_odd(name: str) -> bool:
    return _is_clause(name) or _MIXED_JOINTS.search(name) is not None


def _is_clause(name: str) -> bool:
    return not _OF_CLAUSES.isdisjoint(words(name)[1:])
