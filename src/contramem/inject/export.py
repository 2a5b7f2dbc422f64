"""Exports a bank to files for clients without contramem: Agent Skills, a section of AGENTS.md, JSON, Markdown.

Exports contain the text of the cards without their provenance, and only cards without personal data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from contramem.bank.card import Card, FunctionCard, SkillCard
from contramem.bank.export import card_markdown
from contramem.errors import BankFileError
from contramem.inject.guidance import beyond_description, in_lines
from contramem.prompts import render
from contramem.validate.case import Case
from contramem.validate.privacy import Privacy

MAX_NAME = 64
MAX_DESCRIPTION = 1024
"""Limits of the Agent Skills standard (agentskills.io/specification)."""
MAX_REFERENCES = 100
"""The most functions of one skill: a link is about 30 tokens, and a SKILL.md should stay under 5,000."""
GENERATOR = "generator: contramem"
"""Marks a folder as written by us, so that we may overwrite it."""
BEGIN, END = "<!-- contramem: begin -->", "<!-- contramem: end -->"
"""The marks around our section of an AGENTS.md. The rest of the file belongs to the user."""


@dataclass(frozen=True)
class SkippedCard:
    """A card that is not exported."""

    card_id: str
    reason: str


def exportable(cards: Sequence[Card]) -> tuple[list[Card], list[SkippedCard]]:
    """The cards without anything that looks like personal data, and the skipped ones."""
    functions = frozenset(card.tool for card in cards if isinstance(card, FunctionCard))
    check = Privacy()
    refused = {card.card_id: next(check(Case(card, functions=functions)), "") for card in cards}
    good = [card for card in cards if not refused[card.card_id]]
    return good, [SkippedCard(card_id, reason) for card_id, reason in refused.items() if reason]


def as_json(cards: Sequence[Card]) -> str:
    return json.dumps([card.model_dump(mode="json") for card in cards], ensure_ascii=False, indent=2) + "\n"


def as_markdown(cards: Sequence[Card]) -> str:
    return "\n".join(card_markdown(card) for card in cards)


def as_agents_md(cards: Sequence[Card], around: str = "") -> str:
    """The text `around` with our section, at its old place or at the end. Each card takes a line or two, because an
    AGENTS.md is read in full at every start."""
    section = f"{BEGIN}\n{_agents_section(cards)}\n{END}"
    before, begun, rest = around.partition(BEGIN)
    if begun:
        _, ended, after = rest.partition(END)
        if not ended:
            raise BankFileError(f"the line {END!r} is missing after {BEGIN!r}: put it back first.")
        return f"{before}{section}{after}"
    return f"{around.rstrip()}\n\n{section}\n" if around.strip() else f"{section}\n"


def _agents_section(cards: Sequence[Card]) -> str:
    functions = [
        (card.tool, line) for card in cards if isinstance(card, FunctionCard) if (line := beyond_description(card))
    ]
    skills = [in_lines(card.model_dump()) for card in cards if isinstance(card, SkillCard)]
    text = render("inject/prompts/agents_md.jinja", skills=skills, functions=functions).text.strip()
    return text.replace("<!--", "").replace("-->", "")  # so that no card can end our section or hide what follows


def write_agents_md(cards: Sequence[Card], path: Path) -> None:
    """Write our section into the file at `path`, and keep the rest of the file."""
    try:
        around = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(as_agents_md(cards, around), encoding="utf-8")
    except OSError as error:
        raise BankFileError(f"{path}: cannot be written ({error.strerror}).") from error


@dataclass(frozen=True)
class SkillFolder:
    """One skill of the Agent Skills standard."""

    name: str
    description: str
    body: str
    references: dict[str, str]
    """File name to content."""

    @property
    def skill_md(self) -> str:
        # Every JSON string is a valid YAML string.
        head = f"name: {self.name}\ndescription: {json.dumps(self.description, ensure_ascii=False)}"
        return f"---\n{head}\nmetadata:\n  {GENERATOR}\n---\n\n{self.body}"


def skill_folders(cards: Sequence[Card]) -> list[SkillFolder]:
    """One skill per Skill Card, with the cards of its functions, and one per app for its functions."""
    functions = {card.tool: card for card in cards if isinstance(card, FunctionCard)}
    skills = [card for card in cards if isinstance(card, SkillCard)]
    taken: set[str] = set()
    folders = [_of_skill(card, functions, taken) for card in skills]
    for app in sorted({card.app for card in functions.values()}):
        own = [card for card in functions.values() if card.app == app]
        for first in range(0, len(own), MAX_REFERENCES):
            folders.append(_of_app(app, own[first : first + MAX_REFERENCES], taken))
    return folders


def _of_skill(card: SkillCard, functions: dict[str, FunctionCard], taken: set[str]) -> SkillFolder:
    used = [functions[name] for name in card.functions_used if name in functions]
    description = _describe(f"{card.title.rstrip('.')}. Use when: {card.applies_when}")
    return SkillFolder(_name(card.title, taken), description, _body(card_markdown(card), used), _references(used))


def _of_app(app: str, cards: Sequence[FunctionCard], taken: set[str]) -> SkillFolder:
    names = ", ".join(card.function for card in cards)
    description = _describe(f"What earlier calls of {app} functions showed. Use before the first call of: {names}")
    return SkillFolder(_name(f"{app} functions", taken), description, _body(f"## {app}\n", cards), _references(cards))


def _body(text: str, used: Sequence[FunctionCard]) -> str:
    links = [(card.tool, f"references/{_file(card)}", in_lines(card.what_it_does)) for card in used]
    return render("inject/prompts/skill_md.jinja", card=text.strip(), functions=links).text.strip() + "\n"


def _references(cards: Iterable[FunctionCard]) -> dict[str, str]:
    return {_file(card): card_markdown(card) for card in cards}


def _file(card: FunctionCard) -> str:
    return re.sub(r"[^\w.-]", "_", card.tool) + ".md"


def _name(title: str, taken: set[str]) -> str:
    """A valid skill name that no other skill of this export has."""
    plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:MAX_NAME].strip("-") or "skill"
    name, number = plain, 1
    while name in taken:
        number += 1
        name = f"{plain[: MAX_NAME - 1 - len(str(number))].rstrip('-')}-{number}"
    taken.add(name)
    return name


def _describe(text: str) -> str:
    """One line, cut at a word if it is too long. Angle brackets, which some clients treat as markup, and `---`, which
    would end the header of a SKILL.md, are removed."""
    line: str = re.sub(r"[<>]|-{3,}", "", in_lines(text))
    return line if len(line) <= MAX_DESCRIPTION else line[: MAX_DESCRIPTION - 2].rpartition(" ")[0] + " …"


def write_skills(folders: Sequence[SkillFolder], into: Path) -> None:
    """Write the skills and remove those of an earlier export. Other people's skills are not touched; if one has a name
    that we need, it is an error before anything is written."""
    foreign = [folder.name for folder in folders if (into / folder.name).exists() and not _is_ours(into / folder.name)]
    if foreign:
        raise BankFileError(
            f"{into / foreign[0]}: is there already and was not written by an export. Choose another folder."
        )
    try:
        for old in [path for path in into.glob("*/SKILL.md") if _is_ours(path.parent)]:
            _remove(old.parent)
        for folder in folders:
            _write(folder, into / folder.name)
    except OSError as error:
        raise BankFileError(f"{into}: cannot be written ({error.strerror}).") from error


def _is_ours(folder: Path) -> bool:
    try:
        head = (folder / "SKILL.md").read_text(encoding="utf-8").split("\n---\n", 1)[0]
    except (OSError, ValueError):
        return False
    return GENERATOR in head


def _remove(folder: Path) -> None:
    """Remove the files of an export, and the folder if nothing else is in it."""
    for file in _find_exported_files(folder):
        file.unlink(missing_ok=True)
    for place in (folder / "references", folder):
        if place.is_dir() and not any(place.iterdir()):
            place.rmdir()


def _find_exported_files(folder: Path) -> Iterator[Path]:
    yield folder / "SKILL.md"
    yield from (folder / "references").glob("*.md")


def _write(folder: SkillFolder, into: Path) -> None:
    into.mkdir(parents=True, exist_ok=True)
    (into / "SKILL.md").write_text(folder.skill_md, encoding="utf-8")
    for name, content in folder.references.items():
        (into / "references").mkdir(exist_ok=True)
        (into / "references" / name).write_text(content, encoding="utf-8")
