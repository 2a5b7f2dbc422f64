"""Signals: what separates the runs of one task, along the paper's four axes, each naming the events that show it.

Every detector is a small function from the runs to signals. A statement says how many runs on each side did what, so
that a reader (a person, a rule, a model) can weigh it; nothing here decides what is a lesson.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import msgspec

from contramem.contrast.align import nearest
from contramem.contrast.flow import NOWHERE, TASK, USER

if TYPE_CHECKING:
    from contramem.contrast.packet import PacketRun, Step

Axis: TypeAlias = Literal["correctness", "efficiency", "recovery", "recurring failure"]

CLEAR_DIFFERENCE = 0.5
"""How much larger a share of one side must do something before it is worth a word."""
LOOP_LENGTH = 3
"""The same call with the same arguments this many times is a loop."""


GAVE_UP, REPEATED = "gave up", "repeated the same call"


class Cite(NamedTuple):
    """An event that shows it: a run's letter and the position in that run."""

    run: str
    position: int


class Signal(msgspec.Struct, frozen=True, omit_defaults=True):
    """One difference between runs of a task."""

    axis: Axis
    kind: str
    statement: str
    passing: tuple[str, ...] = ()
    """Letters of passing runs in which it shows."""
    failing: tuple[str, ...] = ()
    cites: tuple[Cite, ...] = ()
    functions: tuple[str, ...] = ()
    argument: str = ""
    strength: float = 0.0
    """0 to 1: how cleanly it separates the runs; orders signals within a packet."""


class Sides(NamedTuple):
    """The runs that are evidence, by outcome."""

    passing: tuple[PacketRun, ...]
    failing: tuple[PacketRun, ...]

    @property
    def all(self) -> tuple[PacketRun, ...]:
        return self.passing + self.failing


def signals_of(runs: Sequence[PacketRun]) -> tuple[Signal, ...]:
    """All signals of a packet, the clearest first. Works with one run, one source, all passed and all failed."""
    evidence = [run for run in runs if run.counts]
    sides = Sides(tuple(run for run in evidence if run.passed), tuple(run for run in evidence if not run.passed))
    found = [signal for detector in DETECTORS for signal in detector(sides)]
    found += _failing_alike(sides, found)
    return tuple(sorted(found, key=lambda signal: (-signal.strength, signal.axis, signal.kind, signal.statement)))


# Correctness


def first_divergence(sides: Sides) -> Iterator[Signal]:
    """Where each failing run first did something else than the passing run most like it; alike ones together."""
    if not sides.passing:
        return
    parted: dict[tuple[str, str], list[tuple[PacketRun, Step | None, PacketRun, Step | None]]] = defaultdict(list)
    for run in sides.failing:
        other = nearest(run, sides.passing)
        good, bad = _parting(other.actions, run.actions)
        if good is not None or bad is not None:
            parted[_did(good), _did(bad)].append((run, bad, other, good))
    for (good_did, bad_did), cases in parted.items():
        run, bad, other, good = cases[0]
        cites = [Cite(case[0].letter, case[1].position) for case in cases if case[1] is not None]
        cites += [Cite(other.letter, good.position)] if good is not None else []
        yield Signal(
            axis="correctness",
            kind="first divergence",
            statement=f"Where passing runs {good_did}, {_subject(cases)} {_conjugated(bad_did, cases)}"
            f"{_instead(good, bad)}.",
            passing=tuple(dict.fromkeys(case[2].letter for case in cases)),
            failing=tuple(case[0].letter for case in cases),
            cites=tuple(cites),
            functions=_named(good, bad),
            strength=0.3 + 0.4 * len(cases) / len(sides.failing),
        )


def _parting(good: Sequence[Step], bad: Sequence[Step]) -> tuple[Step | None, Step | None]:
    for left, right in zip(good, bad, strict=False):
        if left.label != right.label or differing_arguments(left, right):
            return left, right
    longer = max(good, bad, key=len)
    rest = longer[min(len(good), len(bad)) :]
    if not rest:
        return None, None
    return (rest[0], None) if longer is good else (None, rest[0])


def _did(step: Step | None) -> str:
    return "stop" if step is None else _words(step.label)


def _words(label: str) -> str:
    return f"call {label}" if "." in label else {"final answer": "give the final answer"}.get(label, label)


def _instead(good: Step | None, bad: Step | None) -> str:
    """When both call the same function: with which arguments they part."""
    if good is None or bad is None or good.label != bad.label:
        return ""
    names = sorted(
        name
        for name in good.arguments.keys() | bad.arguments.keys()
        if good.arguments.get(name) != bad.arguments.get(name)
    )
    return f" with another {', '.join(names)}"


def _subject(cases: Sequence[object]) -> str:
    return f"{len(cases)} failing run" + ("s" if len(cases) > 1 else "")


def _conjugated(deed: str, cases: Sequence[object]) -> str:
    verb, _, rest = deed.partition(" ")
    return f"{verb}s {rest}".strip() if len(cases) == 1 else deed


def calls_of_one_side(sides: Sides) -> Iterator[Signal]:
    """Calls that only, or nearly only, passing or failing runs make."""
    if not (sides.passing and sides.failing):
        return
    for function in sorted({step.function for run in sides.all for step in run.actions if step.function}):
        good = [(run, step) for run in sides.passing if (step := _first(run, function))]
        bad = [(run, step) for run in sides.failing if (step := _first(run, function))]
        difference = len(good) / len(sides.passing) - len(bad) / len(sides.failing)
        if abs(difference) >= CLEAR_DIFFERENCE:
            yield Signal(
                axis="correctness",
                kind="calls of passing runs" if difference > 0 else "calls of failing runs",
                statement=f"{function} is called by {len(good)} of {len(sides.passing)} passing and "
                f"{len(bad)} of {len(sides.failing)} failing runs.",
                passing=tuple(run.letter for run, _ in good),
                failing=tuple(run.letter for run, _ in bad),
                cites=_cites(good if difference > 0 else bad),
                functions=(function,),
                strength=abs(difference),
            )


def _first(run: PacketRun, function: str) -> Step | None:
    return next((step for step in run.actions if step.function == function), None)


def _cites(found: Sequence[tuple[PacketRun, Step]]) -> tuple[Cite, ...]:
    return tuple(Cite(run.letter, step.position) for run, step in found)


def writes(sides: Sides) -> Iterator[Signal]:
    """Writes that failing runs lack, add or repeat, against what every passing run does."""
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


def _write_signal(kind: str, norm: str, function: str, runs: list[PacketRun], sides: Sides) -> Signal:
    shown = [(run, step) for run in (sides.passing if kind == "missing write" else runs) for step in _writes(run)]
    return Signal(
        axis="correctness",
        kind=kind,
        statement=f"{kind.capitalize()}: {function} in {len(runs)} of {len(sides.failing)} failing runs ({norm}).",
        passing=tuple(run.letter for run in sides.passing) if kind == "missing write" else (),
        failing=tuple(run.letter for run in runs),
        cites=_cites([(run, step) for run, step in shown if step.function == function]),
        functions=(function,),
        strength=0.5 + 0.5 * len(runs) / len(sides.failing),
    )


def order(sides: Sides) -> Iterator[Signal]:
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
    first: str, then: str, wrong: list[PacketRun], places: dict[str, dict[str, tuple[int, int]]], sides: Sides
) -> Signal:
    return Signal(
        axis="correctness",
        kind="reordered",
        statement=f"Passing runs call {first} before {then}; {_subject(wrong)} "
        f"{_conjugated('call', wrong)} {then} first.",
        passing=tuple(run.letter for run in sides.passing),
        failing=tuple(run.letter for run in wrong),
        cites=_cites([(run, run.actions[places[run.letter][then][0]]) for run in wrong]),
        functions=(first, then),
        strength=0.4 + 0.4 * len(wrong) / len(sides.failing),
    )


def arguments(sides: Sides) -> Iterator[Signal]:
    """Arguments on which passing runs agree and failing runs differ, with where the values came from."""
    if not sides.passing:
        return
    for function in sorted({step.function for run in sides.passing for step in run.actions if step.function}):
        good = [(run, step) for run in sides.passing if (step := _first(run, function))]
        bad = [(run, step) for run in sides.failing if (step := _first(run, function))]
        # One passing call shows what works, not what is needed.
        if len(good) < 2 or not bad:
            continue
        for name in sorted({name for _, step in good + bad for name in step.arguments}):
            values = Counter(_shown(step, name) for _, step in good)
            usual, times = values.most_common(1)[0]
            other = [(run, step) for run, step in bad if _shown(step, name) not in values]
            if times == len(good) and other and not _is_prose(usual):
                yield _argument_signal(function, name, usual, good, other, sides)


def _shown(step: Step, name: str) -> str:
    return repr(step.arguments[name]) if name in step.arguments else "left out"


def _is_prose(value: str) -> bool:
    return value.startswith("'<TEXT")


def _argument_signal(
    function: str,
    name: str,
    usual: str,
    good: list[tuple[PacketRun, Step]],
    other: list[tuple[PacketRun, Step]],
    sides: Sides,
) -> Signal:
    seen = _origin_words(good[0][1].origins.get(name))
    differing = _shown(other[0][1], name)
    made_up = _origin_words(other[0][1].origins.get(name))
    return Signal(
        axis="correctness",
        kind="differing argument",
        statement=f"{function}: {name} is {usual}{seen} in passing runs, {differing}{made_up} in {_subject(other)}.",
        passing=tuple(run.letter for run, _ in good),
        failing=tuple(run.letter for run, _ in other),
        cites=_cites([*other, good[0]]),
        functions=(function,),
        argument=name,
        strength=0.3 + 0.6 * len(other) / len(sides.failing),
    )


def _origin_words(origin: str | None) -> str:
    if origin is None:
        return ""
    known = {TASK: " (from the task)", USER: " (told by the user)", NOWHERE: " (seen nowhere before)"}
    return known.get(origin, f" (from {origin})")


def finalization(sides: Sides) -> Iterator[Signal]:
    """Runs that stop on the way that passing runs go to its end, and runs that never finish."""
    unfinished = [run for run in sides.failing if run.ended == "limit" or not _finishes(run)]
    if unfinished and any(_finishes(run) for run in sides.passing):
        yield Signal(
            axis="correctness",
            kind="missing finalization",
            statement=f"{_subject(unfinished)} of {len(sides.failing)} did not finish.",
            failing=tuple(run.letter for run in unfinished),
            cites=_cites([(run, run.steps[-1]) for run in unfinished if run.steps]),
            strength=0.3 + 0.5 * len(unfinished) / len(sides.failing),
        )
    early: dict[str, list[tuple[PacketRun, PacketRun, Step]]] = defaultdict(list)
    for run in sides.failing:
        if sides.passing and _finishes(run):
            other = nearest(run, sides.passing)
            if next_step := _left_undone(run, other):
                early[next_step.label].append((run, other, next_step))
    for label, cases in sorted(early.items()):
        yield Signal(
            axis="correctness",
            kind="early finalization",
            statement=f"Where passing runs go on to {_words(label)}, {_subject(cases)} stopped.",
            passing=tuple(dict.fromkeys(case[1].letter for case in cases)),
            failing=tuple(case[0].letter for case in cases),
            cites=tuple(Cite(other.letter, step.position) for _, other, step in cases),
            functions=_named(cases[0][2]),
            strength=0.4 + 0.5 * len(cases) / len(sides.failing),
        )


def _finishes(run: PacketRun) -> bool:
    return any(step.kind == "final" or step.effect == "finalize" for step in run.steps)


def _left_undone(run: PacketRun, other: PacketRun) -> Step | None:
    """The first call of `other` after all that `run` did, when `run` did nothing else than the start of it."""
    done = [step.label for step in run.actions if step.function]
    planned = [step for step in other.actions if step.function]
    if len(done) < len(planned) and done == [step.label for step in planned[: len(done)]]:
        return planned[len(done)]
    return None


def asking(sides: Sides) -> Iterator[Signal]:
    """One side asks the user, the other does not."""
    if not (sides.passing and sides.failing):
        return
    good = [(run, step) for run in sides.passing if (step := _first_question(run))]
    bad = [(run, step) for run in sides.failing if (step := _first_question(run))]
    difference = len(good) / len(sides.passing) - len(bad) / len(sides.failing)
    if abs(difference) >= CLEAR_DIFFERENCE:
        yield Signal(
            axis="correctness",
            kind="asked" if difference > 0 else "asked needlessly",
            statement=f"The user is asked by {len(good)} of {len(sides.passing)} passing and "
            f"{len(bad)} of {len(sides.failing)} failing runs.",
            passing=tuple(run.letter for run, _ in good),
            failing=tuple(run.letter for run, _ in bad),
            cites=_cites(good if difference > 0 else bad),
            strength=abs(difference),
        )


def _first_question(run: PacketRun) -> Step | None:
    return next((step for step in run.actions if step.asks), None)


# Recovery


Reactions: TypeAlias = dict[str, list[tuple["PacketRun", "Step"]]]


def reactions(runs: Sequence[PacketRun]) -> dict[tuple[str, str], Reactions]:
    """For each (function, error template): what the runs did next, and which runs at which step did so."""
    found: dict[tuple[str, str], Reactions] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        for index, step in enumerate(run.actions):
            if step.error and step.function:
                found[step.function, step.error][_reaction(run.actions, index)].append((run, step))
    return dict(sorted(found.items()))


def errors(sides: Sides) -> Iterator[Signal]:
    """Errors, and what the runs did next: changed the call, tried something else, repeated it, gave up."""
    for (function, error), by_reaction in reactions(sides.all).items():
        cases = [case for group in by_reaction.values() for case in group]
        parts = [f"{_outcomes(group)} {reaction}" for reaction, group in sorted(by_reaction.items())]
        yield Signal(
            axis="recovery",
            kind="error and reaction",
            statement=f'After "{error}" from {function}: {"; ".join(parts)}.',
            passing=tuple(dict.fromkeys(run.letter for run, _ in cases if run.passed)),
            failing=tuple(dict.fromkeys(run.letter for run, _ in cases if not run.passed)),
            cites=_cites(cases),
            functions=(function,),
            strength=_separation(by_reaction),
        )


def _reaction(actions: Sequence[Step], index: int) -> str:
    step = actions[index]
    following = actions[index + 1] if index + 1 < len(actions) else None
    if following is None or following.kind == "final":
        return GAVE_UP
    if following.function != step.function:
        return f"turned to {_words(following.label)}"
    if same_call(following) == same_call(step):
        return REPEATED
    changed = sorted(
        name
        for name in step.arguments.keys() | following.arguments.keys()
        if step.arguments.get(name) != following.arguments.get(name)
    )
    worked = "failed again" if following.error else "worked"
    return f"changed {', '.join(changed)}, which {worked}"


def _outcomes(cases: list[tuple[PacketRun, Step]]) -> str:
    runs = {run.letter: run.passed for run, _ in cases}
    passed = sum(1 for value in runs.values() if value)
    return f"{len(runs)} run{'s' if len(runs) > 1 else ''} ({passed} passed)"


def _separation(by_reaction: Reactions) -> float:
    shares = []
    for cases in by_reaction.values():
        outcomes = {run.letter: bool(run.passed) for run, _ in cases}
        shares.append(sum(outcomes.values()) / len(outcomes))
    spread = max(shares) - min(shares)
    return 0.2 + 0.5 * spread if len(shares) > 1 else 0.2


# Efficiency


def detours(sides: Sides) -> Iterator[Signal]:
    """The shortest passing run, and what longer passing runs did besides."""
    if len(sides.passing) < 2:
        return
    shortest = min(sides.passing, key=lambda run: (len(run.actions), run.letter))
    longest = max(sides.passing, key=lambda run: (len(run.actions), run.letter))
    if len(longest.actions) < max(len(shortest.actions) + 2, 1.5 * len(shortest.actions)):
        return
    usual = Counter(step.label for step in shortest.actions)
    extra = Counter(step.label for step in longest.actions) - usual
    besides = ", ".join(f"{label} ×{count}" if count > 1 else label for label, count in sorted(extra.items())[:4])
    yield Signal(
        axis="efficiency",
        kind="shortest passing run",
        statement=f"Run {shortest.letter} passes with {len(shortest.actions)} actions; run {longest.letter} takes "
        f"{len(longest.actions)}, with {besides} besides.",
        passing=(shortest.letter, longest.letter),
        cites=_cites([(longest, step) for step in longest.actions if extra[step.label]]),
        functions=tuple(label for label in sorted(extra) if "." in label),
        strength=0.2 + 0.3 * (1 - len(shortest.actions) / len(longest.actions)),
    )


def loops(sides: Sides) -> Iterator[Signal]:
    """The same call with the same arguments again and again."""
    looping: dict[str, list[tuple[PacketRun, Step, int]]] = defaultdict(list)
    for run in sides.all:
        counts = Counter(same_call(step) for step in run.actions if step.function)
        for step in {same_call(step): step for step in run.actions if step.function}.values():
            if counts[same_call(step)] >= LOOP_LENGTH:
                looping[step.function].append((run, step, counts[same_call(step)]))
    for function, cases in sorted(looping.items()):
        most = max(count for _, _, count in cases)
        failing = tuple(dict.fromkeys(run.letter for run, _, _ in cases if not run.passed))
        passing = tuple(dict.fromkeys(run.letter for run, _, _ in cases if run.passed))
        yield Signal(
            axis="efficiency",
            kind="loop",
            statement=f"{function} is repeated with the same arguments up to {most} times in "
            f"{len(passing)} passing and {len(failing)} failing runs.",
            passing=passing,
            failing=failing,
            cites=tuple(Cite(run.letter, step.position) for run, step, _ in cases),
            functions=(function,),
            strength=0.3 + (0.3 * len(failing) / len(sides.failing) if sides.failing and not passing else 0),
        )


# Recurring failure


def _failing_alike(sides: Sides, found: list[Signal]) -> Iterator[Signal]:
    """The clearest thing that every failing run shows and no passing run does."""
    if len(sides.failing) < 2:
        return
    everyone = {run.letter for run in sides.failing}
    if sides.passing:
        shared = [
            signal
            for signal in found
            if set(signal.failing) == everyone and (not signal.passing or signal.kind in _CONTRASTS)
        ]
        shared = [signal for signal in shared if signal.kind != "first divergence" or len(everyone) > 1]
        if shared:
            clearest = max(shared, key=lambda signal: signal.strength)
            yield msgspec.structs.replace(
                clearest,
                axis="recurring failure",
                kind="all failing runs alike",
                statement=f"All {len(everyone)} failing runs alike. {clearest.statement}",
            )
        return
    for signal in found:
        if set(signal.failing) == everyone and signal.kind in ("error and reaction", "loop"):
            yield msgspec.structs.replace(
                signal,
                axis="recurring failure",
                kind="all failing runs alike",
                statement=f"Every run failed, and all {len(everyone)} met this. {signal.statement}",
            )


# Signals whose `passing` letters are the counter-example, not runs that show the same fault.
_CONTRASTS = frozenset({"first divergence", "missing write", "reordered", "differing argument", "early finalization"})

DETECTORS: tuple[Callable[[Sides], Iterator[Signal]], ...] = (
    first_divergence,
    calls_of_one_side,
    writes,
    order,
    arguments,
    finalization,
    asking,
    errors,
    detours,
    loops,
)


def differing_arguments(left: Step, right: Step) -> bool:
    """Do two calls of one function differ in more than the wording of a text?"""
    if left.arguments == right.arguments:
        return False
    return any(
        left.arguments.get(name) != right.arguments.get(name)
        for name in left.arguments.keys() | right.arguments.keys()
        if not (_is_prose(repr(left.arguments.get(name))) and _is_prose(repr(right.arguments.get(name))))
    )


def same_call(step: Step) -> tuple[str, str]:
    return step.function, repr(sorted(step.arguments.items(), key=lambda item: item[0]))


def _named(*steps: Step | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(step.function for step in steps if step is not None and step.function))
