"""SeenTexts: the texts that a run has shown, searched many at a time because there may be thousands."""

from __future__ import annotations

from collections.abc import Iterator

BLOCK = 64
"""How many texts are searched as one."""
_BETWEEN = "\0"


class SeenTexts:
    """Texts in the order they were seen."""

    def __init__(self) -> None:
        self._blocks: list[tuple[str, list[str]]] = []
        self._recent: list[str] = []

    def append(self, text: str) -> None:
        self._recent.append(text)
        if len(self._recent) == BLOCK:
            self._blocks.append((_BETWEEN.join(self._recent), self._recent))
            self._recent = []

    def holding(self, wanted: str) -> Iterator[str]:
        """The texts that contain `wanted`, in order."""
        for place in self.places(wanted):
            block, number = divmod(place, BLOCK)
            yield (self._blocks[block][1] if block < len(self._blocks) else self._recent)[number]

    def places(self, wanted: str) -> Iterator[int]:
        """The numbers of the texts that contain `wanted`, in order."""
        for number, (joined, texts) in enumerate(self._blocks):
            if wanted in joined:
                yield from (number * BLOCK + place for place, text in enumerate(texts) if wanted in text)
        first = len(self._blocks) * BLOCK
        yield from (first + place for place, text in enumerate(self._recent) if wanted in text)
