"""The bank as a map: abilities and apps with the cards between them, and one ability's cards with their functions."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from starlette.responses import Response

from contramem.bank.bank import Bank
from contramem.bank.card import SkillCard
from contramem.server.pages import Visit

MAX_CARDS, MAX_APPS = 40, 24
LINE_HEIGHT, LEFT, RIGHT, WIDTH = 26, 420, 560, 980


class Node(NamedTuple):
    """A name in the picture."""

    card_id: str
    text: str
    y: int


class Picture(NamedTuple):
    """Skill Cards at the left, the functions that they name at the right, and the lines between them."""

    skills: tuple[Node, ...]
    functions: tuple[Node, ...]
    lines: tuple[tuple[int, int], ...]
    height: int
    hidden: int


def bank_map(visit: Visit) -> Response:
    bank, ability = visit.project.current().bank, visit.query("ability")
    abilities = Counter(card.ability for card in bank.skills)
    apps = Counter(card.app for card in bank.functions).most_common(MAX_APPS)
    crossings = Counter((card.ability, app) for card in bank.skills for app in card.apps)
    chosen = ability if ability in abilities else next(iter(abilities), "")
    return visit.page(
        "map.html", abilities=abilities.most_common(60), apps=apps, crossings=crossings, chosen=chosen,
        picture=draw(bank, list(bank.skills_of(chosen))), left=LEFT, right=RIGHT, width=WIDTH,
    )  # fmt: skip


def draw(bank: Bank, cards: list[SkillCard]) -> Picture:
    shown = cards[:MAX_CARDS]
    named = Counter(function for card in shown for function in card.functions_used).most_common(MAX_CARDS)
    skills = tuple(Node(card.card_id, _cut(card.title), 20 + row * LINE_HEIGHT) for row, card in enumerate(shown))
    functions = tuple(
        Node(f"function::{name}", _cut(name), 20 + row * LINE_HEIGHT) for row, (name, _) in enumerate(named)
    )
    heights = {node.card_id: node.y for node in functions}
    lines = tuple(
        (node.y, heights[f"function::{function}"])
        for node, card in zip(skills, shown, strict=True)
        for function in card.functions_used
        if f"function::{function}" in heights
    )
    height = 30 + LINE_HEIGHT * max(len(skills), len(functions), 1)
    return Picture(skills, functions, lines, height, len(cards) - len(shown))


def _cut(text: str) -> str:
    return text if len(text) <= 58 else f"{text[:57]}…"
