"""Focus blocks: what the Reflector looks at first, by the ability or signature of a task. Users can add their own."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from contramem.build.model.defaults import SUITES, Suite
from contramem.build.model.signature import signature
from contramem.contrast.packet import Packet
from contramem.errors import UsageError

DEFAULT = "default"


@dataclass(frozen=True)
class Focus:
    """One focus block."""

    name: str
    obligation: str
    contrasts: str


@dataclass(frozen=True)
class FocusBlocks:
    """All blocks of both suites, by name in lower case."""

    blocks: Mapping[Suite, Mapping[str, Focus]] = field(default_factory=dict)

    def of(self, suite: Suite, packet: Packet) -> Focus:
        """The block for a packet: for app tools by the label of its ability; for code agents by the signature of the
        task, or a user's block named after its ability. `default` if nothing else fits."""
        blocks = self.blocks[suite]
        ability = packet.ability.lower()
        if ability in blocks and ability != DEFAULT:
            return blocks[ability]
        return blocks[signature(packet.task, _apps(packet)) if suite == "code_agent" else DEFAULT]


def _apps(packet: Packet) -> set[str]:
    runs = packet.passing or packet.runs
    return {step.function.partition(".")[0] for run in runs for step in run.actions if step.function}


def load_focus(path: Path | None = None) -> FocusBlocks:
    """The built-in blocks, overridden and extended by those of the TOML file at `path`."""
    shipped = _load_shipped()
    if path is None:
        return shipped
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--focus {path}: cannot be read ({error}).") from error
    own = _parse(text, str(path))
    return FocusBlocks({suite: {**shipped.blocks[suite], **own.blocks[suite]} for suite in SUITES})


@cache
def _load_shipped() -> FocusBlocks:
    text = (files("contramem") / "build/model/prompts/focus.toml").read_text(encoding="utf-8")
    return _parse(text, "focus.toml")


def _parse(text: str, where: str) -> FocusBlocks:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{where}: is not TOML ({error}).") from error
    if unknown := sorted(tables.keys() - set(SUITES)):
        raise UsageError(f"{where}: [{unknown[0]}] is not a suite. Write [app_tool.NAME] or [code_agent.NAME].")
    return FocusBlocks({suite: _blocks(suite, tables.get(suite, {}), where) for suite in SUITES})


def _blocks(suite: Suite, tables: Any, where: str) -> dict[str, Focus]:
    blocks = {}
    for name, table in (tables if isinstance(tables, dict) else {"": tables}).items():
        if not isinstance(table, dict) or table.keys() != {"obligation", "contrasts"}:
            raise UsageError(f"{where}: [{suite}.{name}] needs `obligation` and `contrasts`, and nothing else.")
        obligation, contrasts = (" ".join(str(table[key]).split()) for key in ("obligation", "contrasts"))
        if not obligation or not contrasts:
            raise UsageError(f"{where}: [{suite}.{name}] has an empty `obligation` or `contrasts`.")
        blocks[name.lower()] = Focus(name.lower(), obligation, contrasts)
    return blocks
