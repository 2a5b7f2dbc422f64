"""Fixes: a tool refused a call, and a later call of the run got past it. What the second did otherwise is the lesson:
an argument more, a value written in another way, a value from the tool's own list, a call before.

No outcomes are needed: the tool itself says so. All runs have to bear a fix out: what it forbids never works.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from textwrap import shorten
from typing import Any, NamedTuple

from contramem.bank.bank import Grade
from contramem.bank.card import Skill, SkillDelta
from contramem.contrast.flow import NOWHERE, Flow
from contramem.contrast.permitted import find_allowed_values, role_of
from contramem.contrast.repeatable import PLACEHOLDER, quote_message
from contramem.contrast.step import error_template
from contramem.contrast.values import CATEGORY_ROLES, form_of_value, is_date_form, is_list_form
from contramem.contrast.vocabulary import is_vocabulary, scalars
from contramem.grading import GRADE_WORDS
from contramem.guards.guard import Guard
from contramem.guards.values import read_number
from contramem.mining.functions import SETS_UP, is_of_harness
from contramem.mining.fwords import asks_for, code, generalize, join_list, line, mask_given, read_sentences
from contramem.mining.lesson import Lesson, run_ref, support_of
from contramem.privacy.taint import find_tainted_calls
from contramem.traces.effects import words
from contramem.traces.shell import is_command_line, is_program
from contramem.traces.trajectory import Effect, Event, Trajectory

MIN_TASKS, MIN_REFUSED, MIN_WORKED = 2, 2, 5
"""How many tasks must show a fix; how many calls must have been refused without it, and have worked with it."""
MIN_SHARE = 0.75
"""Of the calls without what comes before that are refused: of fewer, it is called only after a refusal."""
MAX_NAMED, MAX_LISTED, MAX_SHOWN, MAX_TAGS, MAX_TITLE_CHARS = 4, 12, 6, 12, 120
_WITH, _AFTER = "<with>", "<after>"
"""In keys of counts, where the name of an argument may stand."""
UNSAID = frozenset({"null", "empty text", "empty list"})
"""Forms of a value that says nothing."""


_BY_CALLING = frozenset({"before", "after refusal", "supplied", "known"})
_AFTER_REFUSAL = frozenset({"after refusal", "supplied"})
_OF_SEVERAL = frozenset({"form", "before", "after refusal", "required"})
"""Kinds that one card can state of several functions."""


class Call(NamedTuple):
    """A call of the agent, and how it ended."""

    run: Trajectory
    number: int
    """Among the calls of the run."""
    event: Event
    given: Mapping[str, str]
    """The form of each argument that says something."""
    error: str
    """What it was refused with, without what is specific to the call; empty if it worked."""
    done: frozenset[str]
    """The functions that had worked before in the run."""

    @property
    def function(self) -> str:
        return self.event.function


class Fix(NamedTuple):
    """What gets past a refusal, in values. The words of a card follow from it."""

    kind: str
    function: str
    arguments: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    """Forms or values that the tool takes, for each argument; or functions that are called before."""
    wrong: tuple[str, ...] = ()


@dataclass
class Shown:
    """The cases that show a fix: refused calls, each with the one that got past."""

    cases: list[tuple[Call, Call]] = field(default_factory=list)
    refused: int = 0
    worked: int = 0

    @property
    def runs(self) -> list[Trajectory]:
        return list({id(call.run): call.run for call, _ in self.cases}.values())

    @property
    def is_enough(self) -> bool:
        return max(len({run.task_key for run in self.runs}), len({run.source for run in self.runs})) >= MIN_TASKS

    @property
    def count(self) -> int:
        return len({id(refused.event) for refused, _ in self.cases})

    @property
    def errors(self) -> Counter[str]:
        return Counter(refused.error for refused, _ in self.cases)


def find_fixes(runs: Sequence[Trajectory], ability: str) -> Iterator[Lesson]:
    """The fixes that the runs of an ability bear out, those of most tasks first."""
    seen = _Calls(runs)
    found = defaultdict[Fix, Shown](Shown)
    for refused, then, between in seen.second_tries:
        for fix in (*_added(refused, then), *_rewritten(refused, then), *_enabled(refused, then, between, seen)):
            found[fix].cases.append((refused, then))
    together = (seen.find_lists, seen.find_always_refused, seen.find_guesses, seen.find_previews, seen.find_needs)
    for fix, cases in (each for find in together for each in find()):
        found[fix].cases += cases
    borne_out = [fix for fix in found if seen.bear_out(fix, found[fix])]
    borne = {fix: found[fix] for fix in borne_out if fix.kind == "form" or found[fix].is_enough}
    lessons = (_lesson(fixes, shown, seen, ability) for fixes, shown in _merge(borne, seen))
    yield from filter(None, lessons)


# What the call that worked did otherwise


def _added(refused: Call, then: Call) -> Iterator[Fix]:
    """An argument more, and nothing else."""
    added = then.given.keys() - refused.given.keys()
    is_same = _same(refused, then, refused.given) and refused.given.keys() <= then.given.keys()
    for name in added if len(added) == 1 and is_same and not then.error else ():
        yield Fix("required", refused.function, (name,), (then.given[name],))


def _rewritten(refused: Call, then: Call) -> Iterator[Fix]:
    """The same values in other forms, and nothing else."""
    if then.error or refused.given.keys() != then.given.keys():
        return
    changed = sorted(name for name in refused.given if not _same(refused, then, [name]))
    forms = [(name, then.given[name], refused.given[name]) for name in changed]
    before, after = refused.event.arguments, then.event.arguments
    if all(right != wrong and _says_the_same(before[n], after[n], wrong, right) for n, right, wrong in forms):
        for name, right, wrong in forms:
            if not is_command_line(refused.function, name):
                yield Fix("form", refused.function, (name,), (right,), (wrong,))


def _enabled(refused: Call, then: Call, between: Sequence[Call], seen: _Calls) -> Iterator[Fix]:
    """Something was called in between, and the same call worked; or it worked with what that returned."""
    if not between:
        return
    changed = [name for name in then.given if not _same(refused, then, [name])]
    done = list(dict.fromkeys(call.function for call in between if call.function != refused.function))
    if not changed and refused.given.keys() == then.given.keys():
        # Reads change nothing; if there is no write, something that looked like a read did change something.
        writes = [name for name in done if seen.effects[name] != "read"]
        by = writes if writes or is_program(refused.function) else done
        useless = seen.useless[refused.function, refused.error]
        for name in [name for name in by if name not in useless][-1:]:
            yield Fix("before", refused.function, (), (name,))
    elif changed and not then.error and refused.given.keys() <= then.given.keys():
        origins = seen.origins(then)
        givers = {origins.get(name, "") for name in changed}
        if len(givers) == 1 and givers <= set(done) and origins.get(changed[0]) not in seen.origins(refused).values():
            yield Fix("supplied", refused.function, tuple(sorted(changed)), tuple(givers))


def _same(one: Call, other: Call, names: Iterable[str]) -> bool:
    return all(one.event.arguments.get(name) == other.event.arguments.get(name) for name in names)


def _says_the_same(before: Any, after: Any, wrong: str, right: str) -> bool:
    """Is it the same value, as a list or alone, as a number or a text, as a date with or without seconds? A list may
    have further items."""
    one, other = ([word.casefold() for word in re.findall(r"[^\W_]+", str(value))] for value in (before, after))
    if is_list_form(wrong) != is_list_form(right):
        return set(one) <= set(other) if is_list_form(right) else set(other) <= set(one)
    if is_date_form(wrong) and is_date_form(right):
        digits, rest = ("".join(re.findall(r"\d", str(value))) for value in (before, after))
        return digits.startswith(rest) or rest.startswith(digits)
    number = read_number(before)
    return one == other or (number is not None and number == read_number(after))


# All calls


class _Calls:
    """All calls of an ability: how often those with something worked and were refused."""

    def __init__(self, runs: Sequence[Trajectory]) -> None:
        self.of_run = [read_calls(run) for run in runs]
        self.all = [call for calls in self.of_run for call in calls]
        self.effects: dict[str, Effect] = {call.function: call.event.effect for call in self.all}
        tools = {tool.function: tool for run in runs for tool in run.tools}
        self.documented = {
            (name, each) for name, tool in tools.items() for each in tool.parameters.get("required") or ()
        }
        self.interface = {name for call in self.all for name in (call.function, *call.event.arguments)}
        self.counts = defaultdict[tuple[str, ...], list[int]](lambda: [0, 0])
        """By function and what a call has: how many were refused, and how many worked."""
        self.errors = defaultdict[tuple[str, ...], set[str]](set)
        self.useless = defaultdict[tuple[str, str], set[str]](set)
        """By function and error: what had worked before, and the call was still refused."""
        self._origins: dict[int, dict[int, Mapping[str, str]]] = {}
        self.second_tries: list[tuple[Call, Call, list[Call]]] = []
        for calls in self.of_run:
            self._count(calls)

    def _count(self, calls: Sequence[Call]) -> None:
        by_function = defaultdict[str, list[Call]](list)
        for call in calls:
            with_it, after = ((_WITH, name) for name in call.given), ((_AFTER, name) for name in call.done)
            for key in ((), *call.given.items(), *with_it, *after):
                self.counts[call.function, *key][not call.error] += 1
                self.errors[call.function, *key].add(call.error)
            if call.error and call.function not in call.done:
                self.useless[call.function, call.error] |= call.done
            by_function[call.function].append(call)
        for made in by_function.values():
            for refused, then in pairwise(made):
                if refused.error and then.error != refused.error:
                    between = [call for call in calls[refused.number + 1 : then.number] if not call.error]
                    self.second_tries.append((refused, then, between))

    def origins(self, call: Call) -> Mapping[str, str]:
        """Where the values of a call were first seen."""
        if id(call.run) not in self._origins:
            flow, found = Flow(call.run.task), dict[int, Mapping[str, str]]()
            for event in call.run.events:
                if event.function:
                    found[event.position] = flow.origins(event)
                flow.observe(event)
            self._origins[id(call.run)] = found
        return self._origins[id(call.run)][call.event.position]

    def bear_out(self, fix: Fix, shown: Shown) -> bool:
        """Does no call work without it, and many with it, which are not refused in the same way?"""
        function, errors = fix.function, set(shown.errors)
        refused, worked = self.counts[function,]
        if fix.kind == "required":
            name = fix.arguments[0]
            with_it = self.counts[function, _WITH, name]
            shown.refused, shown.worked = refused - with_it[0], with_it[1]
            is_new = (function, name) not in self.documented and not errors & self.errors[function, _WITH, name]
            named, asked = ({word.removesuffix("s") for word in words(each)} for each in (function, name))
            is_said = not named.isdisjoint(asked)
            return is_new and not is_said and worked == with_it[1] >= MIN_WORKED and shown.refused >= MIN_REFUSED
        if fix.kind == "form":
            name = fix.arguments[0]
            wrong, right = (self.counts[function, name, form] for form in (fix.wrong[0], fix.right[0]))
            shown.refused, shown.worked = wrong[0], right[1]
            usual = right[0] / max(sum(right), 1)
            by_chance = errors & self.errors[function, name, fix.right[0]] and usual ** wrong[0] > 0.01
            is_named = any(name in error for error in errors)
            shown.cases += [
                (call, call)
                for call in self.all
                if call.error in errors and call.function == function and call.given.get(name) == fix.wrong[0]
            ]
            return not wrong[1] and right[1] >= MIN_WORKED and not by_chance and (wrong[0] >= MIN_REFUSED or is_named)
        if fix.kind in ("before", "after refusal"):
            after = self.counts[function, _AFTER, fix.right[0]]
            shown.refused, shown.worked = shown.count, after[1]
            return after[1] >= after[0] * MIN_SHARE
        shown.refused, shown.worked = shown.count, worked
        return shown.count >= MIN_REFUSED

    def is_demanded(self, function: str, by: str) -> bool:
        """Are nearly all calls refused before `by` has worked?"""
        refused, worked = self.counts[function,]
        after = self.counts[function, _AFTER, by]
        before = refused - after[0], worked - after[1]
        return before[0] >= sum(before) * MIN_SHARE

    # Fixes that several runs show together

    def find_lists(self) -> Iterator[tuple[Fix, list[tuple[Call, Call]]]]:
        """A refusal lists what it takes: a closed vocabulary in the tool's own words. A tool that refuses what it
        lists, or takes what it does not list, teaches nothing."""
        listed = defaultdict[tuple[str, str, tuple[str, ...]], list[Call]](list)
        for call in self.all:
            said = (call.event.result.error if call.event.result is not None else None) or ""
            if (allowed := find_allowed_values(said)) is not None:
                slots = [slot for name, value in call.event.arguments.items() for slot in scalars(value, name)]
                listed[call.function, role_of(said, allowed, slots) or "", allowed.values].append(call)
        for (function, name, values), refused in listed.items():
            worked = (call for call in self.all if call.function == function and not call.error)
            taken = [call.event.arguments.get(name) for call in worked]
            is_kept = (
                bool(name) and all(value in values for value in taken if value is not None) and len(taken) >= MIN_WORKED
            )
            is_kept = is_kept and not any(call.event.arguments.get(name) in values for call in refused)
            if is_kept and is_vocabulary(values) and len(values) <= MAX_LISTED:
                yield Fix("listed", function, (name,), values), [(call, call) for call in refused]

    def find_always_refused(self) -> Iterator[tuple[Fix, list[tuple[Call, Call]]]]:
        """Lists that never work where single values are never refused so; dates that never work in one form. No run
        has to show both."""
        for (function, *key), (refused, worked) in list(self.counts.items()):
            if len(key) != 2 or worked or refused < MIN_WORKED or not (is_list_form(key[1]) or is_date_form(key[1])):
                continue
            name, wrong = key
            rights = [form for f, *each in self.counts if f == function and each[:1] == [name] for form in each[1:]]
            errors = self.errors[function, name, wrong]
            for right in rights:
                alike = is_date_form(right) if is_date_form(wrong) else not is_list_form(right)
                if alike and right != wrong and not errors & self.errors[function, name, right]:
                    cases = [call for call in self.all if call.function == function and call.given.get(name) == wrong]
                    yield Fix("form", function, (name,), (right,), (wrong,)), [(call, call) for call in cases]

    def find_guesses(self) -> Iterator[tuple[Fix, list[tuple[Call, Call]]]]:
        """Values that had been seen nowhere are refused, those that were read in a result work."""
        failing = {(call.function, name) for call in self.all if call.error for name in call.given}
        by_slot = defaultdict[tuple[str, str], list[Call]](list)
        for call in self.all:
            for name in call.given:
                if (call.function, name) in failing and not is_command_line(call.function, name):
                    by_slot[call.function, name].append(call)
        for (function, name), calls in by_slot.items():
            dated = sum(is_date_form(call.given[name]) for call in calls) * 2 > len(calls)
            if dated or not CATEGORY_ROLES.isdisjoint(words(name)[-1:]):
                continue
            placed = [(call, self.origins(call).get(name, "")) for call in calls]
            guessed = [call for call, place in placed if place == NOWHERE]
            read = [(call, place) for call, place in placed if "." in place and place != function]
            worked = [(call, place) for call, place in read if not call.error]
            refused = [call for call in guessed if call.error]
            is_clear = len(refused) == len(guessed) >= MIN_REFUSED and len(worked) >= max(
                MIN_WORKED, len(read) * MIN_SHARE
            )
            # Values that the task or the user gives need no look-up.
            if is_clear and len(worked) * 2 >= sum(not call.error for call in calls):
                best = Counter(place for _, place in worked).most_common(1)[0][0]
                cases = zip(refused, [call for call, _ in worked[: len(refused)]] * len(refused), strict=False)
                yield Fix("known", function, (name,), (best,)), list(cases)

    def find_needs(self) -> Iterator[tuple[Fix, list[tuple[Call, Call]]]]:
        """A call that is refused until another one has worked, of which the complaint or its name says that it sets
        things up."""
        refused = defaultdict[str, list[Call]](list)
        for call in self.all:
            if call.error:
                refused[call.function].append(call)
        for (function, *key), after in list(self.counts.items()):
            if key[:1] == [_AFTER] and after[1] >= max(MIN_REFUSED, after[0] * 2):
                by, worked = key[1], self.counts[function,][1]
                early = [call for call in refused[function] if by not in call.done]
                is_meant = any(asks_for(call.error, by) for call in early) or not SETS_UP.isdisjoint(words(by))
                if is_meant and by != function and worked == after[1] and len(early) >= MIN_REFUSED:
                    yield Fix("before", function, (), (by,)), [(call, call) for call in early]

    def find_previews(self) -> Iterator[tuple[Fix, list[tuple[Call, Call]]]]:
        """A call that sets a switch is refused, and works after the same call without it."""
        for calls in self.of_run:
            for number, refused in enumerate(calls):
                later = (
                    [call for call in calls[number + 1 :] if call.function == refused.function] if refused.error else []
                )
                for name in [name for name, value in refused.event.arguments.items() if value is True]:
                    if len(later) > 1 and not later[0].event.arguments.get(name) and not later[0].error:
                        again = next((call for call in later[1:] if call.event.arguments.get(name) is True), None)
                        if again is not None and not again.error:
                            yield Fix("preview", refused.function, (name,)), [(refused, again)]


def read_calls(run: Trajectory) -> list[Call]:
    """The calls that the agent made by itself. What the harness refused is none."""
    tainted, calls, done = find_tainted_calls(run), list[Call](), frozenset[str]()
    for event in run.events:
        error = (event.result.error if event.result is not None else None) or ""
        if event.function and event.actor == "agent" and event.position not in tainted and not is_of_harness(error):
            forms = {name: form_of_value(value, name) for name, value in event.arguments.items()}
            given = {name: form for name, form in forms.items() if form not in UNSAID}
            calls.append(
                Call(
                    run,
                    len(calls),
                    event,
                    given,
                    generalize(error_template(mask_given(event.arguments, error))) if error else "",
                    done,
                )
            )
            done = done if error else done | {event.function}
    return calls


# Cards


def _merge(borne: Mapping[Fix, Shown], seen: _Calls) -> Iterator[tuple[list[Fix], Shown]]:
    """Fixes that one card can state: of several functions of an app, or of several arguments of a function."""
    groups: list[tuple[list[Fix], Shown]] = []
    for fix in sorted(borne, key=lambda fix: (-len({run.task_key for run in borne[fix].runs}), fix)):
        shown = borne[fix]
        if fix.kind == "before" and not seen.is_demanded(fix.function, fix.right[0]):
            fix = fix._replace(kind="after refusal")
        home = next((group for group in groups if _are_one(*group, fix, shown)), None)
        if home is None:
            groups.append(([fix], Shown(list(shown.cases), shown.refused, shown.worked)))
        else:
            home[0].append(fix)
            home[1].cases += shown.cases
            home[1].refused += shown.refused
            home[1].worked += shown.worked
    yield from groups


def _are_one(fixes: Sequence[Fix], of_group: Shown, fix: Fix, shown: Shown) -> bool:
    first = fixes[0]
    errors = {each.errors.most_common(1)[0][0].rpartition(": ")[2] for each in (of_group, shown)}
    apps = {each.function.partition(".")[0] for each in (first, fix)}
    if first.kind != fix.kind or len(fixes) >= MAX_NAMED or len(apps) > 1:
        return False
    if fix.kind == "form" and {each.function for each in fixes} == {fix.function}:
        return (first.right, first.wrong) == (fix.right, fix.wrong) or fix.arguments in {
            each.arguments for each in fixes
        }
    return fix.kind in _OF_SEVERAL and len(errors) == 1 and {each[2:] for each in fixes} == {fix[2:]}


def _lesson(fixes: Sequence[Fix], shown: Shown, seen: _Calls, ability: str) -> Lesson | None:
    """None: the refusal that it is about must not be quoted."""
    kind, functions = fixes[0].kind, tuple(dict.fromkeys(fix.function for fix in fixes))
    arguments = tuple(dict.fromkeys(name for fix in fixes for name in fix.arguments))
    by = fixes[0].right if kind in _BY_CALLING else ()
    templates = [template for template, _ in shown.errors.most_common()]
    template = next((each for each in templates if by and asks_for(each, by[0])), templates[0])
    error = quote_message(template, len({run.task_key for run in shown.runs}), seen.interface)
    if not error and kind in _AFTER_REFUSAL:
        return None
    listed = join_list([f"“{value}”" for value in fixes[0].right], "or")
    values = {
        "functions": join_list([short(name) for name in functions]),
        "calls": join_list([code(short(name)) for name in functions], "or"),
        "arguments": join_list([code(name) for name in arguments], "or"),
        "right": listed if kind == "listed" else _form(fixes[0].right),
        "by": join_list([code(short(name)) for name in by]),
        "unless": ", unless what it names is at hand already" if PLACEHOLDER.search(error) else "",
        "answer": f"it answers “{error}”" if error else "it refuses the call",
        "error": error,
        "refused": str(shown.refused),
        "worked": str(shown.worked),
        **_orders(fixes),
    }
    positions = defaultdict[int, set[int]](set)
    for case in shown.cases:
        for call in case:
            positions[id(call.run)].add(call.event.position)
    return write_lesson(
        Told("fix", kind, (*functions, *by), tuple(str(guard) for fix in fixes for guard in _guards(fix))),
        values,
        ability=ability,
        grade="enforced",
        key=" ".join(f"{fix.function}({'|'.join(sum(fix[2:], ()))})" for fix in sorted(fixes)),
        topic=" ".join([*functions, *arguments, *by]),
        shown=[(run, positions[id(run)]) for run in shown.runs],
    )


class Told(NamedTuple):
    """What the card of a lesson is about."""

    kind: str
    """Of the lesson; `kind.toml` has its sentences."""
    row: str
    """The name of its sentences."""
    functions: Sequence[str]
    guards: Sequence[str] = ()


def write_lesson(
    told: Told,
    values: Mapping[str, Any],
    *,
    ability: str,
    grade: Grade,
    key: str,
    topic: str,
    shown: Sequence[tuple[Trajectory, Iterable[int]]],
) -> Lesson:
    """A lesson with the sentences of its row. `shown`: the runs that show it, each with the positions of events."""
    row = {name: line(text.format(**values)) for name, text in read_sentences(told.kind)[told.row].items()}
    functions = tuple(dict.fromkeys(told.functions))
    return Lesson(
        kind=told.kind,
        key=f"{told.row} {key}".strip(),
        topic=f"{told.row} {topic}".strip(),
        ability=ability,
        text=SkillDelta(
            title=shorten(row["title"].replace("`", ""), MAX_TITLE_CHARS, placeholder=" …"),
            applies_when=row["when"],
            solves=row["solves"],
            tags=tuple(dict.fromkeys(word for name in functions for word in words(name)))[:MAX_TAGS],
            skill=Skill(
                core_rule=row["rule"],
                completion=(row["done"],),
                success_failure_contrast=f"{GRADE_WORDS[grade]} {row['why']}" if "why" in row else "",
                efficiency=row.get("efficiency", ""),
            ),
            functions_used=functions,
            guards=tuple(told.guards),
        ),
        grade=grade,
        support=support_of([run for run, _ in shown], grade=grade),
        runs=tuple(run_ref(run, events) for run, events in shown[:MAX_SHOWN]),
    )


def short(function: str) -> str:
    return function.rpartition(".")[2]


def _guards(fix: Fix) -> Iterator[Guard]:
    if fix.kind == "before":
        yield Guard("precedence", fix.right[0], fix.function)
    elif fix.kind == "known":
        yield Guard("known_value", fix.function, argument=fix.arguments[0])


def _form(forms: Sequence[str]) -> str:
    return " or ".join(f"{'an' if form[:1] in tuple('aeiou') else 'a'} {form}" for form in forms)


def _orders(fixes: Sequence[Fix]) -> dict[str, str]:
    """How arguments are written: those with the same forms together."""
    wrong, alike = defaultdict[tuple[str, str], list[str]](list), defaultdict[tuple[str, str], list[str]](list)
    for fix in fixes:
        if fix.kind == "form":
            lists = is_list_form(fix.right[0]) != is_list_form(fix.wrong[0])
            right, bad = (
                f"a single {form}" if lists and not is_list_form(form) else _form([form])
                for form in (fix.right[0], fix.wrong[0])
            )
            if bad not in wrong[fix.arguments[0], right]:
                wrong[fix.arguments[0], right].append(bad)
    for (name, right), forms in wrong.items():
        alike[right, " or ".join(forms)].append(code(name))
    splits = any(is_list_form(form) and not is_list_form(fix.right[0]) for fix in fixes for form in fix.wrong)
    return {
        "orders": join_list([f"{join_list(names)} as {right}" for (right, _), names in alike.items()]),
        "orders_not": ", and ".join(
            f"{join_list(names)} as {right}, not as {bad}" for (right, bad), names in alike.items()
        ),
        "again": "one call for each value" if splits else "the same call again with the value written this way",
    }
