"""Correctness: where failing runs did something other than passing runs, and what they did."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from contramem.contrast.align import nearest
from contramem.contrast.flow import NOWHERE, TASK, USER
from contramem.contrast.signal import (
    CLEAR_DIFFERENCE,
    Cite,
    RunsByOutcome,
    Signal,
    cites_of,
    conjugate,
    describe_step,
    differing_arguments,
    first_call,
    functions_of,
    in_words,
    is_prose,
    same_call,
    show_argument,
    subject,
)

if TYPE_CHECKING:
    from contramem.contrast.packet import PacketRun
from contramem.contrast.step import Step


def first_divergence(sides: RunsByOutcome) -> Iterator[Signal]:
    """Where each failing run first diverged from the passing run most like it. Runs that diverged alike are grouped."""
    if not sides.passing:
        return
    parted: dict[tuple[str, str], list[tuple[PacketRun, Step | None, PacketRun, Step | None]]] = defaultdict(list)
    for run in sides.failing:
        other = nearest(run, sides.passing)
        good, bad = _find_divergence(other.actions, run.actions)
        if good is not None or bad is not None:
            parted[describe_step(good), describe_step(bad)].append((run, bad, other, good))
    for (good_did, bad_did), cases in parted.items():
        run, bad, other, good = cases[0]
        cites = [Cite(case[0].letter, case[1].position) for case in cases if case[1] is not None]
        cites += [Cite(other.letter, good.position)] if good is not None else []
        yield Signal(
            axis="correctness",
            kind="first divergence",
            statement=f"Where passing runs {good_did}, {subject(cases)} {conjugate(bad_did, cases)}"
            f"{_differing_arguments(good, bad)}.",
            passing=tuple(dict.fromkeys(case[2].letter for case in cases)),
            failing=tuple(case[0].letter for case in cases),
            cites=tuple(cites),
            functions=functions_of(good, bad),
            strength=0.3 + 0.4 * len(cases) / len(sides.failing),
        )


def _find_divergence(good: Sequence[Step], bad: Sequence[Step]) -> tuple[Step | None, Step | None]:
    for left, right in zip(good, bad, strict=False):
        if left.label != right.label or differing_arguments(left, right):
            return left, right
    longer = max(good, bad, key=len)
    rest = longer[min(len(good), len(bad)) :]
    if not rest:
        return None, None
    return (rest[0], None) if longer is good else (None, rest[0])


def _differing_arguments(good: Step | None, bad: Step | None) -> str:
    """If both call the same function: the arguments in which they differ."""
    if good is None or bad is None or good.label != bad.label:
        return ""
    names = sorted(
        name
        for name in good.arguments.keys() | bad.arguments.keys()
        if good.arguments.get(name) != bad.arguments.get(name)
    )
    return f" with another {', '.join(names)}"


def calls_of_one_side(sides: RunsByOutcome) -> Iterator[Signal]:
    """Calls that only, or nearly only, passing or failing runs make."""
    if not (sides.passing and sides.failing):
        return
    for function in sorted({step.function for run in sides.all for step in run.actions if step.function}):
        first = partial(first_call, function=function)
        yield from _of_one_side(sides, first, f"{function} is called", _CALLED, (function,))


_CALLED, _ASKED = ("calls of passing runs", "calls of failing runs"), ("asked", "asked needlessly")


def _of_one_side(
    sides: RunsByOutcome,
    first: Callable[[PacketRun], Step | None],
    what: str,
    kinds: tuple[str, str],
    functions: tuple[str, ...] = (),
) -> Iterator[Signal]:
    """A signal if clearly more runs of one side take the step that `first` finds. `kinds` has the signal's kind for
    passing and for failing runs."""
    good = [(run, step) for run in sides.passing if (step := first(run))]
    bad = [(run, step) for run in sides.failing if (step := first(run))]
    difference = len(good) / len(sides.passing) - len(bad) / len(sides.failing)
    if abs(difference) < CLEAR_DIFFERENCE:
        return
    yield Signal(
        axis="correctness",
        kind=kinds[0] if difference > 0 else kinds[1],
        statement=f"{what} by {len(good)} of {len(sides.passing)} passing and "
        f"{len(bad)} of {len(sides.failing)} failing runs.",
        passing=tuple(run.letter for run, _ in good),
        failing=tuple(run.letter for run, _ in bad),
        cites=cites_of(good if difference > 0 else bad),
        functions=functions,
        strength=abs(difference),
    )


def writes(sides: RunsByOutcome) -> Iterator[Signal]:
    """Writes that failing runs omit, add or repeat, compared with what every passing run does."""
    if not sides.passing:
        return
    counted = {run.letter: Counter(step.function for step in _writes(run)) for run in sides.all}
    for function in sorted({name for counts in counted.values() for name in counts}):
        made = [counted[run.letter][function] for run in sides.passing]
        fewer = [run for run in sides.failing if counted[run.letter][function] < min(made)]
        more = [run for run in sides.failing if counted[run.letter][function] > max(made)]
        if fewer:
            yield _write_signal("missing write", f"passing runs make at least {min(made)}", function, fewer, sides)
        if more and max(made) == 0:
            yield _write_signal("extra write", "no passing run makes it", function, more, sides)
        repeated = [run for run in more if max(made) > 0 and _repeats(run, function)]
        if repeated:
            yield _write_signal("duplicate write", f"passing runs make at most {max(made)}", function, repeated, sides)


def _writes(run: PacketRun) -> list[Step]:
    return [step for step in run.actions if step.effect == "write" and not step.error]


def _repeats(run: PacketRun, function: str) -> bool:
    seen = Counter(same_call(step) for step in _writes(run) if step.function == function)
    return any(count > 1 for count in seen.values())


def _write_signal(kind: str, norm: str, function: str, runs: list[PacketRun], sides: RunsByOutcome) -> Signal:
    made = [(run, step) for run in (sides.passing if kind == "missing write" else runs) for step in _writes(run)]
    return Signal(
        axis="correctness",
        kind=kind,
        statement=f"{kind.capitalize()}: {function} in {len(runs)} of {len(sides.failing)} failing runs ({norm}).",
        passing=tuple(run.letter for run in sides.passing) if kind == "missing write" else (),
        failing=tuple(run.letter for run in runs),
        cites=cites_of([(run, step) for run, step in made if step.function == function]),
        functions=(function,),
        strength=0.5 + 0.5 * len(runs) / len(sides.failing),
    )


def order(sides: RunsByOutcome) -> Iterator[Signal]:
    """Pairs of calls, at least one a write, that passing runs make in one order and failing runs in the other."""
    if not sides.passing:
        return
    places = {run.letter: _places(run) for run in sides.all}
    writing = {step.function for run in sides.all for step in _writes(run)}
    functions = sorted(set.intersection(*(set(places[run.letter]) for run in sides.passing)))
    for first in functions:
        for then in functions:
            if first == then or not {first, then} & writing:
                continue
            if all(places[run.letter][first][1] < places[run.letter][then][0] for run in sides.passing):
                wrong = [run for run in sides.failing if _before(places[run.letter], then, first)]
                if wrong:
                    yield _order_signal(first, then, wrong, places, sides)


def _places(run: PacketRun) -> dict[str, tuple[int, int]]:
    """First and last index of each function among the actions."""
    places: dict[str, tuple[int, int]] = {}
    for index, step in enumerate(run.actions):
        if step.function:
            places[step.function] = (places.get(step.function, (index, index))[0], index)
    return places


def _before(places: dict[str, tuple[int, int]], first: str, then: str) -> bool:
    return first in places and then in places and places[first][0] < places[then][0]


def _order_signal(
    first: str, then: str, wrong: list[PacketRun], places: dict[str, dict[str, tuple[int, int]]], sides: RunsByOutcome
) -> Signal:
    return Signal(
        axis="correctness",
        kind="reordered",
        statement=f"Passing runs call {first} before {then}; {subject(wrong)} {conjugate('call', wrong)} {then} first.",
        passing=tuple(run.letter for run in sides.passing),
        failing=tuple(run.letter for run in wrong),
        cites=cites_of([(run, run.actions[places[run.letter][then][0]]) for run in wrong]),
        functions=(first, then),
        strength=0.4 + 0.4 * len(wrong) / len(sides.failing),
    )


def arguments(sides: RunsByOutcome) -> Iterator[Signal]:
    """Arguments on which passing runs agree and failing runs differ, with where the values came from."""
    if not sides.passing:
        return
    for function in sorted({step.function for run in sides.passing for step in run.actions if step.function}):
        good = [(run, step) for run in sides.passing if (step := first_call(run, function))]
        bad = [(run, step) for run in sides.failing if (step := first_call(run, function))]
        # A single passing call shows what works, not what is required.
        if len(good) < 2 or not bad:
            continue
        for name in sorted({name for _, step in good + bad for name in step.arguments}):
            values = Counter(show_argument(step, name) for _, step in good)
            usual, times = values.most_common(1)[0]
            other = [(run, step) for run, step in bad if show_argument(step, name) not in values]
            if times == len(good) and other and not is_prose(usual):
                yield _argument_signal(function, name, usual, good, other, sides)


def _argument_signal(
    function: str,
    name: str,
    usual: str,
    good: list[tuple[PacketRun, Step]],
    other: list[tuple[PacketRun, Step]],
    sides: RunsByOutcome,
) -> Signal:
    seen = _origin_words(good[0][1].origins.get(name))
    differing = show_argument(other[0][1], name)
    made_up = _origin_words(other[0][1].origins.get(name))
    return Signal(
        axis="correctness",
        kind="differing argument",
        statement=f"{function}: {name} is {usual}{seen} in passing runs, {differing}{made_up} in {subject(other)}.",
        passing=tuple(run.letter for run, _ in good),
        failing=tuple(run.letter for run, _ in other),
        cites=cites_of([*other, good[0]]),
        functions=(function,),
        argument=name,
        strength=0.3 + 0.6 * len(other) / len(sides.failing),
    )


def _origin_words(origin: str | None) -> str:
    if origin is None:
        return ""
    phrases = {TASK: " (from the task)", USER: " (told by the user)", NOWHERE: " (seen nowhere before)"}
    return phrases.get(origin, f" (from {origin})")


def finalization(sides: RunsByOutcome) -> Iterator[Signal]:
    """Runs that stop partway along the path of passing runs, and runs that never finish."""
    unfinished = [run for run in sides.failing if run.ended == "limit" or not _finishes(run)]
    if unfinished and any(_finishes(run) for run in sides.passing):
        yield Signal(
            axis="correctness",
            kind="missing finalization",
            statement=f"{subject(unfinished)} of {len(sides.failing)} did not finish.",
            failing=tuple(run.letter for run in unfinished),
            cites=cites_of([(run, run.steps[-1]) for run in unfinished if run.steps]),
            strength=0.3 + 0.5 * len(unfinished) / len(sides.failing),
        )
    early: dict[str, list[tuple[PacketRun, PacketRun, Step]]] = defaultdict(list)
    for run in sides.failing:
        if sides.passing and _finishes(run):
            other = nearest(run, sides.passing)
            if next_step := _find_omitted_call(run, other):
                early[next_step.label].append((run, other, next_step))
    for label, cases in sorted(early.items()):
        yield Signal(
            axis="correctness",
            kind="early finalization",
            statement=f"Where passing runs go on to {in_words(label)}, {subject(cases)} stopped.",
            passing=tuple(dict.fromkeys(case[1].letter for case in cases)),
            failing=tuple(case[0].letter for case in cases),
            cites=tuple(Cite(other.letter, step.position) for _, other, step in cases),
            functions=functions_of(cases[0][2]),
            strength=0.4 + 0.5 * len(cases) / len(sides.failing),
        )


def _finishes(run: PacketRun) -> bool:
    return any(step.kind == "final" or step.effect == "finalize" for step in run.steps)


def _find_omitted_call(run: PacketRun, other: PacketRun) -> Step | None:
    """If `run` did exactly the beginning of `other`: the first call of `other` that it left out."""
    done = [step.label for step in run.actions if step.function]
    planned = [step for step in other.actions if step.function]
    if len(done) < len(planned) and done == [step.label for step in planned[: len(done)]]:
        return planned[len(done)]
    return None


def asking(sides: RunsByOutcome) -> Iterator[Signal]:
    """Runs of one side ask the user, those of the other do not."""
    if not (sides.passing and sides.failing):
        return
    yield from _of_one_side(sides, _first_question, "The user is asked", _ASKED)


def _first_question(run: PacketRun) -> Step | None:
    return next((step for step in run.actions if step.asks), None)
