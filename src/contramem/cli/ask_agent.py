"""Asks a model with tools that explores all runs (`contramem build --model M --author agent`)."""

from __future__ import annotations

from pathlib import Path

from contramem.bank.locate import is_url
from contramem.bank.store import Store, open_store
from contramem.build.agent.estimate import estimate_conversations
from contramem.build.agent.rounds import AgentPlan, AgentRounds
from contramem.build.model.answering import AskNow
from contramem.build.model.estimate import StageEstimate, replicate
from contramem.cli.ask_model import ask_live
from contramem.cli.build_cost import ModelBuildCost
from contramem.cli.model_options import ModelOptions
from contramem.errors import UsageError
from contramem.llm.client import Model
from contramem.llm.exchange import Exchange
from contramem.pipeline import build_by_agent


def check_agent_options(options: ModelOptions | None) -> ModelOptions:
    """Refuse conflicting options before anything is read."""
    if options is None:
        raise UsageError("--author agent is a model with tools: name it with --model. Without a model, `contramem "
                         "author install` makes your coding agent the author.")  # fmt: skip
    if options.batch or options.by_file:
        raise UsageError(
            "--author agent is a conversation, so it cannot be combined with --batch, "
            "--export-requests or --import-replies."
        )
    if not options.keep:
        raise UsageError("--no-keep-replies: a conversation continues from the replies it keeps.")
    return options


def run(plan: AgentPlan, store: Store, model: Model, options: ModelOptions) -> ModelBuildCost:
    """Run all conversations, or as many as the budget allows."""
    exchange = Exchange(store)
    with ask_live(model, options, exchange) as (caller, live):
        answer = AskNow(caller, exchange, live.round)
        build = build_by_agent(plan, store, options.choice, answer, exchange=exchange, on_progress=live.stage)
    return ModelBuildCost(build, exchange, dict(caller.troubles))


def foresee(plan: AgentPlan, where: str, options: ModelOptions) -> list[StageEstimate]:
    """Estimate the cost. An existing store is read; a missing one is not created."""
    if not is_url(where) and not Path(where).exists():
        return _foresee(plan, None, options)
    with open_store(where) as store:
        return _foresee(plan, store, options)


def _foresee(plan: AgentPlan, store: Store | None, options: ModelOptions) -> list[StageEstimate]:
    with replicate(store) as replica, replica.writing("build --dry-run"):
        rounds = AgentRounds(plan, replica, options.choice, Exchange(replica))
        return estimate_conversations(rounds.conversations, options.price)
