"""The arguments of a function as its calls show them: form, vocabulary, whether required, and where values come
from."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from contramem.bank.card import Argument
from contramem.build.functions.blame import find_named_arguments, says_missing
from contramem.build.functions.calls import ABSENT_FORMS, NULL, Calls, find_once, is_empty, leaves_out, of_name, tasks
from contramem.build.functions.forms import best_and_bad_forms, forms_of_failing_runs, prefer_passing
from contramem.build.functions.words import (
    ID_WORDS,
    code,
    confirm_form,
    form_in_words,
    is_identifying,
    join_list,
    meaning_of_name,
    points_at_things,
)
from contramem.contrast.flow import NOWHERE, TASK, USER
from contramem.contrast.form import is_field
from contramem.contrast.observation import Observation
from contramem.contrast.values import PLAIN_ANSWERS, is_date_form, is_list_form
from contramem.contrast.vocabulary import MAX_WORDS, Vocabulary, scalars
from contramem.traces.effects import effect_of, words
from contramem.traces.trajectory import Tool

MAX_ARGUMENTS = 20
COMMON = 0.1
"""A form or function that accounts for a smaller share of the values is omitted."""
MOSTLY, NEARLY_ALWAYS = 0.5, 0.9
CLEAR = 0.2
"""A place that a smaller share of the values comes from is not named."""
MAX_ORIGINS = 3
MAX_KEYS, MIN_TASKS_WITH_KEY = 8, 2
MOSTLY_ONE_FIELD = 0.8
FEW_TASKS = 2
"""Another task may take a value from elsewhere than so few do, so the card says how many there were."""
MIN_TRACED = 3
"""Fewer values say nothing about where values come from."""
USUAL = 0.02
"""An argument given in a smaller share of the calls is not listed unless it is documented."""
GUESSED_DATE = "date YYYY-MM-DD"
"""Forms that anybody would try first: that they work is not news."""

_NAME = re.compile(r"[A-Za-z_][\w\-]{0,39}")
_TEXT_FORMS = frozenset(
    """text,identifier,URL,e-mail address,telephone number,account number,file name or path,number as text""".split(",")
)
_NUMBERS = frozenset({"integer", "number"})


class ArgumentValues(NamedTuple):
    """How the values of an argument are written, and where they come from."""

    name: str
    form: AcceptedForm
    origin: ArgumentOrigin

    @property
    def is_reference(self) -> bool:
        """Does it refer to an existing thing?"""
        return is_identifying(self.name, self.form.forms)


class ObservedArgument(NamedTuple):
    """An argument as listed on the card."""

    argument: Argument
    telling: bool
    """The calls show something about it that neither its name nor the documentation says."""
    values: ArgumentValues


class AcceptedForm(NamedTuple):
    """How the values of an argument are written."""

    text: str
    """As the card states it."""
    forms: tuple[str, ...] = ()
    """The common forms, as contrast/values.py writes them; empty for words of a vocabulary and for objects."""
    words: tuple[str, ...] = ()
    """Each of these forms, as the card states it."""
    is_list: bool = False
    is_closed: bool = False
    """The values are words of a vocabulary."""
    is_complete: bool = False
    """The tool lists all its words."""


class ArgumentOrigin(NamedTuple):
    """Where the values of an argument come from."""

    text: str = ""
    sources: tuple[str, ...] = ()
    """`task`, `user`, `App.function` or `App.function.field`, as the text names them."""
    from_results: bool = False
    mainly_from_results: bool = False


def build_arguments(calls: Calls, tool: Tool | None, vocabulary: Vocabulary) -> tuple[ObservedArgument, ...]:
    """Every argument of successful calls, most frequent first. The documentation, which agents have, says what others
    there are."""
    names = list_arguments(calls, tool)
    return tuple(_argument(name, calls, schema_of(tool, name), tool, vocabulary) for name in names)


def list_arguments(calls: Calls, tool: Tool | None) -> list[str]:
    """The arguments worth listing, most frequent first."""
    given = calls.worked or calls.all
    seen = Counter[str]()
    for names, count in _count_names(given).items():
        seen.update({name: count for name in names if _NAME.fullmatch(name)})
    if tool is None:
        # Without documentation, an argument given in one call in fifty may be made up and ignored by the tool.
        seen = Counter({name: count for name, count in seen.items() if count >= len(given) * USUAL})
    passed = _count_names(calls.all)
    return sorted(seen, key=lambda name: (-seen[name], _usual_place(passed, name), name))[:MAX_ARGUMENTS]


def schema_of(tool: Tool | None, name: str) -> dict[str, Any] | None:
    """What the documentation says about an argument. None: nothing."""
    properties = tool.parameters.get("properties") if tool is not None else None
    schema = properties.get(name) if isinstance(properties, dict) else None
    return schema if isinstance(schema, dict) else None


def _count_names(calls: Iterable[Observation]) -> Counter[tuple[str, ...]]:
    """How many calls pass the same arguments in the same order: most do."""
    return Counter(tuple(call.arguments) for call in calls)


def _usual_place(passed: Counter[tuple[str, ...]], name: str) -> float:
    places = [(names.index(name), count) for names, count in passed.items() if name in names]
    return sum(place * count for place, count in places) / sum(count for _, count in places)


def _argument(
    name: str, calls: Calls, schema: dict[str, Any] | None, tool: Tool | None, vocabulary: Vocabulary
) -> ObservedArgument:
    values = observe_values(name, calls, schema, vocabulary)
    form, origin = values.form, values.origin
    required = is_required(name, calls, tool)
    documented = schema is not None and bool(schema.get("description"))
    listed_words = schema is not None and isinstance(schema.get("enum"), list)
    telling = (
        (form.is_complete and not listed_words)
        or any(is_date_form(part) and not is_list_form(part) and part != GUESSED_DATE for part in form.forms)
        or (origin.from_results and points_at_things(name, form.forms))
        or (required is True and schema is None)
    )
    meaning = meaning_of_name(name, form.text)
    source = origin.text
    if documented:
        meaning = source or "as documented"
    elif source or (source := describe_made_values(name, calls) if schema is None and not form.is_closed else ""):
        # `subject: subject` says nothing.
        meaning = source if meaning in (name, " ".join(words(name))) else f"{meaning}; {source}"
    argument = Argument(name=name, meaning=meaning, form=form.text, required=required)
    return ObservedArgument(argument, telling, values)


def observe_values(name: str, calls: Calls, schema: dict[str, Any] | None, vocabulary: Vocabulary) -> ArgumentValues:
    """What the calls show about the values of one argument."""
    form, origin = form_of(name, calls, schema, vocabulary), origin_of(calls, name)
    if form.is_closed and origin.from_results:
        origin = ArgumentOrigin()  # a word of the interface occurs in many results; nobody takes it from there
    return ArgumentValues(name, form, origin)


def form_of(name: str, calls: Calls, schema: dict[str, Any] | None, vocabulary: Vocabulary) -> AcceptedForm:
    """How the successful calls write the values."""
    given = of_name(calls.worked, name) or of_name(calls.all, name)
    if (closed := _find_closed_words(name, given, vocabulary, calls.function, schema)) is not None:
        return closed
    if (kind := _kind_of_objects(name, given)) and (keys := _keys(name, given)):
        is_list = isinstance(given[0].arguments[name], list)
        return AcceptedForm(f"{kind} with {', '.join(keys)}", is_list=is_list)
    return _find_written_form(calls, name)


@find_once
def _find_written_form(calls: Calls, name: str) -> AcceptedForm:
    """How values are written that are neither words of a vocabulary nor objects."""
    given = of_name(calls.worked, name) or of_name(calls.all, name)
    _, bad = best_and_bad_forms(calls, name)
    left_out = {*bad, *forms_of_failing_runs(calls, name)}
    usable = [call for call in given if name in call.forms and call.forms[name] not in left_out]
    forms = Counter(call.forms[name] for call in prefer_passing(usable))
    if not forms:
        return AcceptedForm(f"only {NULL} was given")
    common = _find_common_forms(forms)
    in_words = tuple(form_in_words(name, form) for form in common)
    confirmed = tuple(confirm_form(name, form) for form in common)
    return AcceptedForm(" or ".join(in_words), confirmed, in_words, is_list=is_list_form(common[0]))


def _kind_of_objects(name: str, given: Sequence[Observation]) -> str:
    """`object` or `list of objects` if every call passes that; empty otherwise."""
    values = [call.arguments[name] for call in given]
    if values and all(isinstance(value, dict) for value in values):
        return "object"
    lists = bool(values) and all(isinstance(value, list) and value for value in values)
    return "list of objects" if lists and all(isinstance(item, dict) for value in values for item in value) else ""


def _keys(name: str, given: Sequence[Observation]) -> list[str]:
    """The keys of an argument made of objects, as far as several tasks show them."""
    where = defaultdict[str, list[str]](list)
    for call in given:
        value = call.arguments[name]
        objects = value if isinstance(value, list) else [value]
        for key in {key for each in objects for key in each if is_field(key)}:
            where[key].append(call.task_key)
    shared = [key for key, seen in where.items() if len(set(seen)) >= MIN_TASKS_WITH_KEY]
    return sorted(shared, key=lambda key: (-len(where[key]), key))[:MAX_KEYS]


def _find_closed_words(
    name: str, given: Sequence[Observation], vocabulary: Vocabulary, function: str, schema: dict[str, Any] | None
) -> AcceptedForm | None:
    """The vocabulary of the argument, if its values are words of one."""
    many = "list of " if any(isinstance(call.arguments[name], list) for call in given) else ""
    permitted = vocabulary.read_permitted(function, name)
    if permitted and all(str(value) in permitted for call in given for _, value in scalars(call.arguments[name])):
        return AcceptedForm(
            f"{many}one of {', '.join(permitted)}", is_list=bool(many), is_closed=True, is_complete=True
        )
    vocabulary_words = vocabulary.words(function, name) | PLAIN_ANSWERS
    if any(isinstance(call.arguments[name], dict) for call in given):
        return None
    values = list[Any]()
    for call in given:
        passed = [value for _, value in scalars(call.arguments[name])]
        if any(isinstance(value, bool) or value not in vocabulary_words for value in passed):
            return None
        values += passed
    if not values:
        return None
    enum = schema.get("enum") if schema is not None else None
    choices = sorted({str(value) for value in (enum if isinstance(enum, list) else values)})
    if len(choices) > MAX_WORDS:
        return None
    if all(isinstance(value, int) for value in values) and not isinstance(enum, list):
        return None  # numbers from results are not words
    if isinstance(enum, list):
        return AcceptedForm(f"{many}one of {', '.join(choices)}", is_list=bool(many), is_closed=True, is_complete=True)
    # What was tried may not be everything: only a tool that lists its words closes the list.
    tried = f"text; only {choices[0]} was tried" if len(choices) == 1 else f"text such as {join_list(choices, 'or')}"
    return AcceptedForm(f"{many}{tried}", is_list=bool(many), is_closed=True)


def _find_common_forms(forms: Counter[str]) -> list[str]:
    """The forms worth naming, most common first."""
    total = sum(forms.values())
    # A number may be written with or without a fraction; a text may look like many things.
    if forms.keys() & {"integer", "number"} and forms["integer"] and forms["number"] >= total * COMMON:
        forms = forms + Counter({"number": forms.pop("integer")})
    odd = sum(count for form, count in forms.items() if form in _TEXT_FORMS and form != _top(forms))
    if _top(forms) in _TEXT_FORMS and odd >= total * COMMON:
        pointing = {form for form in forms if form in _TEXT_FORMS and forms[form] >= total * COMMON}
        if "text" in pointing or len(pointing) > 2:
            forms = Counter({form: count for form, count in forms.items() if form not in _TEXT_FORMS} | {"text": total})
    common = sorted((form for form in forms if forms[form] >= total * COMMON), key=lambda form: (-forms[form], form))
    return common[:MAX_ORIGINS]


def _top(forms: Counter[str]) -> str:
    return min(forms, key=lambda form: (-forms[form], form))


def is_required(name: str, calls: Calls, tool: Tool | None) -> bool | None:
    """True: every successful call passes it, and either the schema requires it, or a call without it was refused for
    that reason: the complaint names it, or adding it alone helped. None: unknown."""
    if any(leaves_out(call, name) for call in calls.worked):
        return False
    schema_lists = tool.parameters.get("required") if tool is not None else None
    if isinstance(schema_lists, list) and schema_of(tool, name) is not None:
        return name in schema_lists
    refused = [call for call in calls.failed if leaves_out(call, name) or call.forms.get(name) in ABSENT_FORMS]
    named = any(name in find_named_arguments(call.error, calls.argument_names) for call in refused)
    missed = any(_misses_only(name, call, calls) for call in refused)
    added = any(
        retry.changed == {name} and leaves_out(retry.first, name) and retry.first.error and not retry.then.error
        for retry in calls.retries
    )
    return True if calls.worked and (named or missed or added) else None


def _misses_only(name: str, call: Observation, calls: Calls) -> bool:
    """Does the complaint say that something is missing, and is this the only argument missing?"""
    usual = [n for n in calls.argument_names if all(n in other.arguments for other in calls.worked)]
    absent = [n for n in usual if leaves_out(call, n) or call.forms.get(n) in ABSENT_FORMS]
    return absent == [name] and says_missing(call.error)


class _OriginPart(NamedTuple):
    """How many values come from these sources, and how the card names them."""

    values: int
    text: str
    sources: tuple[str, ...]


@find_once
def origin_of(calls: Calls, name: str) -> ArgumentOrigin:
    """Where the values of the successful calls were first seen; empty if that is not clear. Where failing runs took
    them from says little."""
    given = prefer_passing(_once_per_run(of_name(calls.worked, name) or of_name(calls.all, name), name))
    places = Counter(call.origins[name] for call in given if name in call.origins)
    if calls.effect != "read":
        # A write echoes its arguments; the next call then seems to find the value there.
        del places[calls.function]
    traced = sum(places.values())
    if traced < MIN_TRACED or traced < len(given) * MOSTLY:
        return ArgumentOrigin()
    functions = {place: count for place, count in places.items() if "." in place}
    results = _from_functions(functions, calls, name, given)
    parts = [
        results,
        _OriginPart(places[TASK], "from the task", (TASK,)),
        _OriginPart(places[USER], "from the user", (USER,)),
    ]
    clear = sorted((part for part in parts if part.values >= traced * CLEAR), reverse=True)
    share = sum(part.values for part in clear) / traced
    if share < MOSTLY:
        return ArgumentOrigin()
    mostly = "" if share >= NEARLY_ALWAYS else "mostly "
    if mostly and functions and _may_coincide(name, given):
        return ArgumentOrigin()
    seen_in = tasks(call for call in given if name in call.origins)
    come = "values {}come {}" if seen_in > FEW_TASKS else f"in {_say_tasks(seen_in)}, values {{}}came {{}}"
    text = come.format(mostly, ", or ".join(part.text for part in clear))
    sources = tuple(source for part in clear for source in part.sources)
    return ArgumentOrigin(text, sources, from_results=results in clear, mainly_from_results=clear[0] == results)


def _say_tasks(count: int) -> str:
    return "the one task seen" if count == 1 else f"the {count} tasks seen"


def _may_coincide(name: str, given: Sequence[Observation]) -> bool:
    """Whether the values are dates or amounts, which may equal what a result shows by chance."""
    forms = [call.forms.get(name, "") for call in given]
    plain = sum((is_date_form(form) and not is_list_form(form)) or form in ("integer", "number") for form in forms)
    return ID_WORDS.isdisjoint(words(name)) and plain > len(forms) * MOSTLY


def _once_per_run(given: Sequence[Observation], name: str) -> list[Observation]:
    """One call per value and run: a run that goes round in circles counts once."""
    first = {(call.task_key, call.cite.run, str(call.arguments[name])): call for call in reversed(given)}
    return list(first.values())


def describe_made_values(name: str, calls: Calls) -> str:
    """A note on values that had almost never been seen before and worked: texts, and dates and numbers, which can be
    computed. An address or an identifier that nobody had seen was made up, whatever the tool accepted. A search that
    found nothing does not speak for the values it was made with."""
    given = of_name(calls.worked, name)
    given = [call for call in given if not is_empty(call)] if calls.effect == "read" else given
    new = sum(call.origins.get(name) == NOWHERE for call in given)
    if new < 2 or new < len(given) * NEARLY_ALWAYS:
        return ""
    forms = {call.forms[name] for call in given}
    if forms == {"text"}:
        return "written for the call"
    return "worked out for the call" if all(is_date_form(form) or form in _NUMBERS for form in forms) else ""


def _from_functions(functions: dict[str, int], calls: Calls, name: str, given: Sequence[Observation]) -> _OriginPart:
    """The functions worth naming."""
    reading = {place: count for place, count in functions.items() if effect_of(place) == "read"}
    total = sum(functions.values())
    chosen = reading if sum(reading.values()) >= total * MOSTLY else functions
    common = sorted((place for place in chosen if chosen[place] >= total * COMMON), key=lambda p: (-chosen[p], p))
    named = common[:MAX_ORIGINS]
    if not named:
        return _OriginPart(0, "", ())
    fields = {place: _find_field(name, place, given) for place in named}
    bare = [
        ("this function" if place == calls.function else calls.refer_to(place)) + (f" ({code(field)})" if field else "")
        for place, field in fields.items()
    ]
    sources = tuple(f"{place}.{field}" if field else place for place, field in fields.items())
    return _OriginPart(sum(chosen[place] for place in named), f"from results of {join_list(bare, 'or')}", sources)


def _find_field(name: str, place: str, given: Sequence[Observation]) -> str:
    """The field of the results that contains the values, if it has another name than the argument."""
    # An amount may equal another field by chance; a value that refers to a thing does not.
    counts = all(call.forms.get(name) in ("integer", "number") for call in given)
    if counts and ID_WORDS.isdisjoint(words(name)):
        return ""
    taken = [call for call in given if call.origins.get(name) == place]
    fields = Counter(call.fields.get(name, "") for call in taken)
    field, count = fields.most_common(1)[0]
    is_telling = field and count >= len(taken) * MOSTLY_ONE_FIELD and words(field) != words(name)
    return field if is_telling else ""
