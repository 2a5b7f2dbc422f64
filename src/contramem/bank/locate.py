"""Loads a bank from a store (SQLite path or PostgreSQL URL) or a frozen file; the content says which it is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from contramem.bank.bank import Bank
from contramem.bank.frozen import FrozenBank, load_frozen
from contramem.errors import UsageError

SQLITE_BEGINS_WITH = b"SQLite format 3\x00"


def is_url(where: str) -> bool:
    return "://" in where


def without_password(where: str) -> str:
    """`where` without the password of a URL, for messages."""
    return re.sub(r"(://[^:/@]*):[^@/]*@|(?<=password=)[^&]*", lambda m: f"{m[1]}:***@" if m[1] else "***", where)


def kind_of(where: str) -> Literal["store", "frozen"]:
    """Whether `where` names a store or a frozen file. Raises UsageError if there is no file."""
    if is_url(where):
        return "store"
    path = Path(where)
    if not path.is_file():
        raise UsageError(f"{where}: there is no bank here. `contramem build TRACES --bank STORE` makes one.")
    with path.open("rb") as file:
        return "store" if file.read(16) in (SQLITE_BEGINS_WITH, b"") else "frozen"


def store_only(where: str) -> str:
    """Return `where` unless it is a frozen file, which has no history and cannot record decisions."""
    if kind_of(where) == "frozen":
        load_frozen(Path(where), allow_edited=True)  # raises a better error if it is not a bank at all
        raise UsageError(f"{where}: is a frozen bank; this needs the store that it came from.")
    return where


def load_bank(where: str) -> tuple[Bank, FrozenBank | None]:
    """The bank at `where` and, if it is a frozen file (edited or not), its content."""
    if kind_of(where) == "frozen":
        frozen = load_frozen(Path(where), allow_edited=True)
        return frozen.to_bank(), frozen
    from contramem.bank.store import open_store  # a frozen bank is read without a database library

    with open_store(where) as store:
        return store.bank(), None
