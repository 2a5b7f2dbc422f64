"""A gate for each card: the tasks that runs which followed it gained and lost, against runs without memory.

A card that is shown where it fits stands beside others, so a run counts only if it followed the card: it broke none of
its guards. For a card without guards, every run that was shown it counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from contramem.bank.bank import Bank, BankEntry, Change
from contramem.bank.card import SkillCard
from contramem.bank.ledger import Attribution, Decision
from contramem.evaluate.stats import Interval, TaskChange, bootstrap_interval
from contramem.guards.watch import guards_of_card, replay_run
from contramem.traces.trajectory import Trajectory

GATE = Attribution(kind="rules", name="gate")
MOST_LOST = 2
"""A card that lost so many tasks more than it gained is muted."""
SEED = 0
LISTED = 5


@dataclass(frozen=True)
class CardRecord:
    """What became of the tasks in which runs followed a card."""

    card_id: str
    tasks: int
    """Those that have runs without memory, too."""
    gained: tuple[str, ...]
    """Most runs without memory failed, and most that followed the card passed."""
    lost: tuple[str, ...]
    interval: Interval | None
    """Of the difference in the share of tasks passed. None if there are too few tasks."""

    @property
    def does_harm(self) -> bool:
        return len(self.lost) - len(self.gained) >= MOST_LOST

    def __str__(self) -> str:
        lost = f" ({', '.join(self.lost[:LISTED])}{', ...' if len(self.lost) > LISTED else ''})" if self.lost else ""
        between = f", {self.interval.low:+.0%} to {self.interval.high:+.0%}" if self.interval else ""
        tasks = "1 task" if self.tasks == 1 else f"{self.tasks} tasks"
        return (
            f"{len(self.gained)} gained and {len(self.lost)} lost{lost} of {tasks} in which runs followed it{between}"
        )


def weigh_cards(bank: Bank, runs: Iterable[Trajectory]) -> list[CardRecord]:
    """The record of every Skill Card, served or not, that runs were shown and followed, those with most harm first."""
    cards = {card_id: entry.card for card_id, entry in bank.entries.items() if isinstance(entry.card, SkillCard)}
    without, following = defaultdict[str, list[bool]](list), defaultdict[str, dict[str, list[bool]]](dict)
    for run in runs:
        if run.outcome.passed is None:
            continue
        if not run.guidance:
            without[run.task_key].append(run.outcome.passed)
        for card_id in {card_id for shown in run.guidance for card_id in shown.cards} & cards.keys():
            if _follows(run, cards[card_id]):
                following[card_id].setdefault(run.task_key, []).append(run.outcome.passed)
    records = [
        _record(card_id, [(task, without[task], with_card) for task, with_card in tasks.items() if task in without])
        for card_id, tasks in sorted(following.items())
    ]
    return sorted(records, key=lambda record: len(record.gained) - len(record.lost))


def _follows(run: Trajectory, card: SkillCard) -> bool:
    return not replay_run(run, guards_of_card(card)).unkept


def _record(card_id: str, tasks: Sequence[tuple[str, list[bool], list[bool]]]) -> CardRecord:
    changes = {task: _mostly(with_card) - _mostly(without) for task, without, with_card in tasks}
    interval = bootstrap_interval([[TaskChange(change, 1) for change in changes.values()]], Random(SEED))
    gained, lost = (tuple(sorted(t for t, change in changes.items() if change == side)) for side in (1, -1))
    return CardRecord(card_id, len(changes), gained, lost, interval)


def _mostly(passed: Sequence[bool]) -> bool:
    return sum(passed) > len(passed) / 2


def mute_harmful(bank: Bank, records: Iterable[CardRecord]) -> list[Decision]:
    """The decisions that mute cards which did more harm than good. What a person has reviewed or pinned stays."""
    harmful = ((bank.entries[record.card_id], record) for record in records if record.does_harm)
    return [_mute(entry, record) for entry, record in harmful if entry.status == "active" and not entry.reviewed]


def _mute(entry: BankEntry, record: CardRecord) -> Decision:
    assert isinstance(entry.card, SkillCard)
    after = entry.model_copy(update={"status": "muted"})
    return Decision(
        operation="MUTE", reason=f"{record}.", by=GATE, ability=entry.card.ability,
        changes=(Change(before=entry, after=after),),
    )  # fmt: skip
