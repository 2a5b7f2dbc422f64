"""Trial log: what was tried and what was confirmed, one line each, so that `proven` keeps its meaning after a long
search.

Only a look at the held-out tasks decides. Each such look gets its share of the allowed false findings, by the LOND rule
(Javanmard and Montanari 2015): chance may explain the t-th look with a probability of at most b(t) * (1 + findings so
far), where the b(t) add up to the allowed share. A decision is made once and stays; a long fruitless search makes the
next one harder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias
from uuid import uuid4

import msgspec

from contramem.chance import OutcomeTable
from contramem.errors import UsageError
from contramem.grading import FALSE_SHARE
from contramem.study.trial import Trial

_SERIES = 2.6123753486854883
"""The sum of 1 / t ** 1.5 over all t."""

Look: TypeAlias = Literal["open", "kept back"]


class TrialEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One look at some runs."""

    id: str
    runs: str
    """Which runs: a digest of their tasks and sources."""
    guard: str
    look: Look
    chance: float
    counts: OutcomeTable
    """Followed and passed, followed and failed, broke and passed, broke and failed."""
    tasks: int
    judgement: str
    by: str = ""
    at: str = ""


@dataclass(frozen=True)
class Confirmation:
    """What the held-out tasks say about a guard."""

    entry: TrialEntry
    looks: int
    """How many guards have been checked on these tasks, this one included."""
    level: float
    """The highest probability by chance that is accepted after so many looks."""
    is_proven: bool
    is_repeated: bool
    """It was decided before; the same runs give no second chance."""


class TrialLog:
    """A file of trials to which several authors may append at once: each line is written in one go."""

    def __init__(self, path: Path, runs: str) -> None:
        self._path, self._runs = path, runs

    def entries(self) -> list[TrialEntry]:
        """The trials on these runs, in the order they were written."""
        if not self._path.exists():
            return []
        entries_read = []
        for number, line in enumerate(self._path.read_bytes().splitlines(), 1):
            try:
                entry = msgspec.json.decode(line, type=TrialEntry)
            except msgspec.MsgspecError as error:
                raise UsageError(
                    f"{self._path}:{number}: this line is not a trial ({error}). Choose another file."
                ) from None
            if entry.runs == self._runs:
                entries_read.append(entry)
        return entries_read

    def record(self, trial: Trial, look: Look, by: str = "", at: str = "") -> TrialEntry:
        """Record that somebody looked."""
        entry = TrialEntry(
            id=uuid4().hex[:12],
            runs=self._runs,
            guard=str(trial.guard),
            look=look,
            chance=trial.chance,
            counts=trial.counts,
            tasks=trial.tasks,
            judgement=trial.judgement,
            by=by,
            at=at,
        )
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, msgspec.json.encode(entry) + b"\n")
        finally:
            os.close(handle)
        return entry

    def confirm(self, trial: Trial, by: str = "", at: str = "") -> Confirmation:
        """Decide on a guard by its trial on the held-out tasks. The first look is final."""
        earlier = [entry for entry in self.entries() if _is_look(entry, str(trial.guard))]
        entry = earlier[0] if earlier else self.record(trial, "kept back", by, at)
        return _decide(entry, self.entries(), bool(earlier))

    def next_level(self) -> float:
        """The highest probability by chance that the next look would accept."""
        looks, findings = _count_looks(self.entries())
        return _level(looks + 1, findings)

    def count(self) -> tuple[int, int]:
        """How many guards were tried, and how many were checked on the held-out tasks."""
        entries = self.entries()
        tried = {entry.guard for entry in entries}
        return len(tried), len({entry.guard for entry in entries if entry.look == "kept back"})

    def confirmation(self, guard: str) -> Confirmation | None:
        """The decision on a guard, if there is one."""
        entries = self.entries()
        return next((_decide(entry, entries, True) for entry in entries if _is_look(entry, guard)), None)


def _is_look(entry: TrialEntry, guard: str) -> bool:
    return entry.look == "kept back" and entry.guard == guard


def _level(look: int, findings: int) -> float:
    """The highest probability by chance that a look accepts, after so many findings."""
    return float(FALSE_SHARE / _SERIES / look**1.5 * (1 + findings))


def _decide(wanted: TrialEntry, entries: Sequence[TrialEntry], is_repeated: bool) -> Confirmation:
    for look, (entry, level, is_proven) in enumerate(_replay_looks(entries), 1):
        if entry.id == wanted.id:
            return Confirmation(entry, look, level, is_proven, is_repeated)
    raise AssertionError("a look that was recorded is in the log")


def _count_looks(entries: Sequence[TrialEntry]) -> tuple[int, int]:
    """How many looks there were, and how many of them proved a guard."""
    proofs = [is_proven for _, _, is_proven in _replay_looks(entries)]
    return len(proofs), sum(proofs)


def _replay_looks(entries: Sequence[TrialEntry]) -> Iterator[tuple[TrialEntry, float, bool]]:
    """The looks in order, each with its level and whether it proved the guard: the decisions as they were made."""
    seen: set[str] = set()
    findings = 0
    for entry in entries:
        if entry.look != "kept back" or entry.guard in seen:
            continue
        seen.add(entry.guard)
        level = _level(len(seen), findings)
        is_proven = entry.chance <= level and entry.judgement != "contradicted"
        yield entry, level, is_proven
        findings += is_proven
