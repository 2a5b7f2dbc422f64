"""Runs of one task side by side: which step is beside which, where runs part and rejoin, and what separates the sides.

A star alignment: one run is the reference, and every other run is aligned to it by the longest common subsequence of
actions. Additional actions go between the rows of the reference; runs that did the same thing there share a row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from rapidfuzz.distance import Indel

from contramem.contrast.signal import CLEAR_DIFFERENCE, Cite, Signal, differing_arguments, is_prose, show_argument
from contramem.contrast.step import Step

if TYPE_CHECKING:
    from contramem.contrast.packet import Packet, PacketRun
    from contramem.traces.trajectory import Trajectory

MAX_COMPARED_RUNS = 100
Symbol: TypeAlias = Literal["●", "◐", "✗"]


@dataclass
class AlignedStep:
    """One action, and the step in which each run took it."""

    label: str
    steps: dict[str, Step] = field(default_factory=dict)

    @property
    def reference(self) -> Step:
        """The step that the others are compared with: that of the first run."""
        return next(iter(self.steps.values()))

    def symbol(self, letter: str) -> Symbol:
        """● called, ◐ called with other arguments than the reference, ✗ called, failed."""
        step = self.steps[letter]
        return "✗" if step.error else "◐" if differing_arguments(self.reference, step) else "●"


def align(runs: Sequence[PacketRun]) -> list[AlignedStep]:
    """Return rows in an order that preserves the order of every run. The first run is the reference."""
    if not runs:
        return []
    reference = runs[0]
    rows = [AlignedStep(step.label, {reference.letter: step}) for step in reference.actions]
    for run in runs[1:]:
        rows = _merge_run(rows, run)
    return rows


def _merge_run(rows: list[AlignedStep], run: PacketRun) -> list[AlignedStep]:
    labels = [row.label for row in rows]
    merged: list[AlignedStep] = []
    for opcode in Indel.opcodes(labels, [step.label for step in run.actions]):
        old = rows[opcode.src_start : opcode.src_end]
        new = run.actions[opcode.dest_start : opcode.dest_end]
        if opcode.tag == "equal":
            for row, step in zip(old, new, strict=True):
                row.steps[run.letter] = step
            merged += old
        else:
            merged += old
            merged += [AlignedStep(step.label, {run.letter: step}) for step in new]
    return merged


def common_app(rows: Sequence[AlignedStep]) -> str:
    """`App.` if all calls are of one app: their labels need not say it."""
    apps = {row.label.partition(".")[0] + "." for row in rows if "." in row.label}
    return apps.pop() if len(apps) == 1 else ""


def reference_first(runs: Sequence[PacketRun]) -> list[PacketRun]:
    """The same runs, with the reference first: the shortest passing run, else the run with the most actions."""
    passing = [run for run in runs if run.passed and run.counts]
    if passing:
        reference = min(passing, key=lambda run: (len(run.actions), run.letter))
    elif runs:
        reference = max(runs, key=lambda run: (len(run.actions), [-ord(char) for char in run.letter]))
    else:
        return []
    return [reference, *(run for run in runs if run is not reference)]


def nearest(run: PacketRun, others: Sequence[PacketRun]) -> PacketRun:
    """The run of `others` whose actions are most similar; on a tie, the first letter. Only the first of many runs are
    compared: a thousand failing runs times a thousand passing ones would take too long."""
    labels = [step.label for step in run.actions]
    compared = others[:MAX_COMPARED_RUNS]
    return min(compared, key=lambda other: (Indel.distance(labels, [s.label for s in other.actions]), other.letter))


# Where two runs part, and where they rejoin


class ChangedArgument(NamedTuple):
    """An argument of the same call that two runs give differently."""

    name: str
    here: str
    there: str


class Parting(NamedTuple):
    """A stretch in which a run does something other than the run that it is compared with."""

    run: str
    other: str
    here: tuple[Step, ...]
    """What the run did there. Empty: it left out what the other did."""
    there: tuple[Step, ...]
    rejoins: Step | None
    """The step of the run from which both do the same again. None: they don't."""

    @property
    def changed(self) -> tuple[ChangedArgument, ...]:
        """If both make the same call where they part: the arguments in which it differs."""
        if not (self.here and self.there) or self.here[0].label != self.there[0].label:
            return ()
        here, there = self.here[0], self.there[0]
        names = dict.fromkeys((*there.arguments, *here.arguments))
        shown = (ChangedArgument(name, show_argument(here, name), show_argument(there, name)) for name in names)
        return tuple(change for change in shown if change.here != change.there and not is_prose(change.here))

    @property
    def at(self) -> Step | None:
        """The step of the run at which it parts. None: it stopped there."""
        return self.here[0] if self.here else self.rejoins

    @property
    def what(self) -> str:
        """What the run does there."""
        if self.changed:
            how = ", ".join(f"{change.name} {change.here} instead of {change.there}" for change in self.changed)
            return f"{_in_short(self.here)} with {how}"
        if self.here and self.there:
            return f"{_in_short(self.here)} instead of {_in_short(self.there)}"
        return f"{_in_short(self.here)} besides" if self.here else f"without {_in_short(self.there)}"

    def __str__(self) -> str:
        return f"{self.what}; " + (f"rejoins at {self.rejoins.position}" if self.rejoins else "doesn't rejoin")


def _in_short(steps: Sequence[Step]) -> str:
    return steps[0].label + (f" and {len(steps) - 1} more" if len(steps) > 1 else "")


def partings(run: PacketRun, other: PacketRun) -> Iterator[Parting]:
    """Every stretch in which `run` differs from `other`, in order. Texts that are only worded differently are equal."""
    here, there = list(map(same_action, run.actions)), list(map(same_action, other.actions))
    apart, left, right = False, 0, 0
    for opcode in [*Indel.opcodes(there, here), None]:
        if opcode is not None and opcode.tag != "equal":
            left, right = (left, right) if apart else (opcode.src_start, opcode.dest_start)
            apart = True
        elif apart:
            end, begin = (len(there), len(here)) if opcode is None else (opcode.src_start, opcode.dest_start)
            rejoins = run.actions[begin] if begin < len(here) else None
            yield Parting(run.letter, other.letter, run.actions[right:begin], other.actions[left:end], rejoins)
            apart = False


def first_partings(packet: Packet) -> Iterator[Parting]:
    """Where each failing run first parts from the passing run most like it."""
    for run in packet.failing if packet.passing else ():
        yield from islice(partings(run, nearest(run, packet.passing)), 1)


def group_partings(parted: Iterable[Parting]) -> list[list[Parting]]:
    """Those from one run that say the same together, the largest group first."""
    groups: defaultdict[tuple[str, str], list[Parting]] = defaultdict(list)
    for parting in parted:
        groups[parting.other, parting.what].append(parting)
    return sorted(groups.values(), key=lambda group: -len(group))


def same_action(step: Step) -> Hashable:
    """What makes two steps the same action: the call and its arguments, whatever the wording of texts."""
    if step.speaks:
        return step.label
    values = ((name, repr(value)) for name, value in sorted(step.arguments.items()))
    return step.label, tuple((name, "text" if is_prose(value) else value) for name, value in values)


def describe_effort(run: Trajectory) -> str:
    """What a run took, as far as its trace says: `9 calls, 34 s, 5,120 tokens, $0.0210`."""
    times, usage = [event.time for event in run.events if event.time is not None], run.usage
    tokens = [count for count in (usage.tokens_in, usage.tokens_out) if count is not None]
    parts = [f"{len(run.calls):,} call{'s' if len(run.calls) != 1 else ''}"]
    parts += [f"{times[-1] - times[0]:,.0f} s"] if len(times) > 1 else []
    parts += [f"{sum(tokens):,} tokens"] if tokens else []
    parts += [f"${usage.cost_usd:.4f}"] if usage.cost_usd is not None else []
    return ", ".join(parts)


# What separates passing from failing runs


class SignalRow(NamedTuple):
    """A signal in a file."""

    axis: str
    kind: str
    statement: str
    separation: float
    passing: str
    """Letters of the passing runs that show it."""
    failing: str
    events: str


class RankedSignal(NamedTuple):
    """A signal, and how well it separates the runs of its task."""

    signal: Signal
    passing: tuple[str, ...]
    """The passing runs that show it too."""
    failing: tuple[str, ...]
    """The failing runs that show it."""
    separation: float
    """By how much the shares of the two sides differ: 1 if all runs of one side show it and none of the other."""

    def row(self) -> SignalRow:
        signal, events = self.signal, " ".join(f"{cite.run}:{cite.position}" for cite in self.signal.cites)
        shown = " ".join(self.passing), " ".join(self.failing)
        return SignalRow(signal.axis, signal.kind, signal.statement, round(self.separation, 4), *shown, events)


def rank_signals(packet: Packet) -> list[RankedSignal]:
    """The signals of a packet and the calls that one side makes more often, those that separate the runs best first."""
    ranked = [_rank(signal, packet) for signal in packet.signals]
    said = {(each.signal.functions, each.passing, each.failing) for each in ranked}
    more = (_rank(signal, packet) for signal in _calls_of_one_side(packet))
    ranked += [each for each in more if (each.signal.functions, each.passing, each.failing) not in said]
    return sorted(ranked, key=lambda each: (-round(each.separation, 6), -each.signal.strength))


def best_cites(ranked: Sequence[RankedSignal]) -> frozenset[Cite]:
    """The events of the signals that separate best: what to look at first."""
    best = ranked[0].separation if ranked else 0.0
    clear = best >= CLEAR_DIFFERENCE
    return frozenset(cite for each in ranked if clear and each.separation == best for cite in each.signal.cites)


_COUNTER_EXAMPLES = ("missing write", "reordered", "differing argument", "early finalization", "first divergence")
"""Kinds of signals whose `passing` letters are the runs that did it right, not runs that show the signal too."""


def _rank(signal: Signal, packet: Packet) -> RankedSignal:
    passing, failing = signal.passing, signal.failing
    if signal.kind in _COUNTER_EXAMPLES:
        steps = {(run.letter, step.position): step for run in packet.runs for step in run.actions}
        wrong = {
            same_action(steps[cite]) for cite in signal.cites if cite.run in signal.failing and tuple(cite) in steps
        }
        by_step = signal.kind in ("first divergence", "differing argument")
        passing = tuple(
            run.letter for run in packet.passing if by_step and not wrong.isdisjoint(map(same_action, run.actions))
        )
    if not packet.is_contrastive or (signal.axis == "efficiency" and not failing):  # passing runs among themselves
        return RankedSignal(signal, passing, failing, 0.0)
    gap = len(failing) / len(packet.failing) - len(passing) / len(packet.passing)
    return RankedSignal(signal, passing, failing, abs(gap))


def _calls_of_one_side(packet: Packet) -> Iterator[Signal]:
    """Calls with their arguments, and numbers of different calls, that clearly more runs of one side make."""
    if not packet.is_contrastive:
        return
    made: defaultdict[Hashable, list[Cite]] = defaultdict(list)
    named: dict[Hashable, Step] = {}
    for run in (*packet.passing, *packet.failing):
        for key, step in {same_action(step): step for step in reversed(run.actions) if step.function}.items():
            made[key].append(Cite(run.letter, step.position))
            named.setdefault(key, step)
    for key, cites in made.items():
        step = named[key]
        arguments = ", ".join(f"{name}={show_argument(step, name)}" for name in step.arguments)
        yield from _of_one_side(packet, cites, f"{step.function}({arguments}) is called", step.function)
    for function in sorted({step.function for step in named.values()}):
        keys = [key for key, step in named.items() if step.function == function]
        for least in range(2, len(keys) + 1):
            counted = _runs_with(least, (made[key] for key in keys))
            yield from _of_one_side(packet, counted, f"{least} different calls of {function} are made", function)


def _runs_with(least: int, cites: Iterable[Sequence[Cite]]) -> list[Cite]:
    """The calls of the runs that make at least so many of them."""
    by_run: defaultdict[str, list[Cite]] = defaultdict(list)
    for cite in (cite for each in cites for cite in each):
        by_run[cite.run].append(cite)
    return [cite for calls in by_run.values() if len(calls) >= least for cite in calls]


def _of_one_side(packet: Packet, cites: Sequence[Cite], what: str, function: str) -> Iterator[Signal]:
    letters = {cite.run for cite in cites}
    good = tuple(run.letter for run in packet.passing if run.letter in letters)
    bad = tuple(run.letter for run in packet.failing if run.letter in letters)
    gap = len(good) / len(packet.passing) - len(bad) / len(packet.failing)
    if abs(gap) < CLEAR_DIFFERENCE:
        return
    yield Signal(
        axis="correctness",
        kind="call of one side",
        statement=f"{what} by {len(good)} of {len(packet.passing)} passing and {len(bad)} of {len(packet.failing)} "
        "failing runs.",
        passing=good,
        failing=bad,
        cites=tuple(cite for cite in cites if cite.run in (good if gap > 0 else bad)),
        functions=(function,),
        strength=abs(gap),
    )
