"""Config: what one experiment file says. Fields are the keys of the TOML file; docs/experiments.md explains them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from contramem.evaluate.split import Grouping

Positive = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(gt=0, lt=1)]
Slug = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


class ConfigTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A table of the file. A key that it does not know is refused."""


class SourcesConfig(ConfigTable, frozen=True, kw_only=True):
    """The runs to learn from: recorded ones (`paths`), or ones to make (`collect`), or both."""

    paths: tuple[str, ...] = ()
    """Files, folders, archives and globs, seen from the experiment file."""
    format: str | None = None
    map: dict[str, str] = {}
    outcomes: str | None = None
    effects: str | None = None
    app: str | None = None
    ability: str | None = None
    only: tuple[str, ...] = ()
    """Of these sources alone, by the names that the runs have."""
    collect: tuple[str, ...] = ()
    """Targets to run, without memory, on the reference tasks; what they do is then learned from."""
    trials: Positive = 1
    """Of each collected run."""
    target_trials: dict[str, Positive] = {}
    """More for some: `multi-rollout` learns from several runs of its own target."""


class TargetConfig(ConfigTable, frozen=True, kw_only=True):
    """An agent under test. Which keys count depends on `kind`."""

    kind: Literal["openai", "python"] = "openai"
    """`openai`: any OpenAI-compatible server. `python`: a target of one's own, or a scripted one."""
    model: str = ""
    """The name to ask for; the table's own name when left out."""
    url: str | None = None
    key: str | None = None
    """The name of the environment variable that holds the key. Keys themselves never stand in the file."""
    mode: Literal["tools", "json"] = "tools"
    temperature: float | None = None
    reasoning_effort: str | None = None
    max_reply_tokens: Positive = 1024
    timeout_s: Annotated[float, Meta(gt=0)] = 300.0
    extra: dict[str, Any] = {}
    """Goes into every request as it is."""
    price: tuple[float, float] | None = None
    """Dollars per million tokens in and out, where no list has the model."""
    python: str = ""
    """`file.py:name`, seen from the experiment file: a function that gives a target."""
    provider: str | None = None
    """In ARE: who serves the model, as ARE takes it. Left out with a `url`: any OpenAI-compatible server."""
    source: str | None = None
    """What its own runs are called among the sources, for self memory; the table's name when left out."""


class SplitConfig(ConfigTable, frozen=True, kw_only=True):
    """Which tasks teach and which are held out. Counts are per ability."""

    by: Grouping = "scenario"
    """What is never divided: a scenario, a wording with other values in it, or a task. A wording never is."""
    seed: int | None = None
    """The experiment's own when left out."""
    reference: Positive | None = None
    held_out: Positive | None = None
    """With counts, tasks beyond them take no part; without, each task is on one side."""
    share: Share = 0.5
    """Of tasks that teach, where no counts are given."""
    folds: Annotated[int, Meta(ge=2)] | None = None
    """Each task is held out once, by the memory of the other folds."""
    reference_tasks: tuple[str, ...] = ()
    held_out_tasks: tuple[str, ...] = ()
    """Sides that are given: task ids, patterns of ids (`desk_*`), or `@file` with one id a line."""
    abilities: tuple[str, ...] = ()
    """These alone, in the words of the runs. Empty: all."""
    tasks: str | None = None
    """A CSV with `task_id` and any of `environment`, `ability`, `scenario_id`, `wording`: all tasks there are, where
    neither an environment nor the recorded runs know them."""


class LimitsConfig(ConfigTable, frozen=True, kw_only=True):
    """Where a run ends that does not end by itself."""

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
    """The environment variable that holds its key, where the provider's own is not meant."""
    tick_s: Annotated[float, Meta(gt=0)] = 60.0
    clock: bool = True
    ticks: bool = True
    guards: bool = True
    clip: bool = True
    repair: bool = True
    final_card: bool = True
    universal: bool = True


class AppWorldConfig(ConfigTable, frozen=True, kw_only=True):
    """Where AppWorld's environment server is, and what its tasks are."""

    url: str = "http://127.0.0.1:8000"
    data: str = "data/appworld"
    """AppWorld's root, seen from the experiment file; the ids of a data set are in `data/datasets/NAME.txt` in it."""
    datasets: tuple[str, ...] = ("train", "test_normal", "test_challenge")
    experiment: str = "contramem"
    """What AppWorld calls the experiment in its own outputs."""


class EnvironmentConfig(ConfigTable, frozen=True, kw_only=True):
    """Where the targets run."""

    names: Annotated[tuple[str, ...], Meta(min_length=1)]
    """`are`, `appworld`, `bfcl/base`, `agentdojo/slack`, ..., or `file.py:name`, seen from the experiment file, for
    one of your own."""
    runs: str | None = None
    """Where an outside runner leaves its traces, with {condition} and {target} in it; nothing is then run here."""
    tasks: tuple[str, ...] = ()
    """These alone are run: ids or patterns, with the environment before them where ids repeat. Empty: all that it has.
    Recorded runs of the others still teach."""
    limits: LimitsConfig = LimitsConfig()
    ability_limits: dict[str, LimitsConfig] = {}
    """Other limits for an ability: the paper gives Time 900 seconds."""
    scenarios: tuple[str, ...] = ()
    """For ARE: folders and files of scenarios, seen from the experiment file, or names of built-in ones."""
    are: AreConfig = AreConfig()
    appworld: AppWorldConfig = AppWorldConfig()
    concurrency: Positive = 2
    trials: Positive = 1
    """Runs of each target at each held-out task, with seeds of their own that are the same for every condition."""


class OnlyConfig(ConfigTable, frozen=True, kw_only=True):
    """Where a condition is run. Empty: everywhere."""

    targets: tuple[str, ...] = ()
    abilities: tuple[str, ...] = ()

    def covers(self, target: str, ability: str) -> bool:
        return (not self.targets or target in self.targets) and (not self.abilities or ability in self.abilities)


class ConditionsConfig(ConfigTable, frozen=True, kw_only=True):
    """What the targets are given."""

    run: Annotated[tuple[str, ...], Meta(min_length=1)]
    """By name; `none` is what the others are compared with."""
    only: dict[str, OnlyConfig] = {}
    """Conditions that only some targets, or only tasks of some abilities, are run under: ablations cost less so."""
    profile: str | None = None
    """How cards are shown (docs/retrieval.md); the bank's own when left out."""
    ability_profiles: dict[str, str] = {}
    cards: Literal["hold", "describe"] = "hold"
    """How cards of functions reach the agent (docs/environments.md): by a held call, or in tool descriptions."""
    allow_same_task: bool = False
    """Only for tables on the reference split: cards may come from the very task that is run."""
    on: Literal["held_out", "reference"] = "held_out"
    """Which side is run."""
    target: str | None = None
    """Whose own runs `self` and `multi-rollout` learn from where nothing is run; the median source when left out."""


class ConstructionConfig(ConfigTable, frozen=True, kw_only=True):
    """Who writes the memories."""

    author: Literal["rules", "model"] = "rules"
    model: str | None = None
    """As `contramem build --model` takes it."""
    url: str | None = None
    key: str | None = None
    """The environment variable that the provider reads its key from; without it nothing is begun."""
    reasoning_effort: str | None = None
    temperature: float | None = None
    suite: Literal["app_tool", "code_agent"] = "app_tool"
    self_curated: bool = False
    """A memory of a target's own runs is written by that target instead of `model`, as in the paper's AppWorld."""
    every_function: bool = False
    """A Function Card for every observed function, as in the paper's GAIA2 bank."""
    reassess: bool = True
    """Hold cards against all runs in the end. Without it, `append-only` differs in curation alone."""
    rollouts: Positive | None = None
    """Runs of each source at a task that shared memories learn from; all when left out. With 1 and three sources,
    contramem learns from as many runs as `multi-rollout` does."""
    budget_usd: Annotated[float, Meta(gt=0)] | None = None
    bank: str | None = None
    """A frozen bank that is there already, for the condition contramem. It is checked for leakage."""


class OutputConfig(ConfigTable, frozen=True, kw_only=True):
    """Where the results go."""

    folder: str | None = None
    """`results/<name>` when left out, seen from where the command is run."""


class ExperimentConfig(ConfigTable, frozen=True, kw_only=True):
    """One experiment."""

    name: Slug
    about: str = ""
    """One line that the report opens with."""
    seed: int = 0
    needs: tuple[str, ...] = ()
    """Python packages without which it cannot run."""
    sources: SourcesConfig
    targets: dict[Slug, TargetConfig] = {}
    split: SplitConfig = SplitConfig()
    environment: EnvironmentConfig | None = None
    """None: nothing is run; memories are judged by what they foresee of the recorded held-out runs."""
    conditions: ConditionsConfig
    construction: ConstructionConfig = ConstructionConfig()
    output: OutputConfig = OutputConfig()
