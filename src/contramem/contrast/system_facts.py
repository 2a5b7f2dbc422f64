"""System facts: sentences of the system prompt that can decide a task: the date, the user, policies about calls.

A system prompt may be pages long. A packet contains the few sentences about time, about who asks, or about what the
runs of the task do, with values as placeholders and dates readable.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from contramem.privacy.language import FUNCTION_WORDS
from contramem.traces.effects import LEXICON, words
from contramem.traces.trajectory import Trajectory

MAX_FACTS, MAX_GENERAL = 4, 2
MAX_FACT_CHARS = 240
"""Maximum length of a sentence. Longer ones are more like a manual than a fact."""
MIN_FACT_WORDS = 5
MIN_SHARED_WORDS = 2
"""How many words a sentence must share with the name of a function to be about it."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_LIST_MARK = re.compile(r"^(?:[-*•#>\s]|\d+[.)]\s)+")
# A word for the time counts beside a number: "the contract's end date is in the past" is about something else.
_TIME = re.compile(
    r"\b(?:(?:today|now|current(?:ly)? (?:date|day|time|year)|(?:date|time|year) is)\b.*\d|\d{4}-\d{2}-\d{2}\b"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b)",
    re.IGNORECASE,
)
_USER = re.compile(r"\b(?:user|customer|boss)(?:'s name is| is called| is (?=[A-Z])| works )", re.IGNORECASE)
_ROLE = re.compile(r"^you are (?:an?|the) ", re.IGNORECASE)


def find_system_facts(runs: Sequence[Trajectory]) -> list[str]:
    """Sentences of the system prompt that most runs of a task were given; empty if the traces contain none."""
    given = Counter(run.system for run in runs if run.system)
    if not given:
        return []
    sentences = list(dict.fromkeys(_sentences(given.most_common(1)[0][0])))
    functions = {event.function for run in runs for event in run.events if event.function and event.actor == "agent"}
    about_calls = _rank_by_calls(sentences, functions)
    general = [sentence for sentence in sentences if _TIME.search(sentence) or _USER.search(sentence)]
    chosen = list(dict.fromkeys([*general[:MAX_GENERAL], *about_calls]))[:MAX_FACTS]
    return sorted(chosen, key=sentences.index)


def _sentences(text: str) -> Iterator[str]:
    for part in _SENTENCE.split(text):
        sentence = " ".join(_LIST_MARK.sub("", part).replace("\\", " ").split())
        is_heading = len(sentence.split()) < MIN_FACT_WORDS and not sentence.endswith((".", "!"))
        if not is_heading and len(sentence) <= MAX_FACT_CHARS and not _ROLE.match(sentence):
            yield sentence


def _rank_by_calls(sentences: Iterable[str], functions: Collection[str]) -> list[str]:
    """The sentences that mention the verb and object of some function, ordered by how many of its words they
    contain."""
    named = [name for name in map(_telling_words, functions) if name]
    stems_of = {sentence: {_stem(word) for word in words(sentence)} for sentence in sentences}
    shared = {sentence: max((len(stems & name) for name in named), default=0) for sentence, stems in stems_of.items()}
    about = [sentence for sentence in stems_of if shared[sentence] >= MIN_SHARED_WORDS]
    return sorted(about, key=lambda sentence: (-shared[sentence], len(sentence)))


def _telling_words(function: str) -> set[str]:
    """The words of a function with effects. Every policy mentions reads, so they do not count."""
    named = words(function.rpartition(".")[2])
    if not named or named[0] in LEXICON["read"]:
        return set()
    return {_stem(word) for word in named if word not in FUNCTION_WORDS or word in LEXICON["write"]}


def _stem(word: str) -> str:
    word = word.lower().removesuffix("s")
    return next((word.removesuffix(end) for end in ("ing", "ed", "e") if word.endswith(end) and len(word) > 5), word)
