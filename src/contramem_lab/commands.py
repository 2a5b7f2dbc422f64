"""`contramem lab experiment|bench|door|state-bench`. What a command does is imported when it runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import click
import msgspec

from contramem.cli import Group
from contramem.cli.kit import Report, command, make_table, progress
from contramem.errors import UsageError

_FILE, _FOLDER = click.Path(path_type=Path, dir_okay=False), click.Path(path_type=Path, file_okay=False)
_CHECKOUT = click.Path(path_type=Path, exists=True, file_okay=False)
_AT_LEAST_1 = click.IntRange(1)
_AT = "an OpenAI-compatible URL, or a folder for `contramem lab door`"
RuntimePart = Literal["clock", "ticks", "guards", "clip", "repair", "final_card", "universal"]
Domain = Literal["travel", "customer_support", "shopping_assistant"]
Bank = Annotated[Path | None, "Frozen bank to guide the agent with.", None, click.Path(path_type=Path, exists=True)]
Model = Annotated[str, "Model under test."]
Url = Annotated[str | None, "OpenAI-compatible server of the model."]
Engine = Annotated[str | None, "Your own model, called in this process.", "FILE.py:NAME"]
Trials = Annotated[int, "Runs of each task.", None, _AT_LEAST_1]
Concurrency = Annotated[int, "Runs at once.", None, _AT_LEAST_1]
Out = Annotated[Path, "Where to write the runs. Run again to continue."]
Log = Annotated[Path | None, "Inject log: what was shown and how runs ended."]


@click.group(cls=Group)
def experiment() -> None:
    """Run a whole experiment from one file: split, build memories, run targets, compare, report. Resumable."""


@click.group(cls=Group)
def bench() -> None:
    """Run an agent in a benchmark with its own harness; `contramem evaluate compare` compares what comes out."""


@click.group(cls=Group)
def door() -> None:
    """Be the agent, the user or the judge of `contramem lab bench ... --target FOLDER`, one command a step."""


@click.group("state-bench", cls=Group)
def state_bench() -> None:
    """Learn from STATE-Bench's recorded runs. `contramem lab bench state-bench` runs an agent in it."""


# Experiments


@command(experiment)
def run(
    file: Annotated[Path, "", "FILE.toml"], *,
    out: Annotated[Path | None, "Results; default results/NAME.", "DIR"] = None,
    dry_run: Annotated[bool, "Say what would run; run and write nothing."] = False,
) -> Report:  # fmt: skip
    """Run the experiment that FILE.toml describes. Run it again to continue where it stopped."""
    from contramem_lab.config import load_experiment
    from contramem_lab.experiment import foresee, out_folder, run_experiment
    from contramem_lab.jobs import StoppedError

    loaded = load_experiment(file)
    where = out_folder(loaded, out)
    if dry_run:
        forecast = foresee(loaded, where)
        return Report(
            {"dry_run": True, "out": str(where), **msgspec.to_builtins(forecast)}, _show_plan(forecast, where)
        )
    try:
        with progress() as tell:
            results = run_experiment(loaded, where, tell)
    except StoppedError as stopped:
        again = f"contramem lab experiment run {file}" + (f" --out {out}" if out else "")
        done = f"{stopped.done} runs were done just now, {stopped.left} are left; all that is done is kept in {where}"
        why = "stopped." if stopped.cause is None else stopped.cause
        raise UsageError(f"{why} {done}. Continue with: {again}") from None
    return Report(results, _show_results(results, where, loaded.config.about))


@command(experiment)
def show(folder: Annotated[Path, "", "DIR"]) -> Report:
    """Show the progress of the experiment in DIR and its results."""
    from contramem_lab.experiment import state_of
    from contramem_lab.jobs import open_folder

    state = state_of(open_folder(folder))
    return Report(msgspec.to_builtins(state), _show_state(state, folder))


@command(experiment)
def report(folder: Annotated[Path, "", "DIR"]) -> Report:
    """Print the paper's tables for the finished experiment in DIR. Its report.html has the figures too."""
    from contramem_lab.jobs import open_folder

    open_folder(folder)
    path = folder / "paper.md"
    if not path.exists():
        raise UsageError(
            f"{folder}: there is nothing to report yet. `contramem lab experiment run` ends with the report."
        )
    tables = {table.stem: table.read_text(encoding="utf-8") for table in sorted(folder.glob("tables/paper-*.csv"))}
    return Report(tables, [path.read_text(encoding="utf-8")])


def _show_plan(forecast: Any, where: Path) -> Iterator[Any]:
    from contramem.evaluate.report import ReportTable, number

    for place, fold in enumerate(forecast.split["folds"], 1):
        yield (
            f"Fold {place}: {len(fold['reference'])} reference tasks, {len(fold['held_out'])} held out, "
            f"by {forecast.split['by']}, seed {forecast.split['seed']}."
        )
    yield f"Memories: {', '.join(forecast.memories) or 'none'}. No held-out task is among what teaches."
    if forecast.rows:
        header = ("Runs", "Target", "All", "Done", "Calls, at most", "USD, at most")
        yield ReportTable("Plan", header, [
            [row.what, row.target, number(row.runs), number(row.done), number(row.calls), number(row.cost_usd, 2)]
            for row in forecast.rows
        ], align="llrrrr").as_rich()  # fmt: skip
    yield f"Nothing was run or written. Results would go to {where}."


def _show_results(results: Any, where: Path, about: str) -> Iterator[Any]:
    from contramem_lab.report import headline, target_table, targets

    yield from [about] if about else []
    for target in targets(results):
        compared = next(iter(results.comparisons.get(target, {}).values()), None)
        yield f"{target}, {f'{compared.tasks} tasks' if compared else 'nothing to compare'}:"
        yield target_table(results, target).as_rich()
    yield from (f"not made: {reason}" for reason in results.not_made)
    for note in results.notes:
        click.secho(note, err=True, fg="yellow")
    yield headline(results)
    yield f"Report: {where / 'report.html'}   Runs: {where / 'runs'}"


def _show_state(state: Any, folder: Path) -> Iterator[Any]:
    yield f"{state.name}: {state.finished}; {state.reference_tasks} reference tasks, {state.held_out_tasks} held out."
    if state.runs:
        yield make_table([msgspec.to_builtins(cell) for cell in state.runs])
    if state.report is not None:
        yield (folder / "report.md").read_text(encoding="utf-8").split("\n")[2]
        yield f"Report: {state.report}"


# Benchmarks


@command(bench)
def are(
    scenarios: Annotated[tuple[str, ...], "", "[SCENARIOS]..."] = (), *,
    install: Annotated[bool, "Make the environment that ARE runs in, and stop."] = False,
    where: Annotated[bool, "Say where that environment is, and stop."] = False,
    unpack: Annotated[
        Path | None, "Write GAIA2's Parquet files below SCENARIOS as folders that can be run, and stop.", "FOLDER"
    ] = None,
    tasks: Annotated[Path | None, "Write the list of tasks as CSV, and stop."] = None,
    model: Model = "",
    provider: Annotated[str | None, "Who serves the model, as ARE takes it."] = None,
    url: Url = None,
    key: Annotated[str | None, "Environment variable that holds the model's key.", "VARIABLE"] = None,
    engine: Engine = None,
    bank: Bank = None,
    judge: Annotated[Literal["llm", "scripted", "none"], "`scripted` looks at no free text: no GAIA2 score."] = "llm",
    judge_model: Annotated[str | None, None] = None,
    judge_provider: Annotated[str | None, None] = None,
    judge_url: Annotated[str | None, None] = None,
    judge_key: Annotated[str | None, "Environment variable that holds the judge's key.", "VARIABLE"] = None,
    off: Annotated[
        tuple[RuntimePart, ...], "Part of the temporal runtime to switch off; may be repeated."
    ] = (),
    seconds: Annotated[float, "Time limit of a run."] = 300.0,
    time_seconds: Annotated[float, "The same for the ability Time."] = 900.0,
    steps: Annotated[int, "Maximum steps per run.", None, _AT_LEAST_1] = 80,
    trials: Trials = 1,
    concurrency: Concurrency = 2,
    out: Out = Path("bench-runs"),
    log: Log = None,
) -> Report:  # fmt: skip
    """Run SCENARIOS: GAIA2 folders (CONFIG/SPLIT/*.json), files, FILE.py:Class, or names of built-in scenarios."""
    from contramem_lab import are as lab_are
    from contramem_lab.are_runs import AreEnvironment
    from contramem_lab.environment import Limits
    from contramem_lab.jobs import Batch, check_writable
    from contramem_lab.memory import time_profile

    if where:
        return Report(str(lab_are.default_folder()), [str(lab_are.default_folder())])
    if install:
        made = lab_are.install(say=lambda line: click.echo(line, err=True))
        return Report(made, [f"ARE {lab_are.VERSION}: {made.folder}, {made.megabytes:.0f} MB, {made.seconds:.0f} s."])
    if not scenarios:
        raise UsageError("name at least one scenario, or a folder of them.")
    if unpack is not None:
        counts = {place: lab_are.unpack(Path(place), unpack) for place in scenarios}
        lines = (", ".join(f"{count} {ability}" for ability, count in each.items()) for each in counts.values())
        return Report(counts, [f"{place}: {line} are in {unpack}." for place, line in zip(counts, lines, strict=True)])
    settings = lab_are.AreSettings(
        lab_are.Judge(judge, judge_model, judge_provider, judge_url, judge_key),
        lab_are.TimeRuntime(**dict.fromkeys(off, False)),
    )
    environment = AreEnvironment(scenarios, settings)
    ids = list(environment.tasks())
    for problem in environment.problems:
        click.secho(problem, err=True, fg="yellow")
    if tasks is not None:
        lab_are.write_task_list(environment.tasks().values(), tasks)
        return Report(ids, [f"{len(ids)} tasks are listed in {tasks}."])
    if engine is None and not model:
        raise UsageError("name the model under test with --model, or a model of your own with --engine FILE.py:NAME.")
    settings.judge.check()
    lab_are.find_installation()
    check_writable(out)
    own = _own(engine) if engine else None
    target = lab_are.AreTarget(own.name if own else model, model, provider, url, own, key=key)
    target.read_key()
    memory = _provider(bank, log, "gaia2", {"time": time_profile("universal" not in off)})
    return _run_batch(Batch(
        environment, target, memory, out, Limits(steps=steps, seconds=seconds),
        {"time": Limits(steps=steps, seconds=time_seconds)}, trials, concurrency,
        f"{settings} {target.address} {_content(bank)}",
    ), ids)  # fmt: skip


@command(bench)
def appworld(
    root: Annotated[Path, "", "APPWORLD_ROOT", click.Path(path_type=Path, exists=True)], *,
    server: Annotated[str, "Where `appworld serve environment` listens."] = "http://127.0.0.1:8000",
    dataset: Annotated[tuple[str, ...], "May be repeated."] = ("test_normal",),
    model: Model = "",
    url: Url = None,
    engine: Engine = None,
    bank: Bank = None,
    seconds: Annotated[float | None, "Time limit of a run."] = None,
    steps: Annotated[int, "Maximum cells per run.", None, _AT_LEAST_1] = 50,
    trials: Trials = 1,
    out: Out = Path("bench-runs"),
    log: Log = None,
) -> Report:  # fmt: skip
    """Run a code agent on AppWorld's tasks. Start AppWorld's own server first: `appworld serve environment`."""
    from contramem_lab.appworld import AppWorldEnvironment
    from contramem_lab.environment import Limits
    from contramem_lab.jobs import Batch, check_writable

    if engine is None and not model:
        raise UsageError("name the model under test with --model, or a target of your own with --engine FILE.py:NAME.")
    environment = AppWorldEnvironment(server, root, dataset)
    ids = list(environment.tasks())
    check_writable(out)
    target = _own(engine) if engine else _openai(model, url)
    return _run_batch(Batch(
        environment, target, _provider(bank, log, "appworld", {}), out, Limits(steps=steps, seconds=seconds), {},
        trials, settings=f"{server} {_content(bank)}",
    ), ids)  # fmt: skip


@command(bench, "state-bench")
def bench_state_bench(
    checkout: Annotated[Path, "", None, _CHECKOUT], *,
    domain: Annotated[Domain, None],
    split: Annotated[Literal["train", "test"], None],
    target: Annotated[str, f"The agent's model: {_AT}.", "URL"],
    model: Annotated[str, "Its name there."] = "",
    user: Annotated[str, f"Who plays the user: {_AT}.", "URL"],
    user_model: Annotated[str, "Its name there."] = "",
    judge: Annotated[
        str | None, f"Who judges the dialogue: {_AT}. Without, only the final state counts.", "URL"
    ] = None,
    judge_model: Annotated[str, "Its name there."] = "",
    bank: Bank = None,
    memory: Annotated[
        Literal["cards", "hook", "both"],
        "How the bank reaches the agent: as in adapters, by `retrieve_learnings`, or both.",
    ] = "cards",
    task: Annotated[tuple[str, ...], "Only this task; may be repeated.", "ID"] = (),
    runs: Trials = 1,
    concurrency: Concurrency = 2,
    steps: Annotated[int, "Maximum steps per run.", None, _AT_LEAST_1] = 80,
    out: Out = Path("bench-runs"),
    log: Log = None,
) -> Report:  # fmt: skip
    """Run an agent on the tasks of a STATE-Bench CHECKOUT, with a simulated user."""
    from contramem_lab.environment import Limits
    from contramem_lab.jobs import Batch, check_writable
    from contramem_lab.state_bench import StateBench, StateBenchEnvironment, card_texts

    benchmark = StateBench(checkout, domain)
    retrieve = card_texts(bank, benchmark.tools) if bank and memory != "cards" else None
    agent, customer = _party(target, model, "agent"), _party(user, user_model, "user")
    judging = None if judge is None else _party(judge, judge_model, "judge")
    environment = StateBenchEnvironment(benchmark, split, customer, judging, retrieve)
    ids = list(environment.tasks())
    if unknown := sorted(set(task) - set(ids)):
        raise UsageError(f"the {split} split of {domain} has no task {unknown[0]!r}.")
    check_writable(out)
    provider = _provider(bank, log, "default", {}) if memory != "hook" else None
    settings = f"{split} {target} {user} {user_model} {judge} {judge_model} {memory} {_content(bank)}"
    batch = Batch(environment, agent, provider, out, Limits(steps=steps), {}, runs, concurrency, settings)
    try:
        return _run_batch(batch, [each for each in ids if not task or each in task])
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
    from contramem_lab.opened import python_object

    if ".py:" not in reference:
        raise UsageError(f"{reference}: write it as FILE.py:NAME.")
    return python_object(Path(reference))()


def _openai(model: str, url: str | None) -> Any:
    from contramem_lab.target import OpenAITarget

    return OpenAITarget(model, base_url=url)


def _content(bank: Path | None) -> str | None:
    return bank.read_bytes().hex() if bank else None


def _provider(bank: Path | None, log: Path | None, profile: str, profiles: dict[str, Any]) -> Any:
    from contramem.inject.run import Memory
    from contramem_lab.jobs import ProfileByAbility

    return None if bank is None else ProfileByAbility(Memory.load(bank, log=log), profile, profiles)


def _run_batch(batch: Any, tasks: Sequence[str]) -> Report:
    from contramem_lab.jobs import StoppedError

    out = batch.out
    try:
        with progress() as tell:
            runs, problems = batch.run(tasks, tell)
    except StoppedError as stopped:
        why = f"{stopped.cause} " if stopped.cause else ""
        raise UsageError(f"{why}{stopped.done} runs were done just now and are kept in {out}. Run it again.") from None
    for problem in problems:
        click.secho(problem, err=True, fg="yellow")
    if not runs:
        raise UsageError("no run was made.")
    rows = [
        {"task_id": run.task_id, "ability": run.ability, "trial": run.run, "source": run.source}
        | msgspec.to_builtins(run.outcome)
        for run in runs
    ]
    return Report({"out": str(out), "runs": rows, "problems": problems}, _show_runs(runs, out))


def _show_runs(runs: Sequence[Any], out: Path) -> Iterator[str]:
    for ability in sorted({run.ability or "general" for run in runs}):
        group = [run for run in runs if (run.ability or "general") == ability]
        passed = sum(run.outcome.passed is True for run in group)
        unknown = sum(run.outcome.passed is None for run in group)
        limits = sum(run.outcome.ended != "complete" for run in group)
        more = f", {unknown} without a verdict" if unknown else ""
        yield f"{ability}: {passed} of {len(group)} runs passed{more}; {limits} ended at a limit or by an error."
    yield f"Runs: {out / 'runs'}   Compare with: contramem evaluate compare BASE --with {out / 'runs'}"


# The door


Wait = Annotated[float, "How long to wait for the next question.", "SECONDS"]


@command(door)
def start(
    folder: Annotated[Path, "", None, _CHECKOUT], *,
    as_: Annotated[Literal["agent", "user", "judge"], "Who you are."] = "agent",
    wait: Wait = 500.0,
) -> None:  # fmt: skip
    """Take the next conversation that waits in FOLDER, and print what it is about."""
    from contramem_lab.door import Door

    ask = Door(folder, wait).next(as_)
    if ask is None:
        click.echo("Nobody waits for you yet. Run the same command again.")
    else:
        _show_ask(ask)


@command(door)
def call(
    folder: Annotated[Path, "", None, _CHECKOUT], key: str, function: str, arguments: str = "{}", *, wait: Wait = 500.0
) -> None:
    """Call FUNCTION with ARGUMENTS, a JSON object, and print the result."""
    from contramem_lab.target import ToolCall

    try:
        given = json.loads(arguments)
    except ValueError as error:
        raise UsageError(f"the arguments are not JSON: {error}.") from None
    if not isinstance(given, dict):
        raise UsageError('the arguments must be a JSON object, such as \'{"order_id": "A-1"}\'.')
    _answer(folder, key, wait, calls=(ToolCall(function, given),))


@command(door)
def say(folder: Annotated[Path, "", None, _CHECKOUT], key: str, text: str, *, wait: Wait = 500.0) -> None:
    """Say TEXT: to the user as the agent, to the agent as the user, or your verdict as the judge. Prints the reply."""
    _answer(folder, key, wait, text)


@command(door, "wait")
def wait_(folder: Annotated[Path, "", None, _CHECKOUT], key: str, *, wait: Wait = 500.0) -> None:
    """Go on waiting for what is asked next in a conversation."""
    _answer(folder, key, wait)


def _answer(folder: Path, key: str, wait_s: float, text: str = "", calls: Any = ()) -> None:
    from contramem_lab.door import Door

    at = Door(folder, wait_s)
    ask = at.answer(key, text, calls) if text or calls else at.resume(key)
    if ask is not None:
        _show_ask(ask)
    elif at.ended(key):
        click.echo("This conversation has ended.")
    else:
        click.echo(f"No reply yet. Wait with: contramem lab door wait {folder} {key}")


def _show_ask(ask: Any) -> None:
    click.echo(f"[{ask.key}]")
    for tool in ask.tools:
        click.echo(f"{tool.function}: {tool.description}\n    {json.dumps(tool.parameters, ensure_ascii=False)}")
    for message in ask.messages:
        click.echo(f"\n{message.role.upper()}: {message.text}")


# STATE-Bench's recorded runs


@command(state_bench)
def verdicts(
    checkout: Annotated[Path, "", None, _CHECKOUT], domain: Annotated[Domain, ""], *,
    out: Annotated[Path | None, "Write the runs with their verdicts, as JSONL.", None, _FILE] = None,
) -> Report:  # fmt: skip
    """Make the calls of the recorded train runs again, and judge the state they lead to by the benchmark's own code.

    Nothing of the test split is opened. The dialogue is not judged.
    """
    from contramem.traces.write import write_traces
    from contramem_lab.state_bench import StateBench, replay_train_runs

    replay = replay_train_runs(StateBench(checkout, domain))
    counts = {"runs": len(replay.runs), "passed": replay.passed, "calls": replay.calls, "different": replay.different}
    lines = [
        f"{len(replay.runs)} runs, {replay.passed} satisfy the state requirements. {replay.calls:,} calls made again, "
        f"{replay.different} with another result than recorded."
    ]
    if out is not None:
        write_traces(replay.runs, out)
        lines.append(f"Runs: {out}   Next: contramem build {out}")
    return Report(counts, lines)
