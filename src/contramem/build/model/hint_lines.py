"""Renders the hints about a packet: what other tasks show, signals that decide something, and mined guards.

Hints are suggestions and not evidence, so they stand apart from the packet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from contramem.build.model.across_hints import AcrossHints
from contramem.build.model.nearest import pair_with_nearest
from contramem.build.model.remarks import passes_without_a_write
from contramem.build.model.step_text import flatten
from contramem.build.rules.mine import mine
from contramem.contrast.packet import Packet
from contramem.contrast.quotation import shorten_quotations
from contramem.contrast.signal import Signal
from contramem.contrast.signals import ALIKE
from contramem.monitor.packet_replay import GuardReplay

MAX_SHARED, MAX_SIGNALS, MAX_GUARDS, FEW_HINTS = 3, 4, 3, 2
MAX_CITES = 3
"""Of one signal: enough to find its place among the steps."""


def short_names(packet: Packet) -> Callable[[str], str]:
    """Takes the app off the names of functions where there is only one: steps and guards show them in full."""
    called = sorted(filter(None, packet.called))
    apps = {function.partition(".")[0] for function in called}
    if len(apps) != 1:
        return lambda text: text
    full = re.compile("|".join(rf"\b{re.escape(function)}\b" for function in reversed(called)))
    return lambda text: full.sub(lambda found: found[0].partition(".")[2], text)


def hint_lines(packet: Packet, across: AcrossHints, *, few: bool) -> Iterator[str]:
    """The hints about a packet, one a line; with `few`, only the clearest."""
    shorten_names = short_names(packet)
    if opposite := across.opposites.get(packet.task_key):
        yield f"  {shorten_names(opposite)}"
    for hint in [hint for hint in across.shared if hint.concerns(packet)][:MAX_SHARED]:
        yield f"  across tasks: {hint}"
    signals = _drop_told(_drop_repeated(packet.signals), packet)
    for signal in signals[: FEW_HINTS if few else MAX_SIGNALS]:
        cites = " ".join(f"{cite.run}#{cite.position}" for cite in signal.cites[:MAX_CITES])
        statement = shorten_names(shorten_quotations(flatten(signal.statement)))
        yield f"  signal ({signal.axis}): {statement}{f' [{cites}]' if cites else ''}"
    guards = mine(packet) if packet.is_contrastive else []
    for replay in guards[: FEW_HINTS if few else MAX_GUARDS]:
        yield f"  guard: {replay.guard} ({_replay_in_words(replay)})"


def _drop_told(signals: Sequence[Signal], packet: Packet) -> list[Signal]:
    """Drop signals that decide nothing or that the comparison with the nearest passing run states, also where they
    come back as what all failing runs have in common."""
    told = _told_by_nearest(packet)
    dropped = {
        (_evidence(signal), kind)
        for signal in packet.signals
        if not told.isdisjoint(_subjects(signal)) or _is_detour(signal, packet)
        for kind in (signal.kind, ALIKE)
    }
    return [signal for signal in signals if (_evidence(signal), signal.kind) not in dropped]


def _is_detour(signal: Signal, packet: Packet) -> bool:
    """Whether failing runs only looked something up before they did the same, or the passing run's call had failed."""
    if signal.kind != "first divergence":
        return False
    steps = {(run.letter, step.position): step for run in packet.runs for step in run.actions}
    if any(steps[cite].error for cite in signal.cites if cite.run in signal.passing and cite in steps):
        return True
    looked = [steps[cite].effect == "read" for cite in signal.cites if cite.run in signal.failing and cite in steps]
    failing = [run for run in packet.failing if run.letter in signal.failing]
    return (
        len(signal.functions) > 1
        and all(looked)
        and all(any(step.function == signal.functions[0] for step in run.actions) for run in failing)
    )


def _drop_repeated(signals: Sequence[Signal]) -> list[Signal]:
    """Drop signals that another one repeats ("All 3 failing runs alike. ...") or states more precisely: a missing write
    instead of a call of passing runs, a differing argument instead of a divergence."""
    alike = {_evidence(signal) for signal in signals if signal.kind == ALIKE}
    sharper = {(signal.functions, kind) for signal in signals for kind in _SHARPER.get(signal.kind, ())}
    of_one_side = {name for signal in signals if signal.kind in _CALLED for name in signal.functions}
    return [
        signal
        for signal in signals
        if (signal.functions, signal.kind) not in sharper
        and not (signal.kind == "first divergence" and not of_one_side.isdisjoint(signal.functions))
        and (signal.kind == ALIKE or _evidence(signal) not in alike)
    ]


def _evidence(signal: Signal) -> tuple[object, ...]:
    return signal.functions, signal.passing, signal.failing, signal.cites, signal.strength


def _told_by_nearest(packet: Packet) -> set[tuple[str, str]]:
    """Kinds of signals, with a function, that the comparison with the nearest passing run says already."""
    pairs = pair_with_nearest(packet, passes_without_a_write(packet))
    return {
        (kind, difference.function)
        for _, _, differences in pairs
        for difference in differences
        for kind in (_ABOUT_ARGUMENTS if difference.argument else _ABOUT_WRITES)
    }


def _subjects(signal: Signal) -> set[tuple[str, str]]:
    return {(signal.kind, function) for function in signal.functions}


_ABOUT_WRITES = ("missing write", "extra write", "first divergence")
_ABOUT_ARGUMENTS = ("differing argument", "first divergence")


_CALLED = ("calls of passing runs", "calls of failing runs")
_OF_ONE_SIDE = (*_CALLED, "first divergence")
_SHARPER = {"missing write": _OF_ONE_SIDE, "extra write": _OF_ONE_SIDE, "differing argument": ("first divergence",)}
"""By kind of signal: the kinds it makes redundant for the same functions."""


def _replay_in_words(replay: GuardReplay) -> str:
    parts = [("kept by passing", replay.held), ("broken by failing", replay.broken)]
    if replay.contradicted:
        parts.append(("broken by passing", replay.contradicted))
    return "; ".join(f"{how} {' '.join(runs)}" for how, runs in parts)
