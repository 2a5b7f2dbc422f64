"""The history of a bank: its operations, and the number of served cards over time (paper, figure A1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from contramem.bank.bank import BankEntry
from contramem.bank.card import FunctionCard
from contramem.bank.ledger import LedgerEntry
from contramem.evaluate.report.charts.bars import Bar, bar_chart
from contramem.evaluate.report.charts.steps import Steps, step_chart
from contramem.evaluate.report.page import Section

_REFUSED = "refused"
_KINDS = {"ADD": "good", "RETIRE": "bad", _REFUSED: "bad", "NOOP": "plain"}


def evolution_section(ledger: Sequence[LedgerEntry], where: str) -> Section:
    """A section with both figures of a store's ledger."""
    functions, skills = _in_service(ledger)
    counts = Counter(_operation(entry) for entry in ledger)
    lines = [Steps("Function Cards", functions), Steps("Skill Cards", skills)]
    bars = [Bar(name, count, kind=_KINDS.get(name, "memory")) for name, count in counts.most_common()]
    refused = "Refused: a check did not let it in." if counts[_REFUSED] else ""
    return Section(
        "How the bank came about",
        f"{where}: {len(ledger):,} decisions. In service now: {functions[-1][1]:,} Function Cards and "
        f"{skills[-1][1]:,} Skill Cards.",
        figures=[
            step_chart("Cards in service", lines, x_measure="decisions", y_measure="cards", name="Decision"),
            bar_chart("Decisions", bars, measure="decisions", name="Operation", caption=refused),
        ],
    )  # fmt: skip


def _operation(entry: LedgerEntry) -> str:
    return entry.decision.operation or _REFUSED if entry.decision.accepted else _REFUSED


_Points = list[tuple[float, float]]


def _in_service(ledger: Iterable[LedgerEntry]) -> tuple[_Points, _Points]:
    """The number of served Function and Skill Cards, at each decision that changed it."""
    points: tuple[_Points, _Points] = ([(0, 0)], [(0, 0)])
    last = 0
    for entry in ledger:
        last = entry.number
        for change in entry.decision.changes:
            difference = change.after.served - (change.before is not None and change.before.served)
            if difference:
                line = points[0 if _is_function(change.after) else 1]
                line.append((entry.number, line[-1][1] + difference))
    for line in points:
        line.append((last, line[-1][1]))
    return points


def _is_function(entry: BankEntry) -> bool:
    return isinstance(entry.card, FunctionCard)
