"""An experiment file: what it may contain, and its errors in one line: where, what, and what would be right.

Fields are the keys of the TOML file; docs/experiments.md explains them.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from contramem.errors import UsageError, nearest

Grouping: TypeAlias = Literal["scenario", "template", "task"]
"""What is kept on one side of a split. Tasks with the same id or wording always are."""
Positive = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(gt=0, lt=1)]
Slug = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


class ConfigTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A table of the file. Unknown keys are refused."""


class SourcesConfig(ConfigTable, frozen=True, kw_only=True):
    """The runs to learn from: recorded (`paths`), to be made (`collect`), or both."""

    paths: tuple[str, ...] = ()
    """Files, folders, archives and globs, relative to the experiment file."""
    format: str | None = None
    map: dict[str, str] = {}
    outcomes: str | None = None
    effects: str | None = None
    app: str | None = None
    ability: str | None = None
    only: tuple[str, ...] = ()
    """Only these sources, by their names in the runs."""
    collect: tuple[str, ...] = ()
    """Targets to run without memory on the reference tasks; their runs are then learned from."""
    trials: Positive = 1
    """Number of runs per task and collected target."""
    target_trials: dict[str, Positive] = {}
    """Other numbers for some targets: `multi-rollout` learns from several runs of its own target."""


class TargetConfig(ConfigTable, frozen=True, kw_only=True):
    """An agent under test. Which keys apply depends on `kind`."""

    kind: Literal["openai", "python"] = "openai"
    """`openai`: any OpenAI-compatible server. `python`: your own target, or a scripted one."""
    model: str = ""
    """The name of the model; by default the table's name."""
    url: str | None = None
    key: str | None = None
    """The environment variable with the key. The file never contains keys."""
    mode: Literal["tools", "json"] = "tools"
    temperature: float | None = None
    reasoning_effort: str | None = None
    max_reply_tokens: Positive = 1024
    timeout_s: Annotated[float, Meta(gt=0)] = 300.0
    extra: dict[str, Any] = {}
    """Added to every request as it is."""
    price: tuple[float, float] | None = None
    """Dollars per million tokens in and out, if the model is in no price list."""
    python: str = ""
    """`file.py:name`, relative to the experiment file: a function that returns a target."""
    provider: str | None = None
    """For ARE: who serves the model, in ARE's terms. Omitted with a `url`: any OpenAI-compatible server."""
    source: str | None = None
    """The name of its own runs among the sources, for self memory; by default the table's name."""


class SplitConfig(ConfigTable, frozen=True, kw_only=True):
    """Which tasks teach and which are held out. Counts are per ability."""

    by: Grouping = "scenario"
    """What stays on one side: a scenario, a wording with other values in it, or a task. A wording is never divided."""
    seed: int | None = None
    """By default the experiment's seed."""
    reference: Positive | None = None
    held_out: Positive | None = None
    """With counts, tasks beyond them are not used; without, each task is on one side."""
    share: Share = 0.5
    """The share of tasks that teach, if no counts are given."""
    folds: Annotated[int, Meta(ge=2)] | None = None
    """Each task is held out once, with a memory from the other folds."""
    reference_tasks: tuple[str, ...] = ()
    held_out_tasks: tuple[str, ...] = ()
    """Given sides: task ids, patterns of ids (`desk_*`), or `@file` with one id per line."""
    abilities: tuple[str, ...] = ()
    """Only these, as named in the runs. Empty: all."""
    tasks: str | None = None
    """A CSV with `task_id` and any of `environment`, `ability`, `scenario_id`, `wording`: the list of all tasks, if
    neither an environment nor the recorded runs have it."""


class LimitsConfig(ConfigTable, frozen=True, kw_only=True):
    """When to end a run that does not end by itself."""

    steps: Positive = 30
    tokens: Positive | None = None
    seconds: Annotated[float, Meta(gt=0)] | None = None


class AreConfig(ConfigTable, frozen=True, kw_only=True):
    """How scenarios are run in ARE; docs/environments.md explains the parts of the temporal runtime."""

    judge: Literal["llm", "scripted", "none"] = "llm"
    judge_model: str | None = None
    judge_provider: str | None = None
    judge_url: str | None = None
    judge_key: str | None = None
    """The environment variable with its key, if it is not the provider's usual one."""
    tick_s: Annotated[float, Meta(gt=0)] = 60.0
    clock: bool = True
    ticks: bool = True
    guards: bool = True
    clip: bool = True
    repair: bool = True
    final_card: bool = True
    universal: bool = True


class AppWorldConfig(ConfigTable, frozen=True, kw_only=True):
    """Where AppWorld's environment server is, and which tasks to run."""

    url: str = "http://127.0.0.1:8000"
    data: str = "data/appworld"
    """AppWorld's root, relative to the experiment file; `data/datasets/NAME.txt` in it lists the ids of a data set."""
    datasets: tuple[str, ...] = ("train", "test_normal", "test_challenge")
    experiment: str = "contramem"
    """The experiment's name in AppWorld's own outputs."""


class EnvironmentConfig(ConfigTable, frozen=True, kw_only=True):
    """Where the targets run."""

    names: Annotated[tuple[str, ...], Meta(min_length=1)]
    """`are`, `appworld`, `bfcl/base`, `agentdojo/slack`, ..., or `file.py:name` relative to the experiment file, for
    your own environment."""
    runs: str | None = None
    """Where an outside runner leaves its traces, with {condition} and {target} in it; then nothing is run here."""
    tasks: tuple[str, ...] = ()
    """Run only these: ids or patterns, prefixed with the environment if ids repeat. Empty: all. Recorded runs of the
    others still teach."""
    limits: LimitsConfig = LimitsConfig()
    ability_limits: dict[str, LimitsConfig] = {}
    """Other limits for an ability: the paper gives Time 900 seconds."""
    scenarios: tuple[str, ...] = ()
    """For ARE: folders and files of scenarios, relative to the experiment file, or names of built-in ones."""
    are: AreConfig = AreConfig()
    appworld: AppWorldConfig = AppWorldConfig()
    concurrency: Positive = 2
    trials: Positive = 1
    """Runs of each target on each held-out task. Their seeds differ, and are the same for every condition."""


class OnlyConfig(ConfigTable, frozen=True, kw_only=True):
    """Where a condition is run. Empty: everywhere."""

    targets: tuple[str, ...] = ()
    abilities: tuple[str, ...] = ()

    def covers(self, target: str, ability: str) -> bool:
        return (not self.targets or target in self.targets) and (not self.abilities or ability in self.abilities)


class ConditionsConfig(ConfigTable, frozen=True, kw_only=True):
    """What the targets are given."""

    run: Annotated[tuple[str, ...], Meta(min_length=1)]
    """By name; the others are compared with `none`."""
    only: dict[str, OnlyConfig] = {}
    """Conditions that are run only for some targets or abilities, to save the cost of ablations."""
    profile: str | None = None
    """How cards are shown (docs/retrieval.md); by default the bank's own profile."""
    ability_profiles: dict[str, str] = {}
    """Other profiles for tasks of some abilities."""
    cards: Literal["hold", "describe"] = "hold"
    """How cards of functions reach the agent (docs/environments.md): by a held call, or in tool descriptions."""
    allow_same_task: bool = False
    """Only for tables on the reference split: cards may come from the task itself."""
    on: Literal["held_out", "reference"] = "held_out"
    """Which side is run."""

    def profile_of(self, ability: str | None) -> str | None:
        """The profile for tasks of an ability, as a frozen bank has it; case is ignored."""
        own = {name.casefold(): profile for name, profile in self.ability_profiles.items()}
        return own.get((ability or "").casefold(), self.profile)


class ConstructionConfig(ConfigTable, frozen=True, kw_only=True):
    """Who writes the memories."""

    author: Literal["rules", "model"] = "rules"
    model: str | None = None
    """In the form that `contramem build --model` accepts."""
    url: str | None = None
    key: str | None = None
    """The environment variable with the provider's key; the experiment does not start without it."""
    reasoning_effort: str | None = None
    temperature: float | None = None
    suite: Literal["app_tool", "code_agent"] = "app_tool"
    self_curated: bool = False
    """A memory of a target's own runs is written by that target instead of `model`, as in the paper's AppWorld."""
    every_function: bool = False
    """A Function Card for every observed function, as in the paper's GAIA2 bank."""
    reassess: bool = True
    """Check cards against all runs at the end. Without it, `append-only` differs in curation alone."""
    rollouts: Positive | None = None
    """Runs per source and task that shared memories learn from; by default all. With 1 and three sources, contramem
    learns from as many runs as `multi-rollout` does."""
    budget_usd: Annotated[float, Meta(gt=0)] | None = None
    bank: str | None = None
    """An existing frozen bank for the condition contramem. It is checked for leakage."""


class OutputConfig(ConfigTable, frozen=True, kw_only=True):
    """Where the results go."""

    folder: str | None = None
    """By default `results/<name>`, relative to the working directory."""


class ExperimentConfig(ConfigTable, frozen=True, kw_only=True):
    """One experiment."""

    name: Slug
    about: str = ""
    """The first line of the report."""
    seed: int = 0
    needs: tuple[str, ...] = ()
    """Python packages that it requires."""
    sources: SourcesConfig
    targets: dict[Slug, TargetConfig] = {}
    split: SplitConfig = SplitConfig()
    environment: EnvironmentConfig
    conditions: ConditionsConfig
    construction: ConstructionConfig = ConstructionConfig()
    output: OutputConfig = OutputConfig()


@dataclass(frozen=True)
class ExperimentFile:
    """A config, and the file it comes from."""

    path: Path
    config: ExperimentConfig
    text: str

    @property
    def digest(self) -> str:
        """A digest of the content, ignoring comments and order."""
        return hashlib.sha256(msgspec.json.encode(self.config, order="deterministic")).hexdigest()

    def beside(self, path: str) -> Path:
        """A path in the file, relative to the file's folder."""
        return self.path.parent / Path(path).expanduser()


def load_experiment(path: Path) -> ExperimentFile:
    """The experiment in `path`, with every key checked."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"{path}: cannot be read ({why}).") from None
    return ExperimentFile(path, parse(text, str(path)), text)


def parse(text: str, where: str) -> ExperimentConfig:
    """Parse an experiment; `where` is for messages."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{where}: is not valid TOML: {error}.") from None
    for problem in _unknown_keys(document, msgspec.inspect.type_info(ExperimentConfig), ()):
        raise UsageError(_describe_problem(where, text, *problem))
    if "environment" not in document:
        raise UsageError(
            f"{where}: there is no [environment] to run targets in. `contramem lab conditions` compares ways to build "
            "a memory on recorded runs alone."
        )
    try:
        return msgspec.convert(document, ExperimentConfig)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        keys = tuple(re.findall(r"[^.\[\]`.]+", re.sub(r"\[(\d+|\.\.\.)\]", "", place)))
        raise UsageError(_describe_problem(where, text, keys, _in_words(what, keys))) from None


Keys = tuple[str, ...]


def _unknown_keys(value: Any, kind: msgspec.inspect.Type, keys: Keys) -> Iterator[tuple[Keys, str]]:
    if isinstance(kind, msgspec.inspect.UnionType):
        for member in kind.types:
            yield from _unknown_keys(value, member, keys)
    elif not isinstance(value, Mapping):
        return
    elif isinstance(kind, msgspec.inspect.StructType):
        fields = {field.encode_name: field.type for field in kind.fields}
        for key, inner in value.items():
            if key in fields:
                yield from _unknown_keys(inner, fields[key], (*keys, key))
            else:
                yield (
                    (*keys, key),
                    f"there is no such key{nearest(key, fields)} {_place(keys)} takes {_join_names(fields)}",
                )
    elif isinstance(kind, msgspec.inspect.DictType):
        for key, inner in value.items():
            yield from _unknown_keys(inner, kind.value_type, (*keys, key))


def _place(keys: Keys) -> str:
    return f"[{'.'.join(keys)}]" if keys else "The file"


def _join_names(names: Mapping[str, object]) -> str:
    return ", ".join(sorted(names))


def _in_words(what: str, keys: Keys) -> str:
    missing = re.search(r"missing required field `(\w+)`", what)
    if missing:
        return f"{missing[1]!r} is missing"
    choice = re.search(r"Invalid enum value '(.*)'", what)
    if choice:
        return f"{choice[1]!r} is none of its values{_choices(keys, choice[1])}"
    return what[0].lower() + what[1:].replace("`", "'")


def _choices(keys: Keys, given: str) -> str:
    kind: Any = msgspec.inspect.type_info(ExperimentConfig)
    for key in keys:
        if isinstance(kind, msgspec.inspect.UnionType):
            kind = next(member for member in kind.types if not isinstance(member, msgspec.inspect.NoneType))
        if isinstance(kind, msgspec.inspect.StructType):
            kind = next(field.type for field in kind.fields if field.encode_name == key)
        elif isinstance(kind, msgspec.inspect.DictType):
            kind = kind.value_type
    values = tuple(map(str, getattr(kind, "values", ())))
    return f"{nearest(given, values)} It takes {', '.join(values)}" if values else ""


def _describe_problem(where: str, text: str, keys: Keys, what: str) -> str:
    line = _line_of(text, keys)
    place = f"{where}:{line}" if line else where
    return f"{place}: {'.'.join(keys)}: {what}." if keys else f"{place}: {what}."


def _line_of(text: str, keys: Keys) -> int | None:
    """The line of a key: in its table's part of the file or, for a table, its header."""
    if not keys:
        return None
    table: Keys = ()
    for number, line in enumerate(text.splitlines(), 1):
        head = re.match(r"\s*\[+\s*([^\[\]]+?)\s*\]+", line)
        if head:
            table = tuple(part.strip().strip("\"'") for part in head[1].split("."))
            if table == keys:
                return number
        key = re.match(r"\s*[\"']?([A-Za-z0-9_.-]+)[\"']?\s*=", line)
        if key and (*table, *key[1].split(".")) == keys[: len(table) + len(key[1].split("."))]:
            return number
    return None
