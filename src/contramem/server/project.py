"""Project: one bank with its recorded runs, its inject log and its live runs. Projects share nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock, Thread
from time import monotonic

from contramem.bank.bank import Bank
from contramem.bank.frozen import FrozenBank, freeze, is_url, kind_of, parse_frozen
from contramem.bank.ledger import Attribution, Decision, LedgerEntry
from contramem.bank.store import DecisionSummary, Store, open_store
from contramem.collection.browse import TASKS, TEXT_CHARS, RunIndex, TaskRow
from contramem.contrast.packet import Packet, mask_task, packet_of
from contramem.contrast.vocabulary import Vocabulary
from contramem.errors import UsageError
from contramem.evaluate.compare import Compared
from contramem.evaluate.evidence import GuardedRun
from contramem.inject.journal import LiveRuns
from contramem.inject.loaded_bank import BankFile
from contramem.inject.run import Memory
from contramem.retrieve.hit import Query
from contramem.retrieve.profiles import profile_named
from contramem.scratch import ScratchFolder
from contramem.server.observe import audit
from contramem.server.options import ProjectOptions
from contramem.traces.doctor import ReadingVerdict, judge_reading
from contramem.traces.labels import Labels
from contramem.traces.read import read_traces

LOOK_EVERY_S = 1.0
"""How often starting a run checks whether another process changed the bank."""

VOCABULARY_TASKS = 500
"""How many tasks closed vocabularies are learned from. More would only slow down the first page."""
KEPT_PACKETS = 32
"""How many packets are cached: a visitor of a task clicks on one cell after the other."""
MAX_PAST_BANKS = 3
"""How many earlier banks are kept in memory for runs that began with them."""


@dataclass(frozen=True)
class Snapshot:
    """The bank after one decision, and what pages need from it."""

    decision: int
    bank: Bank

    @cached_property
    def texts(self) -> dict[str, str]:
        """Every card in lower case, for search."""
        return {card_id: entry.card.model_dump_json().lower() for card_id, entry in self.bank.entries.items()}


class Project:
    """Opened when the server starts, closed when it stops. Thread-safe."""

    def __init__(
        self, name: str, options: ProjectOptions, state: Path | None = None, audit_file: Path | None = None
    ) -> None:
        self.name, self.options, self._audit_file = name, options, audit_file
        self._writing, self._refreshing = Lock(), Lock()
        self._file = BankFile(Path(options.bank)) if kind_of(options.bank) == "frozen" else None
        self._opened = ExitStack()
        """Closes, last first, what this project has opened."""
        try:
            self._open(state)
        except BaseException:
            self.close()
            raise

    def _open(self, state: Path | None) -> None:
        name, options, opened = self.name, self.options, self._opened
        self._scratch = ScratchFolder("serve")
        opened.callback(self._scratch.close)
        self.store: Store = self._copy_to_store(self._file) if self._file else open_store(options.bank)
        opened.callback(self.store.close)
        folder = state or (Path(options.bank).absolute().parent if not is_url(options.bank) else Path())
        stem = name if is_url(options.bank) or state else Path(options.bank).name
        self.runs = RunIndex(self._scratch.path / "runs.db")
        opened.callback(self.runs.close)
        self.labels = Labels(folder / f"{stem}-labels.csv")
        self.packet = lru_cache(KEPT_PACKETS)(self._make_packet)
        """All attempts at a task, with values as placeholders and the signals that separate them; None if unknown."""
        self.compared: dict[tuple[str, str], Compared] = {}
        """The comparisons that were looked at, by their sides."""
        self.guarded: dict[tuple[str, int], list[GuardedRun]] = {}
        """What recorded runs did with a guard, by its text and the number of runs."""
        self._summaries: list[DecisionSummary] = []
        self.live = LiveRuns(folder / f"{stem}-live", self._memory_at)
        opened.callback(self.live.close)
        self._past_memory = lru_cache(MAX_PAST_BANKS)(lambda decision: self._make_memory(self.store.bank_at(decision)))
        self.is_indexing = bool(options.runs)
        """Are recorded runs still being indexed?"""
        self.readings: dict[str, ReadingVerdict] = {}
        """By what was named: how the recorded runs were read, and what is doubtful about it."""
        self._looked = monotonic()
        self.snapshot = self._read()
        self._memory = (self.snapshot.decision, self._make_memory(self.snapshot.bank))

    @property
    def is_frozen(self) -> bool:
        """A frozen file is served: it can be browsed and guides agents, but accepts no decisions."""
        return self._file is not None

    def index_runs(self, on_progress: Callable[[int], object] = lambda done: None) -> int:
        """Make the recorded runs browsable. Pages can be used meanwhile."""
        try:
            for path in self.options.runs:
                reading = read_traces([path])
                self.runs.add(reading, on_progress, collection=str(path))
                self.readings[str(path)] = judge_reading(reading)
            self.runs.label(self.labels.by_run)
            self.packet.cache_clear()
            self.compared.clear()
            self.guarded.clear()
            self.__dict__.pop("vocabulary", None)
            if self.options.runs:
                self.vocabulary  # noqa: B018  (otherwise the first page with masked values would wait for it)
        finally:
            self.is_indexing = False
        return self.runs.count

    @cached_property
    def vocabulary(self) -> Vocabulary:
        tasks = self.runs.select(TASKS, {}, order="task", limit=VOCABULARY_TASKS)
        return Vocabulary(self.runs.runs(row.task) for row in tasks)

    def _make_packet(self, task: str) -> Packet | None:
        runs = self.runs.runs(task)
        return packet_of(runs, self.vocabulary) if runs else None

    def mask(self, rows: Iterable[TaskRow]) -> list[TaskRow]:
        """The rows with their masked texts, which are made on first use."""
        return [row if row.masked is not None else row._replace(masked=self._mask(row.task)) for row in rows]

    def _mask(self, task: str) -> str:
        text = mask_task(self.runs.runs(task), self.vocabulary)[:TEXT_CHARS]
        self.runs.keep_masked(task, text)
        return text

    def summaries(self) -> list[DecisionSummary]:
        """Every decision in a line, oldest first."""
        with self._refreshing:
            self._summaries += self.store.summaries(self._summaries[-1].number if self._summaries else 0)
            return self._summaries

    def current(self) -> Snapshot:
        """The bank as it is now, including decisions of other processes."""
        if self.store.last_decision() != self.snapshot.decision:
            with self._refreshing:
                if self.store.last_decision() != self.snapshot.decision:
                    self.snapshot = self._read()
        return self.snapshot

    def memory(self) -> tuple[int, Memory]:
        """The memory for new runs, and the decision it reflects. A changed bank is indexed in the background; until
        then, runs start with the previous one."""
        if monotonic() - self._looked > LOOK_EVERY_S:
            self._looked = monotonic()
            if self._file and (changed := self._file.read_change()):
                self._take_over(self.store, changed)
            if self.store.last_decision() != self._memory[0]:
                Thread(target=self._refresh_memory, daemon=True).start()
        return self._memory

    def record(self, decide: Callable[[Bank], Decision], who: str, what: str) -> LedgerEntry:
        """Record what `decide` makes of the current bank, and who did what. One at a time, so that nobody decides on an
        outdated bank."""
        if self.is_frozen:
            raise UsageError(
                f"{self.options.bank} is a frozen bank and takes no decisions. Serve the store it came from."
            )
        with self._writing, self.store.writing(f"serve ({what} by {who})"):
            before = self.current()
            (entry,) = self.store.record(decide(before.bank))
            self.snapshot = Snapshot(entry.number, before.bank.with_changes(entry.decision.changes))
        audit(self._audit_file, who, self.name, what, entry.number)
        self._looked = 0.0  # the next start picks up the decision
        return entry

    def close(self) -> None:
        self._opened.close()

    def _copy_to_store(self, file: BankFile) -> Store:
        """Load a frozen bank into a temporary store, so that the rest of the code need not know the difference."""
        store = open_store(self._scratch.path / "bank.db", create=True)
        self._take_over(store, file.read())
        return store

    def _take_over(self, store: Store, file: FrozenBank) -> None:
        """Make the store say what the file says, in one decision."""
        with self._writing, store.writing("serve"):
            if changes := store.bank().changes_to(file.to_bank()):
                by, reason = Attribution(kind="person", name="serve"), f"as in {Path(self.options.bank).name}"
                store.record(Decision(operation="IMPORT", reason=reason, by=by, changes=changes))

    def _read(self) -> Snapshot:
        return Snapshot(self.store.last_decision(), self.store.bank())

    def _refresh_memory(self) -> None:
        with self._refreshing:
            snapshot = self._read()
            self._memory = (snapshot.decision, self._make_memory(snapshot.bank))
            self.snapshot = snapshot

    def _make_memory(self, bank: Bank) -> Memory:
        memory = Memory(
            parse_frozen(freeze(bank), self.options.bank), log=self.options.log, enforce=self.options.enforce
        )
        profile = profile_named(memory.bank.header.profile)
        # The first agent should not have to wait for indexing and for the token counter.
        first = next((card.title for card in bank.skills), "")
        memory.writer.at_start(memory.retriever.retrieve(Query(first), profile), profile)
        return memory

    def _memory_at(self, decision: int) -> Memory:
        number, memory = self._memory
        # A frozen file has no history: after a restart, a run continues with the current cards of the file.
        return memory if number == decision or self.is_frozen else self._past_memory(decision)
