"""The bank as a map: abilities and their apps, then one ability's cards and the functions they name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from starlette.responses import Response

from contramem.bank.bank import Bank
from contramem.bank.card import SkillCard
from contramem.server.pages import Paging, Visit

MAX_ABILITIES, MAX_APPS, MAX_CARDS = 24, 24, 30
ROW, TOP = 26, 38
CHARACTER, ROOM = 7, 6
"""For a name in the picture: the width of a letter, and the letters that its count and the margin take."""
MAX_CHARACTERS = 78


class Node(NamedTuple):
    """A name in a picture, with the lines that end at it."""

    name: str
    text: str
    y: int
    cards: int
    """Number of cards that it stands for, or that name it."""
    lines: tuple[MapLine, ...]
    mark: str = ""
    """A card's grade."""


class MapLine(NamedTuple):
    """A connection, from a height on the left to a height on the right."""

    start: int
    end: int
    width: float


class Picture(NamedTuple):
    """Names on the left and on the right, and their connections. Hovering over a name shows only its own lines."""

    left: tuple[Node, ...]
    right: tuple[Node, ...]
    height: int

    @property
    def widths(self) -> tuple[int, int]:
        """The widths of the names on the left and on the right: as wide as the longest one needs."""
        longest_left, longest_right = (
            max((len(node.text[:MAX_CHARACTERS]) for node in side), default=0) for side in (self.left, self.right)
        )
        return (longest_left + ROOM) * CHARACTER, (longest_right + ROOM) * CHARACTER


def bank_map(visit: Visit) -> Response:
    bank, offset = visit.project.current().bank, visit.number("from")
    abilities = Counter(card.ability for card in bank.skills)
    chosen = visit.query("ability")
    chosen = chosen if chosen in abilities else next((name for name, _ in abilities.most_common(1)), "")
    cards = list(bank.skills_of(chosen))
    return visit.page(
        "map.html", abilities=abilities.most_common(200), chosen=chosen, overview=draw_abilities(bank, abilities),
        picture=draw_cards(bank, cards[offset : offset + MAX_CARDS]), paging=Paging(offset, MAX_CARDS, len(cards)),
    )  # fmt: skip


def draw_abilities(bank: Bank, abilities: Counter[str]) -> Picture | None:
    """Abilities and apps; None if there is only one of each."""
    crossings = Counter((card.ability, app) for card in bank.skills for app in card.apps)
    apps: Counter[str] = Counter()
    for (_, app), count in crossings.items():
        apps[app] += count
    left = [name for name, _ in abilities.most_common(MAX_ABILITIES)]
    right = _near_their_lines([name for name, _ in apps.most_common(MAX_APPS)], left, crossings)
    return draw(left, right, crossings, abilities, apps) if len(left) > 1 or len(right) > 1 else None


def draw_cards(bank: Bank, cards: Sequence[SkillCard]) -> Picture:
    """Skill Cards and the functions they name."""
    lines = Counter((card.card_id, name) for card in cards for name in card.functions_used)
    counts = Counter(name for _, name in lines)
    left = [card.card_id for card in cards]
    right = _near_their_lines(list(counts), left, lines)
    titles = {card.card_id: card.title for card in cards}
    grades = {card_id: bank.entries[card_id].support.grade or "" for card_id in left}
    return draw(left, right, lines, Counter(), counts, titles, grades)


def _near_their_lines(names: Iterable[str], left: Sequence[str], lines: Mapping[tuple[str, str], int]) -> list[str]:
    """Order the names so that each is close to what it is connected with and few lines cross."""
    places = {name: place for place, name in enumerate(left)}
    ends: dict[str, list[int]] = {}
    for start, end in lines:
        if start in places:
            ends.setdefault(end, []).append(places[start])
    return sorted(names, key=lambda name: (sum(ends.get(name, [0])) / len(ends.get(name, [0])), name))


def draw(
    left: Sequence[str],
    right: Sequence[str],
    lines: Mapping[tuple[str, str], int],
    left_counts: Mapping[str, int],
    right_counts: Mapping[str, int],
    titles: Mapping[str, str] | None = None,
    marks: Mapping[str, str] | None = None,
) -> Picture:
    rows = max(len(left), len(right), 1)
    heights = {"left": _heights(left, rows), "right": _heights(right, rows)}
    most = max(lines.values(), default=1)
    drawn = {
        (start, end): MapLine(heights["left"][start], heights["right"][end], 1 + 7 * count / most if most > 1 else 1.4)
        for (start, end), count in lines.items()
        if start in heights["left"] and end in heights["right"]
    }

    def node(name: str, side: str, count: int) -> Node:
        own = tuple(line for pair, line in drawn.items() if pair[0 if side == "left" else 1] == name)
        return Node(name, (titles or {}).get(name, name), heights[side][name], count, own, (marks or {}).get(name, ""))

    return Picture(
        tuple(node(name, "left", left_counts[name]) for name in left),
        tuple(node(name, "right", right_counts[name]) for name in right),
        TOP + ROW * rows,
    )


def _heights(names: Sequence[str], rows: int) -> dict[str, int]:
    """Spread the shorter side over the height of the longer one."""
    step = ROW * rows / max(len(names), 1)
    return {name: round(TOP + step * (number + 0.5) - ROW / 2) for number, name in enumerate(names)}
