"""What a dry run foresees on real runs, held against what is then sent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.model_replies import Runs, new_store
from tests.talkative import Talkative, nothing

from contramem.build.model.answering import AskNow
from contramem.build.model.author import ModelAuthor, ModelChoice
from contramem.build.model.estimate import StageEstimate, estimate
from contramem.build.model.rounds import BuildPlan, Rounds
from contramem.collection.runs import Collection
from contramem.contrast.packet import contrast
from contramem.contrast.vocabulary import Vocabulary
from contramem.llm.client import Price, Request
from contramem.llm.exchange import Exchange, ModelCaller, ScriptedModel
from contramem.traces.read import read_traces

SOURCES = {"claude-3-5-sonnet-20241022", "gpt-4o-mini-2024-07-18", "command-r"}
"""A strong one, a middling one, a weak one."""


@pytest.fixture(scope="module")
def workspace(shared_data: Path) -> Runs:
    """The workspace suite of AgentDojo, by three sources."""
    read = read_traces([shared_data / "agentdojo" / "runs_no_attack.tar.xz"])
    with Collection(run for run in read if run.ability == "workspace" and run.source in SOURCES) as pool:
        vocabulary = Vocabulary(pool)
        return Runs(list(contrast(pool, vocabulary)), vocabulary)


Foreseen = list[StageEstimate]
PRICE = Price(5, 30)


def foresee(workspace: Runs, window: int) -> Foreseen:
    return estimate(BuildPlan(workspace.packets, window=window), ModelChoice("scripted"), workspace.checks, PRICE, None)


def built(workspace: Runs, by: Callable[[Request], Any], folder: Path, window: int) -> tuple[list[Request], Exchange]:
    """The first round of a build, and what all of it took."""
    with new_store(folder) as store, store.writing("build"):
        exchange = Exchange(store)
        author = ModelAuthor(ModelChoice("scripted"), exchange, workspace.checks, workspace.packets)
        rounds = Rounds(BuildPlan(workspace.packets, window=window), store, author, workspace.checks)
        first = rounds.ready()
        rounds.run(AskNow(ModelCaller(ScriptedModel(by=by, price=PRICE)), exchange))
    assert rounds.finished
    assert not exchange.oddities
    return first, exchange


def assert_ranges_hold(foreseen: Foreseen, exchange: Exchange) -> None:
    for stage, cost in exchange.stages.items():
        parts = [one for one in foreseen if one.stage == stage]
        print(stage, cost, *parts, sep="\n  ")  # with -s: the figures of docs/models.md
        for got, bounds in (
            (cost.calls, [one.calls for one in parts]),
            (cost.tokens_in, [one.tokens_in for one in parts]),
            (cost.tokens_out, [one.tokens_out for one in parts]),
            (cost.cost_usd, [one.cost_usd for one in parts if one.cost_usd]),
        ):
            assert sum(one.least for one in bounds) - 1e-9 <= got <= sum(one.most for one in bounds) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("window", [1, 10])
def test_a_dry_run_is_exact_where_requests_are_known_and_its_ranges_hold(
    workspace: Runs, tmp_path: Path, window: int
) -> None:
    foreseen = foresee(workspace, window)
    first, exchange = built(workspace, workspace.reply, tmp_path, window)
    known = {one.stage: one for one in foreseen if one.part == "ready"}
    for stage in ("builder", "reflector"):
        asked = [request.tokens for request in first if request.stage == stage]
        assert known[stage].calls == (len(asked), len(asked))
        assert known[stage].tokens_in == (sum(asked), sum(asked))
    assert known["reflector"].calls == (window, window)
    assert exchange.stages["curator"].calls > 0
    assert_ranges_hold(foreseen, exchange)


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["ADD in full", "NOOP"])
def test_a_model_with_three_long_lessons_for_every_task_comes_near_the_upper_end_and_no_further(
    workspace: Runs, tmp_path: Path, operation: str
) -> None:
    model = Talkative(workspace.packets, workspace.vocabulary, operations=[operation])
    foreseen = foresee(workspace, 1)
    _, exchange = built(workspace, model.reply, tmp_path, 1)
    (curator,) = (one for one in foreseen if one.stage == "curator")
    # Nobody is asked about a lesson that no card is near to, or that a card says already.
    assert curator.calls.most == 3 * len(workspace.packets)
    assert len(workspace.packets) / 2 < exchange.stages["curator"].calls <= curator.calls.most
    assert_ranges_hold(foreseen, exchange)


@pytest.mark.slow
def test_a_model_with_nothing_to_say_costs_the_lower_end(workspace: Runs, tmp_path: Path) -> None:
    foreseen = foresee(workspace, 1)
    _, exchange = built(workspace, nothing, tmp_path, 1)
    assert_ranges_hold(foreseen, exchange)
    for stage, cost in exchange.stages.items():
        parts = [one for one in foreseen if one.stage == stage]
        assert cost.calls == sum(one.calls.least for one in parts)
        assert cost.tokens_in == sum(one.tokens_in.least for one in parts)
