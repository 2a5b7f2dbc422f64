"""Prompts: text files beside the code that uses them, filled by one function and known by their digest."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from contramem.errors import UsageError

if TYPE_CHECKING:
    from jinja2 import Environment, Template


class Prompt(NamedTuple):
    """A filled template, and which wording it was."""

    text: str
    template: str
    """Path inside the package: `inject/prompts/task_start.jinja`."""
    digest: str
    """Of the template, not of what was filled in: the same wording has the same digest."""


def render(template: str, **values: object) -> Prompt:
    """Fill `template`. A name with no value raises; it is never rendered as a blank. Values are never templates."""
    compiled, digest = _load(template)
    return Prompt(compiled.render(values), template, digest)


def render_source(source: str, template: str, **values: object) -> Prompt:
    """Fill a template that a user brought; `template` is what to call it."""
    from jinja2 import TemplateError

    try:
        text = _environment().from_string(source).render(values)
    except TemplateError as error:
        raise UsageError(f"{template}: {error}.") from error
    return Prompt(text, template, hashlib.sha256(source.encode()).hexdigest()[:12])


@cache
def _load(template: str) -> tuple[Template, str]:
    """Each file is read and compiled once a process: filling it again reads nothing."""
    source = (files("contramem") / template).read_text(encoding="utf-8")
    return _environment().from_string(source), hashlib.sha256(source.encode()).hexdigest()[:12]


@cache
def _environment() -> Environment:
    from jinja2 import Environment, StrictUndefined  # 0.1 s, and only who fills a prompt needs it

    return Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)


def fence(name: str, text: str) -> str:
    """Untrusted text between marks that it cannot contain: they hold a digest of the text itself."""
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"<{name} {mark}>\n{text}\n</{name} {mark}>"
