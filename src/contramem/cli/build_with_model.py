"""`contramem build --model`: a model that writes the cards, or that explores all runs and proposes them."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from pathlib import Path

from contramem.bank.bank import Bank
from contramem.bank.quorum import hold_to_quorum
from contramem.bank.store import open_store
from contramem.build.agent.rounds import AgentPlan
from contramem.build.model.estimate import StageEstimate
from contramem.build.model.rounds import BuildPlan
from contramem.build.rules.author import RuleAuthor
from contramem.cli import ask_agent, ask_model, build_cost
from contramem.cli.build_summary import show_summary, summary_as_json
from contramem.cli.engine_options import EngineChoice
from contramem.cli.model_options import ModelOptions
from contramem.cli.output import print_json, progress
from contramem.cli.reading import read_pool
from contramem.cli.selected_runs import Choice, check_free, limit_rollouts, select_runs
from contramem.contrast.collection import contrast_selected, learn_vocabulary
from contramem.contrast.selection import Selection
from contramem.pipeline import build_bank
from contramem.study.run_cache import open_study
from contramem.traces.reader import ReadOptions
from contramem.traces.trajectory import Tool
from contramem.validate.validator import Validator


def build_by_model(
    paths: tuple[Path, ...],
    options: ReadOptions,
    where: str,
    choice: Choice,
    by_model: ModelOptions,
    engine_choice: EngineChoice,
    as_json: bool,
) -> None:
    """Build with a model as author."""
    with ask_model.open_chosen_model(by_model) as model:
        if not by_model.dry_run:
            check_free(where)
        with select_runs(paths, options, choice, engine_choice) as runs:
            packets = list(runs.packets)
        plan = BuildPlan(packets, runs.tools, choice.only, choice.append_only, choice.reassesses, by_model.window)
        checks = Validator(runs.vocabulary.closed)
        if by_model.dry_run:
            _foresee(plan, where, by_model, checks, as_json)
            return
        with open_store(where, create=True) as store:
            account = ask_model.run(plan, store, model, by_model, checks)
            bank = hold_to_quorum(store, choice.min_sources)
    _show_built(account, bank, runs.selection, where, by_model, as_json)


def _show_built(
    account: build_cost.ModelBuildCost,
    bank: Bank,
    selection: Selection,
    where: str,
    by_model: ModelOptions,
    as_json: bool,
) -> None:
    if as_json:
        print_json(
            {**summary_as_json(account.build.report, bank, selection), "model": build_cost.account_json(account)}
        )
    else:
        show_summary(account.build.report, bank, selection, where, is_waiting=bool(account.open))
        build_cost.show_account(account, by_model.export)
    if account.build.stopped is not None:
        raise account.build.stopped


def build_by_agent(
    paths: tuple[Path, ...],
    options: ReadOptions,
    where: str,
    choice: Choice,
    by_model: ModelOptions | None,
    engine_choice: EngineChoice,
    log: Path,
    as_json: bool,
) -> None:
    """Build Function Cards by rules and Skill Cards with an agent."""
    by_model = ask_agent.check_agent_options(by_model)
    with ask_model.open_chosen_model(by_model) as model:
        if not by_model.dry_run:
            check_free(where)
        tools: dict[str, Tool] = {}
        with (
            read_pool(paths, options, choice.sources, tools) as every,
            limit_rollouts(every, choice.rollouts) as pool,
            open_study(paths, options, lambda: nullcontext(pool), cache=None) as study,
            study.tables() as tables,
        ):
            plan = AgentPlan(study.run_set, tables, log, by_model.parallel)
            if model is None:
                _show_foreseen(ask_agent.foresee(plan, where, by_model), by_model, as_json)
                return
            with engine_choice.open() as engine, progress() as tell:
                selection = Selection(pool.sketches(), choice.max_tasks)
                vocabulary = learn_vocabulary(pool, engine, tell)
                packets = contrast_selected(pool, selection.keys, vocabulary, engine, tell)
            with packets, open_store(where, create=True) as store:
                functions = Counter[str]()
                if choice.only != "skills":
                    checks = Validator(vocabulary.closed)
                    rules = build_bank(packets, store, RuleAuthor(vocabulary), checks, only="functions", tools=tools)
                    functions = rules.functions
                account = ask_agent.run(plan, store, model, by_model)
                account.build.report.functions.update(functions)
                bank = hold_to_quorum(store, choice.min_sources)
    _show_built(account, bank, selection, where, by_model, as_json)


def _foresee(plan: BuildPlan, where: str, by_model: ModelOptions, checks: Validator, as_json: bool) -> None:
    _show_foreseen(ask_model.foresee(plan, where, by_model, checks), by_model, as_json)


def _show_foreseen(estimates: list[StageEstimate], by_model: ModelOptions, as_json: bool) -> None:
    if as_json:
        print_json(build_cost.estimate_json(estimates))
    else:
        build_cost.show_estimate(estimates, by_model.choice.name, by_model.batch)
