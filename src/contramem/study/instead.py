"""Instead: what passing runs do in place of what a guard forbids. A positive instruction says more than a ban."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from contramem.guards.choices import Way, parse_choice
from contramem.guards.conditions import Pattern, parse_pattern
from contramem.guards.guard import Guard
from contramem.guards.values import function_of_place, plain_text
from contramem.study.atoms import MIN_TASKS, is_word
from contramem.study.relations import find_relations
from contramem.study.replays import replay_guard
from contramem.study.run_set import StudyRun
from contramem.study.seen_fields import SeenFields
from contramem.study.seen_relation import GIVEN, SeenRelation

MIN_SHARED = 0.8
"""The share of passing runs following the guard that must do it."""
MAX_SHARED = 0.2
"""The share of failing runs breaking the guard that may do it."""
_REVERSED: dict[Way, Way] = {"lowest": "highest", "highest": "lowest", "first": "last", "last": "first"}


def find_instead(guard: Guard, runs: Sequence[StudyRun]) -> str:
    """A pattern shared by passing runs that follow the guard and absent from what breaks it in failing runs. Empty:
    there is none, or the guard forbids nothing."""
    if guard.template != "absence":
        return ""
    forbidden = parse_pattern(guard.function)
    verdicts = replay_guard(guard, runs)
    kept = [run for run, verdict in zip(runs, verdicts, strict=True) if verdict == "holds" and run.passed]
    broke = [run for run, verdict in zip(runs, verdicts, strict=True) if verdict == "broken" and not run.passed]
    describe = _describe_ways if forbidden.conditions else _describe_changes
    good, bad = _group(kept, forbidden, describe), _group(broke, forbidden, describe)
    shared = [text for text, doing in good.items() if _is_shared(doing, kept)]
    right = [text for text in shared if len(bad[text]) <= MAX_SHARED * len(broke)]
    right += [text for text in _reverse(forbidden, shared) if _is_shared(_find_doing(text, kept), kept)]
    alike = [text for text in right if _answers(text, forbidden)]
    chosen = sorted(alike, key=lambda text: (_strangeness(text, forbidden), -len(good[text]), text))
    return chosen[0] if broke and chosen else ""


def _is_shared(doing: Sequence[StudyRun], kept: Sequence[StudyRun]) -> bool:
    return len(doing) >= MIN_SHARED * len(kept) and len({run.task for run in doing}) >= MIN_TASKS


def _group(
    runs: Sequence[StudyRun], forbidden: Pattern, describe: Callable[[StudyRun, Pattern], Iterator[str]]
) -> dict[str, list[StudyRun]]:
    """The runs grouped by what they did, as patterns."""
    doing = defaultdict[str, list[StudyRun]](list)
    for run in runs:
        for text in dict.fromkeys(describe(run, forbidden)):
            doing[text].append(run)
    return doing


def _describe_ways(run: StudyRun, forbidden: Pattern) -> Iterator[str]:
    """The ways in which the call was made; in a run with a forbidden call, the ways of such calls."""
    argument, seen = forbidden.conditions[0].argument, SeenFields()
    ways: list[tuple[bool, list[SeenRelation]]] = []
    for call in run.recorded.calls:
        seen.look_back(call)
        if call.function == forbidden.function and call.worked and call.arguments.get(argument) is not None:
            relations = list(find_relations(call.arguments[argument], call, seen))
            ways.append((forbidden.matches(call), relations))
    is_broken = any(wrong for wrong, _ in ways)
    for wrong, relations in ways:
        if wrong == is_broken:
            yield from (f"{forbidden.function}[{argument} {relation}]" for relation in relations if relation != GIVEN)


def _reverse(forbidden: Pattern, shared: Sequence[str]) -> Iterator[str]:
    """If the highest was chosen, the lowest, among all records or among those with a word that all chosen ones share,
    such as the open ones."""
    test = next(iter(forbidden.conditions), None)
    if test is None or test.test != "picks" or (choice := parse_choice(test.value)).way not in _REVERSED:
        return
    filters = [
        parsed.filters
        for text in shared
        for other in parse_pattern(text).conditions
        if other.test == "picks" and (parsed := parse_choice(other.value)).way == "having"
        if parsed.function == choice.function
    ]
    for some in ((), *filters):
        opposite = choice._replace(way=_REVERSED[choice.way], filters=some)
        yield str(forbidden._replace(conditions=(test._replace(value=str(opposite)),)))


def _find_doing(text: str, runs: Sequence[StudyRun]) -> list[StudyRun]:
    pattern = parse_pattern(text)
    return [run for run in runs if any(call.worked and pattern.matches(call) for call in run.recorded.calls)]


def _describe_changes(run: StudyRun, forbidden: Pattern) -> Iterator[str]:
    """What else was changed, and with which words that do not come from the request."""
    task = plain_text(run.trajectory.task)
    for call in run.recorded.calls:
        if call.function == forbidden.function or call.effect != "write" or not call.worked:
            continue
        yield call.function
        for argument, value in call.arguments.items():
            if isinstance(value, str) and is_word(value) and plain_text(value) not in task:
                yield f"{call.function}[{argument} = {value}]"


def _answers(text: str, forbidden: Pattern) -> bool:
    """Is it about the same aspect? Another form does not answer where else a value is taken from."""
    tests = parse_pattern(text).conditions
    return not forbidden.conditions or (bool(tests) and tests[0].test == forbidden.conditions[0].test)


def _strangeness(text: str, forbidden: Pattern) -> tuple[int, int, int]:
    """How little it resembles what is forbidden; then how much it says."""
    tests = parse_pattern(text).conditions
    if not forbidden.conditions or not tests:
        return 0, -len(tests), len(text)
    first, asked = forbidden.conditions[0], tests[0]
    if first.test == "picks":
        chosen, refused = parse_choice(asked.value), parse_choice(first.value)
        return int((chosen.field, chosen.function) != (refused.field, refused.function)), 0, len(text)
    return int(function_of_place(asked.value) != function_of_place(first.value)), 0, len(text)
