"""Cards: a rule as a lesson. words.toml has the sentences; what they are filled with comes from guards and counts."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from textwrap import shorten
from typing import NamedTuple

import numpy as np

from contramem.bank.bank import Grade, GuardSupport
from contramem.bank.card import MAX_LINE_CHARS, Evidence, Skill, SkillDelta
from contramem.chance import OutcomeTable
from contramem.grading import GRADE_WORDS
from contramem.guards.conditions import CallOccurs, parse_pattern
from contramem.guards.guard import Guard, guards_of, parse_guard
from contramem.mining.conditions import Condition
from contramem.mining.lesson import Lesson, run_ref, support_of
from contramem.mining.matrix import Domain, Statement
from contramem.mining.replays import Borne, Replays, bear_out
from contramem.mining.search import Rule, search
from contramem.privacy.public import Public
from contramem.traces.trajectory import Trajectory

MAX_TITLE_CHARS = 120
MAX_CHOICES = 4
PROVEN_NET = 4.0
"""Nats by which a certain rule beats what chance reached, to be called proven."""
MAX_SHOWN = 6
_MULTIPLE = re.compile(r"as its `[^`]+`, rounded to the nearest (\d+)")
_TEXTS = frozenset({"phrase", "nophrase", "mention", "nomention", "length"})


class Reading(NamedTuple):
    """One of the ways to understand a rule that fit all runs."""

    borne: Borne
    condition: Condition | None
    statement: Statement


def lesson_of(rule: Rule, replays: Replays, ability: str) -> Lesson | None:
    """The lesson that a rule is; None if no guard bears it out."""
    readings = list(_readings(rule, replays))
    if not readings:
        return None
    is_certain = rule.is_certain and readings[0].condition is rule.condition and len(readings) == 1
    writer = _Writer(rule, readings, replays.domain, is_certain)
    guards = [readings[0].borne.guard] if is_certain else []
    table = readings[0].borne.table
    grade: Grade = "proven" if is_certain and rule.net >= PROVEN_NET and not table.broke_passed else "observed"
    if not is_certain:
        grade = "open"
    text = writer.write(grade)
    kept, broken = _shown(rule, replays, readings[0].borne.guard)
    runs = replays.domain.runs
    shown = [runs[place].trajectory for place in (*kept, *broken)]
    return Lesson(
        kind="rule",
        key=" or ".join(sorted(str(reading.borne.guard) for reading in readings)),
        topic=f"{rule.statement.function} {rule.statement.argument or rule.statement.family}",
        ability=ability,
        text=text.model_copy(update={"guards": tuple(map(str, guards))}),
        grade=grade,
        support=support_of(shown, grade=grade),
        runs=tuple(run_ref(run) for run in shown[:MAX_SHOWN]),
        facts={
            "family": rule.statement.family,
            "open": [str(each.borne.guard) for each in readings] if not is_certain else [],
        },
    )


def mine_rules(runs: Iterable[Trajectory], ability: str, public: Public | None = None) -> tuple[list[Lesson], Replays]:
    """The rules that all runs of an ability teach together, and these runs, ready for guards."""
    domain = Domain(runs, public)
    replays = Replays(domain)
    if domain.passed.all() or not domain.passed.any():
        return [], replays
    lessons = [lesson_of(rule, replays, ability) for rule in search(domain)]
    return list({lesson.key: lesson for lesson in lessons if lesson is not None}.values()), replays


def counted(lesson: Lesson, replays: Replays) -> Lesson:
    """The lesson with how all runs behaved under its guards."""
    tables = {guard: replays.table(guard) for guard in guards_of(lesson.text.guards)}
    counts = {
        str(guard): GuardSupport(held=table.kept_passed, broken=table.broke_failed, contradicted=table.broke_passed)
        for guard, table in tables.items()
    }
    return replace(lesson, support=lesson.support.model_copy(update={"guard_counts": counts}))


def _readings(rule: Rule, replays: Replays) -> Iterator[Reading]:
    """The rule, and what the runs cannot tell apart from it, as far as guards bear them out."""
    seen = set[str]()
    pairs: list[tuple[Condition | None, Statement]] = [(rule.condition, rule.statement)]
    if not rule.is_certain:
        pairs += [(condition, rule.statement) for condition in rule.or_if]
        pairs += [(rule.condition, other) for other in rule.or_rather]
    for condition, statement in pairs:
        borne = bear_out(rule, replays, condition, statement)
        if borne is not None and str(borne.guard) not in seen and len(seen) < MAX_CHOICES:
            seen.add(str(borne.guard))
            yield Reading(borne, condition, statement)


def _shown(rule: Rule, replays: Replays, guard: Guard) -> tuple[list[int], list[int]]:
    """Passing runs that kept it in tasks where others broke it, and failing runs that broke it."""
    column, domain = replays.column(guard), replays.domain
    broken = [int(place) for place in np.flatnonzero((column < 0) & ~domain.passed)]
    tasks = {int(domain.task_of[place]) for place in broken}
    kept = [int(place) for place in np.flatnonzero((column > 0) & domain.passed)]
    near = [place for place in kept if int(domain.task_of[place]) in tasks]
    return near or kept[:MAX_SHOWN], broken


# Words


@cache
def _rows() -> dict[str, dict[str, str]]:
    return tomllib.loads(files("contramem.mining").joinpath("words.toml").read_text(encoding="utf-8"))


class _Writer:
    """Writes the text of a rule's card."""

    def __init__(self, rule: Rule, readings: Sequence[Reading], domain: Domain, is_certain: bool) -> None:
        self.rule, self.readings, self.domain, self.is_certain = rule, readings, domain, is_certain
        self.guard, self.table = readings[0].borne
        self.row = _rows()["default"] | _rows().get(self._row_name(), {})

    def _row_name(self) -> str:
        statement = self.rule.statement
        if statement.function == "finalize":
            return "answer"
        if statement.family in _TEXTS:
            return "text"
        return "argument" if statement.argument and statement.family != "every" else statement.family

    def write(self, grade: Grade) -> SkillDelta:
        do = self._do(self.guard)
        values = {
            "call": _name(self.guard.target),
            "argument": self.rule.statement.argument,
            "broke": self._broke(),
            "about": self._about(),
            "about_too": "",
        }
        core, done = self._core(do), self.guard.sentence
        functions = tuple(sorted({f for reading in self.readings for f in reading.borne.guard.functions}))
        if self.rule.instead is not None:
            functions = tuple(sorted({*functions, self.rule.instead.function}))
        skill = Skill(
            core_rule=_line(core),
            completion=(_line(done if self.is_certain or len(self.readings) < 2 else _rows()["open"]["done"]),),
            success_failure_contrast=_line(f"{_words_of(grade)} {self._contrast(self.table)}"),
        )
        title = self._title(do)
        return SkillDelta(
            title=shorten(title, MAX_TITLE_CHARS, placeholder=" …"),
            applies_when=_line(self.row["applies"].format(**values)),
            solves=_line(self.row["solves"].format(**values)),
            tags=tuple(dict.fromkeys(word for f in functions for word in f.rpartition(".")[2].split("_")))[:8],
            skill=skill,
            evidence=Evidence(),
            functions_used=functions,
        )

    def _do(self, guard: Guard, with_conditions: bool = True) -> str:
        """The rule as an instruction."""
        own = parse_pattern(guard.target).function if guard.target else ""
        asked = (
            []
            if not with_conditions
            else [
                condition
                for condition in guard.conditions
                if not (isinstance(condition, CallOccurs) and str(condition.pattern) == own)
            ]
        )
        when = f", if {' and '.join(condition.in_words() for condition in asked)}" if asked else ""
        words = guard.fill(guard.form.instruction, when=when).rstrip(".")
        words = _MULTIPLE.sub(
            lambda step: "as a whole number" if step[1] == "1" else f"as a multiple of {step[1]}", words
        )
        return words.replace("Do not call the final answer", "Do not give a final answer").replace(
            "Call the final answer", "Give a final answer"
        )

    def _core(self, do: str) -> str:
        rule, rows = self.rule, _rows()["open"]
        if self.is_certain:
            return f"{do}.{self._gap(rule.condition)}{self._instead()}"
        choices = self._choices()
        if len(choices) < 2:
            text = rows["thin"].format(do=do, note=rule.note or "other facts may decide")
            return f"{text}{self._gap(rule.condition)}{self._instead()}"
        by_condition = len({reading.statement.guard for reading in self.readings}) == 1
        row = rows["conditions" if by_condition else "sources"]
        plain = self._do(self.guard._replace(when=""), with_conditions=False)
        return row.format(do=plain if by_condition else self._subject(), choices="; ".join(choices)) + self._instead()

    def _subject(self) -> str:
        statement = self.rule.statement
        return f"Call {_name(statement.function)} with the right `{statement.argument}`"

    def _choices(self) -> list[str]:
        by_condition = len({reading.statement.guard for reading in self.readings}) == 1
        found = []
        for number, reading in enumerate(self.readings):
            said = self._condition_in_words(reading) if by_condition else self._do(reading.borne.guard)
            found.append(f"({'abcdefgh'[number]}) {said[:1].lower()}{said[1:]}")
        return found

    def _condition_in_words(self, reading: Reading) -> str:
        guard = reading.borne.guard
        own = reading.statement.function
        asked = [each for each in guard.conditions if not (isinstance(each, CallOccurs) and str(each.pattern) == own)]
        words = " and ".join(each.in_words() for each in asked) or "always"
        return f"if {words}{self._gap(reading.condition)}".rstrip(".") if asked else words

    def _gap(self, condition: Condition | None) -> str:
        """Both ends of the gap that a boundary lies in."""
        if condition is None or condition.gap is None:
            return ""
        low, high = condition.gap
        return f" (Nothing between {low} and {high} was seen.)"

    def _instead(self) -> str:
        other, statement = self.rule.instead, self.rule.statement
        if statement.family == "call":
            wrong = [
                each for each in statement.others if each.family == "nocall" and each.function != statement.function
            ]
            return f" {self._do(parse_guard(wrong[0].guard))} there." if wrong else ""
        if other is None or not other.guard:
            return ""
        guard = parse_guard(other.guard)
        return f" Instead: {self._do(guard)[:1].lower()}{self._do(guard)[1:]}."

    def _broke(self) -> str:
        failed, broke = self.table.broke_failed, self.table.broke
        return f"{failed} of {broke} runs that did otherwise failed"

    def _contrast(self, table: OutcomeTable) -> str:
        kept = table.kept_passed + table.kept_failed
        sources = len({run.source for run in self.domain.runs})
        alone = " All runs are of one agent." if sources == 1 else ""
        return (
            f"{table.kept_passed} of {kept} runs that kept it passed; {table.broke_failed} of {table.broke} runs that "
            f"did otherwise failed, over {self.rule.tasks} tasks that tell.{alone}"
        )

    def _about(self) -> str:
        """What the requests of these tasks have in common, in their words."""
        inside = set(self.rule.scope.tasks)
        if self.rule.condition is not None and self.rule.condition.about == "kind":
            inside &= set(np.flatnonzero(self.rule.condition.mask).tolist())
        words = [set(re.findall(r"[a-z]{4,}", task.request)) for task in self.domain.tasks]
        among = Counter(word for n in inside for word in words[n])
        every = Counter(word for each in words for word in each)
        common = [
            word
            for word, count in among.items()
            if count >= max(2, 0.5 * len(inside)) and every[word] <= 1.5 * count and self.domain.may_say_word(word)
        ]
        common.sort(key=lambda word: (-among[word], word))
        return (
            f"that says {', '.join(f'“{word}”' for word in common[:4])}"
            if common
            else f"that leads to {_name(self.guard.target)}"
        )

    def _title(self, do: str) -> str:
        if self.is_certain:
            return do.replace("`", "")
        if self.rule.or_rather:
            return f"{self._subject()} (several sources fit)".replace("`", "")
        plain = self._do(self.guard._replace(when=""), with_conditions=False)
        return f"{plain} {'in some cases' if self.rule.condition else '(few runs show it)'}".replace("`", "")


def _words_of(grade: Grade) -> str:
    return GRADE_WORDS[grade]


def _name(pattern: str) -> str:
    return parse_pattern(pattern).in_words() if pattern else "a call"


def _line(text: str) -> str:
    return (
        shorten(text[:1].upper() + text[1:], MAX_LINE_CHARS, placeholder=" …")
        if len(text) > MAX_LINE_CHARS
        else text[:1].upper() + text[1:]
    )
