"""Renders the pages: Jinja templates with everything escaped, and addresses made in one place."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from contramem.bank.card import SKILL_FIELDS
from contramem.bank.show import visible
from contramem.collection.browse import RunRow
from contramem.contrast.packet import RunIdentity
from contramem.server.project import Project
from contramem.server.tokens import Token

_CODE_OR_PLACEHOLDER = re.compile(r"`([^`\n]{1,200})`|&lt;([A-Z][A-Z_]*?)(?:_(\d+))?&gt;")


def plural_of(noun: str) -> str:
    """`task` -> `tasks`, `run with a verdict` -> `runs with a verdict`."""
    first, space, rest = noun.partition(" ")
    return f"{first}s{space}{rest}"


def mark_up(value: object) -> Markup:
    """Our own text with `code` as code and <PLACEHOLDERS> distinguished from words."""
    return Markup(_CODE_OR_PLACEHOLDER.sub(_mark, str(escape(visible(str(value))))))


def _mark(match: re.Match[str]) -> str:
    code, name, number = match.groups()
    if code is not None:
        return f"<code>{code}</code>"
    label = name.lower().replace("_", " ") + (f" {number}" if number else "")
    return f'<span class="mask" title="a value that is not shown">{label}</span>'


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 36 else f"{text[:35]}…"


def _make_visible(value: object) -> object:
    """Keep control and direction characters of traces and cards off the pages. Our own markup is clean."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


_JINJA = Environment(
    loader=PackageLoader("contramem.server"), undefined=StrictUndefined, autoescape=True, trim_blocks=True,
    lstrip_blocks=True, finalize=_make_visible,
)  # fmt: skip
_JINJA.filters["marked"] = mark_up
_JINJA.filters["number"] = lambda value: (
    "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
)
_JINJA.filters["pretty"] = lambda value: json.dumps(value, ensure_ascii=False, indent=2, default=str)
_JINJA.filters["percent"] = lambda share: f"{100 * share:.0f} %"
_JINJA.globals["count"] = lambda number, noun: f"{number:,} {noun if number == 1 else plural_of(noun)}"
_JINJA.globals["in_line"] = lambda arguments: ", ".join(f"{name}={_short(value)}" for name, value in arguments.items())
_JINJA.globals["skill_fields"] = SKILL_FIELDS


@dataclass(frozen=True)
class Visit:
    """One authorized request."""

    request: Request
    project: Project
    token: Token
    form_token: str
    show_values: bool = False
    form: Mapping[str, str] = field(default_factory=dict)

    def query(self, name: str, otherwise: str = "") -> str:
        return self.request.query_params.get(name, otherwise)

    def number(self, name: str, otherwise: int = 0) -> int:
        text = self.query(name)
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else otherwise

    def url(self, path: str = "", /, **query: object) -> str:
        """An address in this project."""
        asked = urlencode({name: str(value) for name, value in query.items() if value not in ("", None)})
        return f"/{quote(self.project.name)}/{path}" + (f"?{asked}" if asked else "")

    def card_title(self, card_id: str) -> str:
        """A card's title; its id if the bank has no such card."""
        entry = self.project.current().bank.entries.get(card_id)
        return card_id if entry is None else getattr(entry.card, "title", getattr(entry.card, "tool", card_id))

    def run_query(self, run: RunRow | RunIdentity, task: str = "") -> dict[str, object]:
        """What names a run in an address."""
        if isinstance(run, RunRow):
            return {"id": run.id}
        return {"task": task, "source": run.source, "run": run.run}

    @property
    def may_review(self) -> bool:
        return self.token.allows("review", self.project.name) and not self.project.is_frozen

    def page(self, template: str, status: int = 200, /, **values: Any) -> HTMLResponse:
        """The page that `template` makes from `values`."""
        text = _JINJA.get_template(template).render(
            visit=self, url=self.url, project=self.project.name, may_review=self.may_review,
            here=template.partition(".")[0], form_token=self.form_token, **values,
        )  # fmt: skip
        return HTMLResponse(text, status)


def missing(visit: Visit, what: str) -> HTMLResponse:
    return visit.page("missing.html", 404, what=what)


def render_alone(template: str, **values: Any) -> str:
    """A page that belongs to no project: log-in and errors."""
    return _JINJA.get_template(template).render(**values)
