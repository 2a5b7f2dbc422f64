"""Continuous learning: new runs are merged into a store, and a bank that passes the gate is served.

The stages are those of pipeline.py. This module decides when they run, and which checks a new bank must pass before
agents get it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from contramem.bank.acts import hold_to_quorum, read_taken_back, serve_bank
from contramem.bank.bank import Bank
from contramem.bank.frozen import freeze, load_frozen, parse_frozen
from contramem.bank.show import bank_difference
from contramem.bank.store import open_store
from contramem.build.recheck import recheck
from contramem.build.rules.author import RuleAuthor
from contramem.collection.collect import collect
from contramem.collection.runs import open_collection
from contramem.contrast.packets import contrast_selected, learn_vocabulary
from contramem.contrast.selection import Selection
from contramem.evaluate.gate import mute_harmful, weigh_cards
from contramem.pipeline import build_bank
from contramem.traces.read import read_traces
from contramem.traces.reader import ReadOptions
from contramem.traces.trajectory import Trajectory
from contramem.validate.validator import Validator

Fingerprint = frozenset[tuple[str, int, int]]


@dataclass(frozen=True)
class WatchOptions:
    runs: tuple[Path, ...]
    store: str
    serve: Path
    """The frozen bank that agents load with `reload=True`."""
    max_changes: int = 20
    """The most cards that one round may add, change or remove."""
    keep: int = 10
    """How many earlier banks are kept for rollback."""
    profile: str = "default"
    min_sources: int = 1
    """Cards with fewer sources are not served."""
    reading: ReadOptions = field(default_factory=ReadOptions)
    kept: Path | None = None
    """The file in which a round keeps what it read and found out, so that the next one does only what is new."""


@dataclass(frozen=True)
class WatchRound:
    """The result of one round of learning."""

    runs: int
    served: bool
    added: int = 0
    changed: int = 0
    removed: int = 0
    refusals: tuple[str, ...] = ()
    """Why the new bank is not served; empty if it is, or if it equals the served bank."""
    muted: tuple[str, ...] = ()
    """Cards that lost more tasks than they gained in runs that followed them, with the counts."""


def fingerprint(paths: Iterable[Path]) -> Fingerprint:
    """The name, size and modification time of every file under `paths`."""
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file()]
    entries = []
    for file in files:
        try:
            status = file.stat()
        except OSError:  # deleted since it was listed
            continue
        entries.append((str(file), status.st_size, status.st_mtime_ns))
    return frozenset(entries)


def watch(
    options: WatchOptions,
    wait: Callable[[], bool],
    on_round: Callable[[WatchRound], None],
    settled: Callable[[], None] = lambda: None,
) -> None:
    """Learn whenever the runs have changed and have then been stable for a while.

    `wait` sleeps and returns whether to continue. To avoid reading a run that is still being written, the files must be
    the same before and after `settled`, which gives writers time to finish.
    """
    learned: Fingerprint | None = None
    while True:
        now = fingerprint(options.runs)
        if now and now != learned:
            settled()
            if now == fingerprint(options.runs):
                on_round(learn_once(options))
                learned = now
                continue
        if not wait():
            return


def learn_once(options: WatchOptions) -> WatchRound:
    """One round: read, contrast, build, and serve the bank if it passes every check."""
    with open_collection(options.kept) as collection:
        runs = collect(read_traces(options.runs, options.reading), collection)
        count = len(collection)
        if not count:
            return WatchRound(0, served=False)
        guided = [run for task in map(list, collection) if any(run.guidance for run in task) for run in task]
        harmed = find_harmed_tasks(guided)
        vocabulary = learn_vocabulary(collection)
        selection = Selection(collection.sketches())
        checks, tools = Validator(vocabulary.public), runs.tools.by_function()
        packets = contrast_selected(collection, selection.keys, vocabulary)
        with open_store(options.store, create=True) as store:
            left_out = selection.keys_left_out
            build_bank(packets, store, RuleAuthor(vocabulary), checks, tools=tools, left_out=left_out)
            bank, ledger = hold_to_quorum(store, options.min_sources), store.ledger()
            records = weigh_cards(bank, guided)
            if muted := mute_harmful(bank, records):
                with store.writing("watch"):
                    store.record(*muted)
                bank = store.bank()
            by_muted = {task for record in records if not bank.entries[record.card_id].served for task in record.lost}
        refused = [finding.card_id for finding in recheck(bank, ledger, packets, checks) if finding.refusals]
        collection.cache.drop_unused()
    told = tuple(f"{card_id}: {decision.reason}" for decision in muted for card_id in decision.card_ids)
    return replace(_serve(options, bank, count, [task for task in harmed if task not in by_muted], refused), muted=told)


def _serve(options: WatchOptions, bank: Bank, runs: int, harmed: list[str], refused: list[str]) -> WatchRound:
    content = freeze(bank, options.profile)
    fresh = parse_frozen(content, str(options.serve))
    served = load_frozen(options.serve) if options.serve.exists() else None
    if served is not None and served.header.content_sha256 == fresh.header.content_sha256:
        return WatchRound(runs, served=False)
    difference = bank_difference(served.to_bank() if served else Bank(), fresh.to_bank())
    added, changed, removed = len(difference.added), len(difference.changed), len(difference.removed)
    refusals = []
    if harmed:
        noun = "task" if len(harmed) == 1 else "tasks"
        refusals.append(f"memory harmed {len(harmed)} {noun}: {', '.join(harmed[:5])}")
    if refused:
        verb = "card does" if len(refused) == 1 else "cards do"
        refusals.append(f"{len(refused)} {verb} not validate: {', '.join(refused[:5])}")
    if served is not None and added + changed + removed > options.max_changes:
        refusals.append(f"{added + changed + removed} cards would change at once, more than {options.max_changes}")
    if fresh.header.content_sha256[:12] in read_taken_back(options.serve):
        refusals.append("this bank was served before and taken back")
    if not refusals:
        serve_bank(options.serve, content, options.keep)
    return WatchRound(runs, not refusals, added, changed, removed, tuple(refusals))


def find_harmed_tasks(runs: Iterable[Trajectory]) -> list[str]:
    """Tasks that every run without memory passed and that most runs with memory failed."""
    by_task: dict[str, tuple[list[bool], list[bool]]] = defaultdict(lambda: ([], []))
    for run in runs:
        if run.outcome.passed is not None:
            by_task[run.task_key][bool(run.guidance)].append(run.outcome.passed)
    return sorted(
        task
        for task, (without, with_memory) in by_task.items()
        if without and with_memory and all(without) and sum(with_memory) < len(with_memory) / 2
    )
