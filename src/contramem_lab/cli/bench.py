"""`contramem lab bench`: one agent in ARE / GAIA2, AppWorld or STATE-Bench, with or without a bank."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console

from contramem.cli import Group
from contramem.cli.kit import print_json, progress
from contramem.errors import UsageError
from contramem.retrieve.profiles import Profile
from contramem.traces.trajectory import Trajectory
from contramem_lab.state_bench import DOMAINS, SPLITS

_OUT = click.option("--out", type=click.Path(path_type=Path), default=Path("bench-runs"), show_default=True,
                    help="Where to write the runs. Run again to continue.")  # fmt: skip
_BANK = click.option(
    "--bank", type=click.Path(path_type=Path, exists=True), help="Frozen bank to guide the agent with."
)
_MODEL = click.option("--model", default="", help="Model under test.")
_URL = click.option("--url", help="OpenAI-compatible server of the model.")
_KEY = click.option("--key", metavar="VARIABLE", help="Environment variable that holds the model's key.")
_ENGINE = click.option("--engine", metavar="FILE.py:NAME", help="Your own model, called in this process.")
_TRIALS = click.option("--trials", type=click.IntRange(1), default=1, show_default=True, help="Runs of each task.")
_STEPS = click.option("--steps", type=click.IntRange(1), default=80, show_default=True, help="Maximum steps per run.")
_LOG = click.option("--log", type=click.Path(path_type=Path), help="Inject log: what was shown and how runs ended.")
_AT = "an OpenAI-compatible URL, or a folder for `contramem lab door`"
RUNTIME_PARTS = ("clock", "ticks", "guards", "clip", "repair", "final_card", "universal")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(cls=Group)
def bench() -> None:
    """Run an agent in a benchmark with its own harness; `contramem evaluate compare` compares what comes out."""


@bench.command("are")
@click.argument("scenarios", nargs=-1, metavar="[SCENARIOS]...")
@click.option("--install", "do_install", is_flag=True, help="Make the environment that ARE runs in, and stop.")
@click.option("--where", is_flag=True, help="Say where that environment is, and stop.")
@click.option("--unpack", "unpack_to", type=click.Path(path_type=Path), metavar="FOLDER",
              help="Write GAIA2's Parquet files below SCENARIOS as folders that can be run, and stop.")  # fmt: skip
@click.option("--tasks", "task_list", type=click.Path(path_type=Path), help="Write the list of tasks as CSV, and stop.")
@_MODEL
@click.option("--provider", help="Who serves the model, as ARE takes it.")
@_URL
@_KEY
@_ENGINE
@_BANK
@click.option("--judge", type=click.Choice(["llm", "scripted", "none"]), default="llm", show_default=True,
              help="`scripted` looks at no free text: no GAIA2 score.")  # fmt: skip
@click.option("--judge-model")
@click.option("--judge-provider")
@click.option("--judge-url")
@click.option("--judge-key", metavar="VARIABLE", help="Environment variable that holds the judge's key.")
@click.option("--off", multiple=True, type=click.Choice(RUNTIME_PARTS),
              help="Part of the temporal runtime to switch off; may be repeated.")  # fmt: skip
@click.option("--seconds", type=float, default=300.0, show_default=True, help="Time limit of a run.")
@click.option("--time-seconds", type=float, default=900.0, show_default=True, help="The same for the ability Time.")
@_STEPS
@_TRIALS
@click.option("--concurrency", type=click.IntRange(1), default=2, show_default=True)
@_OUT
@_LOG
@_JSON
def are_command(
    scenarios: tuple[str, ...], do_install: bool, where: bool, unpack_to: Path | None, task_list: Path | None,
    model: str, provider: str | None,
    url: str | None, key: str | None, engine: str | None, bank: Path | None, judge: Any, judge_model: str | None,
    judge_provider: str | None, judge_url: str | None, judge_key: str | None, off: tuple[str, ...], seconds: float,
    time_seconds: float,
    steps: int, trials: int, concurrency: int, out: Path, log: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Run SCENARIOS: GAIA2 folders (CONFIG/SPLIT/*.json), files, FILE.py:Class, or names of built-in scenarios."""
    from contramem_lab import are as installation
    from contramem_lab.are import AreSettings, AreTarget, Judge, TimeRuntime, write_task_list
    from contramem_lab.are_runs import AreEnvironment
    from contramem_lab.environment import Limits
    from contramem_lab.jobs import Batch, check_writable
    from contramem_lab.memory import time_profile

    if where:
        click.echo(installation.default_folder())
        return
    if do_install:
        report = installation.install(say=lambda line: click.echo(line, err=True))
        click.echo(f"ARE {installation.VERSION}: {report.folder}, {report.megabytes:.0f} MB, {report.seconds:.0f} s.")
        return
    if not scenarios:
        raise UsageError("name at least one scenario, or a folder of them.")
    if unpack_to is not None:
        from contramem_lab.are import unpack

        for place in scenarios:
            counts = ", ".join(f"{count} {ability}" for ability, count in unpack(Path(place), unpack_to).items())
            click.echo(f"{place}: {counts} are in {unpack_to}.")
        return
    settings = AreSettings(
        Judge(judge, judge_model, judge_provider, judge_url, judge_key), TimeRuntime(**dict.fromkeys(off, False))
    )
    environment = AreEnvironment(scenarios, settings)
    tasks = list(environment.tasks())
    for problem in environment.problems:
        click.secho(problem, err=True, fg="yellow")
    if task_list is not None:
        write_task_list(environment.tasks().values(), task_list)
        click.echo(f"{len(tasks)} tasks are listed in {task_list}.")
        return
    if engine is None and not model:
        raise UsageError("name the model under test with --model, or a model of your own with --engine FILE.py:NAME.")
    settings.judge.check()
    installation.find_installation()
    check_writable(out)
    own = _own(engine) if engine else None
    target = AreTarget(own.name if own else model, model, provider, url, own, key=key)
    target.read_key()
    batch = Batch(
        environment, target, _provider(bank, log, "gaia2", {"time": time_profile("universal" not in off)}), out,
        Limits(steps=steps, seconds=seconds), {"time": Limits(steps=steps, seconds=time_seconds)}, trials, concurrency,
        f"{settings} {target.address} {bank.read_bytes().hex() if bank else None}",
    )  # fmt: skip
    _run(batch, tasks, out, as_json)


@bench.command("appworld")
@click.argument("root", type=click.Path(path_type=Path, exists=True), metavar="APPWORLD_ROOT")
@click.option("--server", default="http://127.0.0.1:8000", show_default=True,
              help="Where `appworld serve environment` listens.")  # fmt: skip
@click.option("--dataset", "datasets", multiple=True, default=("test_normal",), show_default=True)
@_MODEL
@_URL
@_ENGINE
@_BANK
@click.option("--seconds", type=float, help="Time limit of a run.")
@click.option("--steps", type=click.IntRange(1), default=50, show_default=True, help="Maximum cells per run.")
@_TRIALS
@_OUT
@_LOG
@_JSON
def appworld_command(
    root: Path, server: str, datasets: tuple[str, ...], model: str, url: str | None, engine: str | None,
    bank: Path | None, seconds: float | None, steps: int, trials: int, out: Path, log: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Run a code agent on AppWorld's tasks. Start AppWorld's own server first: `appworld serve environment`."""
    from contramem_lab.appworld import AppWorldEnvironment
    from contramem_lab.environment import Limits
    from contramem_lab.jobs import Batch, check_writable

    if engine is None and not model:
        raise UsageError("name the model under test with --model, or a target of your own with --engine FILE.py:NAME.")
    environment = AppWorldEnvironment(server, root, datasets)
    tasks = list(environment.tasks())
    check_writable(out)
    target = _own(engine) if engine else _openai(model, url)
    batch = Batch(
        environment, target, _provider(bank, log, "appworld", {}), out, Limits(steps=steps, seconds=seconds), {},
        trials, settings=f"{server} {bank.read_bytes().hex() if bank else None}",
    )  # fmt: skip
    _run(batch, tasks, out, as_json)


@bench.command("state-bench")
@click.argument("checkout", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--domain", required=True, type=click.Choice(DOMAINS))
@click.option("--split", required=True, type=click.Choice(SPLITS))
@click.option("--target", required=True, metavar="URL", help=f"The agent's model: {_AT}.")
@click.option("--model", default="", help="Its name there.")
@click.option("--user", required=True, metavar="URL", help=f"Who plays the user: {_AT}.")
@click.option("--user-model", default="", help="Its name there.")
@click.option("--judge", metavar="URL", help=f"Who judges the dialogue: {_AT}. Without, only the final state counts.")
@click.option("--judge-model", default="", help="Its name there.")
@_BANK
@click.option("--memory", type=click.Choice(["cards", "hook", "both"]), default="cards", show_default=True,
              help="How the bank reaches the agent: as in adapters, by `retrieve_learnings`, or both.")  # fmt: skip
@click.option("--task", "only", multiple=True, metavar="ID", help="Only this task; may be repeated.")
@click.option("--runs", "trials", type=click.IntRange(1), default=1, show_default=True, help="Runs of each task.")
@click.option("--concurrency", type=click.IntRange(1), default=2, show_default=True)
@_STEPS
@_OUT
@_LOG
@_JSON
def state_bench_command(
    checkout: Path, domain: Any, split: Any, target: str, model: str, user: str, user_model: str, judge: str | None,
    judge_model: str, bank: Path | None, memory: str, only: tuple[str, ...], trials: int, concurrency: int, steps: int,
    out: Path, log: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Run an agent on the tasks of a STATE-Bench CHECKOUT, with a simulated user."""
    from contramem_lab.environment import Limits
    from contramem_lab.jobs import Batch, check_writable
    from contramem_lab.state_bench import StateBench, StateBenchEnvironment, card_texts

    bench = StateBench(checkout, domain)
    retrieve = card_texts(bank, bench.tools) if bank and memory != "cards" else None
    agent, customer = _party(target, model, "agent"), _party(user, user_model, "user")
    judging = _party(judge, judge_model, "judge") if judge is not None else None
    environment = StateBenchEnvironment(bench, split, customer, judging, retrieve)
    tasks = list(environment.tasks())
    if unknown := sorted(set(only) - set(tasks)):
        raise UsageError(f"the {split} split of {domain} has no task {unknown[0]!r}.")
    check_writable(out)
    provider = _provider(bank, log, "default", {}) if memory != "hook" else None
    parties = f"{target} {user} {user_model} {judge} {judge_model}"
    batch = Batch(
        environment, agent, provider, out, Limits(steps=steps), {}, trials, concurrency,
        f"{split} {parties} {memory} {bank.read_bytes().hex() if bank else None}",
    )  # fmt: skip
    try:
        _run(batch, [task for task in tasks if not only or task in only], out, as_json)
    finally:
        for party in (agent, customer, judging):
            if party is not None:
                party.close()


def _party(place: str, model: str, role: Any) -> Any:
    """A model at a URL, or whoever answers in a folder."""
    if "://" not in place:
        from contramem_lab.door import DoorTarget

        return DoorTarget(Path(place), role)
    if not model:
        raise UsageError(f"name the model of the {role} at {place}.")
    return _openai(model, place)


def _own(reference: str) -> Any:
    path, _, name = reference.rpartition(":")
    spec = importlib.util.spec_from_file_location("contramem_engine", path)
    if not path.endswith(".py") or spec is None or spec.loader is None or not Path(path).exists():
        raise UsageError(f"{reference}: write it as FILE.py:NAME; there is no Python file {path!r}.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise UsageError(f"{path}: has no {name!r}.")
    return getattr(module, name)()


def _openai(model: str, url: str | None) -> Any:
    from contramem_lab.target import OpenAITarget

    return OpenAITarget(model, base_url=url)


def _provider(bank: Path | None, log: Path | None, profile: str, profiles: dict[str, Profile]) -> Any:
    if bank is None:
        return None
    from contramem.inject.run import Memory
    from contramem_lab.jobs import ProfileByAbility

    return ProfileByAbility(Memory.load(bank, log=log), profile, profiles)


def _run(batch: Any, tasks: list[str], out: Path, as_json: bool) -> None:
    from contramem_lab.jobs import StoppedError

    try:
        with progress() as tell:
            runs, problems = batch.run(tasks, tell)
    except StoppedError as stopped:
        why = f"{stopped.cause} " if stopped.cause else ""
        raise UsageError(f"{why}{stopped.done} runs were done just now and are kept in {out}. Run it again.") from None
    if as_json:
        print_json({"out": str(out), "runs": [_row(run) for run in runs], "problems": problems})
    else:
        _show(runs, problems, out)
    if not runs:
        raise UsageError("no run was made.")


def _row(run: Trajectory) -> dict[str, Any]:
    outcome = msgspec.to_builtins(run.outcome)
    return {"task_id": run.task_id, "ability": run.ability, "trial": run.run, "source": run.source, **outcome}


def _show(runs: list[Trajectory], problems: list[str], out: Path) -> None:
    console = Console(highlight=False)
    for problem in problems:
        click.secho(problem, err=True, fg="yellow")
    for ability in sorted({run.ability or "general" for run in runs}):
        group = [run for run in runs if (run.ability or "general") == ability]
        passed = sum(run.outcome.passed is True for run in group)
        unknown = sum(run.outcome.passed is None for run in group)
        limits = sum(run.outcome.ended != "complete" for run in group)
        more = f", {unknown} without a verdict" if unknown else ""
        console.print(
            f"{ability}: {passed} of {len(group)} runs passed{more}; {limits} ended at a limit or by an error."
        )
    console.print(f"[dim]Runs: {out / 'runs'}   Compare with: contramem evaluate compare BASE --with {out / 'runs'}[/]")
