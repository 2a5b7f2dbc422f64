"""Project: one bank with its recorded runs, its inject log and its live runs. Projects share nothing."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock, Thread
from time import monotonic

from contramem.bank.bank import Bank
from contramem.bank.frozen import freeze, parse_frozen
from contramem.bank.ledger import Decision, LedgerEntry
from contramem.bank.locate import is_url
from contramem.bank.store import Store, open_store
from contramem.inject.run import Memory
from contramem.retrieve.hit import Query
from contramem.retrieve.profiles import profile_named
from contramem.server.live_runs import LiveRuns
from contramem.server.options import ProjectOptions
from contramem.server.run_index import RunIndex
from contramem.traces.read import read_traces

LOOK_EVERY_S = 1.0
"""How often a start looks whether another process has changed the bank."""


@dataclass(frozen=True)
class Snapshot:
    """The bank after one decision, and what pages need of it."""

    decision: int
    bank: Bank

    @cached_property
    def texts(self) -> dict[str, str]:
        """Every card in lower case, for search."""
        return {card_id: entry.card.model_dump_json().lower() for card_id, entry in self.bank.entries.items()}


class Project:
    """Opened when the server starts, closed when it stops. Threads may share it."""

    def __init__(self, name: str, options: ProjectOptions, state: Path | None) -> None:
        self.name, self.options = name, options
        self.store: Store = open_store(options.bank)
        folder = state or (Path(options.bank).absolute().parent if not is_url(options.bank) else Path())
        stem = name if is_url(options.bank) or state else Path(options.bank).name
        self._scratch = tempfile.TemporaryDirectory(prefix="contramem-serve-")
        self.runs = RunIndex(Path(self._scratch.name) / "runs.db")
        self.live = LiveRuns(folder / f"{stem}-live", self._memory_at)
        self._writing, self._refreshing = Lock(), Lock()
        self._looked = monotonic()
        self.snapshot = self._read()
        self._memory = (self.snapshot.decision, self._make_memory(self.snapshot.bank))

    def index_runs(self, on_progress: Callable[[int], object] = lambda done: None) -> int:
        if not self.options.runs:
            return 0
        return self.runs.add(read_traces(self.options.runs), on_progress)

    def current(self) -> Snapshot:
        """The bank as it is now, other processes' decisions included."""
        if self.store.last_decision() != self.snapshot.decision:
            with self._refreshing:
                if self.store.last_decision() != self.snapshot.decision:
                    self.snapshot = self._read()
        return self.snapshot

    def memory(self) -> tuple[int, Memory]:
        """What guides new runs, and the decision that it is of. A changed bank is indexed in the background; until
        then runs start with the one before."""
        if monotonic() - self._looked > LOOK_EVERY_S:
            self._looked = monotonic()
            if self.store.last_decision() != self._memory[0]:
                Thread(target=self._refresh_memory, daemon=True).start()
        return self._memory

    def record(self, decide: Callable[[Bank], Decision], purpose: str) -> LedgerEntry:
        """Record what `decide` makes of the bank as it is now. One at a time, so that nobody decides on an old bank."""
        with self._writing, self.store.writing(f"serve ({purpose})"):
            before = self.current()
            (entry,) = self.store.record(decide(before.bank))
            self.snapshot = Snapshot(entry.number, before.bank.changed(entry.decision.changes))
        self._looked = 0.0  # the next start takes the decision over
        return entry

    def close(self) -> None:
        self.live.close()
        self.runs.close()
        self._scratch.cleanup()
        self.store.close()

    def _read(self) -> Snapshot:
        return Snapshot(self.store.last_decision(), self.store.bank())

    def _refresh_memory(self) -> None:
        with self._refreshing:
            snapshot = self._read()
            self._memory = (snapshot.decision, self._make_memory(snapshot.bank))
            self.snapshot = snapshot

    def _make_memory(self, bank: Bank) -> Memory:
        memory = Memory(parse_frozen(freeze(bank), self.options.bank), log=self.options.log)
        profile = profile_named(memory.bank.header.profile)
        # Indexing and loading the token counter is not the first agent's work.
        first = next((card.title for card in bank.skills), "")
        memory.writer.at_start(memory.retriever.retrieve(Query(first), profile), profile)
        return memory

    def _memory_at(self, decision: int) -> Memory:
        number, memory = self._memory
        return memory if number == decision else self._make_memory(self.store.bank_at(decision))
