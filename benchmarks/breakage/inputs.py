"""Mutated files of every format: nothing but problems may come of them, and runs beside them stay as they are."""

from __future__ import annotations

import argparse
import random
import tempfile
import time
import traceback
from collections import Counter
from contextlib import suppress
from functools import cache
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple

from tests.traces.readers.test_fuzz import damaged, seeds, written

from contramem.bank.frozen import freeze
from contramem.bank.store import open_store
from contramem.collection.runs import Collection
from contramem.contrast.packet import contrast
from contramem.errors import ContramemError
from contramem.pipeline import learn
from contramem.traces.files import TraceFile
from contramem.traces.read import read_traces
from contramem.traces.reader import ReadOptions
from contramem.traces.trajectory import Trajectory
from contramem.traces.unknown import describe_unknown

WHOLE = Path(__file__).parents[2] / "examples" / "runs" / "bfcl.jsonl"
WHOLE_RUNS = 4
IN_A_FOLDER = 25
MAX_CPU_S = 20.0
"""For a folder of small files: more is a way to stop a build."""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build-every", type=int, default=25, help="build a bank from every Nth folder (25)")


class Mutation(NamedTuple):
    """One mutated file."""

    number: int
    name: str
    how: str
    content: bytes


def run(arguments: argparse.Namespace) -> list[str]:
    rng = random.Random(arguments.seed)
    outcomes: Counter[str] = Counter()
    defects: dict[str, str] = {}
    slowest = 0.0
    numbers = iter(range(arguments.inputs))
    for folder_number in count():
        batch = [Mutation(number, *mutate(rng)) for number in islice(numbers, IN_A_FOLDER)]
        if not batch:
            break
        builds = folder_number % arguments.build_every == 0
        began = time.process_time()
        outcome = try_batch(batch, builds)
        spent = time.process_time() - began
        slowest = max(slowest, spent)
        if isinstance(outcome, Counter) and spent < MAX_CPU_S:
            outcomes.update(outcome)
        else:
            for mutation in batch:
                defects |= find_defect(mutation, builds)
    print(f"{arguments.inputs:,} mutated files of {len(seeds())} documents, seed {arguments.seed}")
    for outcome, number in sorted(outcomes.items()):
        print(f"  {outcome:<30}{number:>9,}")
    print(f"slowest folder of {IN_A_FOLDER}: {slowest:.2f} s CPU")
    return list(defects.values())


def find_defect(mutation: Mutation, builds: bool) -> dict[str, str]:
    """What goes wrong with this file alone."""
    began = time.process_time()
    error = try_batch([mutation], builds)
    spent = time.process_time() - began
    where = f"(input {mutation.number}, {mutation.how} of {mutation.name})"
    if spent > MAX_CPU_S:
        return {f"slow {mutation.name}": f"{spent:.0f} s {where}"}
    if isinstance(error, Counter):
        return {}
    last = traceback.extract_tb(error.__traceback__)[-1]
    key = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
    return {key: f"{key}: {str(error)[:200]!r} {where}"}


def try_batch(batch: list[Mutation], builds: bool) -> Counter[str] | Exception:
    """Read a folder of mutated files and one that is whole; what became of them, or what was raised."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "runs"
        for mutation in batch:
            place = folder / str(mutation.number) / mutation.name
            place.parent.mkdir(parents=True)
            place.write_bytes(mutation.content)
        (folder / "whole.jsonl").write_bytes(whole_runs())
        try:
            return read_and_learn(folder, Path(scratch) / "bank.db" if builds else None)
        except Exception as error:
            return error


@cache
def whole_runs() -> bytes:
    return b"".join(WHOLE.read_bytes().splitlines(keepends=True)[: 1 + WHOLE_RUNS])


def read_and_learn(folder: Path, store: Path | None) -> Counter[str]:
    """All the way to packets, and with a store to a frozen bank."""
    reading = read_traces([folder])
    runs = list(reading)
    whole = [run for run in runs if run.environment.startswith("bfcl/")]
    assert len(whole) == WHOLE_RUNS, f"{len(whole)} of {WHOLE_RUNS} runs beside it were read"
    forced = 0
    for file in reading.ignored_files:
        describe_unknown(TraceFile(Path(file)))
        with suppress(ContramemError):  # event logs are read only if their format is named
            forced += len(list(read_traces([Path(file)], ReadOptions(format="steps"))))
    with Collection(runs) as pool:
        for packet in contrast(pool):
            assert packet.runs
    if store is not None:
        build(runs, store)
    return Counter(
        {
            "files read by a reader": sum(reading.formats.values()) - 1,
            "files named as problems": len({problem.where.partition(":")[0] for problem in reading.problems}),
            "files ignored as no traces": reading.ignored,
            "runs": len(runs) - len(whole),
            "runs with --format steps": forced,
            "problems": reading.problem_count,
        }
    )


def build(runs: list[Trajectory], path: Path) -> None:
    try:
        with open_store(path, create=True) as store:
            learn(runs, store)
            freeze(store.bank())
    except ContramemError as error:
        raise AssertionError(f"a file ended the build: {error}") from error


def mutate(rng: random.Random) -> tuple[str, str, bytes]:
    """(file name, how, content) of the next mutated file."""
    name = rng.choice(sorted(seeds()))
    document = seeds()[name]
    how = rng.choice(("values", "bytes", "cut", "spliced", "encoded", "wrapped"))
    if how == "values":
        return name, how, written(name, damaged(document, rng))
    content = written(name, document)
    if how == "bytes":
        changed = bytearray(content)
        for _ in range(rng.randint(1, 8)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        return name, how, bytes(changed)
    if how == "cut":
        return name, how, content[: rng.randrange(len(content))]
    if how == "spliced":
        start, end = sorted(rng.randrange(len(content)) for _ in range(2))
        other = written(name, seeds()[rng.choice(sorted(seeds()))])
        at = rng.randrange(len(other))
        return name, how, content[:start] + other[at : at + rng.randint(1, 400)] + content[end:]
    if how == "encoded":
        text = content.decode()
        encoding = rng.choice(
            ("utf-16", "utf-32", "utf-16-le", "latin-1", "utf-8-sig", "cp1252", "carriage return", "nul")
        )
        if encoding == "carriage return":
            return name, how, content.replace(b"\n", b"\r")
        if encoding == "nul":
            at = rng.randrange(len(content))
            return name, how, content[:at] + b"\0" + content[at:]
        return name, how, text.encode(encoding, "replace")
    return (
        name,
        how,
        rng.choice((b"[%b]", b'{"data": %b}', b"%b\n%b", b"%b,", b'"%b"', b"{}\n%b")).replace(b"%b", content),
    )
