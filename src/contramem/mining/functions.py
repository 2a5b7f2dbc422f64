"""Function Cards: what all observed calls of one function show, as counts over them. Without a model.

Only about the tool. Calls are grouped by whether they worked, were refused, or belong to runs that passed; a passing
run matters only for the forms and origins that a card recommends. Each count is a `Fact`; fwords.py has its sentence.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from math import comb
from typing import Any, NamedTuple

from contramem.bank.bank import ArgumentFacts
from contramem.bank.card import Argument, FunctionCard
from contramem.contrast.documentation import clean_documentation
from contramem.contrast.flow import NOWHERE, TASK, USER
from contramem.contrast.form import FormKind, ResultForm, is_field
from contramem.contrast.observation import MOVES, Observation, acts
from contramem.contrast.repeatable import quote_manual, quote_message
from contramem.contrast.values import (
    CATEGORY_ROLES,
    PLAIN_ANSWERS,
    date_pattern,
    form_of_value,
    is_date_form,
    is_list_form,
)
from contramem.contrast.vocabulary import MAX_WORDS, Vocabulary, scalars
from contramem.mining import fwords
from contramem.mining.fwords import Fact, asks_for, code, fact, generalize, join_list, line, named_arguments, stems
from contramem.traces.effects import effect_of, words
from contramem.traces.shell import is_program
from contramem.traces.trajectory import Tool

MIN_CALLS_FOR_CARD = 3
MAX_LINES, MAX_ARGUMENTS, MAX_FIELDS, MAX_FIELD_WORDS, MAX_KEYS = 6, 20, 10, 4, 8
MAX_NAMED = 3
"""Functions, forms, origins or orders that one sentence names."""
TWICE, ENOUGH = 2, 3
"""How often something has to be seen: in calls or tasks; and where it could be an accident."""
COMMON, CLEAR, OFTEN, MOSTLY, NEARLY_ALWAYS = 0.1, 0.2, 0.3, 0.5, 0.9
"""Shares. What is rarer than COMMON is not named; a place that fewer than CLEAR of the values come from neither."""
MIN_BAD = 0.75
"""What fails less often is not ruled out."""
USUAL = 0.02
"""An argument given in a smaller share of the calls is not listed unless it is documented."""
MAX_CALLS_PER_ACCIDENT = 20
"""An error that occurred once is mentioned only for a function that was called no more often than this."""
MIN_FAILURE_SHARE, MIN_RATIO, MAX_CHANCE = 0.25, 2, 0.05
"""A smaller share of the calls, a smaller difference or a likelier accident is no reason for a warning."""
NULL = "null"
ABSENT_FORMS = frozenset({NULL, "empty text", "empty list", "list of empty texts", "list of nulls"})
"""Forms of an absent value."""
GUESSED_DATE = "date YYYY-MM-DD"
"""The form that anybody would try first: that it works is not news."""
_TEXT_FORMS = frozenset(
    "text,identifier,URL,e-mail address,telephone number,account number,file name or path,number as text".split(",")
)
_NAME = re.compile(r"[A-Za-z_][\w\-]{0,39}")
_MISSING = re.compile(
    r"\b(?:missing|required?|(?:not|must be|please) (?:provided?|given|specif\w+)|no \w+ given)\b", re.IGNORECASE
)
SETS_UP = MOVES | frozenset("login log sign authenticate auth connect activate start enable unlock mount init".split())
"""Verbs of functions that enable others."""
_HARNESS = re.compile(
    r"\btimed? ?out\b|\bconnection (?:\w+ )?(?:refused|reset|lost|closed|aborted)\b|: command not found\b",
    re.IGNORECASE,
)
"""What the harness says: a time-out, a lost connection, a launcher that is missing."""
_NOUNS: dict[FormKind, str] = {
    "nothing": "nothing", "empty": "an empty result", "list": "a list", "map": "a map whose keys are data",
    "record": "a record", "text": "text", "number": "a number", "boolean": "true or false",
}  # fmt: skip


def build_function_card(
    function: str, observations: Sequence[Observation], tool: Tool | None, vocabulary: Vocabulary
) -> FunctionCard | None:
    """A card from all observed calls of `function`. Meanings in its documentation are not repeated.

    None: too few calls, none that worked, or calls that prove nothing beyond the function's name and signature.
    """
    calls = Calls(function, observations, clean_documentation(tool), vocabulary)
    if len(calls.all) < MIN_CALLS_FOR_CARD or not calls.worked:
        return None
    slots = [calls.slot(name) for name in calls.listed]
    rules, repeats, uses = list(_rules(calls, slots)), list(_repeats(calls)), list(_uses(calls))
    mistakes = [*_mistakes(calls), *map(_guess, calls.guesses)]
    is_proven = any(each.weight >= TWICE or each.values.get("helped") for each in (*mistakes, *repeats))
    if not (rules or uses or is_proven or any(slot.is_telling for slot in slots)):
        return None
    effect = {"finalize": "Ends the work on the task.", "wait": "Lets time pass."}.get(calls.effect, "")
    named = fwords.effect_of_name(calls.name) if calls.effect == "write" else ""
    effects = [fact(named, 0)] if named else []
    return FunctionCard(
        card_id=f"function::{function}",
        tool=function,
        app=calls.app,
        function=calls.name,
        what_it_does=line(_what_it_does(calls)),
        arguments=tuple(slot.as_argument() for slot in slots),
        returns=line(_returns(calls) + (f" Its results held {join_list(list(map(str, uses)))}." if uses else "")),
        usage_rules=tuple(map(str, rules[:MAX_LINES])),
        common_mistakes=tuple(map(str, sorted(mistakes, key=_by_weight)[:MAX_LINES])),
        side_effects=line(effect or " ".join(map(str, effects + repeats))),
    )


def gather_argument_facts(function: str, observations: Sequence[Observation]) -> dict[str, ArgumentFacts]:
    """What the calls show about each argument, as values. They do not depend on who wrote the card."""
    calls = Calls(function, observations)
    return {
        slot.name: ArgumentFacts(
            forms={
                fwords.confirm_form(slot.name, form): fwords.form_in_words(slot.name, form) for form in slot.form.forms
            },
            sources=slot.origin.sources,
            form_rules=tuple(map(str, _formats(calls, slot.name))),
        )
        for slot in map(calls.slot, calls.listed)
    }


def is_of_harness(error: str) -> bool:
    """Did the harness fail, and not the call?"""
    return _HARNESS.search(error) is not None


def _by_weight(fact: Fact) -> tuple[int, str]:
    return -fact.weight, str(fact)


# The calls


class Retry(NamedTuple):
    """A call, and a later call of the same function in the same run."""

    first: Observation
    then: Observation

    @property
    def changed(self) -> frozenset[str]:
        """The arguments that differ in the second call."""
        before, after = self.first.arguments, self.then.arguments
        return frozenset(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))

    @property
    def between(self) -> frozenset[str]:
        """The functions that were called without error between the two."""
        steps = self.first.run.calls[self.first.number + 1 : self.then.number]
        return frozenset(step.function for step in steps if not step.error)


class Guess(NamedTuple):
    """An argument whose values failed when they had been seen nowhere before, with the calls of either kind."""

    argument: str
    made_up: Sequence[Observation]
    known: Sequence[Observation]


class Calls:
    """Every observed call of a function whose result is known, in any order, and what was counted about them."""

    def __init__(
        self,
        function: str,
        observations: Iterable[Observation],
        tool: Tool | None = None,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        self.function, self.tool, self.vocabulary = function, tool, vocabulary or Vocabulary()
        self.app, _, self.name = function.partition(".")
        own = (call for call in observations if not (call.error and is_of_harness(call.error)))
        ordered = sorted(own, key=lambda call: (call.task_key, len(call.run.letter), call.run.letter, call.number))
        # A trace without results still shows arguments; its calls count as successful because nothing says otherwise.
        self.all = [call for call in ordered if call.error or call.form is not None] or ordered
        self.worked = [call for call in self.all if not call.error]
        self.failed = [call for call in self.all if call.error]
        self.names = tuple(sorted({name for call in self.all for name in call.arguments}))
        effects = Counter(call.effect for call in self.all)
        self.effect = min(effects, key=lambda effect: (-effects[effect], effect), default="unknown")
        by_run = defaultdict[int, list[Observation]](list)
        for call in self.all:
            by_run[id(call.run)].append(call)
        self.runs = list(by_run.values())
        self.retries = [Retry(first, then) for run in self.runs for first, then in pairwise(run)]

    def refer_to(self, function: str) -> str:
        """Another function as this card names it: without the app if it is the same."""
        app, _, name = function.partition(".")
        return "this function" if function == self.function else code(name if app == self.app else function)

    def schema(self, name: str) -> Mapping[str, Any] | None:
        """What the documentation says about an argument. None: nothing."""
        properties = self.tool.parameters.get("properties") if self.tool is not None else None
        schema = properties.get(name) if isinstance(properties, dict) else None
        return schema if isinstance(schema, dict) else None

    @cached_property
    def listed(self) -> list[str]:
        """The arguments worth listing, most frequent first."""
        given = self.worked or self.all
        places = defaultdict[str, list[int]](list)
        for call in given:
            for place, name in enumerate(call.arguments):
                places[name].append(place)
        # Without documentation, an argument given in one call in fifty may be made up and ignored by the tool.
        least = 0.0 if self.tool is not None else len(given) * USUAL
        names = [name for name, seen in places.items() if len(seen) >= least and _NAME.fullmatch(name)]
        named = [name for name in names if of_name(given, name) or self.schema(name) is not None]
        order = {name: (-len(places[name]), sum(places[name]) / len(places[name]), name) for name in named}
        return sorted(named, key=order.__getitem__)[:MAX_ARGUMENTS]

    def slot(self, name: str) -> Slot:
        form, origin = _form(self, name), _origin(self, name)
        if form.is_closed and origin.from_results:
            origin = Origin()  # a word of the interface occurs in many results; nobody takes it from there
        return Slot(name, form, origin, _is_required(self, name), self.schema(name))

    @cached_property
    def complaints(self) -> list[tuple[str, list[Observation]]]:
        """The ways in which calls failed, most frequent first: each text to quote, with its calls. Those that must not
        be quoted are one without text."""
        quotable = defaultdict[str, list[Observation]](list)
        for text, members in fwords.complaints_of(self.failed).items():
            quotable[quote_message(text, count_tasks(members), self.interface)] += members
        return sorted(quotable.items(), key=lambda complaint: (-len(complaint[1]), complaint[0]))

    @cached_property
    def interface(self) -> frozenset[str]:
        """Names that the runs around these calls show: functions, arguments and fields of results."""
        names = {self.app, self.name, *self.names}
        for call in self.all:
            names.update(call.step.fields.values(), call.form.fields if call.form is not None else ())
        return frozenset(names.union(*(run[0].run.first_worked for run in self.runs)))

    def quote(self, refused: Sequence[Observation]) -> str:
        """The complaint of most of the calls, in brackets; empty if it must not be quoted."""
        places = {id(call) for call in refused}
        met = [(sum(id(call) in places for call in members), text) for text, members in self.complaints]
        count, text = max(met, default=(0, ""))
        return f' ("{text}")' if text and count * 2 >= len(refused) else ""

    @cached_property
    def guesses(self) -> list[Guess]:
        """Arguments whose values failed much more often if they had been seen nowhere before, clearest first.

        A call that makes up two values fails once: what the clearer one explains does not count against the other.
        """
        found, names, remaining = list[Guess](), {n for n in self.names if _is_looked_up(n, self.all)}, self.all
        while names:
            tried = [Guess(name, *self._split_by_guess(name, remaining)) for name in sorted(names)]
            guilty = [each for each in tried if len(each.known) >= TWICE and fail_more(each.made_up, each.known)]
            if not guilty:
                break
            worst = min(guilty, key=lambda guess: (share(guess.known) - share(guess.made_up), guess.argument))
            found.append(worst)
            names.remove(worst.argument)
            remaining = [call for call in remaining if not is_guessed(call, worst.argument)]
        return found

    def _split_by_guess(self, name: str, calls: Sequence[Observation]) -> tuple[list[Observation], list[Observation]]:
        # What was not given is not a wrong value of what was.
        traced = [call for call in of_name(calls, name) if name in call.origins]
        blamed = [call for call in traced if self.concerns(call, name) and not _MISSING.search(call.error)]
        return partition(blamed, lambda call: is_guessed(call, name))

    def concerns(self, call: Observation, name: str) -> bool:
        """Could this argument be why the call was refused? Not if the complaint names others."""
        blamed = named_arguments(call.error, self.names) if call.error else frozenset()
        return not blamed or name in blamed


# Counting


def of_name(calls: Iterable[Observation], name: str) -> list[Observation]:
    """The calls that pass a meaningful value for this argument."""
    return [call for call in calls if name in call.arguments and call.forms.get(name) not in ABSENT_FORMS]


def leaves_out(call: Observation, name: str) -> bool:
    """Does the call omit this argument? An explicit null omits it too; an empty text is a value."""
    return call.arguments.get(name) is None


def is_guessed(call: Observation, name: str) -> bool:
    """Had the value been seen nowhere before the call?"""
    return call.origins.get(name) == NOWHERE


def is_empty(call: Observation) -> bool:
    """Did it work without returning anything?"""
    return not call.error and call.form is not None and call.form.kind in ("empty", "nothing")


def failures(calls: Iterable[Observation]) -> int:
    return sum(bool(call.error) for call in calls)


def share(calls: Sequence[Observation]) -> float:
    """Of the calls that failed."""
    return failures(calls) / max(len(calls), 1)


def count_tasks(calls: Iterable[Observation]) -> int:
    return len({call.task_key for call in calls})


def count_runs(calls: Iterable[Observation]) -> int:
    return len({id(call.run) for call in calls})


def partition(
    calls: Iterable[Observation], is_so: Callable[[Observation], bool]
) -> tuple[list[Observation], list[Observation]]:
    """Those of which it is so, and the others."""
    sides: tuple[list[Observation], list[Observation]] = ([], [])
    for call in calls:
        sides[not is_so(call)].append(call)
    return sides


def fail_more(
    some: Sequence[Observation],
    others: Sequence[Observation],
    bad: Callable[[Observation], bool] = lambda call: bool(call.error),
    tests: int = 1,
) -> bool:
    """Do some calls fail so much more often than others that chance does not explain it?

    A run that repeats the same call counts once. `tests`: how many such questions are asked in all.
    """
    outcomes, other = ([bad(call) for call in side if not call.looped] for side in (some, others))
    return is_more(sum(outcomes), len(outcomes), sum(other), len(other), tests)


def is_more(part: int, whole: int, other_part: int, other_whole: int, tests: int = 1) -> bool:
    """Is one share at least twice the other, and so much larger that chance does not explain it?

    The tail of a binomial with the other rate (by Laplace's rule of succession: a single successful call proves
    little), with Bonferroni's correction for the number of tests.
    """
    if part < TWICE or part < whole * MIN_FAILURE_SHARE or part * other_whole < MIN_RATIO * other_part * whole:
        return False
    rate = (other_part + 1) / (other_whole + 2)
    tail = sum(comb(whole, k) * rate**k * (1 - rate) ** (whole - k) for k in range(part, whole + 1))
    return tail * tests <= MAX_CHANCE


def prefer_passing(given: Sequence[Observation]) -> Sequence[Observation]:
    """The calls of passing runs if several tasks have some, because what failing runs do should not be recommended;
    else all calls."""
    passing = [call for call in given if call.run.passed]
    return passing if len(passing) > ENOUGH and count_tasks(passing) > 1 else given


def by_form(calls: Iterable[Observation], name: str) -> dict[str, list[Observation]]:
    """The calls grouped by the form of an argument."""
    groups: dict[str, list[Observation]] = {}
    for call in calls:
        if name in call.forms:
            groups.setdefault(call.forms[name], []).append(call)
    return groups


# Arguments


class Form(NamedTuple):
    """How the values of an argument are written."""

    text: str
    forms: tuple[str, ...] = ()
    """The common forms, as contrast/values.py writes them; empty for words of a vocabulary and for objects."""
    is_list: bool = False
    is_closed: bool = False
    """The values are words of a vocabulary."""
    is_complete: bool = False
    """The tool lists all its words."""


class Origin(NamedTuple):
    """Where the values of an argument come from. Empty if that is not clear."""

    text: str = ""
    sources: tuple[str, ...] = ()
    """`task`, `user`, `App.function` or `App.function.field`, as the text names them."""
    from_results: bool = False


class Slot(NamedTuple):
    """What calls show about one argument."""

    name: str
    form: Form
    origin: Origin
    required: bool | None
    schema: Mapping[str, Any] | None

    @property
    def is_telling(self) -> bool:
        """Do the calls show something about it that neither its name nor the documentation says?"""
        forms = self.form.forms
        is_dated = any(is_date_form(form) and not is_list_form(form) and form != GUESSED_DATE for form in forms)
        is_listed = self.schema is not None and isinstance(self.schema.get("enum"), list)
        is_taken = self.origin.from_results and fwords.points_at_things(self.name, forms)
        is_needed = self.required is True and self.schema is None
        return is_dated or is_taken or is_needed or (self.form.is_complete and not is_listed)

    def as_argument(self) -> Argument:
        documented = self.schema is not None and self.schema.get("description")
        meaning = self.origin.text or ("as documented" if documented else self.name)
        return Argument(name=self.name, meaning=line(meaning), form=line(self.form.text), required=self.required)


def _form(calls: Calls, name: str) -> Form:
    given = of_name(calls.worked, name) or of_name(calls.all, name)
    if (found := _closed_words(calls, name, given) or _objects(name, given)) is not None:
        return found
    _, bad = _compare_forms(calls, name)
    usable = [call for call in given if name in call.forms and call.forms[name] not in bad]
    common = _common_forms(Counter(call.forms[name] for call in prefer_passing(usable)))
    text = " or ".join(fwords.form_in_words(name, form) for form in common)
    return Form(text or f"only {NULL} was given", tuple(common), bool(common) and is_list_form(common[0]))


def _closed_words(calls: Calls, name: str, given: Sequence[Observation]) -> Form | None:
    """The vocabulary of the argument, if its values are words of one. Days and times are none, public or not: their
    form says more of the tool."""
    values = [value for call in given for _, value in scalars(call.arguments[name])]
    is_list = any(isinstance(call.arguments[name], list) for call in given)
    many, enum = "list of " if is_list else "", (calls.schema(name) or {}).get("enum")
    permitted: Sequence[str] = calls.vocabulary.read_permitted(calls.function, name)
    known = calls.vocabulary.words(calls.function, name) | PLAIN_ANSWERS
    if not (permitted and {str(value) for value in values}.issubset(permitted)):
        is_open = any(isinstance(value, bool) or value not in known for value in values)
        is_dated = any(date_pattern(form_of_value(value, name)) not in ("", "in words") for value in values)
        if not values or is_open or is_dated or any(isinstance(call.arguments[name], dict) for call in given):
            return None
        permitted = sorted(map(str, enum)) if isinstance(enum, list) else ()
    tried = sorted(set(map(str, values)))
    if len(permitted or tried) > MAX_WORDS:
        return None
    if permitted:
        return Form(f"{many}one of {', '.join(permitted)}", (), is_list, is_closed=True, is_complete=True)
    if all(isinstance(value, int) for value in values):
        return None  # numbers from results are not words
    # What was tried may not be everything: only a tool that lists its words closes the list.
    text = f"text; only {tried[0]} was tried" if len(tried) == 1 else f"text such as {join_list(tried, 'or')}"
    return Form(f"{many}{text}", (), is_list, is_closed=True)


def _objects(name: str, given: Sequence[Observation]) -> Form | None:
    """The keys of an argument made of objects, as far as several tasks show them."""
    is_list = bool(given) and all(isinstance(call.arguments[name], list) for call in given)
    items = [
        (call.task_key, item)
        for call in given
        for item in (call.arguments[name] if is_list else [call.arguments[name]])
    ]
    if not items or not all(isinstance(item, dict) for _, item in items):
        return None
    where = defaultdict[str, list[str]](list)
    for task, key in ((task, key) for task, item in items for key in item if is_field(key)):
        where[key].append(task)
    keys = sorted((key for key in where if len(set(where[key])) > 1), key=lambda key: (-len(where[key]), key))
    kind = "list of objects" if is_list else "object"
    return Form(f"{kind} with {', '.join(keys[:MAX_KEYS])}", (), is_list) if keys else None


def _common_forms(forms: Counter[str]) -> list[str]:
    """The forms worth naming, most common first."""
    total, top = forms.total(), min(forms, key=lambda form: (-forms[form], form), default="")
    # A number may be written with or without a fraction; a text may look like many things.
    if forms["integer"] and forms["number"] >= total * COMMON:
        forms = forms + Counter({"number": forms.pop("integer")})
    texts = {form for form in forms if form in _TEXT_FORMS and forms[form] >= total * COMMON}
    odd = sum(count for form, count in forms.items() if form in _TEXT_FORMS and form != top)
    if top in _TEXT_FORMS and odd >= total * COMMON and ("text" in texts or len(texts) > 2):
        forms = Counter({form: count for form, count in forms.items() if form not in _TEXT_FORMS} | {"text": total})
    common = [form for form in forms if forms[form] >= max(total * COMMON, 1)]
    return sorted(common, key=lambda form: (-forms[form], form))[:MAX_NAMED]


def _compare_forms(calls: Calls, name: str) -> tuple[str, list[str]]:
    """The form of an argument that worked in most calls, and the forms that failed in comparison."""
    forms = by_form([call for call in calls.all if calls.concerns(call, name)], name)
    best = min(
        forms.keys() - ABSENT_FORMS, key=lambda form: (failures(forms[form]) - len(forms[form]), form), default=""
    )
    if not best:
        return "", []
    if any(leaves_out(call, name) for call in calls.worked):
        forms.pop(NULL, None)
    other = {form: made for form, made in forms.items() if form != best and fail_more(made, forms[best])}
    is_sure = not failures(forms[best])
    bad = [form for form, made in other.items() if share(made) >= MIN_BAD or (is_sure and form not in ABSENT_FORMS)]
    # Several odd types that each failed once or twice prove together what none proves alone.
    hopeless = [form for form in forms if _type_of(form) != _type_of(best) and share(forms[form]) == 1]
    if not bad and fail_more([call for form in hopeless for call in forms[form]], forms[best]):
        bad = hopeless
    return best, sorted(bad, key=lambda form: (-failures(forms[form]), form))


def _type_of(form: str) -> str:
    if form in ABSENT_FORMS or is_list_form(form):
        return NULL if form in ABSENT_FORMS else "list"
    return form if form in ("integer", "number", "boolean", "object") else "text"


def _is_required(calls: Calls, name: str) -> bool | None:
    """True: every successful call passes it, and either the schema requires it, or a call without it was refused for
    that reason: the complaint names it, or adding it alone helped. None: unknown."""
    if any(leaves_out(call, name) for call in calls.worked):
        return False
    demanded = calls.tool.parameters.get("required") if calls.tool is not None else None
    if isinstance(demanded, list) and calls.schema(name) is not None:
        return name in demanded
    always = [n for n in calls.names if all(n in call.arguments for call in calls.worked)]
    for call in calls.failed:
        absent = {n for n in calls.names if leaves_out(call, n) or call.forms.get(n) in ABSENT_FORMS}
        misses_only = absent.intersection(always) == {name} and _MISSING.search(call.error)
        if name in absent and (misses_only or name in named_arguments(call.error, calls.names)):
            return True
    added = (retry for retry in calls.retries if retry.changed == {name} and leaves_out(retry.first, name))
    return True if any(retry.first.error and not retry.then.error for retry in added) else None


def _origin(calls: Calls, name: str) -> Origin:
    """Where the values of the successful calls were first seen."""
    # A run that goes round in circles counts once.
    once = {(id(call.run), str(call.arguments[name])): call for call in of_name(calls.worked or calls.all, name)[::-1]}
    given = prefer_passing(list(once.values()))
    places = Counter(call.origins[name] for call in given if name in call.origins)
    if calls.effect != "read":
        del places[calls.function]  # a write echoes its arguments; the next call then seems to find the value there
    traced = places.total()
    if traced < ENOUGH or traced < len(given) * MOSTLY:
        return Origin()
    functions = {place: count for place, count in places.items() if "." in place}
    reading = {place: count for place, count in functions.items() if effect_of(place) == "read"}
    is_read = sum(reading.values()) >= sum(functions.values()) * MOSTLY
    parts = [
        _from_functions(calls, name, given, reading if is_read else functions),
        (places[TASK], "from the task", (TASK,)),
        (places[USER], "from the user", (USER,)),
    ]
    clear = sorted((part for part in parts if part[0] >= traced * CLEAR), reverse=True)
    named = sum(count for count, _, _ in clear)
    mostly = "" if named >= traced * NEARLY_ALWAYS else "mostly "
    if named < traced * MOSTLY or (mostly and functions and _may_coincide(name, given)):
        return Origin()
    seen_in = count_tasks(call for call in given if name in call.origins)
    only = "the one task" if seen_in == 1 else f"the {seen_in} tasks"
    come = f"values {mostly}come" if seen_in > TWICE else f"in {only} seen, values {mostly}came"
    text = f"{come} {', or '.join(text for _, text, _ in clear)}"
    return Origin(text, tuple(source for _, _, each in clear for source in each), parts[0] in clear)


def _from_functions(
    calls: Calls, name: str, given: Sequence[Observation], places: Mapping[str, int]
) -> tuple[int, str, tuple[str, ...]]:
    """The functions worth naming."""
    common = [place for place in places if places[place] >= sum(places.values()) * COMMON]
    named = sorted(common, key=lambda place: (-places[place], place))[:MAX_NAMED]
    fields = {place: _field(name, place, given) for place in named}
    shown = [calls.refer_to(place) + (f" ({code(field)})" if field else "") for place, field in fields.items()]
    sources = tuple(f"{place}.{field}" if field else place for place, field in fields.items())
    return sum(places[place] for place in named), f"from results of {join_list(shown, 'or')}", sources


def _may_coincide(name: str, given: Sequence[Observation]) -> bool:
    """Whether the values are dates or amounts, which may equal what a result shows by chance."""
    forms = [call.forms.get(name, "") for call in given]
    plain = sum((is_date_form(form) and not is_list_form(form)) or form in ("integer", "number") for form in forms)
    return fwords.ID_WORDS.isdisjoint(words(name)) and plain > len(forms) * MOSTLY


def _field(name: str, place: str, given: Sequence[Observation]) -> str:
    """The field of the results that contains the values, if it has another name than the argument."""
    # An amount may equal another field by chance; a value that refers to a thing does not.
    counts = all(call.forms.get(name) in ("integer", "number") for call in given)
    if counts and fwords.ID_WORDS.isdisjoint(words(name)):
        return ""
    fields = Counter(call.step.fields.get(name, "") for call in given if call.origins.get(name) == place)
    field, count = fields.most_common(1)[0]
    return field if count >= fields.total() * MIN_BAD and words(field) != words(name) else ""


def _is_looked_up(name: str, calls: Sequence[Observation]) -> bool:
    """Must a value of this argument have been seen before it is passed? Words of a category are known from the
    documentation, dates are computed, and what nearly always works although nobody had seen it is written for the
    call."""
    found = [call for call in of_name(calls, name) if not call.error and not is_empty(call)]
    if len(found) >= TWICE and sum(is_guessed(call, name) for call in found) >= len(found) * NEARLY_ALWAYS:
        return False
    forms = [call.forms[name] for call in calls if name in call.forms]
    dated = sum(is_date_form(form) and not is_list_form(form) for form in forms)
    return CATEGORY_ROLES.isdisjoint(words(name)[-1:]) and dated * 2 < len(forms)


# Mistakes and what helped


def _mistakes(calls: Calls) -> Iterator[Fact]:
    """Not a one-in-a-hundred accident, nor an error about which nothing can be said: that a program failed and then
    worked, or other code, is no news."""
    takes_text = len(calls.names) == 1 and all(form == "text" for call in calls.all for form in call.forms.values())
    is_code = is_program(calls.function) or takes_text
    for text, refused in calls.complaints:
        helped = sorted(_recoveries(text, refused, calls), key=_by_weight)[:2]
        is_shown = len(refused) > 1 or len(calls.all) <= MAX_CALLS_PER_ACCIDENT
        if is_shown if text else not is_code and any(recovery.weight > 1 for recovery in helped):
            error, count = f'"{text}"' if text else "An error", (len(refused), len(calls.all))
            told = "".join(map(str, helped or _in_vain(refused, calls)))
            yield fact("error", len(refused), error=error, count=count, helped=told)


def _guess(guess: Guess) -> Fact:
    made_up, known = ((failures(calls), len(calls)) for calls in (guess.made_up, guess.known))
    return fact("guessed", made_up[0], argument=code(guess.argument), count=made_up, against=known)


def _recoveries(complaint: str, refused: Sequence[Observation], calls: Calls) -> Iterator[Fact]:
    """Everything that helped after the complaint."""
    places = {id(call) for call in refused}
    retries = [retry for retry in calls.retries if id(retry.first) in places]
    yield from _by_changing([retry for retry in retries if retry.changed and _has_same_goal(retry)], complaint)
    yield from _after_another([retry for retry in retries if not retry.changed], calls)
    yield from _instead(refused, calls)


def _has_same_goal(retry: Retry) -> bool:
    """Is the second call about the same thing? A write to another existing thing is a different task."""
    first = retry.first
    pointing = [name for name in first.arguments if fwords.is_identifying(name, [first.forms.get(name, "")])]
    known = [name for name in pointing if not (is_guessed(first, name) or leaves_out(first, name))]
    moved = retry.changed.intersection(known)
    return first.effect == "read" or not moved or len(moved) < len(pointing)


def _by_changing(retries: Sequence[Retry], complaint: str) -> Iterator[Fact]:
    spoken = set(words(complaint)) | {word + "s" for word in words(complaint)}

    def named(changed: frozenset[str]) -> frozenset[str]:
        """Of several arguments, those that the complaint is about."""
        return frozenset(name for name in changed if spoken.issuperset(set(words(name)) - {"id", "ids"}))

    worked = Counter(named(retry.changed) or retry.changed for retry in retries if not retry.then.error)
    # Two calls that differ from two refused ones in some argument prove nothing unless the complaint names it.
    shown = [names for names, count in worked.items() if count >= ENOUGH or named(names)]
    for names in sorted(shown, key=lambda names: (-worked[names], len(names), sorted(names)))[:1]:
        tried = [retry for retry in retries if (named(retry.changed) or retry.changed) == names]
        if worked[names] >= len(tried) * MOSTLY:
            gone = all(name not in retry.then.arguments for retry in tried for name in names)
            new = all(name not in retry.first.arguments for retry in tried for name in names)
            how = "leaving out" if gone else "adding" if new else "changing"
            yield fact(how, worked[names], argument=frozenset(map(code, names)), count=(worked[names], len(tried)))


def _after_another(retries: Sequence[Retry], calls: Calls) -> Iterator[Fact]:
    after = Counter(name for retry in retries if not retry.then.error for name in retry.between)
    # A read cannot have helped an unchanged call, unless the complaint asked for it.
    asked = {name for name in after if any(asks_for(retry.first.error, name) for retry in retries)}
    acting = [n for n in after if effect_of(n) != "read" or n in asked or not MOVES.isdisjoint(words(n))]
    for best in sorted(acting, key=lambda name: (-after[name], name))[:1]:
        tried = sum(best in retry.between for retry in retries)
        if after[best] >= tried * MOSTLY:
            yield fact("after another", after[best], other=calls.refer_to(best), count=(after[best], tried))


def _instead(refused: Sequence[Observation], calls: Calls) -> Iterator[Fact]:
    """Another function that then worked before this one did, and supplies what this one is called for: the argument
    that its results fill."""
    own = Counter(use.argument for run in calls.runs for use in run[0].run.uses if use.giver == calls.function)
    name = min(own, key=lambda argument: (-own[argument], argument), default="")
    rescued, supplied = Counter[str](), Counter[str]()
    for call in refused if name else ():
        run = call.run
        again = (n for n in range(call.number + 1, len(run.calls)) if _worked(run.calls[n], calls.function))
        until = next(again, len(run.calls))
        givers = {giver for giver, first in run.first_worked.items() if call.number < first < until}
        rescued.update(givers)
        supplied.update({use.giver for use in run.uses if use.argument == name} & givers)
    for giver in sorted(supplied, key=lambda giver: (-supplied[giver], giver))[:1]:
        if supplied[giver] >= TWICE and rescued[giver] >= len(refused) * OFTEN:
            count = (rescued[giver], len(refused))
            yield fact("instead", rescued[giver], other=calls.refer_to(giver), argument=code(name), count=count)


def _worked(step: Any, function: str) -> bool:
    return step.function == function and not step.error


def _in_vain(refused: Sequence[Observation], calls: Calls) -> Iterator[Fact]:
    places = {id(call) for call in refused}
    plain = [r for r in calls.retries if id(r.first) in places and not r.changed and not r.between]
    failed = sum(bool(retry.then.error) for retry in plain)
    if failed > 1:
        yield fact("in vain", failed, count=(failed, len(plain)))


# Usage rules


def _rules(calls: Calls, slots: Sequence[Slot]) -> Iterator[Fact]:
    """Guidance for a single call, proved by calls: what comes first, what it has to look like, what an empty result
    means."""
    yield from (*_closing(calls), *_closes(calls), *_needs(calls), *_preview(calls))
    for slot in slots:
        yield from _formats(calls, slot.name)
    for slot in slots:
        yield from _several(calls, slot)
    yield from _when_empty(calls, slots)


def _formats(calls: Calls, name: str) -> Iterator[Fact]:
    """Forms of an argument that failed where another form worked."""
    best, bad = _compare_forms(calls, name)
    if not ABSENT_FORMS.issuperset(bad):  # "as text, null failed" says no more than that it is required
        forms = by_form(calls.all, name)
        counts = {form: (failures(forms[form]), len(forms[form])) for form in (best, *bad)}
        failed = [
            str(fact("bad form", 0, form=fwords.pattern_in_words(name, form, best), count=counts[form]))
            for form in bad[:MAX_NAMED]
        ]
        worked, form = (counts[best][1] - counts[best][0], counts[best][1]), fwords.pattern_in_words(name, best)
        yield fact("form", worked[0], argument=code(name), form=form, count=worked, bad=join_list(failed))


def _several(calls: Calls, slot: Slot) -> Iterator[Fact]:
    given = [call for call in of_name(calls.worked, slot.name) if isinstance(call.arguments[slot.name], list)]
    several = [call for call in given if len(call.arguments[slot.name]) > 1]
    if slot.form.is_list and len(several) >= max(TWICE, len(given) * OFTEN) and count_tasks(several) > 1:
        yield fact("several", len(several), argument=code(slot.name), count=(len(several), len(given)))


def _preview(calls: Calls) -> Iterator[Fact]:
    """A switch that nearly every call sets only after the same call without it, which shows what it would do."""
    for name in calls.names:
        confirmed = [call for call in calls.worked if call.arguments.get(name) is True]
        after = [
            call for call in confirmed if any(_previews(step, call, name) for step in call.run.calls[: call.number])
        ]
        if count_tasks(after) >= ENOUGH and len(after) >= len(confirmed) * NEARLY_ALWAYS:
            yield fact("preview", len(after), argument=code(name), count=(len(after), len(confirmed)))


def _previews(step: Any, call: Observation, name: str) -> bool:
    named = [n for n, form in call.forms.items() if form not in ("integer", "number", "boolean")]
    is_same = all(step.arguments.get(n) in (None, call.arguments[n]) for n in named)
    return is_same and _worked(step, call.function) and not step.arguments.get(name)


def _when_empty(calls: Calls, slots: Sequence[Slot]) -> Iterator[Fact]:
    """Values that had been seen nowhere before, if they separate the calls that came back empty from the others."""
    visible = [call for call in calls.worked if call.form is not None]
    for name in sorted(slot.name for slot in slots if calls.effect == "read" and _is_looked_up(slot.name, visible)):
        traced = [call for call in of_name(visible, name) if name in call.origins]
        new, known = partition(traced, lambda call, name=name: is_guessed(call, name))  # type: ignore[misc]
        if len(known) >= ENOUGH and fail_more(new, known, is_empty, 2 * len(slots)):
            count, against = ((sum(map(is_empty, side)), len(side)) for side in (new, known))
            yield fact("unknown empty", count[0], argument=code(name), count=count, against=against)


# What has to come first


def _is_rule(refused: int, runs: int, of: int) -> bool:
    return refused >= ENOUGH and runs >= TWICE and refused >= of * MIN_BAD


def _before(call: Observation, argument: str) -> Mapping[str, bool]:
    return call.run.tries_before[call.number].get(argument, {})


def _later(call: Observation, argument: str) -> Mapping[str, bool]:
    return call.run.tries_later[call.number].get(argument, {})


def _closing(calls: Calls) -> Iterator[Fact]:
    """This function is refused once another one (or itself) has worked on the same thing."""
    tried = {
        (n, f) for call in calls.failed for n in call.arguments for f, worked in _before(call, n).items() if worked
    }
    found: dict[str, tuple[float, Fact]] = {}
    for argument, other in sorted(tried):
        given = [call for call in calls.all if argument in call.arguments]
        after, without = partition(given, lambda call, a=argument, o=other: _before(call, a).get(o, False))  # type: ignore[misc]
        refused = [call for call in after if call.error]
        # Two arguments may refer to the same case (an order and the card that paid for it): use the clearer one.
        is_clearer = other not in found or share(after) > found[other][0]
        is_rule = _is_rule(len(refused), count_runs(refused), len(after)) and fail_more(
            after, without, tests=len(tried)
        )
        if is_clearer and is_rule:
            later = [_later(call, argument)[other] for call in calls.worked if other in _later(call, argument)]
            values = {"argument": code(argument), "refused": (len(refused), len(after)), "quote": calls.quote(refused),
                      "against": (failures(without), len(without)), "other": calls.refer_to(other)}  # fmt: skip
            turned = _other_way_round(calls.refer_to(other), later)
            kind = "works once" if other == calls.function else "refused after"
            found[other] = share(after), fact(kind, len(refused), turned=turned, **values)
    yield from sorted((found_fact for _, found_fact in found.values()), key=_by_weight)[:MAX_NAMED]


def _other_way_round(other: str, worked: Sequence[bool]) -> str:
    fine, count = sum(worked), (sum(worked), len(worked))
    if fine >= max(ENOUGH, len(worked) * MIN_BAD):
        return str(fact("turned fine", fine, other=other, count=count))
    is_choice = len(worked) > 1 and not fine
    return str(fact("turned bad", 0, other=other, count=len(worked))) if is_choice else ""


def _closes(calls: Calls) -> Iterator[Fact]:
    """Once this function has worked on a thing, another function that had worked before is refused."""
    tried = {
        (n, f) for call in calls.worked for n in call.arguments for f, worked in _later(call, n).items() if not worked
    }
    found: dict[str, tuple[float, Fact]] = {}
    for argument, other in sorted(tried) if calls.effect != "read" else ():
        first = [call for call in calls.worked if not _before(call, argument).get(calls.function)]
        met = [(call, _later(call, argument)[other]) for call in first if other in _later(call, argument)]
        refused = [call for call, worked in met if not worked]
        earlier = [_before(call, argument)[other] for call in first if other in _before(call, argument)]
        is_rule = other != calls.function and _is_rule(len(refused), count_runs(refused), len(met))
        is_proven = is_more(len(refused), len(met), earlier.count(False), len(earlier), len(tried))
        if is_rule and is_proven and (other not in found or len(refused) / len(met) > found[other][0]):
            fine = str(fact("before it", 0, count=(sum(earlier), len(earlier)))) if any(earlier) else ""
            values = {"other": calls.refer_to(other), "argument": code(argument), "refused": (len(refused), len(met))}
            found[other] = len(refused) / len(met), fact("closes", len(refused), turned=fine, **values)
    yield from sorted((found_fact for _, found_fact in found.values()), key=_by_weight)[:MAX_NAMED]


def _needs(calls: Calls) -> Iterator[Fact]:
    """This function is refused in runs in which another one has not worked yet."""
    errors = {call.error for call in calls.failed}
    earlier = {step.function: acts(step) for call in calls.worked if errors for step in call.run.calls[: call.number]}
    done = {name for name, acted in earlier.items() if acted or any(asks_for(error, name) for error in errors)}
    names = sorted(done - {calls.function})
    # If the complaint mentions one of them, the others preceded it only by habit.
    meant = [name for name in names if _is_meant(name, calls)]
    found: list[Fact] = []
    for other in meant or names:
        first = {id(run[0].run): run[0].run.first_worked.get(other, len(run[0].run.calls)) for run in calls.runs}
        after, without = partition(calls.all, lambda call, first=first: first[id(call.run)] < call.number)  # type: ignore[misc]
        refused = [call for call in without if call.error]
        # A failure explained by a made-up value does not prove an order.
        unexplained = [call for call in without if not any(is_guessed(call, guess.argument) for guess in calls.guesses)]
        is_rule = _is_rule(len(refused), count_runs(refused), len(without)) and failures(after) * ENOUGH <= len(after)
        sure = meant or not SETS_UP.isdisjoint(words(other))
        sure = sure or (share(without) >= NEARLY_ALWAYS and share(after) <= COMMON and count_tasks(refused) >= TWICE)
        if after and is_rule and sure and fail_more(unexplained, after, tests=len(names)):
            values = {"refused": (len(refused), len(without)), "after": (failures(after), len(after))}
            gain = len(refused) + len(after) - failures(after)
            found.append(fact("needs", gain, other=calls.refer_to(other), quote=calls.quote(refused), **values))
    yield from sorted(found, key=_by_weight)[:1]


def _is_meant(function: str, calls: Calls) -> bool:
    """Do most complaints mention what another function does? `doors must be locked` mentions `lockDoors`."""
    told = Counter(stem for call in calls.failed for stem in stems(call.error))
    own = {stem for stem in stems(function.partition(".")[2]) - stems(calls.name) if len(stem) > ENOUGH}
    everywhere = {stem for name in calls.names for stem in stems(name)} | stems("user account item data name file")
    return any(told[stem] * 2 >= len(calls.failed) > 0 for stem in own - everywhere)


# What it does, what it changes, and what comes back


def _what_it_does(calls: Calls) -> str:
    properties = calls.tool.parameters.get("properties") if calls.tool is not None else None
    names = (*calls.names, *(properties if isinstance(properties, dict) else ()))
    if calls.tool is not None and (documented := quote_manual(calls.tool.description, calls.name, names)):
        return documented
    always = [name for name in calls.listed if all(name in call.arguments for call in calls.worked)][:4]
    given = any(call.arguments for call in calls.worked)
    by = f" with {join_list(list(map(code, always)))}" if always else "" if given else " without arguments"
    kinds = Counter(call.form.kind for call in calls.worked if call.form is not None)
    full = Counter({kind: kinds[kind] for kind in kinds if kind not in ("empty", "nothing")}) or kinds
    gives = f"returns {_NOUNS[_most(full)]}" if full else "gave something back that the traces do not show"
    return f"Called{by}, it {gives}." if by else f"It {gives}."


def _repeats(calls: Calls) -> Iterator[Fact]:
    """What repeating a call that worked does, if it writes."""
    again = [call for call in calls.all if call.repeated and calls.effect == "write"]
    accepted, refused = count_runs(call for call in again if not call.error), [call for call in again if call.error]
    if "toggle" in words(calls.name) and calls.effect == "write":
        yield fact("toggles", accepted)
    elif refused and not accepted:
        yield fact("refused twice", TWICE, quote=calls.quote(refused), count=fwords.runs(count_runs(refused)))
    elif accepted and fwords.does_more_each_time(calls.name):
        yield fact("accepted twice", accepted, count=fwords.runs(accepted))


def _uses(calls: Calls) -> Iterator[Fact]:
    """The arguments of other functions that its results fill, as far as several tasks show it."""
    working = [run[0].run for run in calls.runs if any(not call.error for call in run)]
    where = defaultdict[tuple[str, str], list[str]](list)
    for run in working:
        for use in {(use.argument, use.function) for use in run.uses if use.giver == calls.function}:
            where[use].append(run.task_key)
    for (argument, function), tasks in sorted(where.items(), key=lambda item: (-len(item[1]), item[0]))[:MAX_NAMED]:
        if len(tasks) >= max(ENOUGH, len(working) * OFTEN) and len(set(tasks)) > 1:
            count = (len(tasks), len(working))
            yield fact("used", len(tasks), argument=code(argument), other=calls.refer_to(function), count=count)


def _returns(calls: Calls) -> str:
    """What comes back, as a sentence."""
    forms = [call.form for call in calls.worked if call.form is not None]
    full = [form for form in forms if form.kind not in ("empty", "nothing")]
    if not full:
        nothing = "Nothing: the result was empty in every call that worked, without an error."
        return nothing if forms else "Unknown: the traces do not show what came back."
    kinds = Counter(form.kind for form in full)
    kind, alike = _most(kinds), [form for form in full if form.kind == _most(kinds)]
    usual = kinds[kind] >= len(full) * NEARLY_ALWAYS
    text = ("" if usual else "Mostly ") + _NOUNS[kind] + _fields(kind, alike)
    text += fwords.size_in_words(kind, [form.size for form in alike if form.size])
    text += _wording(calls) if kind == "text" else ""
    if not usual:
        text += f"; otherwise {join_list([_NOUNS[other] for other in sorted(kinds) if other != kind], 'or')}"
    if len(full) < len(forms):
        text += f"; may come back empty ({len(forms) - len(full)} of {len(forms)} calls that worked)"
    return text[0].upper() + text[1:] + "."


def _most(kinds: Counter[FormKind]) -> FormKind:
    return min(kinds, key=lambda kind: (-kinds[kind], kind))


def _fields(kind: FormKind, forms: Sequence[ResultForm]) -> str:
    """The fields that results nearly always have, and those that some have."""
    seen = Counter(name for form in forms for name in form.fields if is_field(name))
    places = {name: min(form.fields.index(name) for form in forms if name in form.fields) for name in seen}
    # A longer name can be a sentence, and whoever fills a record chooses it.
    kept = [name for name in seen if seen[name] >= len(forms) * CLEAR]
    short = [name for name in kept if len(words(name)) <= MAX_FIELD_WORDS]
    ordered = sorted(short, key=lambda name: (seen[name] < len(forms) * NEARLY_ALWAYS, places[name], name))
    usual = [name for name in ordered if seen[name] >= len(forms) * NEARLY_ALWAYS]
    rare = [name for name in ordered if name not in usual]
    always = usual[: MAX_FIELDS - min(len(rare), MAX_NAMED)]
    sometimes = rare[: MAX_FIELDS - len(always)]
    parts = [", ".join(always), f"{'sometimes ' if always else 'some of '}{', '.join(sometimes)}" if sometimes else ""]
    more = ", and more" if len(kept) > len(always) + len(sometimes) else ""
    of = " of records with " if kind in ("list", "map") else " with "
    return of + "; ".join(filter(None, parts)) + more if short else ""


def _wording(calls: Calls) -> str:
    """The text of most results, in quotes, if several tasks show that it is the tool's own; empty otherwise."""
    answered = defaultdict[str, list[Observation]](list)
    for call in calls.worked:
        if call.form is not None and call.form.kind == "text" and call.step.returned:
            answered[generalize(call.step.returned.splitlines()[0])].append(call)
    text = min(answered, key=lambda text: (-len(answered[text]), text), default="")
    usual = len(answered[text]) >= len(calls.worked) * OFTEN and count_tasks(answered[text]) >= ENOUGH
    quoted = quote_message(text, count_tasks(answered[text]), calls.interface) if usual else ""
    return f', such as "{quoted}"' if quoted else ""
