"""Candidates: the guards that the runs of some tasks give reason to try, whatever their outcomes were.

Presence and order of calls, repetition, the way an argument is written, constants, caps, the field of an earlier result
that a value stands in, the record that was chosen, multiples of a number of the request.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import Any

from contramem.contrast.form import is_field
from contramem.errors import GuardError
from contramem.monitor.choice import rank_key
from contramem.monitor.comparison import is_same, plain_text, read_number, shape_of, write_number, write_value
from contramem.monitor.guard import Guard, parse_guard
from contramem.monitor.results import walk
from contramem.study.atoms import MIN_TASKS, find_boundary, is_word, names_an_amount
from contramem.study.recorded_actions import RecordedAction
from contramem.study.run_set import StudyRun

FACTORS = (0.01, 0.1, 10, 100, 1000)
"""Multiples that come from units: cents, percent, thousands."""
MAX_SHAPES = 4
"""Ways to write one argument; one with more is free text."""
MAX_SHAPE_CHARS = 16
MIN_DISTINCT = 3
"""Characters of a value that cannot stand in a field by chance."""
MAX_RECORDS = 40
MAX_PAIRS = 2_500
"""Of functions whose order is tried."""
MAX_CAPS = 8


def propose_candidates(runs: Sequence[StudyRun]) -> list[Guard]:
    """Every guard worth a trial on `runs`, each once, simplest first."""
    texts: dict[str, None] = {}
    for text in (*_presence(runs), *_order(runs), *_repetition(runs), *_arguments(runs)):
        texts.setdefault(text)
    guards = []
    for text in texts:
        try:
            guards.append(parse_guard(text))
        except GuardError:
            continue  # a name in the runs that the language of guards cannot write
    return sorted(set(guards), key=lambda guard: (len(str(guard)), str(guard)))


def _presence(runs: Sequence[StudyRun]) -> Iterator[str]:
    counts = Counter(function for run in runs for function in run.recorded.functions)
    for function, count in counts.items():
        if count < len(runs):
            yield f"existence({function})"
            yield f"absence({function})"


def _order(runs: Sequence[StudyRun]) -> Iterator[str]:
    together: Counter[tuple[str, str]] = Counter()
    for run in runs:
        together.update(combinations(sorted(run.recorded.functions), 2))
    # Those that most runs make together: the number of pairs grows with the square of the functions.
    common = sorted(together.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_PAIRS]
    for (first, second), count in common:
        if count < 2:
            break
        for before, after in ((first, second), (second, first)):
            yield f"precedence({before}, {after})"
            yield f"response({before}, {after})"


def _repetition(runs: Sequence[StudyRun]) -> Iterator[str]:
    for run in runs:
        counts = Counter(call.function for call in run.recorded.calls if call.worked and call.effect != "read")
        for function, count in counts.items():
            if count > 1:
                yield f"not_succession({function}, {function})"
                yield f"at_most_once({function})"


def _arguments(runs: Sequence[StudyRun]) -> Iterator[str]:
    by_argument: dict[tuple[str, str], list[tuple[StudyRun, RecordedAction]]] = defaultdict(list)
    for run in runs:
        for call in run.recorded.calls:
            if call.worked:
                for argument in call.arguments:
                    by_argument[call.function, argument].append((run, call))
    for (function, argument), uses in by_argument.items():
        for condition in _conditions(argument, uses):
            yield f"existence({function}[{condition}]) when {function}"
            yield f"absence({function}[{condition}]) when {function}"
        yield from _caps(function, argument, uses)
        yield from _coverage(function, argument, uses)


def _conditions(argument: str, uses: Sequence[tuple[StudyRun, RecordedAction]]) -> Iterator[str]:
    """What could be asked of the argument: all that is true of some of the calls and not of all."""
    tasks: dict[str, set[str]] = defaultdict(set)
    true_of: Counter[str] = Counter()
    shapes = {shape_of(call.arguments[argument]) for _, call in uses if isinstance(call.arguments[argument], str)}
    for run, call in uses:
        for relation in set(_relations(argument, call, len(shapes) <= MAX_SHAPES * 3)):
            tasks[relation].add(run.task)
            true_of[relation] += 1
    for relation, count in true_of.items():
        if count < len(uses) and len(tasks[relation]) >= MIN_TASKS:
            yield f"{argument} {relation}"


def _relations(argument: str, call: RecordedAction, is_regular: bool) -> Iterator[str]:
    value = call.arguments[argument]
    if value is None:
        return
    yield "given"
    if isinstance(value, str) and is_regular and 0 < len(shape_of(value)) <= MAX_SHAPE_CHARS:
        yield f"like {write_value(shape_of(value))}"
    if is_word(value):
        yield f"= {write_value(str(value))}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _multiples(value, call)
    if isinstance(value, (str, int)) and len(str(value)) >= MIN_DISTINCT:
        yield from _places(value, call)


def _multiples(value: float, call: RecordedAction) -> Iterator[str]:
    for base in call.task_numbers():
        for factor in (1, *FACTORS):
            if base and abs(value - base * factor) < 1e-6 * max(1.0, abs(value)):
                yield f"times {write_number(factor)} of task"


def _places(value: Any, call: RecordedAction) -> Iterator[str]:
    """The fields of earlier results that the value stands in, and how its record was chosen there."""
    if plain_text(value) in plain_text(call.history.task):
        yield "from task"
    for function in call.history.functions(call.order):
        for records in call.seen_records(function):
            for field in {p[-1] for r in records[:MAX_RECORDS] for p, v in walk(r) if p and is_same(v, value)}:
                if is_field(field):
                    yield f"from {function}.{field}"
            yield from _choices(value, function, records[:MAX_RECORDS])
            break


def _choices(value: Any, function: str, records: Sequence[dict[str, Any]]) -> Iterator[str]:
    chosen = next((r for r in records if any(is_same(v, value) for p, v in walk(r) if len(p) == 1)), None)
    if chosen is None or len(records) < 2:
        return
    if chosen is records[0]:
        yield f"picks first of {function}"
    if chosen is records[-1]:
        yield f"picks last of {function}"
    for field, own in chosen.items():
        if not is_field(field) or isinstance(own, (dict, list)):
            continue
        if is_word(own):
            yield f"picks {field} = {write_value(str(own))} of {function}"
        keys = [key for record in records if (key := rank_key(record, field)) is not None]
        if len(set(keys)) > 1 and (key := rank_key(chosen, field)) is not None:
            if key == min(keys):
                yield f"picks lowest {field} of {function}"
            if key == max(keys):
                yield f"picks highest {field} of {function}"


def _caps(function: str, argument: str, uses: Sequence[tuple[StudyRun, RecordedAction]]) -> Iterator[str]:
    """At most so much a call, at boundaries between numbers that were given."""
    given = [number for _, call in uses if (number := read_number(call.arguments[argument])) is not None]
    if len(given) < len(uses) or not names_an_amount(argument):
        return
    seen = sorted(set(given))
    steps = list(pairwise(seen))
    for low, high in steps[:: max(1, len(steps) // MAX_CAPS)]:
        boundary = write_number(find_boundary(low, high))
        yield f"absence({function}[{argument} > {boundary}]) when {function}"
        yield f"absence({function}[{argument} <= {boundary}]) when {function}"


def _coverage(function: str, argument: str, uses: Sequence[tuple[StudyRun, RecordedAction]]) -> Iterator[str]:
    """Every item that an earlier call listed is given to this one."""
    listed: Counter[tuple[str, str]] = Counter()
    for _, call in uses:
        value = call.arguments[argument]
        if not isinstance(value, (str, int)) or len(str(value)) < MIN_DISTINCT:
            continue
        for giver in call.history.functions(call.order):
            for records in call.seen_records(giver):
                fields = {p[-1] for r in records[:MAX_RECORDS] for p, v in walk(r) if p and is_same(v, value)}
                listed.update((giver, field) for field in fields if is_field(field))
                break
    for (giver, field), count in listed.items():
        if count * 2 >= len(uses) and giver != function:
            yield f"covers({giver}.{field}, {function}.{argument})"
