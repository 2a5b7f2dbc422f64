"""Packet: all attempts at one task side by side, with values as placeholders, and the signals that separate them.

A packet is what an Author sees. Sources are replaced by run letters, values by placeholders; the mapping back to
sources and files stays in `provenance`, for the ledger and for people, and the mapping to values stays in memory only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import Any

import msgspec

from contramem.contrast.clock import has_clock, seconds_since_start
from contramem.contrast.conventions import SharedValue
from contramem.contrast.feedback import normalize_feedback
from contramem.contrast.flow import Flow
from contramem.contrast.form import ParsedResult, ResultForm, parse
from contramem.contrast.instructions import read, without_instructions
from contramem.contrast.observed_effects import correct_effects
from contramem.contrast.placeholders import Placeholders
from contramem.contrast.signal import Signal
from contramem.contrast.signals import signals_of
from contramem.contrast.speech import asks, speech_of
from contramem.contrast.system_facts import find_system_facts
from contramem.contrast.taint import find_tainted_calls, texts_shown
from contramem.contrast.values import form_of_value
from contramem.contrast.vocabulary import Vocabulary
from contramem.traces.pool import Pool
from contramem.traces.trajectory import Actor, Effect, Ending, Event, Kind, Origin, Trajectory, digest

MAX_SHOWN_CHARS = 400
"""Maximum length of a plain-text result. Longer and structured results are described by their form."""


MAX_SHOWN_LEAVES = 60
"""Maximum size of a result with fields. Larger ones are described by their form."""
MAX_SHAPE_CHARS = 24
MAX_PROSE_CHARS = 160


class Step(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One event of a run, redacted."""

    position: int
    actor: Actor
    kind: Kind
    text: str = ""
    """What was said. For a call that talks to the user: what it says."""
    function: str = ""
    arguments: dict[str, Any] = {}
    effect: Effect = "unknown"
    forms: dict[str, str] = {}
    """The form of each argument's value: `integer`, `e-mail address`, `list of dates YYYY-MM-DD`."""
    form: ResultForm | None = None
    """The form of the result. None: the trace does not contain the result."""
    returned: str = ""
    """The result in words: its form, or its redacted text if that is short and plain."""
    contents: tuple[tuple[tuple[str, str], ...], ...] = ()
    """For a short result with fields: its items, each as (field, redacted value)."""
    shapes: dict[str, str] = {}
    """How each argument's value is written, without the value: `9999-A99`, `999.99`."""
    error: str = ""
    """The template of the error message: redacted, with placeholders unnumbered."""
    origins: dict[str, str] = {}
    """Where each argument's value was seen before the call: `task`, a function, or `nowhere`."""
    fields: dict[str, str] = {}
    """For arguments whose value came from a result: the field that contained it."""
    tainted: bool = False
    """The call follows from an instruction planted in a tool's result: it is shown but teaches nothing."""
    asks: bool = False
    """A message of the agent that the user then answers, or that ends the run with a question."""
    prose: dict[str, str] = {}
    """For a write: the beginning of each text argument, with values masked."""
    at_s: float | None = None
    """Seconds since the run began; only in tasks where some run waits."""

    @property
    def label(self) -> str:
        """What the agent did here, in a word: the function, `ask the user` or `final answer`. Empty: nothing."""
        if self.actor == "agent" and self.kind == "final" and (self.text or not self.function):
            return FINAL
        if self.asks:
            return ASK
        return self.function if self.actor == "agent" else ""

    @property
    def speaks(self) -> bool:
        """Is it a call that talks to the user?"""
        return bool(self.function and self.text)


ASK, FINAL = "ask the user", "final answer"


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


class RunIdentity(msgspec.Struct, frozen=True):
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

    @property
    def passing(self) -> tuple[PacketRun, ...]:
        return tuple(run for run in self.runs if run.counts and run.passed)

    @property
    def failing(self) -> tuple[PacketRun, ...]:
        return tuple(run for run in self.runs if run.counts and not run.passed)

    @cached_property
    def content_digest(self) -> str:
        """A short digest of the whole packet, sources included: packets with different content have different
        digests."""
        sources = sorted(provenance.source for provenance in self.provenance.values())
        encoded = msgspec.json.encode([self.task_key, self.task, self.runs, sources], order="deterministic")
        return digest(encoded.decode())

    @cached_property
    def task_keys(self) -> frozenset[str]:
        """The tasks whose runs it contains: one, unless single runs of the same kind were joined
        (build/side_by_side.py)."""
        return frozenset({self.task_key, *(run.task_key for run in self.recorded.values())})

    @cached_property
    def called(self) -> frozenset[str]:
        """The functions that some run called by itself. Most guards are about functions that are not among them and
        need no replay."""
        return frozenset(step.function for run in self.runs for step in run.actions)

    def tasks_behind(self, *letters: str) -> set[str]:
        """The keys of the tasks that these runs are attempts at."""
        return {self.recorded[letter].task_key if letter in self.recorded else self.task_key for letter in letters}

    @property
    def is_contrastive(self) -> bool:
        """Did some runs pass and others fail?"""
        return bool(self.passing and self.failing)


def contrast(pool: Pool, vocabulary: Vocabulary | None = None) -> Iterator[Packet]:
    """A packet per task of the pool, ordered by task key. Without a vocabulary, it is learned from the pool."""
    vocabulary = vocabulary or Vocabulary(pool)
    for runs in pool:
        yield packet_of(runs, vocabulary)


def packet_of(runs: list[Trajectory], vocabulary: Vocabulary) -> Packet:
    """The packet of one task. Passing runs come first, then failing runs, then those with an unknown outcome."""
    ordered = [correct_effects(run, vocabulary.writers) for run in _passing_first(runs)]
    placeholders = Placeholders(ordered, vocabulary)
    lettered = dict(zip(letters(), ordered, strict=False))
    clocked = has_clock(ordered)
    packet_runs = tuple(_packet_run(letter, run, placeholders, clocked) for letter, run in lettered.items())
    first = ordered[0]
    return Packet(
        task_key=first.task_key,
        task_id=first.task_id,
        scenario_id=first.scenario_id,
        ability=first.ability or "general",
        task=_redact_text(first.task, placeholders),
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
    ordered = _passing_first(runs)
    return _redact_text(ordered[0].task, Placeholders(ordered, vocabulary))


def _passing_first(runs: list[Trajectory]) -> list[Trajectory]:
    return sorted(runs, key=lambda run: ({True: 0, False: 1, None: 2}[run.outcome.passed], run.source, run.run))


def letters() -> Iterator[str]:
    """A, B, ..., Z, AA, AB, ..."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    yield from alphabet
    for prefix in letters():
        yield from (prefix + letter for letter in alphabet)


def _packet_run(letter: str, run: Trajectory, placeholders: Placeholders, clocked: bool) -> PacketRun:
    steps = tuple(_steps(run, placeholders, seconds_since_start(run) if clocked else {}))
    return PacketRun(
        letter=letter,
        passed=run.outcome.passed,
        steps=steps,
        reward=run.outcome.reward,
        ended=run.outcome.ended,
        feedback=_redact_text(normalize_feedback(run.outcome.feedback), placeholders),
        planted=tuple(placeholders.text(passage) for passage in dict.fromkeys(_find_planted_texts(run))),
        actions=find_actions(steps),
    )


def find_actions(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps in which the agent acted by itself."""
    return tuple(step for step in steps if step.label and not step.tainted)


def _steps(run: Trajectory, placeholders: Placeholders, times: Mapping[int, float]) -> Iterator[Step]:
    flow = Flow(run.task)
    tainted = find_tainted_calls(run)
    for event, following in zip_longest(run.events, run.events[1:]):
        answered = following is not None and following.actor == "user"
        if event.function:
            step = _call_step(event, placeholders, flow, event.position in tainted, answered)
        else:
            is_question = event.kind == "message" and event.actor == "agent" and answered
            text = _redact_text(event.text, placeholders)
            step = Step(event.position, event.actor, event.kind, text, asks=is_question)
        at_s = times.get(event.position)
        yield step if at_s is None else msgspec.structs.replace(step, at_s=at_s)
        flow.observe(event)


def _call_step(event: Event, placeholders: Placeholders, flow: Flow, tainted: bool, answered: bool) -> Step:
    result, origins, speech = event.result, flow.origins(event), speech_of(event)
    arguments = placeholders.arguments(event)
    parsed = None if result is None else parse(result.content)
    form = None if parsed is None else parsed.form
    return Step(
        position=event.position,
        actor=event.actor,
        kind=event.kind,
        text=placeholders.prose(without_instructions(speech)) if speech else "",
        function=event.function,
        arguments=arguments,
        effect=event.effect,
        forms={name: form_of_value(value, name) for name, value in event.arguments.items()},
        form=form,
        returned=_result_text(result.content, form, placeholders) if result is not None and form is not None else "",
        contents=_contents(event.function, parsed, placeholders) if parsed is not None and not tainted else (),
        shapes={
            name: shape_of(value) for name, value in event.arguments.items() if not isinstance(value, (dict, list))
        },
        error=error_template(_redact_text(result.error, placeholders)) if result is not None and result.error else "",
        origins=origins,
        fields=flow.fields(event, origins),
        prose=_prose(event, arguments, placeholders) if event.effect == "write" and not (speech or tainted) else {},
        tainted=tainted,
        asks=bool(speech) and (answered or (event.kind == "final" and asks(speech))),
    )


def _prose(event: Event, arguments: Mapping[str, Any], placeholders: Placeholders) -> dict[str, str]:
    """The text arguments, as far as an author may read them."""
    texts = {name: value for name, value in event.arguments.items() if str(arguments[name]).startswith("<TEXT")}
    return {
        name: " ".join(placeholders.prose(without_instructions(value)).split())[:MAX_PROSE_CHARS]
        for name, value in texts.items()
        if isinstance(value, str)
    }


def _conventions(runs: Iterable[Trajectory], vocabulary: Vocabulary) -> tuple[SharedValue, ...]:
    calls = (event for run in runs for event in run.events if event.function and event.actor == "agent")
    used = {
        vocabulary.conventions.of(event.function, name, value)
        for event in calls
        for name, value in event.arguments.items()
    }
    return tuple(sorted((convention for convention in used if convention is not None), key=str))


def _contents(
    function: str, parsed: ParsedResult, placeholders: Placeholders
) -> tuple[tuple[tuple[str, str], ...], ...]:
    """The items of a short result. A repeated field starts the next item."""
    if parsed.form.kind not in ("list", "record", "map") or len(parsed.leaves) > MAX_SHOWN_LEAVES:
        return ()
    items: list[dict[str, str]] = [{}]
    for name, value in parsed.leaves:
        if name in items[-1]:
            items.append({})
        items[-1][name] = str(placeholders.value(function, name, value))
    return tuple(tuple(item.items()) for item in items if item)


def shape_of(value: object) -> str:
    """How a value is written: digits as 9, letters as A and a, with runs of lower-case letters collapsed."""
    text = _DIGIT.sub("9", _LOWER.sub("a", _UPPER.sub("A", str(value))))
    return text if len(text) <= MAX_SHAPE_CHARS else ""


def _result_text(content: object, form: ResultForm, placeholders: Placeholders) -> str:
    if form.kind == "text" and isinstance(content, str) and len(content) <= MAX_SHOWN_CHARS:
        return _redact_text(content.strip(), placeholders)
    return str(form)


def _find_planted_texts(run: Trajectory) -> Iterator[str]:
    texts = [text for event in run.events for text in texts_shown(event)]
    # What an agent tells itself ("I will now call ...") is not planted; if it repeats planted text, that is found where
    # it was read.
    texts += [event.text for event in run.events if event.text and event.actor != "agent"]
    for text in (*texts, run.outcome.feedback):
        yield from read(text).passages


def _redact_text(text: str, placeholders: Placeholders) -> str:
    """A text as authors see it. Instructions are removed first: behind a placeholder, their cues would not be found."""
    return placeholders.text(_SPELLED_ADDRESS.sub("<EMAIL>", without_instructions(text)))


_SPELLED_ADDRESS = re.compile(
    r"[\w.+-]+ ?(?:\(at\)|\[at\]| at ) ?[\w-]+ ?(?:\(dot\)|\[dot\]| dot ) ?\w+", re.IGNORECASE
)
"""An e-mail address in words: `ann at desk dot com`."""
_UPPER, _LOWER, _DIGIT = re.compile(r"[A-Z]"), re.compile(r"[a-z]+"), re.compile(r"[0-9]")
_NUMBERED = re.compile(r"<([A-Z]+)_\d+>")
_LONG_QUOTE = re.compile(r"(['\"`])[^'\"`]{40,}\1")


def error_template(redacted: str) -> str:
    """The error without what is specific to the call, so that the same complaint has the same text everywhere."""
    lines = [" ".join(line.split()) for line in redacted.splitlines() if line.strip()]
    # Validators put the field and the complaint below their title; only the beginning of a long traceback is used.
    return _LONG_QUOTE.sub("<TEXT>", _NUMBERED.sub(r"<\1>", " / ".join(lines[:3])))[:200]


def contrastive(packets: Iterable[Packet]) -> Iterator[Packet]:
    """Only the packets in which some runs passed and others failed."""
    return (packet for packet in packets if packet.is_contrastive)
