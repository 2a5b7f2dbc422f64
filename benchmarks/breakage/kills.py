"""Commands ended by SIGKILL at random moments: what they left is whole, and run again they end as if undisturbed."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from contramem.bank.check import check_store
from contramem.bank.frozen import freeze, load_frozen
from contramem.bank.ledger import fold
from contramem.bank.store import open_store

RUNS = Path(__file__).parents[2] / "examples" / "runs" / "bfcl.jsonl"
RUNS_USED = 60
FORGOTTEN = "scripted-recoverer"


class Kind(NamedTuple):
    """A command, and how the folder that it works in is made."""

    name: str
    words: tuple[str, ...]
    prepare: Callable[[Path], None]
    may_refuse_again: bool = False
    """Once it was done there is nothing left to do: running it again ends with exit code 1 and says so."""
    is_recorded_again: bool = False
    """Running it again puts what was decided into the ledger once more, as known; only the bank must be the same."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=[kind.name for kind in KINDS], help="only these commands")


def run(arguments: argparse.Namespace) -> list[str]:
    rng = random.Random(arguments.seed)
    defects: list[str] = []
    reached: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        kinds = [kind for kind in KINDS if not arguments.only or kind.name in arguments.only]
        for number, kind in enumerate(kinds):
            prepared = Path(scratch) / f"{kind.name}-prepared"
            prepared.mkdir()
            write_runs(prepared)
            kind.prepare(prepared)
            calm = Path(scratch) / f"{kind.name}-calm"
            shutil.copytree(prepared, calm)
            cpu_s, wall_s = call(kind.words, calm)
            expected = state_of(calm, kind)
            kills = arguments.kills // len(kinds) + (number < arguments.kills % len(kinds))
            for kill in range(kills):
                shaken = Path(scratch) / "shaken"
                shutil.copytree(prepared, shaken)
                # Half by the processor time it had, in the midst of whatever; half by the clock, with a real SIGKILL.
                if kill % 2:
                    call(kind.words, shaken, cpu_s=rng.uniform(0, cpu_s))
                else:
                    call(kind.words, shaken, wall_s=rng.uniform(0, wall_s))
                problem = look_at(shaken, reached, kind)
                call(kind.words, shaken, may_fail=kind.may_refuse_again)
                if not problem and state_of(shaken, kind) != expected:
                    problem = "running it again did not end as an undisturbed one"
                if problem:
                    defects.append(f"{kind.name}, kill {kill}: {problem}")
                shutil.rmtree(shaken)
            print(f"{kind.name:<10}{kills:>5} kills, {cpu_s:.2f} s CPU each when left alone", flush=True)
    print("after the kill: " + ", ".join(f"{count} {what}" for what, count in sorted(reached.items())))
    return defects


def call(
    words: tuple[str, ...], folder: Path, *, cpu_s: float = 0, wall_s: float = 0, may_fail: bool = False
) -> tuple[float, float]:
    """Run a command in a child that has everything imported; kill it after so much time. (CPU, wall) seconds used."""
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        run_in_child(words, folder, cpu_s)
    if wall_s:
        time.sleep(wall_s)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    _, status, used = os.wait4(child, 0)
    killed = os.WIFSIGNALED(status)
    if not killed and os.WEXITSTATUS(status) and not may_fail:
        said = (folder / "output").read_text(errors="replace").strip()[-500:]
        raise RuntimeError(f"contramem {' '.join(words)}: exit {os.WEXITSTATUS(status)}: {said}")
    return used.ru_utime + used.ru_stime, time.monotonic() - began


def run_in_child(words: tuple[str, ...], folder: Path, cpu_s: float) -> None:
    from contramem.cli import main

    os.chdir(folder)
    output = os.open("output", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    if cpu_s:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process at once, wherever it is
        signal.setitimer(signal.ITIMER_PROF, max(cpu_s, 0.001))
    sys.argv = ["contramem", *words]
    code = 0
    try:
        main()
    except SystemExit as ended:
        code = int(ended.code or 0)
    os._exit(code)


def look_at(folder: Path, reached: Counter[str], kind: Kind) -> str:
    """What is wrong with what a killed command left behind; empty when nothing is."""
    output = (folder / "output").read_text(encoding="utf-8") if (folder / "output").exists() else ""
    if "Traceback" in output:
        return f"traceback: {output[-300:]}"
    store = folder / "bank.db"
    if store.exists() and store.stat().st_size:
        if not (found := check_store(store)).is_whole and found.decisions:
            return f"the store is not whole: {found}"
        try:
            with open_store(store) as opened:
                if fold(opened.ledger()) != opened.bank() and kind.name != "forget":
                    return "the bank is not what its ledger makes"
                reached[f"{kind.name} at {'a' if opened.ledger() else 'no'} decision"] += 1
        except Exception as error:
            if "no contramem store" not in str(error):
                return f"the store does not open: {error}"
            reached[f"{kind.name} before its tables"] += 1
    served = folder / "bank.jsonl"
    if served.exists():
        load_frozen(served)  # raises for half a file
    return ""


def state_of(folder: Path, kind: Kind) -> tuple[object, ...]:
    """What must be the same, killed or not: the frozen bank, every decision, the progress, the file that is served."""
    with open_store(folder / "bank.db") as store:
        bank = freeze(store.bank())
        decisions = tuple(entry.decision.model_dump_json() for entry in store.ledger())
        progress = tuple(sorted(store.progress().items()))
    served = folder / "bank.jsonl"
    content = served.read_bytes() if served.exists() else None
    return (bank, content) if kind.is_recorded_again else (bank, content, decisions, progress)


def write_runs(folder: Path) -> None:
    lines = RUNS.read_bytes().splitlines(keepends=True)
    (folder / "runs.jsonl").write_bytes(b"".join(lines[: 1 + RUNS_USED]))


def with_bank(folder: Path) -> None:
    call(("build", "runs.jsonl", "--bank", "bank.db", "--workers", "1"), folder)


def with_frozen(folder: Path) -> None:
    with_bank(folder)
    call(("cards", "freeze", "bank.db", "--out", "bank.jsonl"), folder)


def with_edit(folder: Path) -> None:
    """A frozen file in which somebody changed the title of every Skill Card."""
    with_frozen(folder)
    header, *lines = (folder / "bank.jsonl").read_text(encoding="utf-8").splitlines()
    cards = [json.loads(line) for line in lines]
    for card in cards:
        if card["kind"] == "skill":
            card["title"] = f"{card['title']} first"
    text = "".join(f"{line}\n" for line in (header, *(json.dumps(card) for card in cards)))
    (folder / "edited.jsonl").write_text(text, encoding="utf-8")
    (folder / "bank.jsonl").unlink()


def with_proposals(folder: Path) -> None:
    """The Skill Cards of a bank of these runs, as somebody would write them down for an empty store."""
    with_frozen(folder)
    lines = (folder / "bank.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    cards = [card for line in lines if (card := json.loads(line))["kind"] == "skill"]
    proposals = [
        {
            "title": card["title"],
            "when": card["applies_when"],
            "rule": card["skill"]["core_rule"],
            "guards": card["guards"],
            "ability": card["ability"],
        }
        for card in cards
    ]
    (folder / "cards.json").write_text(json.dumps(proposals), encoding="utf-8")
    for path in folder.glob("bank.*"):
        path.unlink()


KINDS = (
    Kind("build", ("build", "runs.jsonl", "--bank", "bank.db", "--workers", "1"), lambda folder: None),
    Kind(
        "propose",
        ("author", "propose", "bank.db", "cards.json", "--by", "ann", "--runs", "runs.jsonl", "--yes"),
        with_proposals,
        may_refuse_again=True,
        is_recorded_again=True,
    ),
    Kind("import", ("bank", "import", "bank.db", "edited.jsonl", "--by", "ann", "--yes"), with_edit),
    Kind(
        "forget",
        ("bank", "forget", "bank.db", "--source", FORGOTTEN, "--runs", "runs.jsonl", "--by", "ann", "--yes"),
        with_bank,
        may_refuse_again=True,
    ),
    Kind(
        "watch",
        ("watch", "runs.jsonl", "--bank", "bank.db", "--serve", "bank.jsonl", "--once"),
        lambda folder: None,
    ),
    Kind("freeze", ("cards", "freeze", "bank.db", "--out", "bank.jsonl"), with_bank),
)
