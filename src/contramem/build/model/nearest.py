"""What a failing run wrote beside the passing run that is nearest to it, difference by difference.

Steps are aligned over all runs, so a failing run stands there beside whatever run came first. Which of its writes is
wrong shows best beside the passing run that it is most like.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from contramem.build.model.step_text import value_text
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.step import Step

MAX_LINES, MAX_DIFFERENCES = 3, 4


class WriteDifference(NamedTuple):
    """One thing in which the writes of two runs differ."""

    function: str
    argument: str
    """Empty: the call itself is missing or too much."""
    text: str


def compare_writes(packet: Packet, lucky: set[str]) -> Iterator[str]:
    """A line for failing runs that differ in the same way from the passing run nearest to them. `lucky` are passing
    runs that are no example."""
    groups = defaultdict[tuple[str, str], list[str]](list)
    for run, nearest, differences in pair_with_nearest(packet, lucky):
        if differences:
            text = "; ".join(difference.text for difference in differences[:MAX_DIFFERENCES])
            groups[nearest.letter, text].append(run.letter)
    for (nearest_letter, text), letters in list(groups.items())[:MAX_LINES]:
        yield f"writes of {' '.join(letters)} beside {nearest_letter}, the nearest passing: {text}"


def pair_with_nearest(packet: Packet, lucky: set[str]) -> Iterator[tuple[PacketRun, PacketRun, list[WriteDifference]]]:
    """Each failing run, the passing run that is most like it, and how their writes differ."""
    passing = [run for run in packet.passing if run.letter not in lucky]
    if not passing:
        return
    for run in packet.failing:
        nearest = max(passing, key=lambda other: _likeness(writes_of(run), writes_of(other)))
        yield run, nearest, list(_differences(writes_of(run), writes_of(nearest)))


def writes_of(run: PacketRun) -> list[Step]:
    """The calls that changed something."""
    return [step for step in run.actions if step.effect == "write" and not step.error and not step.speaks]


def _likeness(writes: Sequence[Step], others: Sequence[Step]) -> tuple[int, int, int]:
    """Equal writes count most, then arguments that are equal, then how many are missing or too much."""
    equal = sum(any(_is_same(step, other) for other in others) for step in writes)
    arguments = sum(max((_common(step, other) for other in others), default=0) for step in writes)
    return equal, arguments, -abs(len(writes) - len(others))


def _is_same(step: Step, other: Step) -> bool:
    return step.function == other.function and step.arguments == other.arguments


def _common(step: Step, other: Step) -> int:
    if step.function != other.function:
        return 0
    equal = [name for name, value in step.arguments.items() if other.arguments.get(name) == value]
    return 1 + len(equal)


def _differences(writes: Sequence[Step], others: Sequence[Step]) -> Iterator[WriteDifference]:
    left = [step for step in writes if not any(_is_same(step, other) for other in others)]
    for other in others:
        if any(_is_same(step, other) for step in writes):
            continue
        like = max(
            (step for step in left if step.function == other.function),
            default=None,
            key=lambda step: _common(step, other),
        )
        if like is None:
            yield WriteDifference(other.function, "", f"no {_short(other)}")
        else:
            left.remove(like)
            yield from _arguments_apart(like, other)
    yield from (WriteDifference(step.function, "", f"{_short(step)} too much") for step in left)


def _arguments_apart(step: Step, other: Step) -> Iterator[WriteDifference]:
    """Texts are told apart elsewhere: their placeholders say nothing."""
    for name in dict.fromkeys((*other.arguments, *step.arguments)):
        given, right = step.arguments.get(name), other.arguments.get(name)
        if given == right or (name in step.prose and name in other.prose):
            continue
        where = f"{_short(step)}.{name}"
        if name not in step.arguments:
            yield WriteDifference(step.function, name, f"no {where}")
        elif name not in other.arguments:
            yield WriteDifference(step.function, name, f"{where} given")
        else:
            yield WriteDifference(step.function, name, f"{where}={value_text(given)}, not {value_text(right)}")


def _short(step: Step) -> str:
    """The function without its app: the steps name it whole."""
    return step.function.rpartition(".")[2]
