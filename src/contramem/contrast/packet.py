"""Packet: all attempts at one task side by side, with values as placeholders, and the signals that separate them.

A packet is what an Author sees. Sources are replaced by run letters, values by placeholders; the mapping back to
sources and files stays in `provenance`, for the ledger and for people, and the mapping to values stays in memory only.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeVar, cast

import msgspec

from contramem.collection.runs import Collection
from contramem.contrast.clock import has_clock, seconds_since_start
from contramem.contrast.conventions import SharedValue
from contramem.contrast.enabling import Enabling, find_enablings
from contramem.contrast.feedback import normalize_feedback
from contramem.contrast.observed_effects import correct_effects
from contramem.contrast.placeholders import Placeholders
from contramem.contrast.shown_results import ShownResults, redact_text
from contramem.contrast.signal import Signal
from contramem.contrast.signals import signals_of
from contramem.contrast.step import Step, find_actions, make_steps
from contramem.contrast.system_facts import find_system_facts
from contramem.contrast.vocabulary import Vocabulary
from contramem.privacy.instructions import read
from contramem.privacy.taint import texts_shown
from contramem.traces.trajectory import Ending, Origin, Trajectory, digest

Answer = TypeVar("Answer")
_UNKNOWN: Final = object()


class Memo:
    """Answers about a packet or a run, by question: each is found once."""

    __slots__ = ("_answers",)

    def __init__(self) -> None:
        self._answers: dict[Hashable, Any] = {}

    def get(self, question: Hashable, find: Callable[[], Answer]) -> Answer:
        answer = self._answers.get(question, _UNKNOWN)
        if answer is _UNKNOWN:
            answer = self._answers[question] = find()
        return cast(Answer, answer)


class PacketRun(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One attempt, under a letter instead of the name of its source."""

    letter: str
    passed: bool | None
    steps: tuple[Step, ...]
    reward: float | None = None
    ended: Ending = "complete"
    feedback: str = ""
    planted: tuple[str, ...] = ()
    """Passages that instruct their reader. Kept so that no card repeats them; authors never see them."""
    actions: tuple[Step, ...] = ()
    """The steps in which the agent acted by itself: calls that are not tainted, questions, the answer."""

    @property
    def counts(self) -> bool:
        """Is this run evidence? Not if its provider cut it off or its outcome is unknown."""
        return self.passed is not None and self.ended != "interrupted"


class RunIdentity(msgspec.Struct, frozen=True, gc=False):
    """The run behind a letter. Never shown to a construction model."""

    source: str
    run: str
    origin: Origin


@dataclass(frozen=True)
class Packet:
    """One task, every attempt at it, and what separates them."""

    task_key: str
    task_id: str
    scenario_id: str | None
    ability: str
    task: str
    """The task's text, redacted."""
    runs: tuple[PacketRun, ...]
    signals: tuple[Signal, ...]
    provenance: dict[str, RunIdentity]
    identity: tuple[str, ...]
    """Digests of task id, task text and scenario: enough to recognize the task, not enough to read it."""
    placeholders: Placeholders = field(repr=False, compare=False)
    recorded: dict[str, Trajectory] = field(repr=False, compare=False)
    """The runs as recorded, by letter. Only guards use them: a condition on an amount or a time cannot be checked on
    placeholders. Never shown to a construction model."""
    conventions: tuple[SharedValue, ...] = ()
    """The conventions that some run of this task uses."""
    system_facts: tuple[str, ...] = ()
    """Sentences of the system prompt that can decide the task, redacted."""
    findings: dict[str, bytes] = field(default_factory=dict, repr=False, compare=False)
    """What later stages found in it, pickled, by name. Encoded with the packet."""
    memo: Memo = field(default_factory=Memo, init=False, repr=False, compare=False)
    """What was asked about it. Lives as long as this object."""

    @cached_property
    def passing(self) -> tuple[PacketRun, ...]:
        return tuple(run for run in self.runs if run.counts and run.passed)

    @cached_property
    def failing(self) -> tuple[PacketRun, ...]:
        return tuple(run for run in self.runs if run.counts and not run.passed)

    @property
    def content_digest(self) -> str:
        """A short digest of the whole packet, sources included: packets with different content have different
        digests."""
        return self.memo.get("content digest", self._digest_content)

    def _digest_content(self) -> str:
        sources = sorted(provenance.source for provenance in self.provenance.values())
        encoded = msgspec.json.encode([self.task_key, self.task, self.runs, sources], order="deterministic")
        return digest(encoded.decode())

    @cached_property
    def task_keys(self) -> frozenset[str]:
        """The tasks whose runs it contains: one, unless single runs of the same kind were joined
        (build/single_runs.py)."""
        return frozenset({self.task_key, *self._task_of.values()})

    @cached_property
    def _task_of(self) -> dict[str, str]:
        """The key of the task that each recorded run is an attempt at, by letter."""
        return {letter: run.task_key for letter, run in self.recorded.items()}

    @cached_property
    def called(self) -> frozenset[str]:
        """The functions that some run called by itself. Most guards are about functions that are not among them and
        need no replay."""
        return frozenset(step.function for run in self.runs for step in run.actions)

    @cached_property
    def enablings(self) -> list[Enabling]:
        """Every case in which a run got past a refusal."""
        return find_enablings(self.runs)

    def tasks_behind(self, *letters: str) -> set[str]:
        """The keys of the tasks that these runs are attempts at."""
        return {self._task_of.get(letter, self.task_key) for letter in letters}

    @property
    def is_contrastive(self) -> bool:
        """Did some runs pass and others fail?"""
        return bool(self.passing and self.failing)


def contrast(collection: Collection, vocabulary: Vocabulary | None = None) -> Iterator[Packet]:
    """A packet per task, ordered by task key. Without a vocabulary, it is learned from the collection."""
    vocabulary = vocabulary or Vocabulary(collection)
    for runs in collection:
        yield packet_of(runs, vocabulary)


def packet_of(runs: list[Trajectory], vocabulary: Vocabulary) -> Packet:
    """The packet of one task. Passing runs come first, then failing runs, then those with an unknown outcome."""
    corrected = (correct_effects(run, vocabulary.writers) for run in passing_first(runs))
    ordered = [vocabulary.substitutes.in_run(run) for run in corrected]
    placeholders = Placeholders(ordered, vocabulary)
    results = ShownResults(placeholders)
    lettered = dict(zip(letters(), ordered, strict=False))
    clocked = has_clock(ordered)
    packet_runs = tuple(_packet_run(letter, run, results, clocked) for letter, run in lettered.items())
    first = ordered[0]
    return Packet(
        task_key=first.task_key,
        task_id=first.task_id,
        scenario_id=first.scenario_id,
        ability=first.ability or "general",
        task=redact_text(first.task, placeholders.text),
        runs=packet_runs,
        signals=signals_of(packet_runs),
        provenance={letter: RunIdentity(run.source, run.run, run.origin) for letter, run in lettered.items()},
        identity=first.task_identity,
        placeholders=placeholders,
        recorded=lettered,
        conventions=_conventions(ordered, vocabulary),
        system_facts=tuple(placeholders.add_text(fact) for fact in find_system_facts(ordered)),
    )


def mask_task(runs: list[Trajectory], vocabulary: Vocabulary) -> str:
    """The text of a task with placeholders instead of values, without building the whole packet."""
    ordered = passing_first(runs)
    return redact_text(ordered[0].task, Placeholders(ordered, vocabulary).text)


def passing_first(runs: list[Trajectory]) -> list[Trajectory]:
    return sorted(runs, key=lambda run: ({True: 0, False: 1, None: 2}[run.outcome.passed], run.source, run.run))


def letters() -> Iterator[str]:
    """A, B, ..., Z, AA, AB, ..."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    yield from alphabet
    for prefix in letters():
        yield from (prefix + letter for letter in alphabet)


def _packet_run(letter: str, run: Trajectory, results: ShownResults, clocked: bool) -> PacketRun:
    steps = tuple(make_steps(run, results, seconds_since_start(run) if clocked else {}))
    placeholders = results.placeholders
    return PacketRun(
        letter=letter,
        passed=run.outcome.passed,
        steps=steps,
        reward=run.outcome.reward,
        ended=run.outcome.ended,
        feedback=redact_text(normalize_feedback(run.outcome.feedback), placeholders.text),
        planted=tuple(placeholders.text(passage) for passage in dict.fromkeys(_find_planted_texts(run))),
        actions=find_actions(steps),
    )


def _conventions(runs: Iterable[Trajectory], vocabulary: Vocabulary) -> tuple[SharedValue, ...]:
    calls = (event for run in runs for event in run.events if event.function and event.actor == "agent")
    used = {
        vocabulary.shared(event.function, name, value) for event in calls for name, value in event.arguments.items()
    }
    return tuple(sorted((convention for convention in used if convention is not None), key=str))


def _find_planted_texts(run: Trajectory) -> Iterator[str]:
    texts = [text for event in run.events for text in texts_shown(event)]
    # What an agent tells itself ("I will now call ...") is not planted; if it repeats planted text, that is found where
    # it was read.
    texts += [event.text for event in run.events if event.text and event.actor != "agent"]
    for text in (*texts, run.outcome.feedback):
        yield from read(text).passages


def contrastive(packets: Iterable[Packet]) -> Iterator[Packet]:
    """Only the packets in which some runs passed and others failed."""
    return (packet for packet in packets if packet.is_contrastive)
