"""Enforcing: what tools themselves ask for. They refuse a call until something was done, or a value that was made up.

That is seen in the calls, whatever became of the runs: a rule that a tool enforces needs no outcomes to be believed.
"""

from __future__ import annotations

from collections.abc import Sequence

from contramem.build.mining import guarded, matches
from contramem.contrast.enabling import Enabling, enablings
from contramem.contrast.flow import NOWHERE
from contramem.contrast.packet import Packet
from contramem.monitor.guard import Guard
from contramem.monitor.pattern import parse_pattern


def is_enforced(guards: Sequence[Guard], packets: Sequence[Packet]) -> bool:
    """Has a tool refused a call until what a guard asks for was done, or refused what was made up and nothing else?"""
    if any(_is_shown_by(guard, one) for packet in packets for one in enablings(packet.runs) for guard in guards):
        return True
    return any(guard.template == "known_value" and _refuses_guesses(guard, packets) for guard in guards)


def _refuses_guesses(guard: Guard, packets: Sequence[Packet]) -> bool:
    """Do calls fail with made-up values, in a way that they never do with values that had been read?"""
    guessed, read = set[tuple[str, str, str]](), set[tuple[str, str, str]]()
    for packet in packets:
        for run in (*packet.passing, *packet.failing):
            for step in guarded(run, guard):
                origin = step.origins.get(guard.argument)
                if origin is not None:
                    (guessed if origin == NOWHERE else read).add(
                        (f"{packet.task_key} {run.letter}", step.function, step.error)
                    )
    known = {(function, error) for _, function, error in read}
    refused = {run for run, function, error in guessed if error and (function, error) not in known}
    worked = {run for run, _, error in read if not error}
    return min(len(refused), len(worked)) >= 2 and 2 * len(refused) > len({run for run, _, _ in guessed})


def _is_shown_by(guard: Guard, one: Enabling) -> bool:
    if guard.template == "precedence":
        return guard.then == one.function and guard.function == one.by[-1] and not one.arguments
    pattern = parse_pattern(guard.function)
    return guard.template == "known_value" and guard.argument in one.arguments and matches(pattern, one.worked)
