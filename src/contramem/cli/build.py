"""`contramem build`: from runs to a bank, by rules or by a model, and a summary of what was decided and would help."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.text import Text

from contramem.bank.acts import hold_to_quorum
from contramem.bank.bank import GRADES, Bank, BankEntry, Grade
from contramem.bank.card import SkillCard
from contramem.bank.frozen import is_url, refresh_frozen
from contramem.bank.show import visible
from contramem.bank.store import Store, open_store
from contramem.build.agent.rounds import AgentPlan
from contramem.build.author import Author, Only
from contramem.build.deltas import DeltasFrom
from contramem.build.model.estimate import StageEstimate
from contramem.build.model.rounds import BuildPlan
from contramem.build.reassess import DEFAULT_GRADE
from contramem.build.recorder import BuildReport
from contramem.build.rules.author import RuleAuthor, find_candidates
from contramem.build.thin import ModelCost, ThinBank, explain_thin
from contramem.cli.build_cost import ModelBuildCost, account_json, estimate_json, show_account, show_estimate
from contramem.cli.engine_options import EngineChoice, engine_options
from contramem.cli.kit import SectionedCommand, print_json, progress
from contramem.cli.models import (
    ModelOptions,
    check_agent_options,
    foresee_by_agent,
    foresee_by_model,
    model_options,
    open_chosen_model,
    run_by_agent,
    run_by_model,
)
from contramem.cli.reading import collect_options, collect_runs, plural, reading_options
from contramem.collection.runs import Collection
from contramem.contrast.packet import Packet
from contramem.contrast.packets import Packets, contrast_selected, learn_vocabulary
from contramem.contrast.selection import MAX_TASKS, Selection
from contramem.contrast.vocabulary import Vocabulary
from contramem.errors import BankFileError, UsageError
from contramem.pipeline import build_bank
from contramem.progress import Progress
from contramem.study.ask import DEFAULT_LOG
from contramem.study.run_cache import open_study
from contramem.traces.reader import ReadOptions
from contramem.traces.trajectory import Tool, Trajectory
from contramem.validate.validator import Validator

STORE, BANK = "bank.db", "bank.jsonl"
"""What a build without flags writes."""

COMMON = ("bank", "out", "sources", "only", "grade", "map", "outcomes", "model", "dry-run", "budget", "json")


@click.command(cls=SectionedCommand, common=COMMON)
@reading_options
@click.option(
    "--bank",
    "where",
    metavar="STORE",
    help="Keeps cards, decisions and their reasons: SQLite path or PostgreSQL URL, created if missing. By default "
    f"{STORE}, with {BANK} beside it.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the bank that agents load to this file.",
)
@click.option("--sources", metavar="A,B", help="Learn only from runs of these sources.")
@click.option("--only", type=click.Choice(["functions", "skills"]), help="Build only these cards.")
@click.option("--rollouts", type=click.IntRange(1), metavar="N", help="At most N runs of a task by each source.")
@click.option(
    "--grade",
    type=click.Choice(GRADES),
    default=DEFAULT_GRADE,
    show_default=True,
    help="The lowest grade at which a rule is kept: enforced (a tool refuses otherwise), proven (more than chance "
    "explains), observed (no run contradicts it) or open (several readings fit: the card names them).",
)
@click.option(
    "--min-sources",
    type=click.IntRange(1),
    default=1,
    metavar="N",
    help="Serve only cards that runs of at least N sources show; others are kept muted until they do.",
)
@click.option("--no-reassess", is_flag=True, help="Keep cards as curation left them, without a check on all runs.")
@click.option("--append-only", is_flag=True, help="Add every delta as its own card, with no curation (a baseline).")
@click.option(
    "--deltas-from", metavar="STORE", help="Reuse the deltas recorded in STORE's ledger instead of reflecting again."
)
@click.option(
    "--author",
    type=click.Choice(["rules", "agent"]),
    help="Who writes the cards: rules (the default without --model), or with --model an agent that looks at all runs "
    "and tests its hypotheses before it proposes a card.",
)
@click.option("--trials", "log", metavar="FILE", help=f"With --author agent: file that counts trials ({DEFAULT_LOG}).")
@click.option(
    "--max-tasks",
    type=click.IntRange(1),
    default=MAX_TASKS,
    show_default=True,
    metavar="N",
    help="Learn from at most N tasks of each ability, drawn evenly from groups that call the same functions.",
)
@click.option("--trust-reading", is_flag=True, help="Learn although there is a grave doubt about the reading.")
@engine_options
@model_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def build(
    paths: tuple[Path, ...],
    options: ReadOptions,
    where: str | None,
    out: Path | None,
    sources: str | None,
    only: Only | None,
    rollouts: int | None,
    append_only: bool,
    grade: Grade,
    min_sources: int,
    no_reassess: bool,
    deltas_from: str | None,
    author: str | None,
    log: str | None,
    max_tasks: int,
    trust_reading: bool,
    engine_choice: EngineChoice,
    by_model: ModelOptions | None,
    as_json: bool,
) -> None:
    """Learn cards from the runs under PATH... and write the bank that agents load.

    Without --model this needs no key and no network. Run it again when there are more runs: it adds what is new.
    """
    if where is None:
        where, out = STORE, out or Path(BANK)
    choice = Choice(sources, only, rollouts, append_only, not no_reassess, max_tasks, min_sources, out, trust_reading)
    _check(choice, where, deltas_from)
    if author == "agent":
        if append_only or deltas_from is not None or only == "functions":
            raise UsageError(
                "--author agent writes Skill Cards by proposing them, so it cannot be combined with --append-only, "
                "--deltas-from or --only functions."
            )
        # Here and below: imported on use, because a build by rules does not wait for what only a model needs.
        build_by_agent(paths, options, where, choice, by_model, engine_choice, Path(log or DEFAULT_LOG), as_json)
        return
    if log is not None:
        raise UsageError("--trials needs --author agent.")
    if by_model is not None:
        if author is not None or deltas_from is not None:
            raise UsageError(
                "--model writes the cards itself, so it cannot be combined with --author or --deltas-from."
            )
        build_by_model(paths, options, where, choice, by_model, engine_choice, as_json)
        return
    _build_by_rules(paths, options, where, choice, engine_choice, grade, deltas_from, as_json)


def _check(choice: Choice, where: str, deltas_from: str | None) -> None:
    """Refuse conflicting options before anything is read or created."""
    if choice.only == "functions" and (choice.append_only or not choice.reassesses or deltas_from is not None):
        raise UsageError(
            "--append-only, --no-reassess and --deltas-from are about skills: drop them, or drop --only functions."
        )
    if deltas_from is None:
        return
    open_store(deltas_from).close()
    if deltas_from == where or (not is_url(where) and Path(where).resolve() == Path(deltas_from).resolve()):
        raise UsageError(f"--deltas-from {deltas_from} is the bank itself. Give --bank a different store.")


def _build_by_rules(
    paths: tuple[Path, ...],
    options: ReadOptions,
    where: str,
    choice: Choice,
    engine_choice: EngineChoice,
    grade: Grade,
    deltas_from: str | None,
    as_json: bool,
) -> None:
    check_free(where)
    reflects = choice.append_only and deltas_from is None and choice.only != "functions"
    with select_runs(paths, options, where, choice, engine_choice, find_candidates if reflects else None) as runs:
        writer = _author(runs.vocabulary, deltas_from, runs.packets)
        with open_store(where, create=True) as store:
            report = build_bank(
                runs.packets,
                store,
                writer,
                Validator(runs.vocabulary.public),
                only=choice.only,
                append_only=choice.append_only,
                grade=grade,
                reassesses=choice.reassesses,
                tools=runs.tools,
                left_out=runs.selection.keys_left_out,
                on_progress=runs.tell,
            )
            bank = _ship(store, choice)
        thin = _explain_thin(report, bank, runs, choice)
    if as_json:
        described = {"thin": thin_json(thin, paths, where)} if thin else {}
        print_json(summary_as_json(report, bank, runs.selection, choice.out) | described)
        return
    show_summary(report, bank, runs.selection, where, choice.out)
    if thin:
        show_thin(thin, paths, where)


def _ship(store: Store, choice: Choice) -> Bank:
    """Write what agents load, and return the bank."""
    bank = hold_to_quorum(store, choice.min_sources)
    if choice.out is not None:
        try:
            refresh_frozen(choice.out, bank)
        except BankFileError as error:
            raise BankFileError(
                f"{error} The cards are in {store.where}, but {choice.out} was left as it is: bring its edits into the "
                f"store with `contramem bank import`, or name another file with --out."
            ) from error
    return bank


def _explain_thin(report: BuildReport, bank: Bank, runs: SelectedRuns, choice: Choice) -> ThinBank | None:
    """Why there are few Skill Cards. None if the runs were learned from before, or no Skill Cards were wanted."""
    if choice.only == "functions" or report.unchanged:
        return None
    return explain_thin(runs.selection, runs.packets, len(bank.skills), report.deltas, report.retired)


def _author(vocabulary: Vocabulary, deltas_from: str | None, packets: Sequence[Packet]) -> Author:
    rules = RuleAuthor(vocabulary)
    if deltas_from is None:
        return rules
    with open_store(deltas_from) as other:
        author = DeltasFrom(other.ledger(), rules, deltas_from)
    author.check(packets)
    return author


# By a model


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
    with open_chosen_model(by_model) as model:
        if not by_model.dry_run:
            check_free(where)
        elif engine_choice.cache is None:  # a look leaves nothing behind
            engine_choice = engine_choice._replace(is_cached=False)
        with select_runs(paths, options, where, choice, engine_choice) as runs:
            packets = list(runs.packets)
        plan = BuildPlan(packets, runs.tools, choice.only, choice.append_only, choice.reassesses, by_model.window)
        checks = Validator(runs.vocabulary.public)
        if by_model.dry_run:
            _foresee(plan, where, by_model, checks, as_json)
            return
        with open_store(where, create=True) as store:
            account = run_by_model(plan, store, model, by_model, checks)
            bank = _ship(store, choice)
    _show_built(account, bank, runs.selection, where, choice.out, by_model, as_json)


def _show_built(
    account: ModelBuildCost,
    bank: Bank,
    selection: Selection,
    where: str,
    out: Path | None,
    by_model: ModelOptions,
    as_json: bool,
) -> None:
    if as_json:
        print_json({**summary_as_json(account.build.report, bank, selection, out), "model": account_json(account)})
    else:
        show_summary(account.build.report, bank, selection, where, out, is_waiting=bool(account.open))
        show_account(account, by_model.export)
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
    by_model = check_agent_options(by_model)
    with open_chosen_model(by_model) as model:
        if not by_model.dry_run:
            check_free(where)
        tools: dict[str, Tool] = {}
        with (
            collect_runs(paths, options, choice.sources, tools, trusts=choice.trusts_reading) as every,
            limit_rollouts(every, choice.rollouts) as collection,
            open_study(paths, options, lambda: nullcontext(collection), cache=None) as study,
            study.tables() as tables,
        ):
            plan = AgentPlan(study.run_set, tables, log, by_model.parallel)
            if model is None:
                _show_foreseen(foresee_by_agent(plan, where, by_model), by_model, as_json)
                return
            with engine_choice.open() as engine, progress() as tell:
                selection = Selection(collection.sketches(), choice.max_tasks)
                vocabulary = learn_vocabulary(collection, engine, tell)
                packets = contrast_selected(collection, selection.keys, vocabulary, engine, tell)
            with open_store(where, create=True) as store:
                functions = Counter[str]()
                if choice.only != "skills":
                    checks = Validator(vocabulary.public)
                    rules = build_bank(packets, store, RuleAuthor(vocabulary), checks, only="functions", tools=tools)
                    functions = rules.functions
                account = run_by_agent(plan, store, model, by_model)
                account.build.report.functions.update(functions)
                bank = _ship(store, choice)
    _show_built(account, bank, selection, where, choice.out, by_model, as_json)


def _foresee(plan: BuildPlan, where: str, by_model: ModelOptions, checks: Validator, as_json: bool) -> None:
    _show_foreseen(foresee_by_model(plan, where, by_model, checks), by_model, as_json)


def _show_foreseen(estimates: list[StageEstimate], by_model: ModelOptions, as_json: bool) -> None:
    if as_json:
        print_json(estimate_json(estimates))
    else:
        show_estimate(estimates, by_model.choice.name, by_model.batch)


# Which runs


class Choice(NamedTuple):
    """Which runs to learn from, and which cards to build."""

    sources: str | None
    only: Only | None
    rollouts: int | None
    append_only: bool
    reassesses: bool
    max_tasks: int = MAX_TASKS
    min_sources: int = 1
    out: Path | None = None
    """The file for agents."""
    trusts_reading: bool = False


class SelectedRuns(NamedTuple):
    """The packets a build learns from, with the vocabulary and tools it uses."""

    vocabulary: Vocabulary
    selection: Selection
    packets: Packets
    tools: dict[str, Tool]
    tell: Progress


@contextmanager
def select_runs(
    paths: tuple[Path, ...],
    options: ReadOptions,
    where: str,
    choice: Choice,
    engine_choice: EngineChoice,
    study: Callable[[Packet], object] | None = None,
) -> Iterator[SelectedRuns]:
    """Read the runs under `paths`, and contrast those that were chosen."""
    tools: dict[str, Tool] = {}
    with (
        engine_choice.open() as engine,
        collect_runs(
            paths, options, choice.sources, tools, engine, engine_choice.keep(paths, where), choice.trusts_reading
        ) as every,
        limit_rollouts(every, choice.rollouts) as collection,
        progress() as tell,
    ):
        selection = Selection(collection.sketches(), choice.max_tasks)
        vocabulary = learn_vocabulary(collection, engine, tell)
        packets = contrast_selected(collection, selection.keys, vocabulary, engine, tell, study)
        yield SelectedRuns(vocabulary, selection, packets, tools, tell)
        every.cache.drop_unused()


def check_free(where: str) -> None:
    """Raise if another process is writing or the folder is missing, before time is spent on reading."""
    if is_url(where) or Path(where).exists() or not Path(where).parent.is_dir():
        with open_store(where, create=True) as store, store.writing("build"):
            pass


@contextmanager
def limit_rollouts(collection: Collection, rollouts: int | None) -> Iterator[Collection]:
    """The first `rollouts` runs of each task by each source, by trial number."""
    if rollouts is None:
        yield collection
        return
    with Collection(run for runs in collection for run in _first(runs, rollouts)) as fewer:
        yield fewer


def _first(runs: list[Trajectory], rollouts: int) -> Iterator[Trajectory]:
    counts = Counter[str]()
    for run in sorted(runs, key=lambda run: (run.source, len(run.run), run.run)):
        counts[run.source] += 1
        if counts[run.source] <= rollouts:
            yield run


# The summary


def summary_as_json(report: BuildReport, bank: Bank, selection: Selection, out: Path | None) -> dict[str, Any]:
    return {
        "packets": selection.tasks.total(),
        "contrastive": selection.contrastive,
        "left_out": selection.left_out(),
        "unchanged": report.unchanged,
        "deltas": report.deltas,
        "decisions": dict(sorted(report.decisions.items())),
        "function_decisions": dict(sorted(report.functions.items())),
        "refused": dict(sorted(report.refused.items())),
        "retired": dict(sorted(report.retired.items())),
        "functions": len(bank.functions),
        "skills": {ability: len(bank.skills_of(ability)) for ability in bank.abilities},
        "out": str(out) if out else None,
    }


BEST_SHOWN = 3


def show_summary(
    report: BuildReport,
    bank: Bank,
    selection: Selection,
    where: str,
    out: Path | None,
    *,
    is_waiting: bool = False,
) -> None:
    """What was learned, how sure it is, and the next command. `is_waiting`: replies of a model are still to come."""
    console = Console(highlight=False)
    console.print(
        f"[bold]{plural(selection.tasks.total(), 'task')}[/], {selection.contrastive:,} with passing and failing runs."
    )
    for ability, count in sorted(selection.left_out().items()):
        kept = selection.tasks[ability] - count
        console.print(
            f"[yellow]{ability}: learned from {kept:,} of {selection.tasks[ability]:,} tasks, drawn evenly from "
            "groups that call the same functions and end alike (--max-tasks raises this)."
        )
    if not report.changed and is_waiting:
        console.print("Nothing decided yet: the replies of the model are still to come.")
    elif not report.changed:
        console.print(_nothing_changed(report, selection.contrastive))
    else:
        console.print(_changes(report))
    console.print(
        f"The bank holds [blue]{plural(len(bank.functions), 'Function Card')}[/] (how a tool really behaves) and "
        f"[green]{plural(len(bank.skills), 'Skill Card')}[/] (when to do what)."
    )
    entries = [bank.entries[card.card_id] for card in bank.skills]
    entries.sort(key=lambda entry: (_rank(entry), -len(entry.support.tasks), entry.card.card_id))
    for entry in entries[:BEST_SHOWN]:
        assert isinstance(entry.card, SkillCard)
        how_sure = f"{entry.support.grade or 'not tested'}, {plural(len(entry.support.tasks), 'task')}"
        console.print(Text.assemble("  ", (visible(entry.card.title), "green"), (f"  ({how_sure})", "dim")))
    if few := sum(len(entry.support.tasks) == 1 for entry in entries):
        console.print(f"{few:,} of them {'rests' if few == 1 else 'rest'} on one task only: more runs would tell.")
    for check, count in sorted(report.refused.items()):
        what = f"{count:,} refused[/] by {check}"
        if check == "guard":
            what = f"{count:,} {'guard' if count == 1 else 'guards'} refused[/], the cards kept without"
        console.print(f"[yellow]{what}; `contramem cards history {where}` says why.")
    if out is not None:
        console.print(f"Agents load [bold]{out}[/]; {where} keeps every decision and its reason.", soft_wrap=True)
    reader = f"guide 'A TASK OF YOURS' --bank {out}" if out else f"cards freeze {where} --out bank.jsonl"
    for what, following in (("Look:", f"cards list {where}"), ("Next:", reader)):
        console.print(f"[dim]{what} contramem {following}[/]", soft_wrap=True)  # to be copied as one line


def _rank(entry: BankEntry) -> int:
    """Best grade first, cards without one last."""
    return GRADES.index(entry.support.grade) if entry.support.grade else len(GRADES)


def _nothing_changed(report: BuildReport, contrastive: int) -> str:
    if report.unchanged:
        return "Nothing new: these runs were already learned from. The bank is unchanged."
    if not contrastive:
        return "Nothing learned: no task has both passing and failing runs (`contramem doctor` counts them)."
    return "Nothing learned: what separates the runs can't be stated as a rule (`contramem contrast` shows it)."


_DONE = {
    "ADD": "added", "PATCH": "refined", "MERGE": "merged", "NARROW": "narrowed", "NOOP": "confirmed",
    "RETIRE": "retired because all runs together don't bear them out",
}  # fmt: skip


def _changes(report: BuildReport) -> str:
    """A sentence such as: Function Cards: 28 added. Skill Cards: 32 added, 20 retired."""
    counted = {"Function Cards": report.functions, "Skill Cards": report.decisions}
    lists = {
        name: ", ".join(f"{counts[operation]:,} {done}" for operation, done in _DONE.items() if counts[operation])
        for name, counts in counted.items()
    }
    return " ".join(f"{name}: {listed}." for name, listed in lists.items() if listed)


# Why a build made few Skill Cards


def show_thin(thin: ThinBank, paths: Sequence[Path], where: str) -> None:
    console = Console()
    console.print(
        f"[yellow]Few Skill Cards:[/] {thin.several_runs:,} of {plural(thin.tasks, 'task')} have several runs with an "
        f"outcome; "
        f"{plural(thin.proposed, 'lesson')} proposed, {thin.in_service:,} in service."
    )
    for reason, count in thin.not_kept.items():
        console.print(f"  {count:,} not kept: {reason}")
    if thin.joined:
        console.print(f"  {thin.joined:,} joined to another that says the same, or refused by a check")
    console.print("What helps:")
    for advice in thin.advice(shlex.join(map(str, paths))):
        console.print(f"  runs: {advice}")
    if (model := thin.model) is None:
        return
    price = f", ${model.cost_usd:,.2f}" if model.cost_usd is not None else ""
    most = f"; at most ${model.most_usd:,.2f}" if model.most_usd is not None else ""
    console.print(
        f"  a model on these runs: about {model.calls:,} calls, {model.tokens:,} tokens{price} ({model.model}{most}). "
        "In detail, without asking it:"
    )
    console.print(f"[dim]  {model_command(model, paths, where)}[/]", soft_wrap=True)


def thin_json(thin: ThinBank, paths: Sequence[Path], where: str) -> dict[str, Any]:
    return {
        "tasks_without_outcome": thin.without_outcome,
        "tasks_with_several_runs": thin.several_runs,
        "tasks_always_passed": thin.always_passed,
        "tasks_never_passed": thin.never_passed,
        "proposed": thin.proposed,
        "in_service": thin.in_service,
        "not_kept": thin.not_kept,
        "joined": thin.joined,
        "advice": thin.advice(shlex.join(map(str, paths))),
        "model": _model_json(thin.model, paths, where) if thin.model else None,
    }


def _model_json(model: ModelCost, paths: Sequence[Path], where: str) -> dict[str, Any]:
    return {
        "name": model.model,
        "calls": model.calls,
        "tokens": model.tokens,
        "cost_usd": None if model.cost_usd is None else round(model.cost_usd, 2),
        "most_usd": None if model.most_usd is None else round(model.most_usd, 2),
        "command": model_command(model, paths, where),
    }


def model_command(model: ModelCost, paths: Sequence[Path], where: str) -> str:
    """The same build with a model, as it can be run: with the options that say how to read the runs."""
    how_to_read = collect_options(click.get_current_context())
    words = [*map(str, paths), *how_to_read, "--bank", where, "--model", model.model, "--dry-run"]
    return shlex.join(["contramem", "build", *words])
