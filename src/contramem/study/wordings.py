"""Wordings: words that some texts of a call contain and others lack, and that no request asks for.

Words that occur in the same texts are one wording, named by the longest phrase they form: `within five days`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from contramem.guards.actions import Action
from contramem.guards.values import write_value
from contramem.study.argument_uses import CallOfRun
from contramem.study.masks import Mask
from contramem.study.run_set import StudyRun
from contramem.study.seen_relation import SeenRelation

MIN_TASKS = 3
"""How many tasks must have a text with the word. Fewer may share a name."""
MIN_TASKS_OF_PHRASE, MIN_PHRASE_WORDS = 2, 3
"""Of a phrase of so many words, fewer tasks are enough: no name has as many."""
MIN_TEXTS = 0.8
"""The share of calls that must pass a text."""
MAX_WORDINGS = 60
"""Per argument, those of most tasks."""
MAX_PHRASE_WORDS = 12

_SMALL = frozenset("a an and as at be by for from in is it no not of off on or out over per the to up with".split())
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


class Wording(NamedTuple):
    """Words, and the runs with a call whose text contains them."""

    relation: SeenRelation
    made: Mask
    worked: Mask


def find_wordings(calls: Sequence[CallOfRun]) -> Iterator[Wording]:
    """The wordings of an argument, those of most tasks first."""
    if sum(call.use.is_text for call in calls) < MIN_TEXTS * len(calls):
        return
    texts = [call.value if call.use.is_text else "" for call in calls]
    words = [_words_of(text, call.run) for text, call in zip(texts, calls, strict=True)]
    numbers = defaultdict[str, list[int]](list)
    for number, some in enumerate(words):
        for word in some:
            numbers[word].append(number)
    alike = defaultdict[tuple[int, ...], list[str]](list)
    for word, having in numbers.items():
        if len(having) < len(texts):
            alike[tuple(having)].append(word)
    counted = [(len({calls[number].run.task for number in where}), where) for where in alike]
    common = sorted(pair for pair in counted if pair[0] >= MIN_TASKS_OF_PHRASE)
    for tasks, where in sorted(common, key=lambda pair: (-pair[0], pair[1]))[:MAX_WORDINGS]:
        phrase = _find_phrase(alike[where], [texts[number] for number in where])
        if tasks < MIN_TASKS and phrase.count(" ") < MIN_PHRASE_WORDS - 1:
            continue
        if _is_copied(phrase, [calls[number].recorded for number in where]):
            continue
        made = worked = 0
        for number in where:
            place, _, use = calls[number]
            made |= 1 << place
            worked |= use.worked << place
        yield Wording(SeenRelation("contains", write_value(phrase)), made, worked)


def _words_of(text: str, run: StudyRun) -> frozenset[str]:
    asked = run.trajectory.task.casefold()
    words = {match[0] for match in _WORD.finditer(text.casefold())}
    return frozenset(word for word in words if len(word) > 1 and word not in _SMALL and word not in asked)


def _is_copied(phrase: str, calls: Sequence[Action]) -> bool:
    """Had earlier results shown it in most cases? Then it is copied content, not wording."""
    copied = sum(
        any(phrase in str(content).casefold() for _, content in call.history.results(0, call.order)) for call in calls
    )
    return 2 * copied > len(calls)


def _find_phrase(words: Sequence[str], texts: Sequence[str]) -> str:
    """The longest phrase that begins and ends with one of the words and occurs in all texts; else the longest word."""
    folded = [text.casefold() for text in texts]
    matches = list(_WORD.finditer(folded[0]))
    own = [number for number, match in enumerate(matches) if match[0] in words]
    phrases = [
        folded[0][matches[first].start() : matches[last].end()]
        for first in own
        for last in own
        if first <= last < first + MAX_PHRASE_WORDS
    ]
    shared = [phrase for phrase in phrases if all(phrase in text for text in folded)]
    return max(shared or words, key=lambda phrase: (len(phrase), phrase))
