"""Enabling: a call was refused, something else was done, and the call was refused no more. What made the difference?

The tool itself says so, run by run: this needs no comparison of outcomes. What another run had done too, and was
refused all the same, did not make it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from contramem.contrast.signal import same_call

if TYPE_CHECKING:
    from contramem.contrast.packet import PacketRun, Step


class Enabling(NamedTuple):
    """One function that was refused until others had worked."""

    function: str
    error: str
    """The refusal that went away."""
    by: tuple[str, ...]
    """What was done in between, in order, as far as it can have made the difference."""
    arguments: tuple[str, ...]
    """Arguments of the function whose new values came from there. Empty: the very same call worked."""
    run: PacketRun
    refused: Step
    worked: Step


def enablings(runs: Sequence[PacketRun]) -> list[Enabling]:
    """Every time that a run got past a refusal by doing something else first, in order of runs and steps."""
    candidates = [enabling for run in runs for enabling in _in_run(run)]
    refuted = {
        (enabling.function, enabling.error): _done_in_vain(runs, enabling.function, enabling.error)
        for enabling in candidates
    }
    kept = []
    for enabling in candidates:
        by = tuple(name for name in enabling.by if name not in refuted[enabling.function, enabling.error])
        by = _that_change_something(by, enabling)
        if by:
            kept.append(enabling._replace(by=by))
    return kept


def _in_run(run: PacketRun) -> Iterator[Enabling]:
    calls = [step for step in run.actions if step.function]
    for function in dict.fromkeys(step.function for step in calls if step.error):
        for before, after in pairwise(_places(calls, function)):
            refused, tried = calls[before], calls[after]
            if refused.error and tried.error != refused.error:
                between = [step for step in calls[before + 1 : after] if not step.error]
                if (by := _makes_the_difference(refused, tried, between)) is not None:
                    yield Enabling(function, refused.error, *by, run, refused, tried)


def _places(calls: Sequence[Step], function: str) -> list[int]:
    return [index for index, step in enumerate(calls) if step.function == function]


def _makes_the_difference(
    refused: Step, tried: Step, between: Sequence[Step]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """What was done in between, and the arguments it gave values for; None when another value explains it."""
    done = tuple(dict.fromkeys(step.function for step in between))
    if same_call(refused) == same_call(tried):
        return (done, ()) if done else None
    changed = [name for name in tried.arguments if refused.arguments.get(name) != tried.arguments[name]]
    given = tuple(name for name in changed if tried.origins.get(name) in done)
    if tried.error or not given or len(given) < len(changed):
        return None
    return tuple(dict.fromkeys(tried.origins[name] for name in given)), given


def _done_in_vain(runs: Iterable[PacketRun], function: str, error: str) -> set[str]:
    """What had worked before a call of `function` that was refused with that error all the same."""
    in_vain: set[str] = set()
    for run in runs:
        worked: set[str] = set()
        for step in run.actions:
            if step.function == function and step.error == error:
                in_vain |= worked
            elif step.function == function and not step.error:
                break  # whatever a repetition is refused for, it is not what was missing
            elif step.function and not step.error:
                worked.add(step.function)
    return in_vain


def _that_change_something(by: tuple[str, ...], one: Enabling) -> tuple[str, ...]:
    """Of what was done before the same call, the writes: looking changes nothing. Without a write, and when the call
    then worked, all of it: one of those that seemed to look did change something, as `cd` does."""
    if one.arguments:
        return by
    steps = {step.function: step for step in one.run.actions if one.refused.position < step.position}
    writes = tuple(name for name in by if steps[name].effect != "read")
    return writes or (() if one.worked.error else by)
