"""What a dry run foresees on real runs, held against what is then sent."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.model_replies import Runs, new_store

from contramem.build.answering import AskNow
from contramem.build.estimate import estimate
from contramem.build.model import ModelAuthor, ModelChoice
from contramem.build.rounds import Plan, Rounds
from contramem.contrast.packet import contrast
from contramem.contrast.vocabulary import Vocabulary
from contramem.llm.calls import Caller
from contramem.llm.exchange import Exchange
from contramem.llm.price import Price
from contramem.llm.request import Request
from contramem.traces.pool import Pool
from contramem.traces.read import read_traces

SOURCES = {"claude-3-5-sonnet-20241022", "gpt-4o-mini-2024-07-18", "command-r"}
"""A strong one, a middling one, a weak one."""


@pytest.fixture(scope="module")
def workspace(shared_data: Path) -> Runs:
    """The workspace suite of AgentDojo, by three sources."""
    read = read_traces([shared_data / "agentdojo" / "runs_no_attack.tar.xz"])
    with Pool(run for run in read if run.ability == "workspace" and run.source in SOURCES) as pool:
        vocabulary = Vocabulary(pool)
        return Runs(list(contrast(pool, vocabulary)), vocabulary)


@pytest.mark.slow
@pytest.mark.parametrize("window", [1, 10])
def test_a_dry_run_is_exact_where_requests_are_known_and_its_ranges_hold(
    workspace: Runs, tmp_path: Path, window: int
) -> None:
    price = Price(5, 30)
    plan = Plan(workspace.packets, window=window)
    foreseen = estimate(plan, ModelChoice("scripted"), workspace.checks, price, None)
    model = workspace.scripted(price=price)
    with new_store(tmp_path) as store, store.writing("build"):
        exchange = Exchange(store)
        author = ModelAuthor(ModelChoice("scripted"), exchange, workspace.checks, workspace.packets)
        rounds = Rounds(plan, store, author, workspace.checks)
        first: list[Request] = rounds.ready()
        rounds.run(AskNow(Caller(model), exchange))
    assert rounds.finished
    known = {one.stage: one for one in foreseen if one.part == "ready"}
    assert {stage: (one.calls.least, one.tokens_in.least) for stage, one in known.items() if one.calls.exact} == {
        stage: (len(asked), sum(request.tokens for request in asked))
        for stage in ("builder", "reflector")
        if (asked := [request for request in first if request.stage == stage])
    }
    assert known["reflector"].calls == (window, window)
    assert exchange.stages["curator"].calls > 0
    for stage, cost in exchange.stages.items():
        parts = [one for one in foreseen if one.stage == stage]
        print(stage, window, cost, *parts, sep="\n  ")  # with -s: the figures of docs/models.md
        for got, bounds in (
            (cost.calls, [one.calls for one in parts]),
            (cost.tokens_in, [one.tokens_in for one in parts]),
            (cost.tokens_out, [one.tokens_out for one in parts]),
            (cost.cost_usd, [one.cost_usd for one in parts if one.cost_usd]),
        ):
            assert sum(one.least for one in bounds) - 1e-9 <= got <= sum(one.most for one in bounds) + 1e-9
