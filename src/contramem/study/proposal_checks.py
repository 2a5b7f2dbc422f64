"""What is held against a proposed card: its guards on all runs, values that are somebody's, words that were planted.

Conventions may stand on a card: a value that passing runs of several tasks used although neither the request nor a
result had shown it is the house's own (`finance-lead`), and so are words that fields of several tasks hold (`overdue`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache

from contramem.bank.card import SkillDelta
from contramem.contrast.program_message import is_program_message
from contramem.contrast.taint import texts_shown
from contramem.contrast.vocabulary import scalars
from contramem.errors import GuardError
from contramem.monitor.comparison import plain_text
from contramem.monitor.results import walk
from contramem.study.ask import read_guard
from contramem.study.atoms import is_word
from contramem.study.person_names import find_person_names
from contramem.study.run_set import RunSet
from contramem.study.sharpen import find_splits
from contramem.study.trial import Trial, replay_guard, weigh
from contramem.traces.effects import words
from contramem.traces.trajectory import Trajectory
from contramem.validate.case import Case, fields
from contramem.validate.poison import poison
from contramem.validate.privacy import Privacy
from contramem.validate.schema import schema

MAX_VALUE_WORDS, MAX_VALUE_CHARS = 4, 60
COPIED_WORDS = 9
"""In a row. Of six, which the checks of packets ask for, authors share some with any long answer of an agent."""
COPIED_FOREIGN_WORDS = 4
"""In texts with other letters than ASCII: cards are in English, and share words with nothing but what they copy."""
_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"[\w@][\w@.'’\-]*")
_ENDS_SENTENCE = re.compile(r"[.!?:“\"(]\s*$")


class RunValues:
    """The values that runs gave and got, with the tasks they belong to."""

    def __init__(self, run_set: RunSet) -> None:
        self._run_set = run_set

    def find_private(self, text: str) -> Iterator[str]:
        """Each stretch of `text` that is a value of the runs and no convention."""
        tokens = list(_TOKEN.finditer(text))
        for start in range(len(tokens)):
            for end in range(min(start + MAX_VALUE_WORDS, len(tokens)), start, -1):
                piece = text[tokens[start].start() : tokens[end - 1].end()].rstrip(".'’")
                if _could_identify(piece, text, tokens[start].start()) and self._is_private(piece):
                    yield piece
                    break

    def _is_private(self, piece: str) -> bool:
        value = plain_text(piece)
        return hash(value) in self._seen and value not in self.conventions

    @cached_property
    def conventions(self) -> frozenset[str]:
        """Values that passing runs of several tasks made up, and words that fields of several tasks hold."""
        made_up, words = _SharedValues(), _SharedValues()
        for run in self._run_set.evidence:
            for call in run.recorded.calls:
                for name, value in call.arguments.items():
                    if run.passed and call.worked and call.origin(name) in ("nowhere", None):
                        made_up.add(plain_text(value), run.task)
                for _, value in walk(call.result()):
                    if is_word(value) and not str(value).istitle():
                        words.add(plain_text(value), run.task)
        return frozenset(made_up.shared | words.shared)

    @cached_property
    def convention_words(self) -> frozenset[str]:
        return frozenset(word for value in self.conventions for word in value.split())

    @cached_property
    def _seen(self) -> frozenset[int]:
        """Hashes of all values: the values themselves of a hundred thousand runs would take gigabytes."""
        seen = set[int]()
        for run in self._run_set.runs:
            for call in run.recorded.calls:
                for value in (*call.arguments.values(), *(value for _, value in walk(call.result()))):
                    if isinstance(value, str) and 2 < len(value) <= MAX_VALUE_CHARS:
                        seen.add(hash(plain_text(value)))
        return frozenset(seen)


class _SharedValues:
    """Values that several tasks have."""

    def __init__(self) -> None:
        self._first_task: dict[str, str] = {}
        self.shared = set[str]()

    def add(self, value: str, task: str) -> None:
        if len(value) <= MAX_VALUE_CHARS and self._first_task.setdefault(value, task) != task:
            self.shared.add(value)


@lru_cache(maxsize=1)
def values_of(run_set: RunSet) -> RunValues:
    """The values of some runs. An author proposes one card after another, and looking through all runs takes long."""
    return RunValues(run_set)


def _could_identify(piece: str, text: str, start: int) -> bool:
    """Capitals inside of a sentence, digits and marks make a value; plain words do not."""
    if re.search(r"[\d@]", piece):
        return True
    opens = start == 0 or _ENDS_SENTENCE.search(text[:start]) is not None
    capitals = [word for word in piece.split() if word[:1].isupper()]
    return len(capitals) > (1 if opens else 0) or (opens and len(capitals) == 1 and " " not in piece and len(piece) > 3)


def check_card(delta: SkillDelta, run_set: RunSet, functions: frozenset[str]) -> Iterator[str]:
    """What speaks against the words of a card, each with what to do about it."""
    case = Case(delta, functions=functions | run_set.functions)
    for check in (schema, Privacy(), poison):
        yield from check(case)
    yield from find_copies(delta, run_set)
    values, sources = values_of(run_set), {run.source.casefold() for run in run_set.runs}
    names = set(functions | run_set.functions)
    known = {word.lower() for name in names for word in words(name)} | values.convention_words
    for field in fields(delta):
        if field.name == "guards":
            continue  # what they ask for is checked on the runs, and their words by the sentences in `completion`
        private = [piece for piece in values.find_private(field.text) if piece not in names]
        if private:
            pieces = ", ".join(repr(piece) for piece in dict.fromkeys(private))
            yield f"{field.name} holds {pieces}, a value of the runs; say what role it plays instead."
        elif people := list(dict.fromkeys(find_person_names(field.text, known))):
            named = ", ".join(map(repr, people))
            yield f"{field.name} seems to name somebody ({named}); say the role instead, or write it in small letters."
        if any(re.search(rf"(?<!\w){re.escape(source)}(?!\w)", field.text.casefold()) for source in sources):
            yield f"{field.name} names a model or agent that ran; a lesson holds whoever runs."


def find_copies(delta: SkillDelta, run_set: RunSet) -> Iterator[str]:
    """Fields that repeat what a result, an argument or a message says in so many words. An author may have been told to
    by it. Errors that only a program would write may be quoted."""
    worded = [field for field in fields(delta) if field.name != "guards"]
    said = {stretch: field.name for field in worded for stretch in stretches(field.text)}
    seen, copied = set[int](), set[str]()
    for text in (text for run in run_set.runs for text in _texts_of(run.trajectory)):
        if said and hash(text) not in seen:
            seen.add(hash(text))
            copied |= {said[stretch] for stretch in stretches(text) if stretch in said}
    yield from (
        f"{name} repeats a sentence of a result, an argument or a message of the runs; say it in words of your own."
        for name in sorted(copied)
    )


def stretches(text: str) -> Iterator[tuple[str, ...]]:
    """Every stretch of so many words that no two people write it alike by chance."""
    words = _WORD.findall(text.casefold())
    is_foreign = not text.isascii() and any(char.isalpha() and not char.isascii() for char in text)
    size = COPIED_FOREIGN_WORDS if is_foreign else COPIED_WORDS
    return (tuple(words[start : start + size]) for start in range(len(words) - size + 1))


def _texts_of(run: Trajectory) -> Iterator[str]:
    """All that anybody said in a run, but for the request and for what programs say about calls."""
    for event in run.events:
        quotable = event.result.error if event.result is not None else None
        quotable = quotable if quotable and is_program_message(quotable) else None
        yield from (text for text in texts_shown(event) if text != quotable)
        yield from (value for _, value in scalars(event.arguments) if isinstance(value, str))
        if event.text and event.text != run.task:
            yield event.text


def check_guard(text: str, run_set: RunSet) -> tuple[Trial | None, str]:
    """The guard on all runs, and what speaks against it; nothing: the runs bear it out."""
    try:
        guard = read_guard(text, run_set)
    except GuardError as error:
        return None, str(error)
    runs = run_set.evidence
    verdicts = replay_guard(guard, runs)
    trial = weigh(guard, zip(runs, verdicts, strict=True), run_set)
    if trial.judgement == "contradicted":
        splits = find_splits(guard, runs, verdicts, run_set)[:1]
        hint = f" It would hold as: {splits[0].guard}" if splits else " Give it a condition, or leave it out."
        return trial, f"{find_objection(trial)}{hint}"
    return trial, find_objection(trial)


def find_objection(trial: Trial) -> str:
    """What speaks against a rule that was tried on all runs; empty: the runs bear it out."""
    counts, rule = trial.counts, trial.guard
    if trial.judgement == "never tried":
        return f"{rule}: no run does what it speaks about, so nothing bears it out."
    if trial.judgement == "contradicted":
        return f"{rule}: {counts.broke_passed} of {counts.passed} passing runs break it."
    if not counts.broke_failed:
        return f"{rule}: no failing run breaks it, so it tells nothing about failing."
    kept, broke = counts.kept_passed + counts.kept_failed, counts.broke_passed + counts.broke_failed
    if counts.kept_passed * broke <= counts.broke_passed * kept:
        return f"{rule}: runs that keep it pass no more often than runs that break it."
    return ""
