"""The tour that scripts/demo runs: shipped runs in, cards out, guidance for a new task, and what memory changed."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from rich.console import Console

ROOT = Path(__file__).parents[1]
FOLDER = "demo"
STORE, FROZEN = f"{FOLDER}/cards.db", f"{FOLDER}/bank.jsonl"
NORTHLINE = "examples/northline"
CONSOLE = Console()
NEW_TASK = "Please start the car, the engine is cold and two of the doors are open."


def main() -> None:
    shutil.rmtree(ROOT / FOLDER, ignore_errors=True)
    (ROOT / FOLDER).mkdir()
    say("1. Where do runs of the same task diverge? Six agents were asked to release an order; runs are columns.")
    run("contrast", f"{NORTHLINE}/runs.jsonl.xz", "--task", "t000")
    say("2. Learn from the runs of six scripted agents: no key, no network.")
    run("build", "examples/runs", "--bank", STORE, "--out", FROZEN)
    say("3. One of the cards. The store knows which runs taught it and every decision about it.")
    run("cards", "show", STORE, "function::VehicleControlAPI.startEngine")
    say("4. What an agent is told at the start of a new task.")
    run("guide", NEW_TASK, "--bank", FROZEN)
    say("5. Does memory help? A strong model at 36 new tasks, without memory and with a bank that a model wrote.")
    run("evaluate", "compare", f"{NORTHLINE}/heldout-none.jsonl.xz", "--with", f"{NORTHLINE}/heldout-model.jsonl.xz")
    CONSOLE.rule("[bold]Next")
    CONSOLE.print(
        f"The demo's files are in [bold]{FOLDER}/[/]. "
        f"With `. {Path(sys.prefix).name}/bin/activate`, these commands work from here:\n"
        f"contramem cards list {STORE}\n"
        f"contramem cards review {STORE}      [dim]look at each card before an agent does[/]\n"
        "contramem doctor YOUR_RUNS            [dim]what your files hold; formats: docs/formats.md[/]\n"
        "contramem build YOUR_RUNS             [dim]writes bank.jsonl, which agents load[/]",
        highlight=False,
    )


def say(text: str) -> None:
    CONSOLE.print()
    CONSOLE.print(text, style="bold")


def run(*arguments: str) -> None:
    """Run contramem as a user would, and show the command."""
    CONSOLE.print(f"[dim]$[/] [bold cyan]contramem {shlex.join(arguments)}[/]", highlight=False, soft_wrap=True)
    finished = subprocess.run([sys.executable, "-m", "contramem", *arguments], cwd=ROOT, check=False)
    if finished.returncode:
        sys.exit(finished.returncode)


if __name__ == "__main__":
    main()
