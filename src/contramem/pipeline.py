"""From traces to bank, in the order it happens. Read this file first."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from contramem.bank.store import Store
from contramem.build.author import Author
from contramem.build.construction import Checks, Construction, Report, curriculum
from contramem.contrast.observation import by_function
from contramem.contrast.packet import Packet, contrast
from contramem.contrast.vocabulary import Vocabulary
from contramem.traces.pool import Pool
from contramem.traces.trajectory import Tool

Progress = Callable[[str, int, int], None]
"""Told (stage, done, all) as work goes on."""


def contrast_all(pool: Pool, vocabulary: Vocabulary, on_progress: Progress | None = None) -> list[Packet]:
    """Put the runs of each task side by side, with values as placeholders and the signals that separate them."""
    tell = on_progress or (lambda stage, done, total: None)
    packets = []
    for done, packet in enumerate(contrast(pool, vocabulary), 1):
        packets.append(packet)
        tell("contrasting", done, len(pool.tasks()))
    return packets


def build_bank(
    packets: list[Packet],
    store: Store,
    author: Author,
    checks: Checks,
    *,
    only: str | None = None,
    append_only: bool = False,
    tools: dict[str, Tool] | None = None,
    on_progress: Progress | None = None,
) -> Report:
    """Fold what the packets teach into the store, one decision at a time (the paper's Algorithm 1).

    A decision that is refused changes nothing, and stands in the ledger with its reason. `only` builds just the
    `functions` or just the `skills`.
    """
    tell = on_progress or (lambda stage, done, total: None)
    with store.writing("build"):
        construction = Construction(store, author, checks, append_only=append_only)
        if only != "skills":
            observed = by_function(packets)
            for done, (function, observations) in enumerate(observed.items(), 1):
                construction.function(function, observations, (tools or {}).get(function), packets)
                tell("function cards", done, len(observed))
        if only != "functions":
            ordered = curriculum(packets)
            for done, packet in enumerate(ordered, 1):
                construction.learn(packet)
                tell("skill cards", done, len(ordered))
            by_ability = sorted(packets, key=lambda packet: (packet.ability, packet.task_key))
            for ability, group in groupby(by_ability, key=lambda packet: packet.ability):
                construction.settle(ability, list(group))
    return construction.report
