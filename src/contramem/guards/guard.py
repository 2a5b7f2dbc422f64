"""Guard: an instance of a DECLARE template (process mining, LTL on finite traces) over what an agent does in a run.

    existence(F)            F is called, and works
    absence(F)              F is not called
    at_most_once(F)         F does not work twice with the same arguments; at_most_once(F by arg): with the same `arg`
    at_most(F, 3)           F works at most three times; at_most(F by arg, 3): with the same `arg`; at_least likewise
    precedence(A, B)        B is called only after A has worked
    response(A, B)          after the last A that worked, B is called and works
    not_succession(A, B)    once A has worked, B does not work any more
    last(F)                 F is the last call, and works
    known_value(F.arg)      F gets for `arg` only values that had been seen before the call
    covers(A.field, F.arg)  every value that A returned under `field` is given to an F that works

Functions are `App.function`, may have conditions on their arguments, and may be classes of functions (conditions.py). A
guard may end in `within 60 s`, a deadline on the clock of the run: B must come at most 60 s after A (for `existence`,
after the start; for `not_succession`, B must not come within that time). It may end in `when CONDITION`: it then
applies only to runs in which the condition becomes true, and in `unless CONDITION`: it then does not apply
to runs in which that becomes true. `precedence` and `known_value` ignore a failed call that the agent retried later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import lru_cache
from typing import NamedTuple, get_args

from contramem.errors import GuardError
from contramem.guards.actions import Action
from contramem.guards.conditions import (
    CallOccurs,
    Condition,
    Pattern,
    TaskSays,
    deciding_functions,
    parse_pattern,
    parse_when,
)
from contramem.guards.templates import FORMS, Automaton, Demand, Template, TemplateForm, Verdict
from contramem.guards.values import arguments_of, functions_of, write_number


class Guard(NamedTuple):
    """One checkable condition. Functions are patterns in their text form."""

    template: Template
    function: str
    """The function, or the first of two."""
    then: str = ""
    """The second function, for templates that take two."""
    argument: str = ""
    """The argument of `known_value` and `covers`; the counting templates count calls with equal values together."""
    when: str = ""
    """The condition on the run, in its text form; empty means that the guard applies to every run."""
    field: str = ""
    """For `covers`: the field of the first function's result that contains the values."""
    within: float | None = None
    """The deadline in seconds."""
    times: int = 0
    """The number in `at_most` and `at_least`."""
    unless: str | None = None
    """The exception, in its text form: runs in which it becomes true are excepted. Empty means that it is known to be
    true of the task (watch.py)."""

    def __str__(self) -> str:
        inside = self._inside()
        within = "" if self.within is None else f" within {write_number(self.within)} s"
        when = f" when {self.when}" if self.when else ""
        unless = "" if self.unless is None else f" unless {self.unless}"
        return f"{self.template}({inside}){within}{when}{unless}"

    def _inside(self) -> str:
        match self.form.parameters:
            case "A.field, B.argument":
                return f"{self.function}.{self.field}, {self.then}.{self.argument}"
            case "F.argument":
                return f"{self.function}.{self.argument}"
            case "F by argument" if self.argument:
                return f"{self.function} by {self.argument}"
            case "F by argument, N":
                by = f" by {self.argument}" if self.argument else ""
                return f"{self.function}{by}, {self.times}"
            case "A, B":
                return f"{self.function}, {self.then}"
            case _:
                return self.function

    @property
    def bare(self) -> Guard:
        """What it asks for, whatever the run."""
        return self._replace(when="", unless=None)

    @property
    def form(self) -> TemplateForm:
        """The properties and wordings of its template."""
        return FORMS[self.template]

    @property
    def target(self) -> str:
        """The call that it demands, forbids or guards: `App.function`, or the class of functions as written."""
        pattern = parse_pattern(self.then or self.function)
        return pattern.function or str(pattern)

    @property
    def trigger(self) -> str:
        """The pattern of the call that triggers the guard: a run without one cannot break it."""
        return self.then if self.form.guards_second else self.function

    @property
    def advises_on(self) -> str:
        """The function that it says how, when or whether to call. Empty if it is about a class of functions, or only
        demands a call: whoever makes that call needs no advice."""
        pattern = parse_pattern(self.trigger)
        only_demands = self.demand == "a call" and not self.form.takes_two and not pattern.conditions
        return "" if only_demands else pattern.function

    @property
    def demand(self) -> Demand | None:
        """Whether the guard demands a call or forbids one. None if it only restricts how a call is made."""
        return self.form.demand

    @property
    def functions(self) -> tuple[str, ...]:
        """Every function that the guard names, including those that values come from. Function classes name none."""
        named = [*self.patterns, *self.conditions, *self.exceptions]
        return tuple(dict.fromkeys(name for part in named for name in functions_of(part)))

    @property
    def arguments(self) -> tuple[tuple[str, str], ...]:
        """The arguments that its conditions read, each with its function. Arguments of classes are left out."""
        asked = [
            (pattern.function, argument)
            for pattern in self.patterns
            for condition in pattern.conditions
            for argument in (condition.argument, *arguments_of(condition))
        ]
        asked.append((self.patterns[1 if self.form.takes_two else 0].function, self.argument))
        return tuple((function, argument) for function, argument in asked if function and argument)

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """Every pattern of the guard, including those of its conditions."""
        scope = (part.pattern for part in (*self.conditions, *self.exceptions) if isinstance(part, CallOccurs))
        return (*(parse_pattern(text) for text in (self.function, self.then) if text), *scope)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What must become true in a run before the guard applies."""
        return parse_when(self.when)

    @property
    def exceptions(self) -> tuple[Condition, ...]:
        """What excepts a run from the guard once all of it has become true."""
        return parse_when(self.unless or "")

    @property
    def sentence(self) -> str:
        """What must hold, in plain words, for the completion ledger."""
        return self.describe()

    def describe(self, say: Callable[[Pattern], str] = Pattern.in_words) -> str:
        """The same, with `say` to word the calls."""
        words = self.fill(self.form.sentence, say=say)
        if self.within is not None:
            words = f"{words}, within {describe_duration(self.within)}"
        if self.conditions:
            words = f"{words}, if {' and '.join(condition.in_words() for condition in self.conditions)}"
        if self.exceptions:
            words = f"{words}, unless {' and '.join(condition.in_words() for condition in self.exceptions)}"
        return f"{words[0].upper()}{words[1:]}."

    def fill(self, wording: str, when: str = "", say: Callable[[Pattern], str] = Pattern.in_words) -> str:
        """Fill a wording of the template with what the guard names; `say` words the calls."""
        first, then = (parse_pattern(text) if text else None for text in (self.function, self.then))
        return wording.format(
            first=say(first) if first else "",
            made=first.participle if first else "",
            then=say(then) if then else "",
            then_made=then.participle if then else "",
            argument=f"`{self.argument}`",
            field=f"`{self.field}`",
            count="once" if self.times == 1 else "twice" if self.times == 2 else f"{self.times} times",
            per=f" with the same `{self.argument}`" if self.argument else "",
            same=f"the same `{self.argument}`" if self.argument else "the same arguments",
            late="" if self.within is None else f" within {describe_duration(self.within)}",
            when=when,
        )

    def replay(self, actions: Iterable[Action], task: str = "") -> Verdict:
        """The verdict on a finished run with these actions: of a recorded run, or of the steps of a packet. Conditions
        on amounts, words and times also need the recorded run, because steps are redacted."""
        automaton = Automaton(self, task)
        for action in actions:
            automaton.observe(action)
        return automaton.verdict


@lru_cache(maxsize=1 << 14)  # asked for each guard and run
def relevant_functions(guard: Guard) -> frozenset[str] | None:
    """The functions whose calls can change the state of the guard. None if any action can."""
    names = [parse_pattern(text).function for text in (guard.function, guard.then) if text]
    names += [name for condition in (*guard.conditions, *guard.exceptions) for name in deciding_functions(condition)]
    return frozenset(names) if all(names) else None


def heard_functions(guard: Guard) -> frozenset[str] | None:
    """The functions that the guard is about: runs that call none of them share one verdict. None: it may be any."""
    asks_for_request = any(isinstance(condition, TaskSays) for condition in (*guard.conditions, *guard.exceptions))
    return None if asks_for_request else relevant_functions(guard)


# Reading

_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
_ENDING = re.compile(r"(?:within\s+(\d+(?:\.\d+)?)\s*(s|min|h|d)\b)?\s*(?:when\s+(\S.*))?", re.DOTALL)
_UNLESS = re.compile(r'(?:^|\s+)unless\s+(?=(?:[^"\\]|\\.|"(?:[^"\\]|\\.)*")*$)')
"""Outside of quotes."""
_CLASS_ARGUMENT = re.compile(r"((?:reads|writes)(?:\([^\s().\[\]]+\))?)\.(\S+)")
_BY = re.compile(r"(.+?)\s+by\s+(\S+)", re.DOTALL)


@lru_cache(maxsize=1 << 12)  # a build parses the guards of its cards a thousand times
def parse_guard(text: str) -> Guard:
    """Parse a guard. Raises GuardError with what is wrong."""
    text = _UNQUOTED.sub(_write_plainly, text)
    template, inside, rest = _take_apart(text)
    form = _form_of(text, template)
    parts = _split(inside)
    if len(parts) != 1 + form.parameters.count(",") or not all(parts):
        takes = "two functions" if form.takes_two else "a function and a number" if form.counts else "one function"
        raise GuardError(f"{text!r}: {template} takes {takes}.")
    within, when, unless = _read_ending(text, rest)
    times = _read_count(text, parts.pop()) if form.counts else 0
    fields = _read_parameters(text, parts, form)
    for name in ("function", "then"):
        fields[name] = _normal(text, fields[name])
    if form.distinct and fields["function"] == fields["then"]:
        raise GuardError(f"{text!r}: {template} needs two different functions; no run could keep this.")
    if within is not None and not form.timed:
        timed = ", ".join(name for name, form in FORMS.items() if form.timed)
        raise GuardError(f"{text!r}: a deadline is allowed after {timed}, not after {template}.")
    fields |= {"template": template, "when": _normal_when(text, when)}
    return Guard(**fields, within=within, times=times, unless=_normal_when(text, unless) or None)  # type: ignore[arg-type]


_UNQUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|(?<=[\s=|])'([^'\"]*)'(?=[\s\])|,]|$)|==", re.DOTALL)


def _write_plainly(match: re.Match[str]) -> str:
    """Other ways to write the same: `==` for `=`, single quotes for double ones. What is in double quotes stays."""
    if match[0] == "==":
        return "="
    return f'"{match[1]}"' if match[1] is not None else match[0]


def _read_count(text: str, part: str) -> int:
    if not part.isdecimal() or not int(part):
        raise GuardError(f"{text!r}: {part!r} is not a number of calls; write, for example, at_most(App.send, 3).")
    return int(part)


def _form_of(text: str, template: str) -> TemplateForm:
    if template not in get_args(Template):
        near = suggest_name(template.lower(), get_args(Template)) or f" Templates are {', '.join(get_args(Template))}."
        raise GuardError(f"{text!r}: there is no template {template!r}.{near}")
    return FORMS[template]  # type: ignore[index]


def _read_parameters(text: str, parts: Sequence[str], form: TemplateForm) -> dict[str, str]:
    """The parameters in the parentheses, by field of `Guard`."""
    fields = {"function": parts[0], "then": "".join(parts[1:])}
    if form.parameters == "A.field, B.argument":
        fields["function"], fields["field"] = _with_argument(text, parts[0])
        fields["then"], fields["argument"] = _with_argument(text, parts[1])
    elif form.parameters == "F.argument":
        fields["function"], fields["argument"] = _with_argument(text, parts[0])
    elif form.parameters in ("F by argument", "F by argument, N") and (by := _BY.fullmatch(parts[0])):
        fields["function"], fields["argument"] = by.groups()
    return fields


def guards_of(texts: Iterable[str]) -> tuple[Guard, ...]:
    """Parse the guards of a card. A guard that does not parse (a person may have written it) is skipped: the card is
    still useful as guidance, and no build or run should fail because of it."""
    guards = []
    for text in texts:
        with suppress(GuardError):
            guards.append(parse_guard(text))
    return tuple(guards)


def _take_apart(text: str) -> tuple[str, str, str]:
    """Split a guard into its template, the text in its parentheses, and the text after them."""
    match = re.match(r"\s*(\w+)\s*\(", text)
    end = _closing(text, match.end()) if match else None
    if match is None or end is None:
        raise GuardError(f"{text!r} is not a guard. Write, for example, precedence(App.search, App.delete).")
    return match[1], text[match.end() : end], text[end + 1 :].strip()


def _read_ending(text: str, rest: str) -> tuple[float | None, str, str]:
    """Parse what follows the parentheses: the deadline in seconds, the condition, and the exception."""
    start, *unless = _UNLESS.split(rest)
    if len(unless) > 1:
        raise GuardError(f"{text!r}: a guard has one `unless`; join what must be true together by `and`.")
    match = _ENDING.fullmatch(start)
    if match is None:
        hint = " Write `when`." if start.partition(" ")[0].lower() == "if" else ""
        raise GuardError(
            f"{text!r}: a guard may be followed by `within 60 s`, `when App.function` and `unless App.function`; "
            f"{start!r} is none of them.{hint}"
        )
    within = float(match[1]) * _SECONDS[match[2]] if match[1] else None
    return within, (match[3] or "").strip(), "".join(unless).strip()


def _with_argument(text: str, part: str) -> tuple[str, str]:
    """Split `App.function.argument` into (`App.function`, `argument`); also `writes(App).argument`."""
    if match := _CLASS_ARGUMENT.fullmatch(part):
        return match[1], match[2]
    pieces = part.split(".", 2)
    if len(pieces) != 3 or not all(piece.strip() for piece in pieces):
        raise GuardError(
            f"{text!r}: functions are written App.function, and an argument or field of one App.function.name; "
            f"{part!r} is not."
        )
    return f"{pieces[0]}.{pieces[1]}", pieces[2]


def _normal(text: str, pattern: str) -> str:
    try:
        return str(parse_pattern(pattern)) if pattern else ""
    except GuardError as error:
        raise GuardError(f"{text!r}: {error}.") from None


def _normal_when(text: str, when: str) -> str:
    try:
        return " and ".join(map(str, parse_when(when)))
    except GuardError as error:
        raise GuardError(f"{text!r}: {error}.") from None


def describe_duration(seconds: float) -> str:
    """`90 seconds`, `5 minutes`, `2 hours`: in the largest unit that divides it."""
    for name, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g} {name}{'s' if seconds > size else ''}"
    return f"{seconds:g} second{'' if seconds == 1 else 's'}"


def _split(inside: str) -> list[str]:
    """Split at commas outside brackets and quotes."""
    parts, start = [], 0
    for index, depth in _depths(inside):
        if inside[index] == "," and depth == 0:
            parts.append(inside[start:index].strip())
            start = index + 1
    return [*parts, inside[start:].strip()]


def _closing(text: str, start: int) -> int | None:
    """The index of the parenthesis that closes the one before `start`."""
    for index, depth in _depths(text[start:]):
        if depth < 0:
            return start + index
    return None


def _depths(text: str) -> Iterable[tuple[int, int]]:
    """Each index outside quotes, with the number of brackets open after it."""
    depth, quoted, escaped = 0, False, False
    for index, character in enumerate(text):
        if quoted:
            quoted = character != '"' or escaped
            escaped = character == "\\" and not escaped
            continue
        quoted = character == '"'
        depth += (character in "([") - (character in ")]")
        yield index, depth


# Suggestions for a name that does not exist


def suggest_name(name: str, names: Iterable[str]) -> str:
    """` Perhaps Mail.search?`, or "" if no name is close. The same function name in any app counts as close."""
    candidates = sorted(names)
    same = [candidate for candidate in candidates if candidate.rpartition(".")[2] == name.rpartition(".")[2]]
    near = same or get_close_matches(name, candidates, n=1)
    return f" Perhaps {near[0]}?" if near else ""


def suggest_full_names(text: str, functions: Iterable[str]) -> str:
    """` Write Mail.search.` if `text` names `search`: forgetting the app is a common mistake in guards."""
    by_name = {function.rpartition(".")[2]: function for function in sorted(functions)}
    meant = [by_name[word] for word in _WORD.findall(text.partition("(")[2]) if word in by_name]
    return f" Write {' and '.join(dict.fromkeys(meant))}." if meant else ""


_WORD = re.compile(r"(?<![\w.])\w+(?![\w.])")
