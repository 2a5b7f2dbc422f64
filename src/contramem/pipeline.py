"""From traces to bank, in the order it happens. Read this file first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from contramem.bank.store import Store
from contramem.build.author import Author
from contramem.build.construction import Checks, Construction, Report, curriculum
from contramem.build.model import ModelAuthor, ModelChoice
from contramem.build.rounds import Answer, Plan, Rounds
from contramem.contrast.observation import by_function
from contramem.contrast.packet import Packet, contrast
from contramem.contrast.vocabulary import Vocabulary
from contramem.errors import BudgetError, ModelError
from contramem.llm.exchange import Exchange
from contramem.traces.pool import Pool
from contramem.traces.trajectory import Tool


@dataclass(frozen=True)
class ModelBuild:
    """How far a build by a model came. Whatever was paid for is kept in the store."""

    report: Report
    finished: bool
    stopped: ModelError | BudgetError | None = None
    """Why it ended before its end. None, and not finished: replies are missing."""


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


def build_by_model(
    plan: Plan,
    store: Store,
    choice: ModelChoice,
    checks: Checks,
    answer: Answer,
    *,
    exchange: Exchange,
    on_progress: Progress | None = None,
) -> ModelBuild:
    """The same with a model as author, in rounds that `answer` has answered. Called again, it goes on where it stopped.

    What a model claims is checked when it claims it; its cards are not settled by rules afterwards (Algorithm 1).
    """
    with store.writing("build"):
        author = ModelAuthor(choice, exchange, checks, plan.packets)
        rounds = Rounds(plan, store, author, checks)
        try:
            rounds.run(answer, on_progress)
        except (ModelError, BudgetError) as stopped:
            return ModelBuild(rounds.report, rounds.finished, stopped)
    return ModelBuild(rounds.report, rounds.finished)
