"""Prompts: the templates and focus blocks of one suite, with the user's overrides."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Literal, TypeAlias

from contramem.build.model.defaults import Suite
from contramem.build.model.focus import Focus, FocusBlocks, load_focus
from contramem.build.model.replies import card_shape
from contramem.contrast.packet import Packet
from contramem.errors import UsageError
from contramem.llm.client import PromptMessage
from contramem.prompts import Prompt, render, render_source

Template: TypeAlias = Literal["builder", "reflector", "curator", "again"]
TEMPLATES: tuple[Template, ...] = ("builder", "reflector", "curator", "again")
MARK = "===== data =====\n"
"""Separates the instructions of a template, which are the same for every call, from the data."""


class Prompts:
    """The prompts of one suite. `overrides` is a folder with templates of the same names (`reflector.jinja`)."""

    def __init__(
        self, suite: Suite = "app_tool", focus: FocusBlocks | None = None, overrides: Path | None = None
    ) -> None:
        self.suite = suite
        self._focus = focus or load_focus()
        self._own = _read_overrides(overrides) if overrides is not None else {}

    def focus(self, packet: Packet) -> Focus:
        return self._focus.of(self.suite, packet)

    def fill(self, template: Template, **values: object) -> Prompt:
        """Render a template. A missing value is an error, not a blank."""
        if template in self._own:
            path, source = self._own[template]
            return render_source(source, str(path), **values)
        return render(self._template_path(template), **values)

    def messages(self, template: Template, **values: object) -> tuple[tuple[PromptMessage, ...], str]:
        """The instructions as system message and the data as user message, with the digest of the wording."""
        prompt = self.fill(template, **values)
        return in_messages(prompt), prompt.digest

    @property
    def digest(self) -> str:
        """A digest of all wordings: templates, the fields that they ask for, and focus blocks."""
        sources = [*(self._source(template) for template in TEMPLATES), card_shape(hints=True)]
        blocks = self._focus.blocks[self.suite]
        sources += [f"{block.name}\n{block.obligation}\n{block.contrasts}" for _, block in sorted(blocks.items())]
        return hashlib.sha256("\0".join(sources).encode()).hexdigest()[:12]

    def _template_path(self, template: Template) -> str:
        return f"build/model/prompts/{'' if template == 'again' else self.suite + '/'}{template}.jinja"

    def _source(self, template: Template) -> str:
        if template in self._own:
            return self._own[template][1]
        return (files("contramem") / self._template_path(template)).read_text(encoding="utf-8")


def in_messages(prompt: Prompt) -> tuple[PromptMessage, ...]:
    """The text before the mark as system message, the rest as user message."""
    instructions, mark, data = prompt.text.partition(MARK)
    if not mark:
        return (PromptMessage("user", prompt.text.strip()),)
    return PromptMessage("system", instructions.strip()), PromptMessage("user", data.strip())


def _read_overrides(folder: Path) -> dict[str, tuple[Path, str]]:
    if not folder.is_dir():
        raise UsageError(f"--prompts {folder}: is not a folder.")
    paths = {path.stem: path for path in sorted(folder.glob("*.jinja"))}
    if unknown := sorted(paths.keys() - set(TEMPLATES)):
        raise UsageError(
            f"--prompts {folder}: {unknown[0]}.jinja is not a template (templates: {', '.join(TEMPLATES)})."
        )
    if not paths:
        raise UsageError(f"--prompts {folder}: has no template in it. Name them {_join_names(TEMPLATES)}.")
    return {name: (path, path.read_text(encoding="utf-8")) for name, path in paths.items()}


def _join_names(templates: Iterable[str]) -> str:
    return ", ".join(f"{name}.jinja" for name in templates)
