"""A bank for people at a terminal: its cards, the story of each, the differences between two, and what it holds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, NamedTuple

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from contramem.bank.bank import COUNTED, Bank, BankEntry, Change
from contramem.bank.card import SKILL_FIELDS, Argument, Card, FunctionCard, SkillCard, SkillDelta, SkillField, same_text
from contramem.bank.frozen import FrozenCard, freeze, parse_frozen
from contramem.bank.ledger import Decision, LedgerEntry, RunRef

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
    yield from (_skill_part(field, texts) for field, texts in shown_fields(card))


def shown_fields(card: SkillCard) -> Iterator[tuple[SkillField, tuple[str, ...]]]:
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
    return f"{argument.name} {contract(argument)}"


def contract(argument: Argument) -> str:
    need = {True: ", required", False: ", optional", None: ""}[argument.required]
    contract = f"({argument.form}{need})"
    return contract if argument.says_only_its_name else f"{contract}: {argument.meaning}"


LEAST_TEXT = 48
"""Columns that what a card says needs beside its name; with fewer it stands below the name."""


class CardListing:
    """What `print` shows of these cards. A name is never cut: `contramem cards show NAME` takes it."""

    def __init__(self, entries: Iterable[BankEntry]) -> None:
        self._entries = sorted(entries, key=lambda entry: (*_group(entry.card), entry.card.card_id))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        longest = max((len(_name(entry.card)) for entry in self._entries), default=0)
        is_wide = options.max_width >= longest + LEAST_TEXT + len("  ") + len("  99 tasks")
        for (_, group), entries in groupby(self._entries, key=lambda entry: _group(entry.card)):
            listed = list(entries)
            kind = "Function Card" if isinstance(listed[0].card, FunctionCard) else "Skill Card"
            count = f"{len(listed)} {kind}{'' if len(listed) == 1 else 's'}"
            yield Text.assemble((visible(group), "bold"), (f"  {count}", "dim"))
            yield _beside(listed, longest) if is_wide else _below(listed)

    def as_json(self) -> list[dict[str, Any]]:
        """The cards and how many tasks and sources support each. A list is passed on to others, so it does not name
        them; `contramem cards show` does."""
        return [
            {
                "card": entry.card.model_dump(mode="json"),
                "status": entry.status,
                "reviewed": entry.reviewed,
                "grade": entry.support.grade,
                "tasks": len(entry.support.tasks),
                "sources": len(entry.support.sources),
                "contradicted_by": len(entry.support.contradicted_by),
            }
            for entry in self._entries
        ]


def _beside(entries: Sequence[BankEntry], name_width: int) -> RenderableType:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0), expand=True)
    table.add_column(no_wrap=True, min_width=name_width)
    table.add_column(ratio=1)
    table.add_column(justify="right", no_wrap=True, style="dim")
    for entry in entries:
        table.add_row(_style_name(entry), Text(visible(saying(entry.card))), _standing(entry))
    return Padding(table, (0, 0, 0, 2))


def _below(entries: Sequence[BankEntry]) -> RenderableType:
    table = Table.grid(expand=True)
    for entry in entries:
        table.add_row(Padding(Text.assemble(_style_name(entry), (f"  {_standing(entry)}", "dim")), (0, 0, 0, 2)))
        table.add_row(Padding(Text(visible(saying(entry.card))), (0, 0, 0, 4)))
    return table


def _group(card: Card) -> tuple[bool, str]:
    return (False, card.app) if isinstance(card, FunctionCard) else (True, card.ability)


def _name(card: Card) -> str:
    return visible(card.function if isinstance(card, FunctionCard) else card.card_id.removeprefix("skill::"))


def _style_name(entry: BankEntry) -> Text:
    return Text(_name(entry.card), style="blue" if isinstance(entry.card, FunctionCard) else "green")


def _standing(entry: BankEntry) -> str:
    """Its grade, the tasks behind it, and its status where that is no matter of course."""
    tasks = len(entry.support.tasks)
    parts = [
        entry.support.grade or "",
        f"{tasks} task{'' if tasks == 1 else 's'}" if tasks else "",
        "" if entry.status == "active" else entry.status,
    ]
    return ", ".join(filter(None, parts))


def saying(card: Card) -> str:
    """What a card is about, in a line."""
    return card.what_it_does if isinstance(card, FunctionCard) else card.title


class SentenceSource(NamedTuple):
    """Where a sentence of a card comes from."""

    field: str
    text: str
    decision: int
    """The number of the decision that added it; 0 if the ledger does not show it."""
    by: str
    tasks: tuple[str, ...]
    """The tasks of that decision's runs, and of later decisions that kept the sentence."""
    sources: tuple[str, ...]


def trace_sentences(entry: BankEntry, ledger: Sequence[LedgerEntry]) -> list[SentenceSource]:
    """Every sentence of a card with its provenance, in the order of the fields. `ledger` are the decisions about the
    card, oldest first."""
    changes = [
        (decided, change)
        for decided in ledger
        for change in decided.decision.changes
        if change.card_id == entry.card.card_id
    ]
    return [_trace(field, text, changes) for field, text in sentences_of(entry.card)]


def sentences_of(card: Card) -> Iterator[tuple[str, str]]:
    """(field, text) of every text of a card."""
    if isinstance(card, SkillDelta):
        for field in SKILL_FIELDS:
            yield from ((field.name, text) for text in field.texts(card))
        return
    yield "what_it_does", card.what_it_does
    for argument in card.arguments:
        yield "arguments", f"{argument.name}: {argument.meaning}, {argument.form}"
    yield "returns", card.returns
    yield from (("usage_rules", text) for text in card.usage_rules)
    yield from (("common_mistakes", text) for text in card.common_mistakes)
    if card.side_effects:
        yield "side_effects", card.side_effects


def _trace(field: str, text: str, changes: Sequence[tuple[LedgerEntry, Change]]) -> SentenceSource:
    relevant = changes[_find_first(field, text, changes) :]
    tasks, sources = set[str](), set[str]()
    for decided, change in relevant:
        runs = decided.decision.runs
        # Function Cards are built from all calls, so their decisions name no runs of their own.
        tasks.update({run.task for run in runs} or change.after.support.tasks)
        sources.update({run.source for run in runs} or change.after.support.sources)
    number, by = (relevant[0][0].number, str(relevant[0][0].decision.by)) if relevant else (0, "")
    return SentenceSource(field, text, number, by, tuple(sorted(tasks)), tuple(sorted(sources)))


def _find_first(field: str, text: str, changes: Sequence[tuple[LedgerEntry, Change]]) -> int:
    """The index of the change that added the sentence; the last one, if it was removed and added again."""
    first = 0
    for place, (_, change) in enumerate(changes):
        had = change.before is not None and (field, text) in sentences_of(change.before.card)
        if not had and (field, text) in sentences_of(change.after.card):
            first = place
    return first


class FieldDifference(NamedTuple):
    """A field whose text differs. Nested fields are written `skill.core_rule`."""

    field: str
    left: str
    right: str


@dataclass(frozen=True)
class CardDifference:
    """A card that both banks serve, with different texts."""

    left: Card
    right: Card

    @property
    def fields(self) -> tuple[FieldDifference, ...]:
        return field_differences(self.left, self.right)


@dataclass(frozen=True)
class BankDifference:
    """How the served cards differ. A card that only one side serves is added or removed."""

    added: tuple[Card, ...]
    removed: tuple[Card, ...]
    changed: tuple[CardDifference, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def as_json(self) -> dict[str, Any]:
        return {
            "added": [card.card_id for card in self.added],
            "removed": [card.card_id for card in self.removed],
            "changed": [
                {"card_id": pair.left.card_id, "fields": {name: [left, right] for name, left, right in pair.fields}}
                for pair in self.changed
            ],
        }


def bank_difference(left: Bank, right: Bank) -> BankDifference:
    """The changes that turn the cards of `left` into those of `right`."""
    before = {card.card_id: card for card in left.cards}
    after = {card.card_id: card for card in right.cards}
    return BankDifference(
        added=tuple(card for card in right.cards if card.card_id not in before),
        removed=tuple(card for card in left.cards if card.card_id not in after),
        changed=tuple(
            CardDifference(card, after[card.card_id])
            for card in left.cards
            if card.card_id in after and not same_text(card, after[card.card_id])
        ),
    )


def field_differences(left: Card | FrozenCard, right: Card | FrozenCard) -> tuple[FieldDifference, ...]:
    """The fields in which two cards differ, ignoring their versions."""
    before, after = dict(_flat(left.model_dump())), dict(_flat(right.model_dump()))
    names = [name for name in before | after if name != "version"]
    pairs = (FieldDifference(name, before.get(name, ""), after.get(name, "")) for name in names)
    return tuple(pair for pair in pairs if pair.left != pair.right)


def _flat(fields: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        elif isinstance(value, tuple):
            yield f"{prefix}{name}", "\n".join(_item(item) for item in value)
        else:
            yield f"{prefix}{name}", "" if value is None else str(value)


def _item(value: Any) -> str:
    return " | ".join(str(part) for part in value.values()) if isinstance(value, dict) else str(value)


RUNS_SHOWN = 12
SENTENCE_SHOWN = 60
SOURCES_SHOWN = 3


def card_story(entry: BankEntry, entries: Sequence[LedgerEntry]) -> RenderableType:
    """The card, its status, its runs and its decisions, from top to bottom."""
    parts: list[RenderableType] = [card_panel(entry.card), _describe_support(entry)]
    runs = list(dict.fromkeys(run for entry in entries for run in entry.decision.runs))
    if runs:
        parts += ["", _runs_table(runs)]
    if entries:
        parts += ["", Text("Where each sentence comes from", style="bold"), _sentences_table(entry, entries)]
        parts += ["", Text("Decisions that shaped it", style="bold"), decisions_table(entries, entry.card.card_id)]
    return Group(*parts)


def _describe_support(entry: BankEntry) -> Text:
    card = entry.card
    where = f" · {card.ability}" if isinstance(card, SkillCard) else ""
    lines = [f"{card.card_id}{where} · {entry.status} · version {card.version}"]
    if entry.support.tasks or entry.support.sources:
        lines.append(f"Rests on {entry.support}.")
    for guard in card.guards if isinstance(card, SkillCard) else ():
        counts = entry.support.guard_counts.get(guard)
        said = counts.by_name() if counts else {}
        counted = "".join(f"\n  {name} {number}: {COUNTED[name]}" for name, number in said.items())
        lines.append(f"Guard {guard}{counted}")
    return Text(visible("\n".join(lines)))


def _runs_table(runs: Sequence[RunRef]) -> Group:
    table = Table("task", "source", "outcome", "events", "file", box=None, pad_edge=False, header_style="dim")
    for run in runs[:RUNS_SHOWN]:
        outcome = {True: Text("passed", "green"), False: Text("failed", "red"), None: Text("unknown")}[run.passed]
        events = ", ".join(map(str, run.events))
        table.add_row(Text(visible(run.task)), Text(visible(run.source)), outcome, events, Text(visible(run.origin)))
    more = [Text(f"and {len(runs) - RUNS_SHOWN} more (--json lists all)")] if len(runs) > RUNS_SHOWN else []
    return Group(Text("Runs that taught it", style="bold"), table, *more)


def _sentences_table(entry: BankEntry, entries: Sequence[LedgerEntry]) -> Table:
    table = Table("sentence", "decision", "tasks", "sources", box=None, pad_edge=False, header_style="dim")
    for sentence in trace_sentences(entry, entries):
        text = sentence.text if len(sentence.text) <= SENTENCE_SHOWN else f"{sentence.text[:SENTENCE_SHOWN]}…"
        sources = ", ".join(sentence.sources) if len(sentence.sources) <= SOURCES_SHOWN else str(len(sentence.sources))
        table.add_row(
            Text(visible(text)), str(sentence.decision or ""), str(len(sentence.tasks)), Text(visible(sources))
        )
    return table


def decisions_table(entries: Iterable[LedgerEntry], card_id: str | None = None) -> Table:
    """Decisions with their reasons. For one card, with the fields each changed; otherwise with the cards concerned."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("#", "when", "operation", "by", *(() if card_id else ("card",)), "reason"):
        table.add_column(column, no_wrap=column not in ("by", "card", "reason"), overflow="fold")
    for entry in entries:
        decision = entry.decision
        operation = decision.operation or ""
        label = Text(operation) if decision.accepted else Text(f"{operation} refused".strip(), style="red")
        reason = Text(visible(decision.reason))
        if card_id and (fields := _list_changed_fields(entry, card_id)):
            reason.append(f" [{', '.join(fields)}]", style="dim")
        about = [] if card_id else [_about(decision)]
        table.add_row(str(entry.number), entry.at[:19], label, Text(visible(str(decision.by))), *about, reason)
    return table


def _about(decision: Decision) -> Text:
    """The cards that a decision changed or, if it changed none, the candidate."""
    names: tuple[str, ...] = decision.card_ids
    if not names and decision.candidate:
        names = (decision.candidate.tool if isinstance(decision.candidate, FunctionCard) else decision.candidate.title,)
    return Text(visible("\n".join(name.removeprefix("function::") for name in names)))


def _list_changed_fields(entry: LedgerEntry, card_id: str) -> list[str]:
    change = next((change for change in entry.decision.changes if change.card_id == card_id), None)
    if change is None or change.before is None:
        return []
    status = [f"status: {change.after.status}"] if change.before.status != change.after.status else []
    return status + [pair.field for pair in field_differences(change.before.card, change.after.card)]


def difference_text(difference: BankDifference) -> Text:
    """Added, removed and changed cards, with the old text in red above the new text in green."""
    text = Text()
    for sign, style, cards in (("-", "red", difference.removed), ("+", "green", difference.added)):
        for card in cards:
            text.append(f"{sign} {visible(card.card_id)}  {visible(saying(card))}\n", style=style)
    for changed in difference.changed:
        text.append(f"~ {visible(changed.left.card_id)}  {visible(saying(changed.right))}\n", style="bold")
        for pair in changed.fields:
            text.append_text(_field_difference(pair))
    text.rstrip()
    return text


def _field_difference(pair: FieldDifference) -> Text:
    text = Text(f"    {pair.field}\n", style="dim")
    for sign, style, words in (("-", "red", pair.left), ("+", "green", pair.right)):
        for line in words.splitlines():
            text.append(f"      {sign} {visible(line)}\n", style=style)
    return text


def entry_json(entry: LedgerEntry) -> dict[str, Any]:
    return {"number": entry.number, "at": entry.at, **entry.decision.model_dump(mode="json")}


@dataclass(frozen=True)
class BankSummary:
    """Counts of cards and decisions. A frozen file has no decisions."""

    functions: int
    skills: dict[str, int]
    """Number of served cards by ability."""
    statuses: dict[str, int]
    unreviewed: int
    """Number of served cards that no person has reviewed."""
    content_sha256: str
    """The hash of the bank if it were frozen now."""
    operations: dict[str, int]
    refused: dict[str, int]
    """By reason."""
    cost_usd: float

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def summarize(bank: Bank, ledger: Iterable[LedgerEntry] = ()) -> BankSummary:
    """Count `bank`, and the decisions of its `ledger` if it has one."""
    decisions = [entry.decision for entry in ledger]
    header = parse_frozen(freeze(bank), "the bank").header
    return BankSummary(
        functions=header.functions,
        skills=header.skills,
        statuses=_counts(entry.status for entry in bank.entries.values()),
        unreviewed=sum(not bank.entries[card.card_id].reviewed for card in bank.cards),
        content_sha256=header.content_sha256,
        operations=_counts(decision.operation or "" for decision in decisions if decision.accepted),
        refused=_counts(decision.reason for decision in decisions if not decision.accepted),
        cost_usd=sum(decision.usage.cost_usd or 0.0 for decision in decisions),
    )


def _counts(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0])))
