"""Stores with damaged bytes: every command answers with one clear line, and `bank check` names what is damaged."""

from __future__ import annotations

import argparse
import random
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from click.testing import CliRunner

from contramem.bank.check import check_store
from contramem.bank.store import open_store
from contramem.cli import cli
from contramem.errors import ContramemError
from contramem.pipeline import learn
from contramem.traces.read import read_traces

RUNS = Path(__file__).parents[2] / "examples" / "runs" / "bfcl.jsonl"
COMMANDS = (
    ("bank", "show", "bank.db"),
    ("cards", "list", "bank.db"),
    ("cards", "history", "bank.db"),
    ("cards", "freeze", "bank.db", "--out", "frozen.jsonl"),
    ("bank", "cost", "bank.db"),
    ("guide", "Start the engine", "--bank", "bank.db"),
)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stores", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)


def run(arguments: argparse.Namespace) -> list[str]:
    rng = random.Random(arguments.seed)
    outcomes: Counter[str] = Counter()
    defects: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        whole = Path(scratch) / "whole.db"
        decisions, cards = make_store(whole)
        for number in range(arguments.stores):
            folder = Path(scratch) / "damaged"
            folder.mkdir()
            shutil.copy(whole, folder / "bank.db")
            how = rng.choice(sorted(WAYS))
            WAYS[how](folder / "bank.db", rng)
            for words in COMMANDS:
                defects += [f"store {number} ({how}), {what}" for what in complaints_about(words, folder)]
            outcome = check(folder, decisions, cards)
            if outcome.startswith("DEFECT"):
                defects.append(f"store {number} ({how}): {outcome}")
            outcomes[outcome.partition(":")[0]] += 1
            shutil.rmtree(folder)
    print(f"{arguments.stores} damaged stores of {decisions} decisions and {cards} cards, seed {arguments.seed}")
    for outcome, count in sorted(outcomes.items()):
        print(f"  {outcome:<45}{count:>5}")
    return defects


def make_store(path: Path) -> tuple[int, int]:
    with open_store(path, create=True) as store:
        learn(read_traces([RUNS]), store)
        counts = len(store.ledger()), len(store.bank().entries)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    return counts


def complaints_about(words: tuple[str, ...], folder: Path) -> list[str]:
    """A traceback, or an error without words."""
    at = [str(folder / word) if word.endswith((".db", ".jsonl")) else word for word in words]
    done = CliRunner().invoke(cli, at)
    if done.exception is None or isinstance(done.exception, SystemExit):
        return []
    if isinstance(done.exception, ContramemError):
        return [] if "bank.db" in str(done.exception) else [f"{words[1]}: says not which file: {done.exception}"]
    return [f"{words[1]}: {type(done.exception).__name__}: {str(done.exception)[:200]}"]


def check(folder: Path, decisions: int, cards: int) -> str:
    """What `bank check` says of a store that had so many decisions and cards."""
    try:
        found = check_store(folder / "bank.db")
    except ContramemError:
        return "refused: nothing can be read"
    except Exception as error:
        return f"DEFECT: {type(error).__name__}: {error}"
    if not found.is_whole:
        return "damaged: named"
    if (found.decisions, found.cards) != (decisions, cards):
        return "DEFECT: called whole, and something is lost"
    return "whole: the damage hit nothing"


# Ways to damage a file


def _write(path: Path, at: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(content)


def _flip(path: Path, rng: random.Random) -> None:
    for _ in range(rng.randint(1, 200)):
        _write(path, rng.randrange(path.stat().st_size), bytes([rng.randrange(256)]))


def _page(path: Path, rng: random.Random) -> None:
    for _ in range(rng.randint(1, 4)):
        page = rng.randrange(path.stat().st_size // 4096)
        _write(path, page * 4096, rng.randbytes(4096) if rng.random() < 0.5 else bytes(4096))


def _cut(path: Path, rng: random.Random) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(size - 1 if rng.random() < 0.3 else rng.randrange(100, size))


def _header(path: Path, rng: random.Random) -> None:
    for _ in range(rng.randint(1, 10)):
        _write(path, rng.randrange(16, 100), bytes([rng.randrange(256)]))


def _row(path: Path, rng: random.Random) -> None:
    table, column = rng.choice(
        (("decisions", "decision"), ("cards", "holding"), ("changes", "change"), ("decisions", "chain"))
    )
    odd = rng.choice(("NULL", "'{}'", "x'ff00'", "7", "'not json'"))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(
            f"UPDATE OR IGNORE contramem_{table} SET {column} = CASE WHEN {odd} IS NULL THEN '' ELSE {odd} END"
            f" WHERE rowid IN (SELECT rowid FROM contramem_{table} ORDER BY random() LIMIT {rng.randint(1, 5)})"
        )


def _missing(path: Path, rng: random.Random) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        table = rng.choice(("decisions", "cards", "changes", "mentions", "progress", "calls"))
        if rng.random() < 0.5:
            connection.execute(f"DROP TABLE contramem_{table}")
        else:
            connection.execute(f"DELETE FROM contramem_{table} WHERE rowid % {rng.randint(2, 9)} = 0")


def _log(path: Path, rng: random.Random) -> None:
    path.with_name("bank.db-wal").write_bytes(rng.randbytes(rng.randrange(1, 40_000)))


WAYS: dict[str, Callable[[Path, random.Random], None]] = {
    "flip": _flip,
    "page": _page,
    "cut": _cut,
    "header": _header,
    "row": _row,
    "missing": _missing,
    "log": _log,
}
