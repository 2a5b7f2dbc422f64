"""What people ask for when a function is needed: words by which a Function Card is found, besides its name.

"Pay my landlord" shares no word with `send_money`. Of the requests that were solved with a function, the words are kept
that occur clearly more often than elsewhere, in several tasks: none distinguishes one task from another.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from contramem.contrast.packet import Packet
from contramem.retrieve.requests import request_words
from contramem.retrieve.tokens import TERMS, terms_of

MIN_TASKS = 2
"""The number of requests that must contain the word: a single one may be a special case."""
MIN_LIFT = 1.5
"""How many times as frequent as in all requests the word must be."""
MAX_WORDS = 40
"""Per function; words of most tasks first."""


class RequestsByFunction:
    """The requests of many tasks, by the functions that solved them."""

    def __init__(self, packets: Iterable[Packet]) -> None:
        self._words, self._tasks = Counter[str](), 0
        self._by_function = defaultdict[str, list[frozenset[str]]](list)
        for packet in packets:
            spoken = _find_terms(packet)
            self._words.update(spoken)
            self._tasks += 1
            for function in _find_needed(packet):
                self._by_function[function].append(spoken)

    def words_for(self, function: str) -> str:
        """The terms of the words that go with a function, in order, separated by spaces; empty if there are none."""
        requests = self._by_function.get(function, ())
        counts = Counter(word for terms in requests for word in terms)
        telling = [
            word
            for word, count in counts.items()
            if count >= MIN_TASKS and self._lift(word, count, len(requests)) >= MIN_LIFT
        ]
        kept = sorted(telling, key=lambda word: (-counts[word], word))[:MAX_WORDS]
        return " ".join((TERMS, *sorted(kept))) if kept else ""

    def _lift(self, word: str, count: int, requests: int) -> float:
        return count / requests * self._tasks / self._words[word]


def _find_terms(packet: Packet) -> frozenset[str]:
    return frozenset(terms_of(request_words(packet.task, packet.placeholders.originals().values())))


def _find_needed(packet: Packet) -> tuple[str, ...]:
    """The functions that most passing runs called successfully; if no run passed, most runs."""
    runs = packet.passing or packet.runs
    called = Counter(function for run in runs for function in {step.function for step in run.actions if not step.error})
    return tuple(function for function, count in called.items() if function and 2 * count >= len(runs))
