"""Whom guards would stop: a bank replayed on runs that it has not seen.

A guard stops a run at a call if it objects, before the call, to one that then worked: one that the tool refused anyway
is no loss. It holds up the end of a run that has not kept it. Where the run passed, either is a false stop.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from contramem.bank.bank import Bank, BankEntry, Change, UnseenRuns
from contramem.bank.card import SkillCard
from contramem.bank.ledger import Attribution, Decision
from contramem.guards.guard import Guard, guards_of
from contramem.guards.watch import GuardMonitor
from contramem.inject.enforcement import Level, strongest_level
from contramem.traces.trajectory import Trajectory

REPLAY = Attribution(kind="rules", name="evaluate guards")


@dataclass(frozen=True)
class GuardEffect:
    """What one guard would have done. Field names are keys of `--json`."""

    card_id: str
    title: str
    guard: str
    grade: str | None
    passing: int
    """Passing runs to which it applies."""
    false_stops: int
    """Passing runs that it would have stopped, at a call or at the end."""
    failing: int
    caught: int
    """Failing runs that it would have stopped."""
    level: Level
    """What may happen to a call that it objects to."""

    @property
    def share(self) -> float:
        """The share of false stops among the passing runs to which it applies; 0 if there are none."""
        return self.false_stops / self.passing if self.passing else 0.0

    def unseen(self, limit: float) -> UnseenRuns:
        return UnseenRuns(passing=self.passing, false_stops=self.false_stops, caught=self.caught, limit=limit)


@dataclass(frozen=True)
class StoppedRuns:
    """Runs that at least one guard would have stopped."""

    passing: int
    failing: int


@dataclass(frozen=True)
class GuardReplay:
    """A bank on runs that it has not seen."""

    passing: int
    failing: int
    seen: int
    """Runs left out, because their task taught a card."""
    without_outcome: int
    guards: tuple[GuardEffect, ...]
    """Those with the highest share of false stops first."""
    stopped: Mapping[Level, StoppedRuns]
    """At a call: by all guards (`remind`), by those that may ask or refuse (`ask`), and by those that may refuse."""
    ended: StoppedRuns
    """Reminded of something at their end."""


@dataclass(frozen=True)
class _ReplayedRun:
    """The guards that apply to a run, and those that would have stopped it."""

    passed: bool
    applied: frozenset[Guard]
    stopped: frozenset[Guard]
    """At a call."""
    unkept: frozenset[Guard]
    """When it ended."""


def replay_guards(bank: Bank, runs: Iterable[Trajectory], limit: float) -> GuardReplay:
    """Replay the guards of the served cards, on a run those of its ability. A guard with a higher share of false stops
    than `limit` only reminds."""
    cards = [card for card in bank.skills if card.guards]
    watched = [(card, guard) for card in cards for guard in guards_of(card.guards)]
    taught = {digest for entry in bank.entries.values() for digest in entry.support.taught_by}
    replayed, seen, without_outcome = [], 0, 0
    for run in runs:
        if run.outcome.passed is None:
            without_outcome += 1
        elif not taught.isdisjoint(run.task_identity):
            seen += 1
        else:
            own = [card for card in cards if card.ability.casefold() == run.ability.casefold()] if run.ability else []
            replayed.append(_replay(own or cards, run))
    effects = [_count(bank.entries[card.card_id], card, guard, replayed, limit) for card, guard in watched]
    passing = sum(run.passed for run in replayed)
    ordered = sorted(effects, key=lambda effect: (-effect.share, -effect.false_stops, -effect.caught))
    levels: tuple[tuple[Level, tuple[Level, ...]], ...] = (
        ("remind", ("remind", "ask", "deny")), ("ask", ("ask", "deny")), ("deny", ("deny",)),
    )  # fmt: skip
    stopped = {least: _count_stopped(replayed, effects, those) for least, those in levels}
    ended = _split([run for run in replayed if run.unkept])
    return GuardReplay(passing, len(replayed) - passing, seen, without_outcome, tuple(ordered), stopped, ended)


def _replay(cards: Sequence[SkillCard], run: Trajectory) -> _ReplayedRun:
    monitor, stopped, unkept = GuardMonitor.of_cards(cards, run.task), set[Guard](), set[Guard]()
    for event in run.events:
        is_call = bool(event.function) and event.actor == "agent"
        if is_call and event.result is not None and event.result.error is None:
            stopped.update(objection.guard for objection in monitor.find_objections(event))
        broken = monitor.observe(event)
        unkept.update(obligation.guard for obligation in broken if not is_call)
    unkept.update(obligation.guard for obligation in monitor.pending())
    applied = {watcher.guard for watcher in monitor.automata if watcher.verdict != "vacuous"}
    return _ReplayedRun(bool(run.outcome.passed), frozenset(applied | stopped), frozenset(stopped), frozenset(unkept))


def _count(entry: BankEntry, card: SkillCard, guard: Guard, runs: Sequence[_ReplayedRun], limit: float) -> GuardEffect:
    applied = [run for run in runs if guard in run.applied]
    passing = [run for run in applied if run.passed]
    false_stops = sum(guard in run.stopped | run.unkept for run in passing)
    caught = sum(guard in run.stopped | run.unkept for run in applied if not run.passed)
    unseen = UnseenRuns(passing=len(passing), false_stops=false_stops, caught=caught, limit=limit)
    grade = entry.support.grade
    return GuardEffect(
        card.card_id, card.title, str(guard), grade, len(passing), false_stops, len(applied) - len(passing), caught,
        strongest_level(grade, unseen),
    )  # fmt: skip


def _count_stopped(
    runs: Sequence[_ReplayedRun], effects: Iterable[GuardEffect], levels: Sequence[Level]
) -> StoppedRuns:
    guards = {effect.guard for effect in effects if effect.level in levels}
    return _split([run for run in runs if any(str(guard) in guards for guard in run.stopped)])


def _split(runs: Sequence[_ReplayedRun]) -> StoppedRuns:
    passing = sum(run.passed for run in runs)
    return StoppedRuns(passing, len(runs) - passing)


def record_replay(bank: Bank, replay: GuardReplay, limit: float) -> list[Decision]:
    """A decision for each card whose guards were tried on new runs: enforcement asks for these counts."""
    by_card = defaultdict[str, dict[str, UnseenRuns]](dict)
    for effect in replay.guards:
        if effect.passing or effect.failing:
            by_card[effect.card_id][effect.guard] = effect.unseen(limit)
    decisions = []
    for card_id, unseen_runs in sorted(by_card.items()):
        before = bank.entries[card_id]
        assert isinstance(before.card, SkillCard)
        support = before.support.model_copy(update={"unseen": before.support.unseen | unseen_runs})
        if support == before.support:
            continue
        told = "; ".join(f"{guard}: {counts}" for guard, counts in unseen_runs.items())
        change = Change(before=before, after=before.model_copy(update={"support": support}))
        decisions.append(
            Decision(operation="PATCH", reason=told, by=REPLAY, ability=before.card.ability, changes=(change,))
        )
    return decisions
