"""Earlier frozen banks, kept beside the one that is served, and rollback to one of them.

They are in `bank.jsonl.history/`, numbered in the order they were served. A bank that was rolled back is remembered by
its content hash, so that it is not served again automatically.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from contramem.bank.frozen import load_frozen
from contramem.errors import UsageError
from contramem.whole_file import replacing

_NAME = re.compile(r"(\d{6})-([0-9a-f]{12})\.jsonl")


class KeptBank(NamedTuple):
    number: int
    content: str
    """The first digits of the content hash."""
    path: Path


def kept_banks(served: Path) -> list[KeptBank]:
    """The kept banks, oldest first. The last is the served one, unless somebody replaced the file by hand."""
    folder = _folder(served)
    matches = [(match, path) for path in folder.glob("*.jsonl") if (match := _NAME.fullmatch(path.name))]
    return sorted(KeptBank(int(match[1]), match[2], path) for match, path in matches)


def serve_bank(served: Path, content: bytes, keep: int) -> None:
    """Write `content` where agents read it. Keep it and the last `keep` banks before it."""
    before = kept_banks(served)
    if served.exists() and not before:
        _keep(served, 1, served.read_bytes())
        before = kept_banks(served)
    _keep(served, before[-1].number + 1 if before else 1, content)
    _replace(served, content)
    for old in kept_banks(served)[: -(keep + 1)]:
        old.path.unlink(missing_ok=True)


def roll_back(served: Path, to: int | None = None) -> KeptBank:
    """Serve an earlier bank again: number `to`, or the last one before the current one that was never rolled back.

    `watch` does not serve the current one again.
    """
    if not served.exists():
        raise UsageError(f"{served}: there is no such bank.")
    current = load_frozen(served, allow_edited=True).header.content_sha256[:12]
    taken_back = read_taken_back(served)
    others = [bank for bank in kept_banks(served) if bank.content != current]
    if to is None:
        chosen = [bank for bank in _before(served, current) if bank.content not in taken_back][-1:]
    else:
        chosen = [bank for bank in others if bank.number == to]
    if not chosen:
        named = "" if to is None else f" {to}"
        numbers = ", ".join(str(bank.number) for bank in others)
        choice = f"--to takes {numbers}" if numbers else "none is kept"
        raise UsageError(f"{served}: there is no earlier bank{named} to go back to ({choice}).")
    content = chosen[0].path.read_bytes()
    load_frozen(chosen[0].path)  # raises if it is damaged
    with replacing(_folder(served) / "taken_back.json") as file:
        file.write(json.dumps(sorted({*taken_back, current})).encode())
    _replace(served, content)
    return chosen[0]


def _before(served: Path, current: str) -> list[KeptBank]:
    """The kept banks that were served before the current one; all others if the current one is not kept."""
    banks = kept_banks(served)
    last = max((bank.number for bank in banks if bank.content == current), default=None)
    return [bank for bank in banks if bank.content != current and (last is None or bank.number < last)]


def forget_banks(served: Path, content: bytes) -> int:
    """Write `content` where agents read it, and remove every kept bank. Returns how many were removed."""
    old_banks = kept_banks(served)
    for bank in old_banks:
        bank.path.unlink(missing_ok=True)
    _replace(served, content)
    return len(old_banks)


def read_taken_back(served: Path) -> frozenset[str]:
    """The content hashes of banks that were rolled back."""
    try:
        return frozenset(json.loads((_folder(served) / "taken_back.json").read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return frozenset()


def _folder(served: Path) -> Path:
    return served.with_name(f"{served.name}.history")


def _keep(served: Path, number: int, content: bytes) -> None:
    folder = _folder(served)
    folder.mkdir(exist_ok=True)
    digits = json.loads(content.partition(b"\n")[0])["content_sha256"][:12]
    with replacing(folder / f"{number:06d}-{digits}.jsonl") as file:
        file.write(content)


def _replace(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)
