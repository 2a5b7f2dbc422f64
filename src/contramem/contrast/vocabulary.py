"""Closed vocabularies: arguments and fields that take few values across many tasks (`INBOX`, `economy`, `pending`).

They belong to the interface, not to a task, so they stay readable where everything else becomes a placeholder. A value
must qualify: seen in several tasks, short, and not a name, place, address or identifier. A schema or a refusal may also
list all permitted words.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import partial
from hashlib import blake2b
from typing import Any

from contramem.contrast.attested_names import AttestedNames
from contramem.contrast.bounded_set import add_up_to
from contramem.contrast.conventions import Conventions
from contramem.contrast.english import is_ordinary
from contramem.contrast.form import is_field, parse_recorded
from contramem.contrast.observed_effects import ObservedEffects
from contramem.contrast.permitted import find_allowed_values, find_documented_values, role_of
from contramem.contrast.placeholder_types import ROLES
from contramem.contrast.plain_words import could_be_a_choice, is_unknown_constant, may_name_constant
from contramem.contrast.values import CATEGORY_ROLES, is_time, kind_by_form, without_preposition
from contramem.traces.effects import words
from contramem.traces.plain_names import is_choice
from contramem.traces.secret_names import is_secret_name
from contramem.traces.shell import is_command_line
from contramem.traces.trajectory import Tool, Trajectory

MIN_TASKS = 4
"""An argument seen in fewer tasks has no vocabulary yet."""
MAX_WORDS = 12
"""An argument that takes more values is open."""
MAX_VALUES = 2 * MAX_WORDS
"""How many values, odd ones included, an argument may take before it is open."""
MIN_TASKS_PER_WORD = 2
"""A value of a single task may belong to that task."""
MIN_TASKS_REFUSING = 2
"""A list of permitted values that only one task's refusals show may belong to that task."""
RUNS_PER_TASK_FOR_FIELDS = 3
"""Results are sampled: runs of the same task mostly see the same ones."""

_WORD = re.compile(r"[^\W\d_]+(?:[ _\-/][^\W\d_]+){0,2}\d{0,2}")
_PLAIN = re.compile(r"[a-z]+(?:[ _\-/][a-z]+){0,2}|[A-Z]{4,}(?:_[A-Z]+){0,2}")
# A category may contain a digit (`4g_5g_preferred`), but no number that could identify something.
_SWITCH = re.compile(r"(?=.*[^\W\d_]{3})(?!.*\d\d\d)[^\W_]+(?:[ _\-/][^\W_]+){0,3}")
_PERMITTED = re.compile(r"(?!.*\d\d\d)[^\W_]+(?:[_\-/][^\W_]+){0,4}|[^\W\d_]+ [^\W\d_]+")
_LOWER_OR_UPPER = re.compile(r"[a-z0-9 _\-/]+|[A-Z0-9_\-/]+")
_FREE_TEXT_ROLES = frozenset(
    "text body content message description subject title query comment note notes summary reply answer input".split()
)
_PRIVATE_ROLES = frozenset().union(*ROLES.values()) | _FREE_TEXT_ROLES
# A `state` is a condition or a place, a `label` can be anything: in these roles only plain words qualify.
_LOOSE_CATEGORIES = CATEGORY_ROLES & (_PRIVATE_ROLES | frozenset("label reason option action role order".split()))


class Vocabulary:
    """Which values of which argument or field are words of the interface."""

    def __init__(self, tasks: Iterable[list[Trajectory]] = ()) -> None:
        # slot -> value -> tasks it was seen in. A slot with too many values is open and holds None from then on.
        self._seen: dict[tuple[str, str], dict[object, set[str]] | None] = {}
        self._tasks: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._enums: dict[tuple[str, str], set[object]] = defaultdict(set)
        # slot -> list of permitted values in a refusal -> tasks it was seen in
        self._listed: dict[tuple[str, str], dict[tuple[str, ...], set[str]]] = defaultdict(partial(defaultdict, set))
        self.conventions = Conventions()
        self._effects = ObservedEffects()
        self._names = AttestedNames()
        for runs in tasks:
            self._learn(runs)
        self._settle_all()

    @classmethod
    def combine(cls, parts: Iterable[Vocabulary]) -> Vocabulary:
        """Combine vocabularies of different tasks; the result equals one learned from all of them."""
        whole = cls()
        for part in parts:
            whole._add(part)
        whole._settle_all()
        return whole

    def keeps(self, function: str, role: str, value: object) -> bool:
        """Does `value` stay readable in the argument or field `role` of `function`?"""
        if value is None or isinstance(value, bool):
            return True
        by_app = self._words.get(role)
        if by_app is not None and value in by_app.get(function.partition(".")[0], ()):
            return True
        return self.conventions.keeps(function, role, value)

    def words(self, function: str, role: str) -> frozenset[object]:
        """The closed vocabulary of an argument or field; empty if there is none."""
        return self._words.get(role, {}).get(function.partition(".")[0], frozenset())

    def read_permitted(self, function: str, role: str) -> tuple[str, ...]:
        """All values that the function itself says an argument may take, in its order; empty if it never did."""
        return self._permitted.get((function, role), ())

    @property
    def closed(self) -> frozenset[str]:
        """Every word of every closed vocabulary and every convention, as a card would print it."""
        entries = [word for by_app in self._words.values() for words in by_app.values() for word in words]
        entries += self.conventions.values()
        return frozenset(
            str(form) for word in entries for form in ((word, float(word)) if type(word) is int else (word,))
        )

    def digest_for(self, functions: Iterable[str]) -> bytes:
        """Changes whenever `keeps`, `listed_words`, `writers` or `substitutes` would answer differently about these
        functions."""
        hasher = blake2b(repr(sorted(self.listed_words)).encode(), digest_size=16)
        for function in sorted(functions):
            hasher.update(self._digest_function(function))
        return hasher.digest()

    def _digest_function(self, function: str) -> bytes:
        """Cached per function: most tasks call the same ones."""
        if function not in self._digests:
            app = function.partition(".")[0]
            by_role = sorted(
                (role, sorted(map(repr, by_app[app]))) for role, by_app in self._words.items() if app in by_app
            )
            kept = self.conventions.list_kept(function), function in self.writers, self.substitutes.of(function)
            text = repr((function, by_role, *kept))
            self._digests[function] = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        return self._digests[function]

    def _learn(self, runs: list[Trajectory]) -> None:
        self._names.learn(runs)
        self.conventions.learn(runs)
        for number, run in enumerate(runs):
            key = run.task_key
            self._effects.learn(run)
            for tool in run.tools if number == 0 else ():
                self._learn_enums(tool)
            for event in run.events:
                if not event.function:
                    continue
                slots = [slot for name, argument in event.arguments.items() for slot in scalars(argument, name)]
                error = event.result.error if event.result is not None else None
                for role, value in slots:
                    if not is_command_line(event.function, role):
                        self._count((event.function, role), value, key)
                if error:
                    self._learn_refusal(event.function, error, slots, key)
                if event.result is not None and number < RUNS_PER_TASK_FOR_FIELDS:
                    for field, value in parse_recorded(event.result.content).leaves:
                        if field:
                            self._count((event.function, field), value, key)

    def _learn_enums(self, tool: Tool) -> None:
        properties = tool.parameters.get("properties")
        for name, schema in properties.items() if isinstance(properties, dict) else ():
            if not isinstance(schema, dict) or is_secret_name(name, "any"):
                continue
            documented = find_documented_values(str(schema.get("description") or ""))
            if documented and is_vocabulary(documented, name):
                self._enums[tool.function, name].update(documented)
            values = schema.get("enum")
            if isinstance(values, list) and not is_unknown_constant(values):
                self._enums[tool.function, name].update(
                    value
                    for value in values
                    if isinstance(value, int)
                    or (isinstance(value, str) and is_choice(value) and could_be_a_choice(value))
                )

    def _learn_refusal(self, function: str, error: str, slots: list[tuple[str, Any]], task: str) -> None:
        permitted = find_allowed_values(error)
        role = role_of(error, permitted, slots) if permitted is not None else None
        if permitted is not None and role is not None:
            add_up_to(MIN_TASKS_REFUSING, self._listed[function, role][permitted.values], [task])

    def _settle_all(self) -> None:
        self._permitted = self._settle_lists()
        self.listed_words = frozenset(value.lower() for values in self._permitted.values() for value in values)
        """Values that tools list as permitted, in lower case."""
        self._words = self._settle()
        self.writers = self._effects.writers()
        """Functions that runs show to change something, against their name."""
        self.substitutes = self._names.find_substitutes()
        """What stands for names that nothing attests."""
        self._digests: dict[str, bytes] = {}

    def _settle_lists(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """Lists that occurred in several tasks, contain only possible words of an interface, and include a value that
        some call used. A list that changes from call to call contains things, not words."""
        settled = {}
        for slot, lists in self._listed.items():
            values, seen = next(iter(lists.items()))
            given = self._seen.get(slot)
            tried = given is None or not given.keys().isdisjoint(values)
            if len(lists) == 1 and len(seen) >= MIN_TASKS_REFUSING and tried and is_vocabulary(values, slot[1]):
                settled[slot] = values
        return settled

    def _count(self, slot: tuple[str, str], value: object, task: str) -> None:
        values = self._seen.setdefault(slot, {})
        if values is None or not isinstance(value, (str, int)) or isinstance(value, bool):
            return
        if len(self._tasks[slot]) < MIN_TASKS:  # more do not change the decision
            self._tasks[slot].add(task)
        tasks = values.setdefault(value, set())
        if len(tasks) < MIN_TASKS_PER_WORD:
            tasks.add(task)
        if len(values) > MAX_VALUES:
            self._open(slot)

    def _open(self, slot: tuple[str, str]) -> None:
        """Mark a slot as open: it takes too many values, and what was counted is no longer needed."""
        self._seen[slot] = None
        self._tasks.pop(slot, None)

    def _add(self, other: Vocabulary) -> None:
        """Add what was learned from other tasks."""
        for slot, values in other._seen.items():
            self._add_values(slot, values, other)
        for slot, enum in other._enums.items():
            self._enums[slot] |= enum
        for slot, lists in other._listed.items():
            for listed, tasks in lists.items():
                add_up_to(MIN_TASKS_REFUSING, self._listed[slot][listed], tasks)
        self.conventions.add(other.conventions)
        self._effects.add(other._effects)
        self._names.add(other._names)

    def _add_values(self, slot: tuple[str, str], values: dict[object, set[str]] | None, other: Vocabulary) -> None:
        seen = self._seen.setdefault(slot, {})
        if seen is None or values is None:
            self._open(slot)
            return
        for value, tasks in values.items():
            add_up_to(MIN_TASKS_PER_WORD, seen.setdefault(value, set()), tasks)
        if slot in other._tasks:
            add_up_to(MIN_TASKS, self._tasks[slot], other._tasks[slot])
        if len(seen) > MAX_VALUES:
            self._open(slot)

    def _settle(self) -> dict[str, dict[str, frozenset[object]]]:
        """Decide by role and app: functions of one app share their words."""
        settled: dict[str, dict[str, frozenset[object]]] = defaultdict(lambda: defaultdict(frozenset))
        for (function, role), listed in (*self._enums.items(), *self._permitted.items()):
            settled[role][function.partition(".")[0]] |= frozenset(listed)
        for (function, role), values in self._seen.items():
            if values is None or len(self._tasks[function, role]) < MIN_TASKS:
                continue
            recurring = {value for value, tasks in values.items() if len(tasks) >= MIN_TASKS_PER_WORD}
            # A single odd value does not open a vocabulary, but a majority of odd ones does.
            is_constant = len(values) == 1 and (not may_name_constant(role) or is_unknown_constant(values))
            if len(recurring) <= MAX_WORDS and len(values) <= 2 * len(recurring) and not is_constant:
                kept = {value for value in recurring if is_word(value, role)}
                settled[role][function.partition(".")[0]] |= kept
        return {role: dict(by_app) for role, by_app in settled.items()}


def is_word(value: object, role: str) -> bool:
    """Could `value` be a word of an interface, rather than somebody's name, number or text?"""
    named = words(role)
    private = not _PRIVATE_ROLES.isdisjoint(without_preposition(named))
    if isinstance(value, int):
        return abs(value) < 1000 and not private
    if not isinstance(value, str) or not 0 < len(value) <= 32 or is_time(value) or not could_be_a_choice(value):
        return False
    # The last word of a role is its noun: `user_type` is a type, `type_name` a name.
    if named and named[-1] in CATEGORY_ROLES:
        form = _PLAIN if named[-1] in _LOOSE_CATEGORIES else _SWITCH
        return form.fullmatch(value) is not None
    if private or kind_by_form(value) or not _WORD.fullmatch(value):
        return False
    if len(value) == 1:  # a class, such as tier A
        return value.isupper()
    return _LOWER_OR_UPPER.fullmatch(value) is not None


def is_vocabulary(values: Iterable[str], role: str) -> bool:
    """Could a tool's list of permitted values be its own words, rather than names of somebody's things?"""
    noun = words(role)[-1:]  # `value_to_plot` is a plot, `assigned_to` a person
    category = not CATEGORY_ROLES.isdisjoint(noun)
    personal = not category and not (_PRIVATE_ROLES - ROLES["AMOUNT"]).isdisjoint(noun)
    if (noun == ["name"] or not personal) and all(map(is_ordinary, values)):
        return True  # `list_name`: Backlog, In Progress, Completed
    plain = all(
        _PERMITTED.fullmatch(value) and could_be_a_choice(value) and not (is_time(value) or kind_by_form(value))
        for value in values
    )
    return plain and not personal and (category or all(_LOWER_OR_UPPER.fullmatch(value) for value in values))


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
