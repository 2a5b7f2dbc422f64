"""Argument form: a tool refuses an argument written one way and takes the same value written another way.

The tool shows it within one run, whatever the outcome: a call is refused, and the next one, which differs in nothing
but how values are written, works. All other runs must bear it out. Where a list is always refused and single values are
not, no run has to show both.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from contramem.bank.card import SkillDelta
from contramem.build.evidence import Provenance
from contramem.build.rules.phrases import code_name, quote_error, short_name
from contramem.build.rules.rule import MAX_CALLS, Lesson, Rule, Words, illustrate, restate
from contramem.build.rules.shared_lesson import SharedLesson
from contramem.build.rules.steps import calls, count_alike, find_second_tries
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.signal import Cite
from contramem.contrast.step import Step
from contramem.contrast.values import is_date_form, is_list_form
from contramem.guards.values import read_number
from contramem.mining.fwords import join_list

MIN_WORKED = 5
"""How many calls must have worked with the right form."""
MIN_REFUSED = 2
"""How many calls must have been refused with the wrong form, unless the error names the argument."""
MAX_CHANCE = 0.01
"""The probability that no call works with a form, if it is refused as often as the right one."""
_UNSAID = frozenset({"null", "empty text", "empty list"})
"""A value that is left out is not written in another way."""


class NewForm(NamedTuple):
    """An argument that is written in one form, not in another."""

    argument: str
    wrong: str
    right: str


@dataclass(frozen=True, kw_only=True)
class ArgumentForm(Rule):
    """`functions` take arguments in the right forms only."""

    KIND = "argument form"
    COUNTS_ALL_TASKS = True

    forms: tuple[NewForm, ...]
    error: str
    """What the tool answers otherwise; empty if it cannot be quoted."""
    worked: int
    """Number of calls of the first function that worked with the right form."""

    @classmethod
    def find(cls, packets: Sequence[Packet]) -> Iterator[SharedLesson]:
        """Yield the rules about the functions of an ability."""
        counts = _FormCounts.of(packets)
        borne_out = [each for each in _find_corrections(packets) if counts.bear_out(each)]
        borne_out += counts.find_always_refused(packets, {each.refused.function for each in borne_out})
        for corrections in _group_by_argument(borne_out):
            function = corrections[0].refused.function
            forms = tuple(dict.fromkeys(form for correction in corrections for form in correction.forms))
            rule = cls(
                functions=(function,),
                forms=forms,
                error=_quote_error(corrections),
                worked=max(counts.worked[function, form.argument, form.right] for form in forms),
            )
            first_of_task = {correction.packet.task_key: correction for correction in reversed(corrections)}
            first, *others = sorted(
                first_of_task.values(), key=lambda each: (not each.worked_in.passed, each.packet.task_key)
            )
            also = (Provenance(correction.packet, correction.cites) for correction in others)
            yield SharedLesson.of_tasks(_illustrate(rule, first), first.packet, also)

    @property
    def arguments(self) -> set[str]:
        return {form.argument for form in self.forms}

    def says(self, other: Rule) -> bool:
        if not isinstance(other, ArgumentForm):
            return False
        return {*other.functions} <= {*self.functions} and {*other.forms} <= {*self.forms}

    def merge(self, mine: SkillDelta, other: Lesson, packet: Packet) -> Lesson | None:
        """Functions of one app that take an argument in the same form, or arguments of one function that have the same
        form, become one card."""
        more = other.rule
        if not isinstance(more, ArgumentForm) or self.says(more) or more.says(self):
            return None
        functions = tuple(dict.fromkeys([*self.functions, *more.functions]))
        forms = tuple(dict.fromkeys([*self.forms, *more.forms]))
        same_argument = {*self.forms} == {*more.forms} and len({name.partition(".")[0] for name in functions}) == 1
        same_form = {form[1:] for form in self.forms} == {form[1:] for form in more.forms}
        if not same_argument and not (same_form and {*self.functions} == {*more.functions}):
            return None
        if len(functions) > MAX_CALLS or len(forms) > MAX_CALLS:
            return None
        error = self.error if self.error == more.error else ""
        rule = replace(self, functions=functions, forms=forms, error=error)
        return Lesson(rule, restate(mine, rule))

    def words(self) -> Words:
        function, orders = " or ".join(map(code_name, self.functions)), self._orders
        names = [f"`{name}`" for name in dict.fromkeys(form.argument for form in self.forms)]
        right = [f"{order.arguments} as {order.right}" for order in orders]
        order = ", and ".join(f"{order.arguments} as {order.right}, not as {order.wrong}" for order in orders)
        splits = any(is_list_form(form.wrong) and not is_list_form(form.right) for form in self.forms)
        again = "one call for each value" if splits else "the same call again with the value written this way"
        answer = f"it answers “{self.error}”" if self.error else "it refuses the call"
        of = f"calls of {code_name(self.functions[0])} " if len(self.functions) > 1 else ""
        return Words(
            title=f"Write {join_list(right)} for {join_list(list(map(short_name, self.functions)))}".replace("`", ""),
            applies_when=f"You are about to call {function} with {' or '.join(names)}.",
            solves="Calls that are refused because of how a value is written.",
            core_rule=f"When you call {function}, write {order}. Otherwise {answer}; then make {again}.",
            completion=(f"{function} succeeded with {join_list(right)}",),
            success_failure_contrast=f"No call with the wrong form worked; {self.worked} {of}with the right one did.",
            recovery=f"Make {again}.",
        )

    @property
    def _orders(self) -> list[_Order]:
        """Arguments with the same forms together."""
        wrong, right = defaultdict[str, list[str]](list), dict[str, str]()
        for form in self.forms:
            is_about_lists = is_list_form(form.right) != is_list_form(form.wrong)
            wrong[form.argument].append(_say_form(form.wrong, is_about_lists))
            right[form.argument] = _say_form(form.right, is_about_lists)
        alike = defaultdict[tuple[str, str], list[str]](list)
        for argument, forms in wrong.items():
            alike[right[argument], " or ".join(forms)].append(f"`{argument}`")
        return [_Order(join_list(names), *forms) for forms, names in alike.items()]


class _Order(NamedTuple):
    """How some arguments are written, in words."""

    arguments: str
    right: str
    wrong: str


def _say_form(form: str, is_about_lists: bool) -> str:
    if is_about_lists and not is_list_form(form):
        return f"a single {form}"
    return f"{'an' if form[0] in 'aeiou' else 'a'} {form}"


class _Correction(NamedTuple):
    """A call that was refused, and the next one, which says the same in other forms and worked; or one of another run
    of the task that worked."""

    packet: Packet
    run: PacketRun
    refused: Step
    worked_in: PacketRun
    worked: Step
    forms: tuple[NewForm, ...]

    @property
    def cites(self) -> tuple[Cite, ...]:
        return Cite(self.run.letter, self.refused.position), Cite(self.worked_in.letter, self.worked.position)


_Key: TypeAlias = tuple[str, str, str]
"""Function, argument and form."""


class _FormCounts(NamedTuple):
    """How many calls were refused and how many worked, for each form of each argument."""

    refused: Counter[_Key]
    worked: Counter[_Key]
    errors: dict[_Key, set[str]]

    @classmethod
    def of(cls, packets: Sequence[Packet]) -> _FormCounts:
        counts = cls(Counter(), Counter(), defaultdict(set))
        for call, times in count_alike(packets).items():
            for argument, form in call.forms:
                key = call.function, argument, form
                (counts.refused if call.error else counts.worked)[key] += times
                counts.errors[key].add(call.error)
        return counts

    def bear_out(self, correction: _Correction) -> bool:
        """Does no call work with the wrong forms, and many with the right ones? If these are refused in the same way
        now and then, chance must not explain that none worked. Where the refusal lists what it takes, that is the
        rule (allowed_value.py)."""
        vocabulary, function = correction.packet.placeholders.vocabulary, correction.refused.function
        if any(vocabulary.read_permitted(function, form.argument) for form in correction.forms):
            return False
        return all(self._bear_out(correction, form) for form in correction.forms)

    def _bear_out(self, correction: _Correction, form: NewForm) -> bool:
        function, error = correction.refused.function, correction.refused.error
        wrong, right = ((function, form.argument, each) for each in (form.wrong, form.right))
        if self.worked[wrong] or self.worked[right] < MIN_WORKED:
            return False
        usual = self.refused[right] / (self.refused[right] + self.worked[right])
        if error in self.errors[right] and usual ** self.refused[wrong] > MAX_CHANCE:
            return False
        return self.refused[wrong] >= MIN_REFUSED or form.argument in error

    def find_always_refused(self, packets: Sequence[Packet], known: Collection[str]) -> Iterator[_Correction]:
        """Yield a case of each argument whose lists never work, where single values are never refused so; or whose
        dates never work in one form, where another form is never refused so."""
        often = {
            key[0]
            for key, count in self.refused.items()
            if (is_list_form(key[2]) or is_date_form(key[2])) and count >= MIN_WORKED
        }
        concerned = often.difference(known)
        for packet in packets:
            made = [(run, step) for run in packet.runs for step in calls(run) if step.function in concerned]
            for run, refused in made:
                for worked_in, worked in made:
                    if refused.error and not worked.error and refused.function == worked.function:
                        yield from self._compare(_Correction(packet, run, refused, worked_in, worked, ()))

    def _compare(self, case: _Correction) -> Iterator[_Correction]:
        for argument, wrong in case.refused.forms.items():
            form = NewForm(argument, wrong, case.worked.forms.get(argument, ""))
            key = case.refused.function, argument, wrong
            are_dates = is_date_form(wrong) and is_date_form(form.right) and wrong != form.right
            is_list = is_list_form(wrong) and form.right and not is_list_form(form.right)
            if (is_list or are_dates) and form.right not in _UNSAID:
                alone = case.refused.error not in self.errors[key[0], argument, form.right]
                if alone and self.refused[key] >= MIN_WORKED and self.bear_out(case._replace(forms=(form,))):
                    yield case._replace(forms=(form,))


def _find_corrections(packets: Sequence[Packet]) -> Iterator[_Correction]:
    for packet, run, refused, worked in find_second_tries(packets):
        if forms := _find_new_forms(packet, run, refused, worked):
            yield _Correction(packet, run, refused, run, worked, forms)


def _group_by_argument(corrections: Sequence[_Correction]) -> list[list[_Correction]]:
    """Those of one function that share arguments are about one thing."""
    groups: list[tuple[str, set[str], list[_Correction]]] = []
    for correction in corrections:
        function, names = correction.refused.function, {form.argument for form in correction.forms}
        alike = [group for group in groups if group[0] == function and group[1] & names]
        groups = [group for group in groups if group not in alike]
        members = [member for group in alike for member in group[2]]
        groups.append((function, names.union(*(group[1] for group in alike)), [*members, correction]))
    return [members for _, _, members in sorted(groups, key=lambda group: (group[0], sorted(group[1])))]


def _find_new_forms(packet: Packet, run: PacketRun, refused: Step, worked: Step) -> tuple[NewForm, ...]:
    """The arguments that were written differently; empty if anything else differs between the calls."""
    if refused.forms == worked.forms or refused.forms.keys() != worked.forms.keys():
        return ()
    recorded = packet.recorded.get(run.letter)
    given = {event.position: event.arguments for event in recorded.events} if recorded else {}
    before, after = given.get(refused.position), given.get(worked.position)
    if before is None or after is None:
        return ()
    changed = [name for name in before if before[name] != after[name]]
    forms = [NewForm(name, refused.forms[name], worked.forms[name]) for name in sorted(changed)]
    if any(form.wrong == form.right or _UNSAID & {form.wrong, form.right} for form in forms):
        return ()
    same = all(_is_same_value(before[form.argument], after[form.argument], form) for form in forms)
    return tuple(forms) if same else ()


_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d")


def _is_same_value(before: Any, after: Any, form: NewForm) -> bool:
    """Is it the same value, as a list or alone, as a number or a text, as a date with or without seconds? A list may
    have further items."""
    words, others = ([word.casefold() for word in _WORD.findall(str(value))] for value in (before, after))
    if is_list_form(form.wrong) != is_list_form(form.right):
        return set(words) <= set(others) if is_list_form(form.right) else set(others) <= set(words)
    if words == others:
        return True
    if is_date_form(form.wrong) and is_date_form(form.right):
        digits, rest = ("".join(_DIGITS.findall(str(value))) for value in (before, after))
        return digits.startswith(rest) or rest.startswith(digits)
    number = read_number(before)
    return number is not None and number == read_number(after)


def _quote_error(corrections: Sequence[_Correction]) -> str:
    """What the tool answers most often; empty if a card must not repeat it."""
    tasks: dict[str, dict[str, Packet]] = defaultdict(dict)
    for correction in corrections:
        tasks[correction.refused.error][correction.packet.task_key] = correction.packet
    error = max(sorted(tasks), key=lambda error: len(tasks[error]))
    return quote_error(error, tasks[error].values(), len(tasks[error]))


def _illustrate(rule: ArgumentForm, correction: _Correction) -> Lesson:
    good = correction.worked_in if correction.worked_in.passed else None
    bad = correction.run if correction.run is not good and not correction.run.passed else None
    transition = f"after “{rule.error}”" if rule.error else ""
    text = illustrate(rule, correction.packet, good, bad, transition=transition)
    return Lesson(rule, text, correction.cites)
