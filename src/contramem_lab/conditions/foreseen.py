"""How well each condition orders runs, and its difference to the others over the same pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from contramem.evaluate.stats import Interval
from contramem_lab.conditions.measure import Measurements
from contramem_lab.contest import OrderedPairs, difference, difference_interval, share, share_interval

OURS = "contramem"


@dataclass(frozen=True)
class RowDifference:
    """A row minus another over the same pairs."""

    to: str
    value: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class RowForesight:
    """How well one condition or control orders runs."""

    name: str
    score: float | None
    interval: tuple[float, float] | None
    difference: RowDifference | None
    part: str | None = None
    """Set if the row is this part of the memory in the row above."""


def compare_foresight(measured: Measurements) -> list[RowForesight]:
    """A row for each condition: contramem compared with the best other memory, all others with contramem."""
    rng = Random(measured.seed)
    orders = dict(_orders(measured))
    parts = {f"{row.name}: {part}": part for row in measured.rows for part in row.parts}
    others = {row.name: row.orders for row in measured.rows if row.orders and row.orders != orders.get(OURS)}
    best = max(others, key=lambda name: (share(list(others[name].values())) or 0.0, name), default=None)
    rows = []
    for name, by_task in orders.items():
        to = best if name == OURS else OURS
        against = None
        if by_task and to and orders.get(to) and to != name:
            against = _difference(by_task, orders[to], to, rng)
        of_tasks = list(by_task.values())
        rows.append(RowForesight(name, share(of_tasks), _pair(share_interval(of_tasks, rng)), against, parts.get(name)))
    return rows


def _orders(measured: Measurements) -> Iterator[tuple[str, Mapping[str, OrderedPairs]]]:
    for row in measured.rows:
        yield row.name, row.orders
        for part, orders in row.parts.items():
            yield f"{row.name}: {part}", orders
    for row in measured.controls:
        yield row.name, row.orders


def _difference(
    mine: Mapping[str, OrderedPairs], theirs: Mapping[str, OrderedPairs], to: str, rng: Random
) -> RowDifference | None:
    pairs = [(mine[key], theirs[key]) for key in mine if key in theirs]
    ours, others = [own for own, _ in pairs], [other for _, other in pairs]
    value = difference(ours, others)
    return None if value is None else RowDifference(to, value, _pair(difference_interval(ours, others, rng)))


def _pair(interval: Interval | None) -> tuple[float, float] | None:
    return None if interval is None else (interval.low, interval.high)
