"""From traces to bank, in the order it happens. Read this file first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contramem.bank.bank import Bank, Grade
from contramem.bank.store import Store
from contramem.build.author import Author, Only
from contramem.build.parts import BuildSettings, build_parts, tasks_of
from contramem.build.reassess import DEFAULT_GRADE
from contramem.build.recorder import BuildReport
from contramem.build.rules.author import RuleAuthor
from contramem.collection.runs import Collection
from contramem.contrast.packet import Packet
from contramem.contrast.packets import contrast_selected, learn_vocabulary
from contramem.contrast.selection import Selection
from contramem.engine import SERIAL, Engine
from contramem.errors import BudgetError, ModelError
from contramem.progress import Progress, no_progress
from contramem.traces.tools import tools_by_function
from contramem.traces.trajectory import Tool, Trajectory
from contramem.validate.validator import Validator

if TYPE_CHECKING:
    from contramem.build.agent.rounds import AgentPlan
    from contramem.build.model.author import ModelChoice
    from contramem.build.model.rounds import Answer, BuildPlan
    from contramem.llm.exchange import Exchange


def learn(
    runs: Iterable[Trajectory], store: Store, *, only: Only | None = None, engine: Engine = SERIAL
) -> BuildReport:
    """Build a bank from runs by rules, without a model, and merge it into the store."""
    with Collection(runs) as collection:
        vocabulary = learn_vocabulary(collection, engine)
        selection = Selection(collection.sketches())
        packets = contrast_selected(collection, selection.keys, vocabulary, engine)
        tools = tools_by_function(run for task in collection for run in task)
        author, checks = RuleAuthor(vocabulary), Validator(vocabulary.public)
        left_out = selection.keys_left_out
        return build_bank(packets, store, author, checks, only=only, tools=tools, left_out=left_out)


def build_bank(
    packets: Sequence[Packet],
    store: Store,
    author: Author,
    checks: Validator,
    *,
    only: Only | None = None,
    append_only: bool = False,
    grade: Grade = DEFAULT_GRADE,
    reassesses: bool = True,
    tools: Mapping[str, Tool] | None = None,
    left_out: Iterable[str] = (),
    on_progress: Progress = no_progress,
) -> BuildReport:
    """Learn from the packets and merge the cards into the store, one decision at a time (the paper's Algorithm 1).

    A refused decision changes nothing and is recorded in the ledger with its reason. `only` builds just the `functions`
    or just the `skills`; `grade` is the lowest grade at which a rule stays in use. Without `reassesses`, cards are not
    checked against all runs again at the end. `left_out` are tasks of the collection that were not selected.
    """
    with store.writing("build"):
        at_hand = _tasks_behind(store.bank()) & {*left_out, *tasks_of(packets)}
        settings = BuildSettings(author, checks, only, append_only, grade, reassesses, tools or {}, at_hand)
        return build_parts(packets, store, settings, on_progress)


def _tasks_behind(bank: Bank) -> frozenset[str]:
    """The tasks that the cards of a bank rest on."""
    supports = [entry.support for entry in bank.entries.values()]
    return frozenset(task for support in supports for task in (*support.tasks, *support.contradicted_by))


@dataclass(frozen=True)
class ModelBuild:
    """How far a build with a model got. Every reply that was paid for is kept in the store."""

    report: BuildReport
    finished: bool
    stopped: ModelError | BudgetError | None = None
    """Why it stopped early. None for an unfinished build that is waiting for replies."""


def build_by_model(
    plan: BuildPlan,
    store: Store,
    choice: ModelChoice,
    checks: Validator,
    answer: Answer,
    *,
    exchange: Exchange,
    on_progress: Progress = no_progress,
) -> ModelBuild:
    """Build with a model as author, in rounds whose requests `answer` sends. A second call resumes where it stopped.

    Each claim of the model is checked when it is made; its guards are checked against all runs once an ability is done.
    """
    # Here and below: imported on use, because a build by rules does not wait for what only a model needs.
    from contramem.build.model.author import ModelAuthor
    from contramem.build.model.rounds import Rounds

    with store.writing("build"):
        author = ModelAuthor(choice, exchange, checks, plan.packets)
        rounds = Rounds(plan, store, author, checks)
        try:
            rounds.run(answer, on_progress)
        except (ModelError, BudgetError) as stopped:
            return ModelBuild(rounds.report, rounds.finished, stopped)
    return ModelBuild(rounds.report, rounds.finished)


def build_by_agent(
    plan: AgentPlan,
    store: Store,
    choice: ModelChoice,
    answer: Answer,
    *,
    exchange: Exchange,
    on_progress: Progress = no_progress,
) -> ModelBuild:
    """Build Skill Cards with a model that explores all runs and tests its hypotheses with tools (not in the paper).

    A second call resumes where it stopped: every exchange is kept.
    """
    from contramem.build.agent.rounds import AgentRounds

    with store.writing("build"):
        rounds = AgentRounds(plan, store, choice, exchange)
        try:
            rounds.run(answer, on_progress)
        except (ModelError, BudgetError) as stopped:
            return ModelBuild(rounds.report, rounds.finished, stopped)
    return ModelBuild(rounds.report, rounds.finished)
