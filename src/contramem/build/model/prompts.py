"""The wording of a request: the templates and focus blocks of one suite, with the user's overrides.

A focus block is what the Reflector looks at first. It is chosen by the ability of a task or, for code agents, by its
signature: which of five kinds of work it asks for (paper, appendix B.9). Neither has an effect at run time."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeAlias

from contramem.build.model.replies import card_shape
from contramem.contrast.packet import Packet
from contramem.errors import UsageError
from contramem.llm.client import PromptMessage
from contramem.prompts import Prompt, render, render_source

Suite: TypeAlias = Literal["app_tool", "code_agent"]
SUITES: tuple[Suite, ...] = ("app_tool", "code_agent")


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


# Focus blocks

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


# The signature of a task

Signature: TypeAlias = Literal["answer_extraction", "bulk_or_multi_write", "cross_app", "state_write", "default"]

# Apps that every task uses don't show which apps a task is about.
HELPER_APPS = frozenset({"supervisor", "api_docs", "apidocs", "admin", "agentuserinterface", "system", "systemapp"})

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_WRITES = frozenset(
    """accept add answer append approve archive assign block book buy call cancel change clear close comment complete
    compose copy create decline deactivate delete deposit dislike download draft edit email enable disable exchange
    extend fill follow forward hide install invite label leave like lock make mark message modify move order pause pay
    place play post print purchase put rate reject remind remove rename reorder repeat replace reply report request
    reschedule reserve reset resume return review save schedule sell send set share shuffle sign split start stop
    submit subscribe switch sync text transfer turn unblock undo unfollow unlike unlock unsubscribe update upload
    withdraw write""".split()
)
_BULK = frozenset("all every each everyone everybody everything both any remaining rest multiple several".split())
_ASKS = frozenset("what which who whom whose when where why how".split())
_ASKS_FOR = re.compile(
    r"^(?:please |now |then )*(?:(?:could|can|would) you )?(?:please )?"
    r"(?:tell me|give me|find(?: out)?|list|name|count|calculate|compute|show|report|look up"
    r"|check (?:if|whether|how|what)"
    r"|let me know|summari[sz]e|is |are |was |were |do |does |did |has |have |how|what|which|who|when|where)\b"
)
_POLITE = frozenset(
    "please now then also and finally first next after that kindly just so can could would you i".split()
)


def signature(task: str, apps: Collection[str] = ()) -> Signature:
    """The kind of work that `task` asks for. `apps` are those that its runs called; helper apps don't count.

    The first that applies: a question without a write is answer_extraction; a write over a set (`all`, `each`, ...) or
    several different writes is bulk_or_multi_write; any other work over two or more apps is cross_app; one write is
    state_write; the rest is default.
    """
    sentences = [sentence for part in _SENTENCE_END.split(task.lower()) if (sentence := part.strip())]
    writes = [verb for sentence in sentences for verb in _commands(sentence)]
    if not writes and any(_is_question(sentence) for sentence in sentences):
        return "answer_extraction"
    if len(set(writes)) > 2 or (writes and not _BULK.isdisjoint(_WORD.findall(task.lower()))):
        return "bulk_or_multi_write"
    if len({app.lower() for app in apps} - HELPER_APPS) > 1:
        return "cross_app"
    return "state_write" if writes else "default"


def _is_question(sentence: str) -> bool:
    words = _WORD.findall(sentence)
    return sentence.endswith("?") or bool(_ASKS_FOR.match(sentence)) or bool(words and words[0] in _ASKS)


def _commands(sentence: str) -> list[str]:
    """Writing verbs used as commands: at the start of a sentence or clause, or after `to`, `please`, `and`."""
    commands = []
    for clause in re.split(r"[,;:]| - ", sentence):
        words = _WORD.findall(clause)
        for place, word in enumerate(words):
            opens = all(earlier in _POLITE for earlier in words[:place])
            follows = place > 0 and words[place - 1] in ("to", "please", "and", "then", "you", "must", "should")
            if word in _WRITES and (opens or follows):
                commands.append(word)
    return commands
