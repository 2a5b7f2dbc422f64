"""Masks: sets of runs as the bits of an integer, so that thousands of guards can be counted against thousands of
conditions. Bit n stands for the n-th run of the sequence."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import or_
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from contramem.guards.templates import Verdict

Mask: TypeAlias = int

FEW_ROWS = 8
"""The four sides of one or two guards."""
FEW_PLACES = 100
"""Fewer bits are quicker set one by one."""


def mask_of(places: Iterable[int]) -> Mask:
    """The mask with these bits."""
    places = list(places)
    if len(places) > FEW_PLACES:
        return mask_of_places(np.array(places, dtype=np.intp))
    mask = 0
    for place in places:
        mask |= 1 << place
    return mask


def union_of(masks: Iterable[Mask]) -> Mask:
    """The runs in any of them."""
    union = 0
    for mask in masks:
        union |= mask
    return union


def places_of(mask: Mask) -> list[int]:
    """The positions of its bits, lowest first."""
    places: list[int] = np.flatnonzero(bits_of(mask, mask.bit_length())).tolist()
    return places


def matrix_of(masks: Sequence[Mask], runs: int) -> NDArray[np.float32]:
    """One row per mask, one column per run. Products of such matrices count what two sets share."""
    width = (runs + 7) // 8
    packed = np.frombuffer(b"".join(mask.to_bytes(width, "little") for mask in masks), dtype=np.uint8)
    bits = np.unpackbits(packed.reshape(len(masks), width), axis=1, bitorder="little")
    return bits[:, :runs].astype(np.float32)


def count_shared(rows: Sequence[Mask], columns: Sequence[Mask], runs: int) -> NDArray[np.float32]:
    """How many runs each two of them share. A few are counted bit by bit: a product of matrices wakes threads, which
    take longer than that."""
    if len(rows) <= FEW_ROWS:
        return np.array([[(row & column).bit_count() for column in columns] for row in rows], dtype=np.float32)
    return matrix_of(rows, runs) @ matrix_of(columns, runs).T


def bits_of(mask: Mask, runs: int) -> NDArray[np.bool_]:
    """One truth value per run."""
    packed = np.frombuffer(mask.to_bytes((runs + 7) // 8, "little"), dtype=np.uint8)
    return np.unpackbits(packed, bitorder="little", count=runs).view(np.bool_)


def mask_from_bits(bits: NDArray[np.bool_]) -> Mask:
    """The opposite of `bits_of`."""
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


def mask_of_places(places: NDArray[np.intp]) -> Mask:
    """The mask with these bits, for many of them."""
    bits = np.zeros(int(places.max(initial=0)) + 1, dtype=np.bool_)
    bits[places] = True
    return mask_from_bits(bits)


def select_bits(mask: Mask, places: NDArray[np.intp]) -> Mask:
    """The mask whose n-th bit is the one at the n-th of these places."""
    size = max(mask.bit_length(), int(places.max(initial=0)) + 1)
    return mask_from_bits(bits_of(mask, size)[places])


def number_names(names: Iterable[str]) -> NDArray[np.intp]:
    """A number for each name, the same for equal ones."""
    numbers = dict[str, int]()
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.intp)


class RunsInOrder:
    """Runs ordered by a number: those on one side of a boundary are known without looking at each of them."""

    def __init__(self, numbers: dict[int, float], masks: dict[int, Mask]) -> None:
        places = sorted(numbers, key=numbers.__getitem__)
        self._numbers = [numbers[place] for place in places]
        self._masks = list(accumulate((masks[place] for place in places), or_, initial=0))

    def find_below(self, boundary: float) -> tuple[int, Mask]:
        """How many there are, and the runs in which that holds."""
        count = bisect_left(self._numbers, boundary)
        return count, self._masks[count]

    def find_up_to(self, boundary: float) -> tuple[int, Mask]:
        count = bisect_right(self._numbers, boundary)
        return count, self._masks[count]


class GuardMasks(NamedTuple):
    """The runs that followed a guard and those that broke it. It does not apply to the others."""

    kept: Mask
    broken: Mask

    @classmethod
    def of_verdicts(cls, verdicts: Sequence[Verdict]) -> GuardMasks:
        kept = mask_of(place for place, verdict in enumerate(verdicts) if verdict == "holds")
        return cls(kept, mask_of(place for place, verdict in enumerate(verdicts) if verdict == "broken"))

    @property
    def spoken(self) -> Mask:
        return self.kept | self.broken

    def within(self, mask: Mask) -> GuardMasks:
        return GuardMasks(self.kept & mask, self.broken & mask)
