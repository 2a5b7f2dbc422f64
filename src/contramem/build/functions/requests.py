"""What people asked for when a function was needed: words that a Function Card is found by, beside its name.

"Pay my landlord" has no word in common with `send_money`. Of the requests that were solved with a function, those words
are kept that are said there clearly more often than elsewhere, in several tasks: none tells one task from another.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from contramem.contrast.packet import Packet
from contramem.retrieve.requests import request_words
from contramem.retrieve.terms import TERMS, terms_of

MIN_TASKS = 2
"""That have the word. What one request says may be about that request alone."""
MIN_LIFT = 1.5
"""How many times as often as in all requests the word has to be said."""
MAX_WORDS = 40
"""Of one function, those of most tasks first."""


class RequestsByFunction:
    """The requests of many tasks, by the functions that solved them."""

    def __init__(self, packets: Iterable[Packet]) -> None:
        self._words, self._tasks = Counter[str](), 0
        self._by_function = defaultdict[str, list[set[str]]](list)
        for packet in packets:
            said = set(terms_of(request_words(packet.task, packet.placeholders.originals().values())))
            self._words.update(said)
            self._tasks += 1
            for function in _find_needed(packet):
                self._by_function[function].append(said)

    def words_for(self, function: str) -> str:
        """The terms of the words that go with a function, in order, with spaces between; empty when there are none."""
        requests = self._by_function.get(function, ())
        counts = Counter(word for said in requests for word in said)
        telling = [
            word
            for word, count in counts.items()
            if count >= MIN_TASKS and self._lift(word, count, len(requests)) >= MIN_LIFT
        ]
        kept = sorted(telling, key=lambda word: (-counts[word], word))[:MAX_WORDS]
        return " ".join((TERMS, *sorted(kept))) if kept else ""

    def _lift(self, word: str, count: int, requests: int) -> float:
        return count / requests * self._tasks / self._words[word]


def _find_needed(packet: Packet) -> list[str]:
    """The functions that most passing runs called with success; of a task that nobody solved, most runs."""
    runs = packet.passing or packet.runs
    called = Counter(function for run in runs for function in {step.function for step in run.actions if not step.error})
    return [function for function, count in called.items() if function and 2 * count >= len(runs)]
