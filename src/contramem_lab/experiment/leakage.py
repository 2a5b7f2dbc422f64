"""Leakage: does anything that teaches know a held-out task? Checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from contramem.bank.frozen import FrozenBank
from contramem.errors import LeakageError
from contramem.traces.trajectory import digest
from contramem_lab.split import Grouping, Mark, SplitTask, What, joins, marks

NAMED = 10


@dataclass(frozen=True)
class Leak:
    """A held-out task, what is known about it, and by what."""

    task: str
    what: What
    among: str

    def __str__(self) -> str:
        return f"{self.task} (its {self.what} is that of {self.among})"


def leaks_from_runs(held_out: Iterable[SplitTask], reference: Iterable[SplitTask], by: Grouping) -> Iterator[Leak]:
    """What the tasks that teach share with the held-out ones."""
    taught: dict[Mark, list[SplitTask]] = {}
    for task in reference:
        for mark in marks(task, by):
            taught.setdefault(mark, []).append(task)
    for task in held_out:
        for mark in marks(task, by):
            twin = next((other for other in taught.get(mark, ()) if joins(mark, task, other)), None)
            if twin is not None:
                yield Leak(task.key, mark[0], twin.key)


def leaks_from_bank(held_out: Iterable[SplitTask], bank: FrozenBank, by: Grouping, name: str) -> Iterator[Leak]:
    """Held-out tasks that taught cards of a bank."""
    for task in held_out:
        names: list[tuple[What, str | None]] = [("id", task.key), ("id", task.id), ("wording", task.wording)]
        if by == "scenario":
            names.append(("scenario", task.scenario))
        for card in bank.skills:
            # Ids recur in every suite, so a bare id counts only within its ability.
            matches = [w for w, text in names if text and digest(text) in card.taught_by
                     and (text != task.id or card.ability == task.ability)]  # fmt: skip
            if matches:
                yield Leak(task.key, matches[0], f"{card.card_id} in {name}")
                break


def refuse(leaks: Iterable[Leak]) -> None:
    """Raise an error that names the leaks, if there are any."""
    leaks_found: Sequence[Leak] = list(leaks)
    if leaks_found:
        named = "; ".join(map(str, leaks_found[:NAMED]))
        more = f"; and {len(leaks_found) - NAMED} more" if len(leaks_found) > NAMED else ""
        raise LeakageError(
            f"leakage, so nothing was run: the runs to learn from contain {len({leak.task for leak in leaks_found})} "
            f"held-out task(s): {named}{more}. Put them on one side in [split], or remove them from those runs."
        )
