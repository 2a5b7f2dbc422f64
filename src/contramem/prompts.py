"""Prompts: templates in files beside the code that uses them, rendered here and identified by their digest."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from contramem.errors import UsageError

if TYPE_CHECKING:
    from jinja2 import Environment, Template


class Prompt(NamedTuple):
    """A rendered template, with the digest of its wording."""

    text: str
    template: str
    """Path inside the package: `inject/prompts/task_start.jinja`."""
    digest: str
    """Of the template, not of the rendered text: the same wording has the same digest."""


def render(template: str, package: str = "contramem", /, **values: object) -> Prompt:
    """Fill `template`. A name with no value raises; it is never rendered as a blank. Values are never templates."""
    compiled, digest = _load(template, package)
    return Prompt(compiled.render(values), template, digest)


def render_source(source: str, template: str, **values: object) -> Prompt:
    """Render a template supplied by the user; `template` is the name to use for it."""
    from jinja2 import TemplateError

    try:
        text = _environment().from_string(source).render(values)
    except TemplateError as error:
        raise UsageError(f"{template}: {error}.") from error
    return Prompt(text, template, hashlib.sha256(source.encode()).hexdigest()[:12])


@cache
def _load(template: str, package: str) -> tuple[Template, str]:
    """Read and compile a template, once per process."""
    source = (files(package) / template).read_text(encoding="utf-8")
    return _environment().from_string(source), hashlib.sha256(source.encode()).hexdigest()[:12]


@cache
def _environment() -> Environment:
    from jinja2 import Environment, StrictUndefined  # takes 0.1 s, and only rendering needs it

    return Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)


def fence(name: str, text: str) -> str:
    """Put untrusted text between marks that it cannot contain, because they include a digest of the text itself."""
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"<{name} {mark}>\n{text}\n</{name} {mark}>"
