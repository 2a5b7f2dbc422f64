"""What a pull request is told: tasks gained and harmed, cards added, changed and retired."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from contramem.bank.bank import Bank, BankEntry
from contramem.bank.card import FunctionCard
from contramem.bank.frozen import write_frozen
from contramem.cli import cli

BANK = Path(__file__).parents[1] / "retrieve" / "sample_cards.json"


def write_runs(path: Path, verdicts: list[bool]) -> Path:
    lines = [
        {
            "task_id": f"t{number}",
            "model": "m",
            "passed": passed,
            "messages": [{"role": "user", "content": f"Do {number}"}],
        }
        for number, passed in enumerate(verdicts)
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_gained_and_harmed_tasks_are_named(tmp_path: Path) -> None:
    before = write_runs(tmp_path / "before.jsonl", [False, True, True])
    after = write_runs(tmp_path / "after.jsonl", [True, False, True])
    text = tmp_path / "pr.md"
    result = CliRunner().invoke(
        cli, ["evaluate", "compare", str(before), "--with", str(after), "--markdown", str(text)]
    )
    assert result.exit_code == 0, result.output
    written = text.read_text()
    assert "**Tasks gained: 1**" in written and "t0`" in written
    assert "**Tasks harmed: 1**" in written and "t1`" in written
    assert "Cards added" not in written


def test_banks_without_markdown_are_refused(tmp_path: Path) -> None:
    runs = write_runs(tmp_path / "a.jsonl", [True])
    words = ["evaluate", "compare", str(runs), "--banks", "a", "b", "--with", str(runs)]
    assert CliRunner().invoke(cli, words).exit_code == 1


def test_cards_that_differ_between_two_banks_are_named(tmp_path: Path) -> None:
    runs = write_runs(tmp_path / "a.jsonl", [True])
    cards = [card for card in json.loads(BANK.read_text()) if "tool" in card][:3]
    fields = [{name: card[name] for name in FunctionCard.model_fields if name in card} for card in cards]
    first, second, third = map(FunctionCard.model_validate, fields)
    changed = second.model_copy(update={"what_it_does": "Does something else."})
    for name, kept in (("before.jsonl", [first, second]), ("after.jsonl", [changed, third])):
        write_frozen(tmp_path / name, Bank({card.card_id: BankEntry(card=card) for card in kept}))
    text = tmp_path / "pr.md"
    banks = [str(tmp_path / "before.jsonl"), str(tmp_path / "after.jsonl")]
    words = ["evaluate", "compare", str(runs), "--with", str(runs), "--markdown", str(text), "--banks", *banks]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    added, altered, retired = (part for part in text.read_text().split("**Cards ")[1:])
    assert third.tool in added and second.tool in altered and first.tool in retired
