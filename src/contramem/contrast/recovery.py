"""Recovery: errors, and what the runs did next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from contramem.contrast.quotation import quote_words
from contramem.contrast.signal import RunsByOutcome, Signal, cites_of, in_words, same_call

if TYPE_CHECKING:
    from contramem.contrast.packet import PacketRun
from contramem.contrast.step import Step


class Reaction(NamedTuple):
    """What a run did after an error."""

    text: str
    changed_and_worked: bool = False
    """The run made the call again with other arguments, and it worked."""


GAVE_UP, REPEATED = Reaction("gave up"), Reaction("repeated the same call")

Reactions: TypeAlias = dict[Reaction, list[tuple["PacketRun", "Step"]]]


def reactions(runs: Sequence[PacketRun]) -> dict[tuple[str, str], Reactions]:
    """For each (function, error template): what the runs did next, and which runs at which step did so."""
    reactions_to: dict[tuple[str, str], Reactions] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        for index, step in enumerate(run.actions):
            if step.error and step.function:
                reactions_to[step.function, step.error][_reaction(run.actions, index)].append((run, step))
    return dict(sorted(reactions_to.items()))


def errors(sides: RunsByOutcome) -> Iterator[Signal]:
    """Errors, and what the runs did next: changed the call, tried something else, repeated it, gave up."""
    for (function, error), by_reaction in _join_alike(reactions(sides.all)).items():
        cases = [case for group in by_reaction.values() for case in group]
        parts = [f"{_outcomes(group)} {reaction.text}" for reaction, group in sorted(by_reaction.items())]
        yield Signal(
            axis="recovery",
            kind="error and reaction",
            statement=f"After {quote_words(error)} from {function}: {'; '.join(parts)}.",
            passing=tuple(dict.fromkeys(run.letter for run, _ in cases if run.passed)),
            failing=tuple(dict.fromkeys(run.letter for run, _ in cases if not run.passed)),
            cites=cites_of(cases),
            functions=(function,),
            strength=_separation(by_reaction),
        )


def _join_alike(reactions_to: Mapping[tuple[str, str], Reactions]) -> dict[tuple[str, str], Reactions]:
    """The same, with complaints that only differ in what their own call was given as one: the first stands for all."""
    joined: dict[tuple[str, str], tuple[str, Reactions]] = {}
    for (function, error), by_reaction in reactions_to.items():
        step = next(step for cases in by_reaction.values() for _, step in cases)
        _, whole = joined.setdefault((function, complaint_of(step)), (error, defaultdict(list)))
        for reaction, cases in by_reaction.items():
            whole[reaction] += cases
    return {(function, error): whole for (function, _), (error, whole) in joined.items()}


def complaint_of(step: Step) -> str:
    """The error of a call without the values that the call itself had given."""
    given = sorted((value for value in step.arguments.values() if isinstance(value, str) and value), key=len)
    return reduce(lambda error, value: error.replace(value, "…"), reversed(given), step.error)


def _reaction(actions: Sequence[Step], index: int) -> Reaction:
    step = actions[index]
    following = actions[index + 1] if index + 1 < len(actions) else None
    if following is None or following.kind == "final":
        return GAVE_UP
    if following.function != step.function:
        return Reaction(f"turned to {in_words(following.label)}")
    if same_call(following) == same_call(step):
        return REPEATED
    changed = sorted(
        name
        for name in step.arguments.keys() | following.arguments.keys()
        if step.arguments.get(name) != following.arguments.get(name)
    )
    worked = "failed again" if following.error else "worked"
    return Reaction(f"changed {', '.join(changed)}, which {worked}", changed_and_worked=not following.error)


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
