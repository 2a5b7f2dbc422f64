"""A list of rows as a page: words, facets with counts, order, paging; and as a file in JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from starlette.responses import Response

from contramem.collection.browse import InMemory, Stored
from contramem.evaluate.report.table import in_csv
from contramem.server.pages import Visit

PAGE = 50
_TEXTS = ("text", "masked")
"""Fields with the text of a task, which may hold values: they are in no file."""


class Paging(NamedTuple):
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


class Listing(NamedTuple):
    """A page with a list."""

    name: str
    """Of its template and its files."""
    facets: tuple[str, ...]
    """Fields of a row that a reader can choose values of."""

    def chosen(self, visit: Visit) -> dict[str, str]:
        return {facet: visit.query(facet) for facet in self.facets}

    def page(
        self, visit: Visit, rows: InMemory | Stored, show: Callable[[list[Any]], Sequence[Any]] = lambda rows: rows, /,
        *, status: int = 200, **more: Any,
    ) -> Response:  # fmt: skip
        """The part of the list that the address asks for, with the counts of the facets; `format=csv` gives all of it
        as a file. `show` turns the rows of a page into what its template needs."""
        chosen, order = self.chosen(visit), visit.query("order")
        order = order if order in rows.orders else next(iter(rows.orders))
        total, asked = rows.count(chosen), {**chosen, "q": visit.query("q"), "order": visit.query("order")}
        if visit.query("format") in ("csv", "json"):
            return export_rows(visit.query("format"), self.name, rows.select(chosen, order, 0, total))
        paging = Paging(visit.number("from"), PAGE, total)
        return visit.page(
            f"{self.name}.html", status, rows=show(rows.select(chosen, order, paging.offset, PAGE)), order=order,
            paging=paging, words=visit.query("q"), chosen=chosen, asked=asked,
            facets={facet: rows.values(chosen, facet) for facet in self.facets}, **more,
        )  # fmt: skip


def export_rows(form: str, name: str, rows: Sequence[Any]) -> Response:
    """The named tuples as a file in CSV or JSON."""
    table = [{name: value for name, value in row._asdict().items() if name not in _TEXTS} for row in rows]
    if form == "json":
        content = json.dumps(table, ensure_ascii=False, indent=1)
    else:
        file = io.StringIO()
        writer = csv.writer(file)
        writer.writerow(table[0] if table else ())
        writer.writerows([in_csv(cell) if isinstance(cell, str) else cell for cell in row.values()] for row in table)
        content = file.getvalue()
    headers = {"content-disposition": f'attachment; filename="{name}.{form}"'}
    return Response(content, media_type="application/json" if form == "json" else "text/csv", headers=headers)
