"""Cards as Markdown, for people and for clients without contramem (paper, appendix B.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from contramem.bank.card import Card, FunctionCard, SkillCard, SkillField
from contramem.bank.show import BAD, OK, contract, shown_fields, visible


def card_markdown(card: Card) -> str:
    """A card as Markdown, ending in a newline."""
    blocks = _function_blocks(card) if isinstance(card, FunctionCard) else _skill_blocks(card)
    return "\n\n".join(blocks) + "\n"


def _function_blocks(card: FunctionCard) -> Iterator[str]:
    yield f"## `{visible(card.tool)}`"
    yield _plain(card.what_it_does)
    if card.arguments:
        yield "**Arguments**\n\n" + _items(f"`{visible(a.name)}` {_plain(contract(a))}" for a in card.arguments)
    yield f"**Returns:** {_plain(card.returns)}"
    if card.side_effects:
        yield f"> **Side effect:** {_plain(card.side_effects)}"
    if card.usage_rules:
        yield "**Usage rules**\n\n" + _items(map(_plain, card.usage_rules))
    if card.common_mistakes:
        yield "**Mistake guard**\n\n" + _items(f"{BAD} {_plain(mistake)}" for mistake in card.common_mistakes)


def _skill_blocks(card: SkillCard) -> Iterator[str]:
    yield f"## {_plain(card.title)}"
    yield from (_skill_block(field, texts) for field, texts in shown_fields(card))


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
