"""The tour that scripts/demo runs: shipped runs in, cards out, shown for a new task, two sets of runs compared."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from contramem import open_store
from contramem.bank.bank import Bank
from contramem.bank.card import SkillCard

ROOT = Path(__file__).parents[1]
CONSOLE = Console()
NEW_TASK = "Please start the car, the engine is cold and two of the doors are open."


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        os.chdir(folder)  # so that what the commands print can be read as if it were run at home
        store, frozen = "cards.db", "bank.jsonl"
        say("1. What runs are there? Those of six scripted agents ship with contramem.")
        run("traces", "examples/runs")
        say("2. Why did some of them fail? Runs are columns, passed in green, failed in red.")
        run("contrast", "examples/runs", "--task", "drive_lights_on")
        say("3. Learn from all of them: no key, no network.")
        run("build", "examples/runs", "--bank", store)
        with open_store(store) as opened:
            bank = opened.bank()
        say("4. The best-founded Skill Card, and a Function Card.")
        run("bank", "card", store, best_skill(bank))
        run("bank", "card", store, "function::VehicleControlAPI.startEngine")
        say("5. What an agent would be told at the start of a new task.")
        run("bank", "freeze", store, "--out", frozen)
        run("guide", NEW_TASK, "--bank", frozen)
        say("6. Two sets of runs at the same tasks, compared (two agents, no memory).")
        compare()
        os.chdir(ROOT)
    CONSOLE.rule("[bold]Your own runs")
    CONSOLE.print(
        "contramem traces YOUR_RUNS         [dim]which formats: docs/formats.md[/]\n"
        "contramem build YOUR_RUNS --bank cards.db\n"
        "contramem bank review cards.db     [dim]look at each card before an agent does[/]\n"
        "contramem bank freeze cards.db --out bank.jsonl",
        highlight=False,
    )


def compare() -> None:
    sides = {"without": "scripted-hasty", "with": "scripted-recoverer"}
    for side, source in sides.items():
        of_one_source(source, Path(f"{side}.jsonl"))
    run("evaluate", "compare", "without.jsonl", "--with", "with.jsonl")


def of_one_source(source: str, out: Path) -> None:
    from contramem import read_traces, write_traces

    write_traces((r for r in read_traces([ROOT / "examples/heldout"]) if r.source == source), out)


def best_skill(bank: Bank) -> str:
    """The card that the most tasks bear out."""
    skills = [held for held in bank.entries.values() if isinstance(held.card, SkillCard) and held.served]
    best = max(skills, key=lambda held: (len(held.footing.tasks), len(held.card.guards), held.card.card_id))
    return best.card.card_id


def say(text: str) -> None:
    CONSOLE.print()
    CONSOLE.print(text, style="bold")


def run(*arguments: str) -> None:
    """Run contramem as a user would, showing the command; the width of the terminal is passed on."""
    told = " ".join(argument if " " not in argument else f'"{argument}"' for argument in arguments)
    CONSOLE.print(f"[dim]$[/] [bold cyan]contramem {told}[/]", highlight=False, soft_wrap=True)
    finished = subprocess.run([sys.executable, "-m", "contramem", *arguments], check=False)
    if finished.returncode:
        sys.exit(finished.returncode)


if __name__ == "__main__":
    main()
