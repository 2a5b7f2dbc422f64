"""What a call changes, and what happens if it is repeated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from contramem.build.functions.calls import Calls, Retry, runs_of
from contramem.build.functions.errors import quote_complaint
from contramem.build.functions.words import ADDS, DESTROYS, REACHES_OUT, does, effect_verbs, plural
from contramem.contrast.observation import Observation
from contramem.traces.effects import words

MIN_RUNS = 2
"""A repeat that was accepted in fewer runs does not justify a card."""
MIN_STATES = 2
"""How often both states must be seen before a call is said to toggle between them."""

_OPPOSITES = (
    ("on", "off"), ("enabled", "disabled"), ("true", "false"), ("active", "inactive"), ("locked", "unlocked"),
    ("open", "closed"), ("connected", "disconnected"), ("muted", "unmuted"), ("yes", "no"),
)  # fmt: skip
_STATES = {word: number for number, pair in enumerate(_OPPOSITES) for word in pair}
_STATE = re.compile(rf"\b(?:{'|'.join(_STATES)})\b", re.IGNORECASE)


_WARNINGS = (("Irreversible", "verify target and content"), ("Destructive", "verify the selection"))


class Effects(NamedTuple):
    """What a card says about side effects."""

    text: str
    telling: bool
    """Does it say more than the function's name?"""


def side_effects(calls: Calls) -> Effects:
    """Empty for reads, and for functions that never worked."""
    if calls.effect == "finalize":
        return Effects("Ends the work on the task.", telling=False)
    if calls.effect == "wait":
        return Effects("Lets time pass.", telling=False)
    if calls.effect != "write" or not calls.worked:
        return Effects("", telling=False)
    repeated = list(_when_repeated(calls))
    return Effects(
        " ".join((*_describe_action(calls), *(text for text, _ in repeated))), any(seen for _, seen in repeated)
    )


def _describe_action(calls: Calls) -> Iterator[str]:
    kind, action = effect_verbs(calls.name), does(calls.name)
    given = any(call.arguments for call in calls.worked)
    if kind in (DESTROYS, REACHES_OUT):
        warning, check = _WARNINGS[kind is DESTROYS]
        yield (f"{action}. " if action else "") + warning + (f": {check} before the call." if given else ".")
    elif kind is not None:
        change = "adds to stored state" if kind is ADDS else "changes stored state"
        yield f"{action}: {change}." if action else f"{change.capitalize()}."


def _when_repeated(calls: Calls) -> Iterator[tuple[str, bool]]:
    """What is said about repeats, and whether calls showed it."""
    flips = _flips(calls)
    if flips:
        yield flips, True
        return
    repeats = list(calls.repeats())
    if "toggle" in words(calls.name):
        yield "By its name it flips a state: a second call may undo the first.", False
    elif repeats and all(retry.then.error for retry in repeats):
        refused = [retry.then for retry in repeats]
        yield f"The same call a second time was refused in {_in_runs(repeats)}{quote_complaint(refused, calls)}.", True
    elif effect_verbs(calls.name) in (ADDS, REACHES_OUT) and any(not retry.then.error for retry in repeats):
        accepted = [retry for retry in repeats if not retry.then.error]
        proven = runs_of(retry.then for retry in accepted) >= MIN_RUNS
        yield f"A repeat is not refused: the same call was accepted again in {_in_runs(accepted)}.", proven


def _in_runs(retries: list[Retry]) -> str:
    runs = runs_of(retry.then for retry in retries)
    return f"{runs} run{'s' if runs > 1 else ''}"


def _flips(calls: Calls) -> str:
    """The same call returns one state or its opposite, and a repeat always returns the other one."""
    ends: dict[tuple[bytes, int], Counter[str]] = {}
    for call in calls.worked:
        if state := state_after(call):
            key = msgspec.json.encode(call.arguments, order="deterministic")
            ends.setdefault((key, _STATES[state]), Counter())[state] += 1
    both = [states for states in ends.values() if len(states) == 2 and min(states.values()) >= MIN_STATES]
    pairs = [(state_after(retry.first), state_after(retry.then)) for retry in calls.repeats() if not retry.then.error]
    pairs = [(first, other) for first, other in pairs if first and other]
    undone = sum(first != other for first, other in pairs)
    if not both or undone < len(pairs) or not (pairs or "toggle" in words(calls.name)):
        return ""
    states = max(both, key=lambda states: (sum(states.values()), sorted(states)))
    named = " and ".join(f'"{state}" in {count}' for state, count in states.most_common())
    text = f"It flips the state it finds: the same call ended with {named} calls."
    if undone:
        text += f" A repeat undid the first call in {undone} of {len(pairs)} {plural('repeat')}."
    return text + " Look up the state before the call."


def state_after(call: Observation) -> str:
    """The state that the first line of a result reports; empty if there is none, or several."""
    lines = call.returned.strip().splitlines()
    states = {state.lower() for state in _STATE.findall(lines[0])} if lines else set()
    return states.pop() if len(states) == 1 else ""
