"""The words of cards written by rules: functions as actions, paths as examples, tasks as triggers. Never a value."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache, partial

from contramem.contrast.packet import Packet, PacketRun
from contramem.contrast.repeatable import quote_message
from contramem.contrast.step import FINAL, Step
from contramem.mining.fwords import generalize, join_list, verb_of
from contramem.privacy.instructions import instructs
from contramem.traces.effects import words

MAX_EXAMPLE_CHARS = 320
MAX_ARGUMENTS = 3
"""Maximum length of a call in an example."""
MAX_TRIGGER_WORDS = 6
MAX_TAGS = 12

_TASK_WORD = re.compile(r"(?<![<\w])[a-z]{3,}(?![\w>])")
_STOP_WORDS = frozenset(
    """the and for from with that this have has are was were will can could would should you your our his her its their
    them they all any each than then too very out off into about over not one two what when where which who why how
    also there here been being does did done please make sure need want let get give""".split()
)


def code_name(function: str) -> str:
    """`search_emails`, in code marks."""
    return f"`{function.rpartition('.')[2]}`"


def short_name(function: str) -> str:
    """`search_emails`, without marks, for a title."""
    return function.rpartition(".")[2]


def in_words(function: str) -> str:
    """`workspace.create_calendar_event` as "create calendar event"."""
    return " ".join(words(function.rpartition(".")[2])) or function.rpartition(".")[2]


def trigger_words(packet: Packet) -> tuple[str, ...]:
    """The words of the task that are also words of the interface: they name the request without its content."""
    return packet.memo.get("trigger words", partial(_find_trigger_words, packet))


def _find_trigger_words(packet: Packet) -> tuple[str, ...]:
    interface = {
        stem(word)
        for run in packet.runs
        for step in run.actions
        for name in (step.function.rpartition(".")[2], *step.arguments)
        for word in words(name)
    }
    asked = [word for word in _TASK_WORD.findall(packet.task.lower()) if word not in _STOP_WORDS]
    return tuple(dict.fromkeys(word for word in asked if stem(word) in interface))[:MAX_TRIGGER_WORDS]


@lru_cache(maxsize=1 << 14)  # the words of requests and of functions come again and again
def stem(word: str) -> str:
    """A rough stem: the same for `emails`, `emailed` and `email`."""
    for ending in ("ings", "ing", "ies", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word.removesuffix("e")


_GENERIC = frozenset("get list search find read check show view fetch by in to for all id of the from with and".split())


def names_call(task: str, function: str) -> bool:
    """Does the request name what this call is about? Half of its words are enough: people say `change my order`."""
    asked = {stem(word) for word in words(task)}
    named = [stem(word) for word in words(function.rpartition(".")[2]) if word not in _GENERIC]
    return 2 * sum(word in asked for word in named) >= len(named) if named else False


_CHANGING = frozenset(map(stem, "change modify exchange replace swap edit alter update".split()))
"""What people say for each other: `exchange the lamp` asks for `modify_items`."""


def names_action(task: str, function: str) -> bool:
    """Does the request ask for this action? `notify the patient` asks for `notify_patient`, a mere `patient` does
    not."""
    asked, verb = {stem(word) for word in words(task)}, stem(verb_of(function.rpartition(".")[2]))
    return verb in asked or (verb in _CHANGING and not asked.isdisjoint(_CHANGING))


def describe_path(
    run: PacketRun, around: Iterable[str], about: Collection[str] = (), *, hides_others: bool = False
) -> str:
    """What a run did, with placeholders; calls that are not `around` the lesson are collapsed. Arguments that the
    lesson is `about` come first, and are the only ones if it `hides_others`."""
    named = set(around)
    parts: list[str] = []
    for step in run.actions:
        text = _step(step, about, hides_others) if step.function in named or step.label == FINAL else "…"
        if not (text == "…" and parts and parts[-1] == "…"):
            parts.append(text)
    return _shorten(" → ".join(parts) or "nothing was called")


def _step(step: Step, about: Collection[str], hides_others: bool) -> str:
    if not step.function:
        return step.label
    first = sorted(step.arguments.items(), key=lambda argument: argument[0] not in about)[:MAX_ARGUMENTS]
    if hides_others:
        first = [(name, value) for name, value in first if name in about]
    given = ", ".join([f"{name}={_short(value)}" for name, value in first] + ["…"] * hides_others)
    failed = " ✗" if step.error else ""
    return f"{step.function.rpartition('.')[2]}({given}){failed}"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 24 else "…"


def _shorten(text: str) -> str:
    if len(text) <= MAX_EXAMPLE_CHARS:
        return text
    return text[:MAX_EXAMPLE_CHARS].rpartition(" → ")[0] + " → …"


def share_of(letters: Sequence[object], of: Sequence[object]) -> str:
    """`3 of 5`."""
    return f"{len(letters)} of {len(of)}"


def subject_of(packet: Packet, *functions: str) -> str:
    """What a task is about, in words of the interface."""
    asked = trigger_words(packet)
    return join_list(asked) if asked else join_list([in_words(function) for function in functions]) or packet.ability


def tags_of(packet: Packet, functions: Sequence[str]) -> tuple[str, ...]:
    """Retrieval terms: words that the task shares with the interface, then words of the functions."""
    named = [word for function in functions for word in words(function.replace(".", "_"))]
    return tuple(dict.fromkeys([*trigger_words(packet), *named]))[:MAX_TAGS]


def quote_error(error: str, packets: Iterable[Packet], seen_in_tasks: int = 1) -> str:
    """What a card may quote of an error: its first sentence, if it describes and does not instruct."""
    if instructs(error):
        return ""
    return quote_message(
        generalize(error), seen_in_tasks, {name for packet in packets for name in _interface_of(packet)}
    )


def _interface_of(packet: Packet) -> frozenset[str]:
    """Functions, arguments and fields of results."""
    return packet.memo.get("interface", lambda: frozenset(_find_interface(packet)))


def _find_interface(packet: Packet) -> Iterator[str]:
    for run in packet.runs:
        for step in run.steps:
            yield from (step.function, *step.arguments)
            yield from step.form.fields if step.form is not None else ()
