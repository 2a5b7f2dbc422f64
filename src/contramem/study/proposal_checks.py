"""What is held against a proposed card: its guards on all runs, values that are somebody's, words that were planted.

Conventions may stand on a card: a value that passing runs of several tasks used although neither the request nor a
result had shown it is the house's own (`finance-lead`), and so are words that fields of several tasks hold (`overdue`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache

from contramem.bank.card import SkillDelta
from contramem.errors import GuardError
from contramem.monitor.comparison import plain_text
from contramem.monitor.results import walk
from contramem.study.ask import read_guard
from contramem.study.atoms import is_word
from contramem.study.copied_texts import texts_of
from contramem.study.person_names import find_person_names
from contramem.study.run_set import RunSet
from contramem.study.sharpen import find_splits
from contramem.study.trial import Trial, replay_guard, weigh
from contramem.traces.effects import words
from contramem.validate.case import Case, fields
from contramem.validate.poison import poison
from contramem.validate.privacy import Privacy
from contramem.validate.schema import schema

MAX_VALUE_WORDS, MAX_VALUE_CHARS = 4, 60
_TOKEN = re.compile(r"[\w@][\w@.'’\-]*")
_ENDS_SENTENCE = re.compile(r"[.!?:“\"(]\s*$|(?<!\w)['‘]$")
_CLOCK_TIME = re.compile(r"\d{1,2}:\d\d(?::\d\d)?")


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
    if _CLOCK_TIME.fullmatch(piece):
        return False
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
    """Fields that repeat what a result, an argument or a message says in so many words."""
    copied = {field.name for field in fields(delta) if field.name != "guards" and texts_of(run_set).is_in(field.text)}
    yield from (
        f"{name} repeats a sentence of a result, an argument or a message of the runs; say it in words of your own. "
        "An error that runs of several tasks got may stand in quotation marks."
        for name in sorted(copied)
    )


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
