"""What a condition gets and gives: runs to learn from (`Reference`, or masked), and a memory with what it cost."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import msgspec

from contramem.bank.store import Store
from contramem.bank.tables import StoredExchange
from contramem.build.model.answering import AskNow
from contramem.build.model.author import ModelChoice
from contramem.build.model.step_text import call_text, result_text
from contramem.collection.runs import Collection
from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.packets import contrast_all
from contramem.contrast.step import Step
from contramem.contrast.vocabulary import Vocabulary
from contramem.errors import UsageError
from contramem.inject.provider import MemoryProvider
from contramem.llm.exchange import Exchange, ModelCaller
from contramem.privacy.instructions import instructs, read
from contramem.privacy.taint import texts_shown
from contramem.traces.run_content import content_digest
from contramem.traces.tools import tools_by_function
from contramem.traces.trajectory import Tool, Trajectory
from contramem.validate.packet_contents import shingles
from contramem_lab.foresight import Judge


class Reference:
    """Runs grouped by task. The order in which runs are given does not matter."""

    def __init__(self, runs: Iterable[Trajectory], clock: Callable[[], float] = time.perf_counter) -> None:
        with Collection(runs) as pool:
            self.tasks: tuple[tuple[Trajectory, ...], ...] = tuple(tuple(task) for task in pool)
        self.clock = clock
        self._prepared_s = 0.0

    @property
    def runs(self) -> Iterator[Trajectory]:
        return (run for task in self.tasks for run in task)

    def __len__(self) -> int:
        return sum(map(len, self.tasks))

    @cached_property
    def sources(self) -> tuple[str, ...]:
        return tuple(sorted({run.source for run in self.runs}))

    @cached_property
    def digest(self) -> str:
        """A short digest of the runs, used in the names of stores."""
        hasher = hashlib.sha256()
        for run in self.runs:
            hasher.update(content_digest(run))
        return hasher.hexdigest()[:12]

    @cached_property
    def tools(self) -> dict[str, Tool]:
        """The functions that agents had, as described in the runs."""
        return tools_by_function(self.runs)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(list(task) for task in self.tasks)

    @cached_property
    def packets(self) -> list[Packet]:
        """A packet for each task: values are masked, calls that follow from planted text are marked."""
        began = self.clock()
        with Collection(self.runs) as pool:
            packets = contrast_all(pool, self.vocabulary)
        self._prepared_s = self.clock() - began
        return packets

    def prepare(self) -> float:
        """Build the packets if needed. Returns the seconds it took, which are charged to every memory."""
        return self._prepared_s if self.packets else 0.0

    def limit_rollouts(self, rollouts: int) -> Reference:
        """The first `rollouts` runs of each task by each source."""
        runs = (run for task in self.tasks for source in self.sources for run in by_source(task, source)[:rollouts])
        return Reference(runs, self.clock)

    def only(self, source: str, rollouts: int) -> Reference:
        """The first `rollouts` runs of each task by one source."""
        if source not in self.sources:
            raise UsageError(f"--target: there are no runs of {source!r}. These runs are of {', '.join(self.sources)}.")
        runs = (run for task in self.tasks for run in by_source(task, source)[:rollouts])
        return Reference(runs, self.clock)


def by_source(task: Sequence[Trajectory], source: str) -> list[Trajectory]:
    """The runs of one source, sorted by trial number."""
    return sorted((run for run in task if run.source == source), key=lambda run: (len(run.run), run.run))


def median_source(tasks: Iterable[Sequence[Trajectory]]) -> str:
    """The source with the median pass rate; of an even number, the lower of the two in the middle."""
    passed: dict[str, list[bool]] = {}
    for task in tasks:
        for run in task:
            if run.outcome.passed is not None:
                passed.setdefault(run.source, []).append(run.outcome.passed)
    if not passed:
        raise UsageError("no run has a known outcome, so no source can be chosen. Give outcomes with --outcomes.")
    ranked = sorted(passed, key=lambda source: (sum(passed[source]) / len(passed[source]), source))
    return ranked[(len(ranked) - 1) // 2]


MAX_FEEDBACK_CHARS = 300

RunKey = tuple[str, str, str]
"""Task key, source, trial."""


def key_of(run: Trajectory) -> RunKey:
    return run.task_key, run.source, run.run


@dataclass(frozen=True)
class MaskedRun:
    """One run, with digests of its task but without its source."""

    ability: str
    task: str
    passed: bool | None
    counts: bool
    """Whether it is evidence: it was not interrupted, and its outcome is known."""
    ended: str
    feedback: str
    steps: tuple[Step, ...]
    """The agent's own actions: calls, questions, the answer."""
    lines: tuple[str, ...]
    """The steps as text, with their results."""
    identity: frozenset[str]

    @property
    def calls(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.function)


def mask_runs(reference: Reference) -> dict[RunKey, MaskedRun]:
    """Every run of the reference, sorted by task, source and trial."""
    originals = {key_of(run): run for run in reference.runs}
    runs = {}
    for packet in reference.packets:
        named = {letter: (packet.task_key, origin.source, origin.run) for letter, origin in packet.provenance.items()}
        clean = _CleanText(originals[key] for key in named.values())
        for run in sorted(packet.runs, key=lambda run: named[run.letter]):
            runs[named[run.letter]] = _mask_run(packet, run, clean)
    return runs


def _mask_run(packet: Packet, run: PacketRun, clean: _CleanText) -> MaskedRun:
    # Results with planted text are left out, and so are calls that contain it or failed with it.
    steps = tuple(
        step if clean(step.returned) else msgspec.structs.replace(step, returned="")
        for step in run.actions
        if clean(call_text(step, origins=False)) and clean(step.error)
    )
    return MaskedRun(
        ability=packet.ability,
        task=" ".join(packet.task.split()),
        passed=run.passed,
        counts=run.counts,
        ended=run.ended,
        feedback=_shorten(run.feedback) if clean(run.feedback) else "",
        steps=steps,
        lines=tuple(call_text(step, origins=False) + (result_text(step) if step.function else "") for step in steps),
        identity=frozenset(packet.identity),
    )


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_FEEDBACK_CHARS else flat[: MAX_FEEDBACK_CHARS - 1].rstrip() + "…"


class _CleanText:
    """Recognizes text without planted instructions. Uses the unmasked runs: masking may hide what reveals them."""

    def __init__(self, runs: Iterable[Trajectory]) -> None:
        passages = {
            passage for run in runs for event in run.events for text in texts_shown(event) for passage in _in(text)
        }
        self._planted = frozenset(words for passage in sorted(passages) for words in shingles(passage))

    def __call__(self, text: str) -> bool:
        return not instructs(text) and self._planted.isdisjoint(shingles(text))


def _in(text: str) -> Iterator[str]:
    yield from read(text).passages


RULES = "rules"
NOTHING = "nothing to build"
ROLLOUTS = 3
"""How many runs of a task by one source `multi-rollout` learns from, as in the paper (Ablations)."""


class NotApplicable(Exception):
    """This memory cannot be built from these runs; the text says why. Its table row is n/a; the others continue."""


@dataclass(frozen=True)
class ConstructionCost:
    """What building a memory cost. Replies paid for by an earlier build count like new ones."""

    by: str
    """`rules`, the name of a model, or `nothing to build`."""
    trajectories: int = 0
    """The number of runs that it was built from."""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0
    """None if the price of some call is unknown."""
    seconds: float = 0.0
    """Wall-clock time, including contrasting. Replies from a store take no time."""

    @classmethod
    def of_calls(cls, by: str, trajectories: int, calls: Iterable[StoredExchange], seconds: float) -> ConstructionCost:
        call_list = list(calls)
        costs = [call.cost_usd for call in call_list]
        return cls(
            by=by,
            trajectories=trajectories,
            calls=len(call_list),
            tokens_in=sum(call.tokens_in for call in call_list),
            tokens_out=sum(call.tokens_out for call in call_list),
            cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
            seconds=seconds,
        )

    def plus(self, other: ConstructionCost) -> ConstructionCost:
        """The cost of two parts that were built from the same runs."""
        costs = (self.cost_usd, other.cost_usd)
        return ConstructionCost(
            self.by, self.trajectories, self.calls + other.calls, self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out, None if None in costs else sum(cost or 0 for cost in costs),
            self.seconds + other.seconds,
        )  # fmt: skip


@dataclass(frozen=True)
class BuiltMemory:
    """A memory built by a condition: guidance for agents, an order of runs if it defines one, and its cost."""

    provider: MemoryProvider
    items: int
    """The number of cards, runs, workflows or bullets."""
    unit: str
    tokens: int
    """The size of the whole memory. What one task gets of it is measured separately."""
    construction: ConstructionCost
    judge: Judge | None = None
    """Orders the runs of a task. None if this memory defines no order."""
    parts: Mapping[str, Judge] = field(default_factory=dict)
    """The parts of the order, measured separately."""


@dataclass(frozen=True)
class ByModel:
    """A model that builds memories. Replies are kept in stores, so that nothing is paid for twice."""

    choice: ModelChoice
    caller: ModelCaller

    def asking(self, store: Store) -> tuple[Exchange, AskNow]:
        exchange = Exchange(store)
        return exchange, AskNow(self.caller, exchange)


@dataclass(frozen=True)
class ConditionInputs:
    """The inputs of every condition."""

    reference: Reference
    folder: Path
    """For the stores of banks and replies. Existing stores are resumed."""
    target: str | None = None
    """The source whose own runs `self` and `multi-rollout` learn from."""
    model: ByModel | None = None
    """None to build by rules."""
    profile: str = "default"
    """The profile for retrieving and showing cards."""
    ability_profiles: Mapping[str, str] = field(default_factory=dict)
    """Other profiles for some abilities."""
    rollouts: int = ROLLOUTS
    reassesses: bool = True
    """Whether cards are checked against all runs at the end of a build."""
    pool: Reference | None = None
    """All runs, if `reference` has only some of each source: a memory from the target's own runs may need more."""
    kept: dict[str, object] = field(default_factory=dict, repr=False, compare=False)
    """Banks that several conditions share, built once by the first that needs them."""

    @property
    def by(self) -> str:
        return self.model.choice.name if self.model else RULES

    def own(self, rollouts: int) -> Reference:
        """The target's own runs."""
        if self.target is None:
            raise NotApplicable("there is no target: name the source whose runs it learns from")
        return (self.pool or self.reference).only(self.target, rollouts)

    def store(self, name: str, reference: Reference) -> Path:
        """The path of the store with this name for these runs."""
        return self.folder / f"{name}-{reference.digest}.db"


@dataclass(frozen=True)
class Condition:
    """A way to build a memory."""

    name: str
    """As `--conditions` takes it."""
    about: str
    """One line."""
    build: Callable[[ConditionInputs], BuiltMemory]
    """Raises NotApplicable if these inputs don't allow it."""
    uses_cards: bool = False
    """Whether it is a bank of cards, which does not depend on the tasks that will be run."""
    uses_own_runs: bool = False
    """Whether it learns from the target's own runs, so that every target has its own memory."""
