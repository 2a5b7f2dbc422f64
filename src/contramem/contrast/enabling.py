"""Enabling: a call was refused, the run did something else, then the same call worked. What made the difference?

The tool answers this within a single run, without comparing outcomes. An action that another run also took before it
was refused in the same way did not make the difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from contramem.contrast.signal import same_call

if TYPE_CHECKING:
    from contramem.contrast.packet import PacketRun
from contramem.contrast.step import Step
from contramem.traces.shell import is_program


class Enabling(NamedTuple):
    """A function that was refused until other functions had worked."""

    function: str
    error: str
    """The refusal that went away."""
    by: tuple[str, ...]
    """What was done in between, in order, where it may have made the difference."""
    arguments: tuple[str, ...]
    """Arguments of the function whose new values came from there. Empty: exactly the same call worked."""
    run: PacketRun
    refused: Step
    worked: Step


def find_enablings(runs: Sequence[PacketRun]) -> list[Enabling]:
    """Every case in which a run got past a refusal by doing something else first, ordered by run and step."""
    candidates = [enabling for run in runs for enabling in _in_run(run)]
    refuted = {
        (enabling.function, enabling.error): _find_useless_functions(runs, enabling.function, enabling.error)
        for enabling in candidates
    }
    kept = []
    for enabling in candidates:
        by = tuple(name for name in enabling.by if name not in refuted[enabling.function, enabling.error])
        by = _keep_effective(by, enabling)
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
    """The functions called in between, and the arguments they supplied; None if another value explains the
    difference."""
    done = tuple(dict.fromkeys(step.function for step in between))
    if same_call(refused) == same_call(tried):
        return (done, ()) if done else None
    changed = [name for name in tried.arguments if refused.arguments.get(name) != tried.arguments[name]]
    given = tuple(name for name in changed if tried.origins.get(name) in done)
    if tried.error or not given or len(given) < len(changed):
        return None
    return tuple(dict.fromkeys(tried.origins[name] for name in given)), given


def _find_useless_functions(runs: Iterable[PacketRun], function: str, error: str) -> set[str]:
    """Functions that had worked before a call of `function` that was still refused with this error."""
    in_vain: set[str] = set()
    for run in runs:
        worked: set[str] = set()
        for step in run.actions:
            if step.function == function and step.error == error:
                in_vain |= worked
            elif step.function == function and not step.error:
                break  # a repetition may be refused for another reason than the one we look at
            elif step.function and not step.error:
                worked.add(step.function)
    return in_vain


def _keep_effective(by: tuple[str, ...], enabling: Enabling) -> tuple[str, ...]:
    """Before an identical call: only the writes, because reads change nothing. If there is no write and the call then
    worked, everything: something that looked like a read did change something, as `cd` does. A program depends on
    files that any command may have changed, so in a shell only what is known to write counts."""
    if enabling.arguments:
        return by
    steps = {step.function: step for step in enabling.run.actions if enabling.refused.position < step.position}
    if is_program(enabling.function):
        return tuple(name for name in by if steps[name].effect == "write")
    writes = tuple(name for name in by if steps[name].effect != "read")
    return writes or (() if enabling.worked.error else by)
