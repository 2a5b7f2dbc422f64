"""Renders cards for people: coloured boxes for a terminal, and Markdown (paper, appendix B.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from contramem.bank.card import Argument, Card, FunctionCard, SkillCard
from contramem.bank.fields import SKILL_FIELDS, SkillField

BLUE, GREEN, RED = "blue", "green", "red"
OK, BAD = "✓", "✗"

# Characters that could move the cursor, hide text or change its direction. The text of cards is not trusted.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """`text` with control characters escaped."""
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def card_panel(card: Card) -> Panel:
    """A card as a box: Function Cards blue, Skill Cards green, warnings red."""
    if isinstance(card, FunctionCard):
        return _shell("Function Card · tool-level contract", BLUE, _function_parts(card))
    return _shell("Skill Card · task-level procedure", GREEN, _skill_parts(card))


def _function_parts(card: FunctionCard) -> Iterator[RenderableType]:
    yield _field("Tool", Text(visible(card.tool), style="bold"))
    yield _field("What it does", visible(card.what_it_does))
    if card.arguments:
        yield _field("Arguments", _list([_argument(argument) for argument in card.arguments]))
    yield _field("Returns", visible(card.returns))
    if card.side_effects:
        yield _box("Side effect", RED, [card.side_effects])
    if card.usage_rules:
        yield _field("Usage rules", _list(card.usage_rules))
    if card.common_mistakes:
        yield _box("Mistake guard", RED, card.common_mistakes, BAD)


def _skill_parts(card: SkillCard) -> Iterator[RenderableType]:
    yield _field("Title", Text(visible(card.title), style="bold"))
    yield from (_skill_part(field, texts) for field, texts in _select_fields(card))


def _select_fields(card: SkillCard) -> Iterator[tuple[SkillField, tuple[str, ...]]]:
    fields = (field for field in SKILL_FIELDS if field.label and not field.explorer_only)
    return ((field, texts) for field in fields if (texts := field.texts(card)))


def _skill_part(field: SkillField, texts: tuple[str, ...]) -> RenderableType:
    match field.style:
        case "rule":
            return _box(field.label, GREEN, texts)
        case "passing":
            return _box(field.label, GREEN, texts, OK)
        case "failing":
            return _box(field.label, RED, texts, BAD)
        case "checklist":
            return _field(field.label, _list(texts, OK))
        case _:
            return _field(field.label, visible(", ".join(texts)))


def _shell(title: str, colour: str, parts: Iterable[RenderableType]) -> Panel:
    spaced = [line for part in parts for line in (part, "")][:-1]
    heading = Text(f" {title} ", style=f"bold white on {colour}")
    return Panel(Group(*spaced), title=heading, title_align="left", border_style=colour, padding=(1, 2), width=88)


def _box(title: str, colour: str, texts: Iterable[str], mark: str = "") -> Panel:
    body = Text("\n").join(_mark(text, mark, colour) for text in texts)
    heading = Text(title, style=f"bold {colour}")
    return Panel(body, title=heading, title_align="left", border_style=colour, box=box.SQUARE)


def _field(name: str, content: RenderableType) -> Group:
    return Group(Text(name.upper(), style="bold dim"), Text(content) if isinstance(content, str) else content)


def _list(items: Iterable[str], mark: str = "•") -> Text:
    return Text("\n").join(_mark(item, mark, GREEN) for item in items)


def _mark(text: str, mark: str, colour: str) -> Text:
    body = Text(visible(text), style="not bold default")
    return Text.assemble((f"{mark} ", f"bold {colour}"), body) if mark else body


def _argument(argument: Argument) -> str:
    return f"{argument.name} {_contract(argument)}"


def _contract(argument: Argument) -> str:
    need = {True: ", required", False: ", optional", None: ""}[argument.required]
    contract = f"({argument.form}{need})"
    return contract if argument.says_only_its_name else f"{contract}: {argument.meaning}"


def card_markdown(card: Card) -> str:
    """A card as Markdown, ending in a newline."""
    blocks = _function_blocks(card) if isinstance(card, FunctionCard) else _skill_blocks(card)
    return "\n\n".join(blocks) + "\n"


def _function_blocks(card: FunctionCard) -> Iterator[str]:
    yield f"## `{visible(card.tool)}`"
    yield _plain(card.what_it_does)
    if card.arguments:
        yield "**Arguments**\n\n" + _items(f"`{visible(a.name)}` {_plain(_contract(a))}" for a in card.arguments)
    yield f"**Returns:** {_plain(card.returns)}"
    if card.side_effects:
        yield f"> **Side effect:** {_plain(card.side_effects)}"
    if card.usage_rules:
        yield "**Usage rules**\n\n" + _items(map(_plain, card.usage_rules))
    if card.common_mistakes:
        yield "**Mistake guard**\n\n" + _items(f"{BAD} {_plain(mistake)}" for mistake in card.common_mistakes)


def _skill_blocks(card: SkillCard) -> Iterator[str]:
    yield f"## {_plain(card.title)}"
    yield from (_skill_block(field, texts) for field, texts in _select_fields(card))


def _skill_block(field: SkillField, texts: tuple[str, ...]) -> str:
    text = ", ".join(map(_plain, texts))
    match field.style:
        case "rule":
            return f"> **{field.label}:** {text}"
        case "passing":
            return f"**{OK} {field.label}:** {text}"
        case "failing":
            return f"**{BAD} {field.label}:** {text}"
        case "checklist":
            return f"**{field.label}**\n\n" + _items(f"{OK} {_plain(item)}" for item in texts)
        case "functions":
            return f"**{field.label}:** " + ", ".join(f"`{visible(function)}`" for function in texts)
        case _:
            return f"**{field.label}:** {text}"


def _items(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


_NAME_OR_MARK = re.compile(r"`[\w.]+`|[`*<>\[\]]")


def _plain(text: str) -> str:
    """`text` on one line with Markdown and HTML escaped (`<EMAIL_1>` must not become a tag); `names` in code stay."""
    one_line = " ".join(visible(text).split())
    return _NAME_OR_MARK.sub(lambda match: match[0] if len(match[0]) > 1 else f"\\{match[0]}", one_line)
