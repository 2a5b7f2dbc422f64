"""A list of rows as a page: words, facets with counts, order, paging; and as a file in JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from contramem.bank.render import visible
from contramem.server.pages import Visit

PAGE = 50
MAX_VALUES = 30
"""Of a facet."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Paging:
    """The part of a long list that a page shows."""

    offset: int
    limit: int
    total: int

    @property
    def before(self) -> int | None:
        return max(0, self.offset - self.limit) if self.offset else None

    @property
    def after(self) -> int | None:
        return self.offset + self.limit if self.offset + self.limit < self.total else None


@dataclass(frozen=True)
class Listing:
    """What can be asked of a list of named tuples."""

    name: str
    facets: tuple[str, ...]
    """Fields of a row that a reader can choose values of."""
    orders: dict[str, Callable[[Any], Any]]
    """Sort keys; the first is the default."""
    is_hidden: Callable[[Any], bool] = lambda row: False
    """Rows that are shown only if the facet `status` asks for them."""

    def page(self, visit: Visit, rows: Sequence[Any]) -> Response:
        """The part of the list that the address asks for, with the counts of the other facets."""
        chosen = {facet: visit.query(facet) for facet in self.facets}
        order = visit.query("order")
        order = order if order in self.orders else next(iter(self.orders))
        selected = sorted((row for row in rows if self._fits(row, chosen)), key=self.orders[order])
        if (file := export_rows(visit, self.name, selected)) is not None:
            return file
        paging = Paging(visit.number("from"), PAGE, len(selected))
        return visit.page(
            f"{self.name}.html", rows=selected[paging.offset :][:PAGE], words=visit.query("q"), order=order,
            chosen=chosen, facets={facet: self._count(rows, chosen, facet) for facet in self.facets}, paging=paging,
        )  # fmt: skip

    def _fits(self, row: Any, chosen: dict[str, str], but: str = "") -> bool:
        if self.is_hidden(row) and but != "status" and not chosen["status"]:
            return False
        return all(not value or facet == but or getattr(row, facet) == value for facet, value in chosen.items())

    def _count(self, rows: Sequence[Any], chosen: dict[str, str], facet: str) -> list[tuple[str, int]]:
        """How many rows each value of a facet would show, keeping the other facets."""
        counts = Counter(getattr(row, facet) for row in rows if self._fits(row, chosen, but=facet))
        return [(value, count) for value, count in counts.most_common(MAX_VALUES) if value]


def export_rows(visit: Visit, name: str, rows: Sequence[Any]) -> Response | None:
    """The named tuples as a file, if the address ends with `format=json` or `format=csv`; else None."""
    wanted = visit.query("format")
    if wanted == "json":
        text = json.dumps([row._asdict() for row in rows], ensure_ascii=False, indent=1)
        return _file(text, "application/json", f"{name}.json")
    if wanted == "csv":
        return _file(_as_csv(rows), "text/csv", f"{name}.csv")
    return None


def _as_csv(rows: Sequence[Any]) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    if rows:
        writer.writerow(rows[0]._fields)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return file.getvalue()


def _cell(value: object) -> object:
    """Mark a text that a spreadsheet would take for a formula."""
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _file(text: str, media_type: str, name: str) -> Response:
    return Response(text, media_type=media_type, headers={"content-disposition": f'attachment; filename="{name}"'})
