"""The bank that is served, and its file. A changed file is loaded completely or not at all."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from contramem.bank.frozen import FrozenBank, freeze, kind_of, load_bank, load_frozen, parse_frozen
from contramem.errors import BankFileError
from contramem.inject.guidance import Writer
from contramem.retrieve.retriever import DEFAULT_SCORER, Retriever
from contramem.retrieve.scorer import keep_index

Stamp: TypeAlias = tuple[int, int, int]
"""Modification time in nanoseconds, size and inode of a file."""

_logger = logging.getLogger(__name__)


def bank_at(where: str) -> FrozenBank:
    """Load the bank at `where`: a frozen file, or a store as if it were frozen now."""
    if kind_of(where) == "frozen":
        return load_frozen(Path(where))
    bank, _ = load_bank(where)
    return parse_frozen(freeze(bank), where)


@dataclass(frozen=True)
class LoadedBank:
    """One version of a bank with its retriever and writer. A run keeps the version it started with."""

    bank: FrozenBank
    retriever: Retriever
    writer: Writer

    @classmethod
    def of(cls, bank: FrozenBank, index: Path | None = None) -> LoadedBank:
        """`index` is the folder for the index of a large bank; None keeps it in memory."""
        keeps = index if not bank.edited else None
        retriever = Retriever(
            bank.skills,
            bank.functions,
            taught_by={card.card_id: card.taught_by for card in bank.skills},
            requests={card.card_id: card.request_words for card in bank.cards},
            scopes={card.card_id: card.scope for card in bank.skills if card.scope},
            make_scorer=keep_index(DEFAULT_SCORER, keeps, bank.header.content_sha256) if keeps else DEFAULT_SCORER,
        )
        return cls(bank, retriever, Writer())


def index_folder(path: Path) -> Path:
    """The folder for the index of the frozen bank at `path`, if the bank is large."""
    return path.with_name(f"{path.name}.index")


class BankFile:
    """A frozen bank on disk that may be replaced while agents run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._seen: Stamp | None = None

    def read(self) -> FrozenBank:
        self._seen = self._stamp()
        return load_frozen(self.path)

    def read_change(self) -> FrozenBank | None:
        """The new bank if the file has changed, otherwise None. Threads don't wait for each other: one reads, the
        others continue with the old bank. A file that cannot be read is reported once and ignored."""
        stamp = self._stamp()
        if stamp == self._seen or not self._lock.acquire(blocking=False):
            return None
        try:
            if stamp == self._seen:
                return None
            # Set before reading, so that a change made while reading is noticed next time.
            self._seen = stamp
            bank = load_frozen(self.path)
            _logger.info("%s has changed: %d cards are served now", self.path, len(bank.cards))
            return bank
        except BankFileError as error:
            _logger.warning("the changed bank is not served, the one before still is: %s", error)
            return None
        finally:
            self._lock.release()

    def _stamp(self) -> Stamp | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino
