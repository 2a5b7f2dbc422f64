"""A list as a file: all rows that a page would show, as JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from contramem.bank.render import visible
from contramem.server.pages import Visit

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


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
