"""Erases what some runs taught: cards, their ledger entries, stored prompts and replies, and build progress.

Everything derived from those runs is erased. A card that other runs support too is erased as well, and returns when the
bank is rebuilt from them. Afterwards the store is searched, byte by byte, for anything that should be gone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from contramem.bank.bank import Bank, BankEntry, Change
from contramem.bank.card import SkillCard
from contramem.bank.frozen import is_url
from contramem.bank.ledger import Attribution, Decision, LedgerEntry, RunRef
from contramem.bank.store import Store
from contramem.bank.tables import seal_again
from contramem.errors import UsageError
from contramem.traces.task_key import TaskKey

MIN_NEEDLE_CHARS = 4

_TOMBSTONE = sql.text(
    "UPDATE contramem_decisions SET operation = NULL, accepted = :accepted, ability = NULL, author = :author,"
    " decision = :decision WHERE number = :number"
)
_DROP_CHANGES = sql.text("DELETE FROM contramem_changes WHERE number = :number")
_DROP_MENTIONS = sql.text("DELETE FROM contramem_mentions WHERE number = :number")
_DROP_CARD = sql.text("DELETE FROM contramem_cards WHERE card_id = :card_id")
_DROP_TEXTS = "UPDATE contramem_calls SET request = NULL, reply = NULL, subject = 'forgotten'"
_DROP_PROGRESS = "DELETE FROM contramem_progress"
_TEXTS = {
    "contramem_cards": "holding",
    "contramem_decisions": "decision",
    "contramem_changes": "change",
    "contramem_calls": "coalesce(request, '') || coalesce(reply, '') || subject",
    "contramem_progress": "step || state",
}


@dataclass(frozen=True)
class ForgetSelection:
    """Which runs to forget: those that match every field that is not None."""

    source: str | None = None
    task: str | None = None
    run: str | None = None

    def __post_init__(self) -> None:
        if self.source is None and self.task is None and self.run is None:
            raise UsageError("say which runs to forget: --source, --task or --run.")

    def matches(self, run: RunRef) -> bool:
        return (
            (self.source is None or run.source == self.source)
            and (self.task is None or TaskKey.parse(run.task).is_named(self.task))
            and (self.run is None or run.run == self.run)
        )


@dataclass(frozen=True)
class Erasure:
    """What was erased, and what a search of the store still found."""

    runs: int
    """Number of matching runs in the ledger."""
    cards: tuple[str, ...]
    decisions: int
    calls: int
    searched_bytes: int
    searched_for: frozenset[str]
    """Names and sentences that should be gone."""
    left: tuple[str, ...] = ()
    """Places where one of them was still found."""
    rebuilt: tuple[str, ...] = ()
    kept_runs: int = 0
    """Number of sets of runs, kept by commands, that were removed."""
    kept_banks: int = 0
    """Number of earlier frozen banks that were removed."""


@dataclass(frozen=True)
class RebuiltBank:
    """A bank built from the remaining runs."""

    bank: Bank
    ledger: tuple[LedgerEntry, ...]

    def decisions(self, present: Iterable[str], by: Attribution) -> list[Decision]:
        """The decisions that add its cards, except those already `present`."""
        runs_of_card: dict[str, tuple[RunRef, ...]] = {}
        for entry in self.ledger:
            for card_id in entry.decision.card_ids:
                runs_of_card[card_id] = (*runs_of_card.get(card_id, ()), *entry.decision.runs)
        new = {card.card_id for card in self.bank.cards} - set(present)
        return [_decide_rebuilt(self.bank.entries[name], runs_of_card.get(name, ()), by) for name in sorted(new)]


def forget_runs(
    store: Store, selection: ForgetSelection, by: Attribution, rebuild: Callable[[], RebuiltBank] | None = None
) -> Erasure:
    """Erase what the selected runs taught and add the bank that `rebuild` builds from the others, in one transaction.
    Then search the store for anything left.

    Call it inside `with store.writing(...)`. Raises UsageError if no decision is based on such a run. If killed, it has
    done all or nothing; run again, it also cleans the pages that the killed process left.
    """
    bank, ledger = store.bank(), store.ledger()
    runs = {(run.task, run.source, run.run) for run in _runs(ledger) if selection.matches(run)}
    cards = _find_cards_taught_by(bank, ledger, selection)
    decisions = [entry for entry in ledger if _is_about(entry, cards, selection)]
    if not decisions and not cards:
        store.erase(lambda connection: 0)
        raise UsageError("no decision in this store rests on such a run. `contramem cards history` names runs.")
    names, sentences = frozenset(_names(selection, bank)), frozenset(_sentences(bank, cards))
    new = rebuild().decisions(bank.entries.keys() - cards, _RULES) if rebuild else []
    calls = store.erase(lambda connection: _erase(connection, decisions, cards, by), new)
    rebuilt = tuple(change.card_id for decision in new for change in decision.changes)
    stays = "\n".join(entry.card.model_dump_json() for entry in store.bank().entries.values())
    needles = names | {sentence for sentence in sentences if sentence not in stays}  # other runs may teach it too
    size, left = search_store(store, needles)
    return Erasure(len(runs), tuple(sorted(cards)), len(decisions), calls, size, needles, left, rebuilt)


def count_taught_cards(store: Store, selection: ForgetSelection) -> tuple[int, int]:
    """The number of cards based on the selected runs, and the number of all cards."""
    bank = store.bank()
    return len(_find_cards_taught_by(bank, store.ledger(), selection)), len(bank.entries)


def forget_calls(store: Store) -> int:
    """Erase all stored prompts and replies, but keep their costs. Returns the number of calls."""
    return store.erase(lambda connection: int(connection.exec_driver_sql(_DROP_TEXTS).rowcount))


def search_store(store: Store, needles: Iterable[str]) -> tuple[int, tuple[str, ...]]:
    """Returns (bytes searched, places that contain a needle). In SQLite the whole file is searched, with free pages."""
    wanted = sorted(needles)
    left = [f"{table} holds {needle!r}" for table, text in store.texts(_TEXTS) for needle in wanted if needle in text]
    files = [] if is_url(store.where) else [Path(store.where), Path(f"{store.where}-wal")]
    size, in_files = search_files((path for path in files if path.exists()), wanted)
    return size, tuple(dict.fromkeys((*left, *in_files)))


def search_files(paths: Iterable[Path], needles: Iterable[str]) -> tuple[int, tuple[str, ...]]:
    """Returns (bytes searched, files that contain a needle, plain or in JSON escapes). Folders are searched whole."""
    spelled = {needle: {form.encode() for form in (needle, *_as_json(needle))} for needle in sorted(needles)}
    size, left = 0, []
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            content = file.read_bytes() if file.is_file() else b""
            size += len(content)
            left += [
                f"{file} holds {needle!r}" for needle, forms in spelled.items() if any(f in content for f in forms)
            ]
    return size, tuple(left)


def _as_json(text: str) -> tuple[str, str]:
    return json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]


def _runs(ledger: Iterable[LedgerEntry]) -> Iterator[RunRef]:
    return (run for entry in ledger for run in entry.decision.runs)


def _find_cards_taught_by(bank: Bank, ledger: Iterable[LedgerEntry], selection: ForgetSelection) -> frozenset[str]:
    cards = {
        card_id
        for entry in ledger
        if any(selection.matches(run) for run in entry.decision.runs)
        for card_id in entry.decision.card_ids
    }
    cards |= {card_id for card_id, entry in bank.entries.items() if _rests_on(entry, selection)}
    return frozenset(cards)


def _rests_on(entry: BankEntry, selection: ForgetSelection) -> bool:
    """Whether a card may be based on the selected runs. For a Function Card the trials are not recorded, nor, in older
    stores, the sources: it then counts as based on any."""
    is_function = not isinstance(entry.card, SkillCard)
    if selection.run is not None and not is_function:
        return False
    sources = entry.support.sources
    of_source = selection.source is None or selection.source in sources or (is_function and not sources)
    of_task = selection.task is None or any(
        TaskKey.parse(task).is_named(selection.task) for task in entry.support.tasks
    )
    return of_source and of_task


def _is_about(entry: LedgerEntry, cards: frozenset[str], selection: ForgetSelection) -> bool:
    decision = entry.decision
    return not cards.isdisjoint(decision.card_ids) or any(selection.matches(run) for run in decision.runs)


def _erase(connection: Connection, decisions: list[LedgerEntry], cards: frozenset[str], by: Attribution) -> int:
    tombstone = Decision(operation=None, accepted=False, reason="forgotten", by=by)
    text = tombstone.model_dump_json(exclude={"changes"})
    for entry in decisions:
        row = {"number": entry.number, "accepted": False, "author": str(by), "decision": text}
        connection.execute(_TOMBSTONE, row)
        connection.execute(_DROP_CHANGES, {"number": entry.number})
        connection.execute(_DROP_MENTIONS, {"number": entry.number})
    for card_id in cards:
        connection.execute(_DROP_CARD, {"card_id": card_id})
    # A prompt includes all runs of a task and other cards, so none is certain to be free of these runs.
    calls = connection.exec_driver_sql(_DROP_TEXTS).rowcount
    connection.exec_driver_sql(_DROP_PROGRESS)
    seal_again(connection, min((entry.number for entry in decisions), default=1))
    return int(calls)


_RULES = Attribution(kind="rules", name="rules")


def _names(selection: ForgetSelection, bank: Bank) -> Iterator[str]:
    """The name of the source or of the tasks, if all of their runs are to be forgotten."""
    if selection.source and selection.task is None and selection.run is None:
        # A plain word (`mail`) may occur in any text; as a name it is between quotation marks.
        yield f'"{selection.source}"' if selection.source.isalpha() else selection.source
    if selection.task and selection.source is None and selection.run is None:
        tasks = {task for entry in bank.entries.values() for task in entry.support.tasks}
        yield from (task for task in tasks if TaskKey.parse(task).is_named(selection.task))


def _sentences(bank: Bank, cards: frozenset[str]) -> Iterator[str]:
    for card_id in cards & bank.entries.keys():
        card = bank.entries[card_id].card
        lines = (card.title, card.skill.core_rule) if isinstance(card, SkillCard) else card.common_mistakes
        yield from (line for line in (card_id, *lines) if len(line) >= MIN_NEEDLE_CHARS)


def _decide_rebuilt(entry: BankEntry, runs: tuple[RunRef, ...], by: Attribution) -> Decision:
    ability = entry.card.ability if isinstance(entry.card, SkillCard) else None
    reason = "built again from the runs that are left"
    return Decision(
        operation="ADD", reason=reason, by=by, ability=ability, changes=(Change(before=None, after=entry),), runs=runs
    )
