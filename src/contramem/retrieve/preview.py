"""Retrieval preview: which cards tasks would get from a bank, and whether they are plausible.

Cards learned from a task or its scenario are left out, as in every measurement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from contramem.bank.bank import Bank
from contramem.bank.card import Card, FunctionCard, SkillCard
from contramem.retrieve.hit import Query
from contramem.retrieve.profiles import Profile
from contramem.retrieve.retriever import Retriever
from contramem.traces.trajectory import Trajectory


@dataclass(frozen=True)
class PreviewedTask:
    """The cards that one task would get."""

    task: str
    """Its key."""
    ability: str
    called: frozenset[str]
    """Functions that the runs of the task call."""
    skills: tuple[SkillCard, ...]
    functions: tuple[FunctionCard, ...]
    without_label: tuple[SkillCard, ...]
    """Skills that it would get without an ability label."""
    leaked: tuple[str, ...]
    """Ids of skills that it would get although they were learned from it or its scenario."""

    @property
    def cards(self) -> tuple[Card, ...]:
        return self.skills + self.functions

    def is_plausible(self, card: Card) -> bool:
        """Whether the card names a function that runs of this task call."""
        named = (card.tool,) if isinstance(card, FunctionCard) else card.functions_used
        return not self.called.isdisjoint(named)


@dataclass(frozen=True)
class Preview:
    """The cards that all tasks would get. A share of an empty set is None."""

    tasks: tuple[PreviewedTask, ...]
    never_retrieved: tuple[str, ...]
    """Ids of the cards that no task gets."""

    @property
    def with_a_card(self) -> int:
        return sum(bool(task.cards) for task in self.tasks)

    @property
    def with_nothing(self) -> tuple[str, ...]:
        return tuple(task.task for task in self.tasks if not task.cards)

    @property
    def leaks(self) -> int:
        return sum(len(task.leaked) for task in self.tasks)

    @property
    def right_bank(self) -> float | None:
        """The share of retrieved skills that belong to the task's ability."""
        return _share(card.ability == task.ability for task in self.tasks for card in task.skills)

    @property
    def right_bank_without_label(self) -> float | None:
        """The same without an ability label, by the words of the task alone."""
        return _share(card.ability == task.ability for task in self.tasks for card in task.without_label)

    def plausible(self, kind: type[FunctionCard] | type[SkillCard]) -> float | None:
        """The share of retrieved cards of a kind that name a function which runs of the task call."""
        return _share(task.is_plausible(card) for task in self.tasks for card in task.cards if isinstance(card, kind))


def preview(bank: Bank, tasks: Iterable[Sequence[Trajectory]], profile: Profile) -> Preview:
    """Retrieve cards for every task. Each task is given as the sequence of its runs."""
    supports = {card.card_id: bank.entries[card.card_id].support for card in bank.cards}
    retriever = Retriever(
        bank.skills,
        bank.functions,
        taught_by={card_id: support.taught_by for card_id, support in supports.items()},
        requests={card_id: support.request_words for card_id, support in supports.items()},
        scopes={card_id: support.scope for card_id, support in supports.items() if support.scope},
    )
    previewed = tuple(_preview(runs, bank, retriever, profile) for runs in tasks)
    retrieved = {card.card_id for task in previewed for card in task.cards}
    return Preview(previewed, tuple(card.card_id for card in bank.cards if card.card_id not in retrieved))


def _preview(runs: Sequence[Trajectory], bank: Bank, retriever: Retriever, profile: Profile) -> PreviewedTask:
    first = runs[0]
    ability = first.ability or "general"
    retrieved = retriever.retrieve(_query(first, ability), profile)
    skills = tuple(hit.card for hit in retrieved.skills if isinstance(hit.card, SkillCard))
    # Computed here and not taken from the retriever, because the retriever is what is being tested.
    identity = set(first.task_identity)
    unlabelled = retriever.retrieve(_query(first, None), profile).skills
    return PreviewedTask(
        task=first.task_key,
        ability=ability,
        called=frozenset(event.function for run in runs for event in run.calls),
        skills=skills,
        functions=tuple(hit.card for hit in retrieved.functions if isinstance(hit.card, FunctionCard)),
        without_label=tuple(hit.card for hit in unlabelled if isinstance(hit.card, SkillCard)),
        leaked=tuple(c.card_id for c in skills if not identity.isdisjoint(bank.entries[c.card_id].support.taught_by)),
    )


def _query(run: Trajectory, ability: str | None) -> Query:
    """What an agent knows when it starts. It only gets cards of its own functions."""
    functions = frozenset(tool.function for tool in run.tools) or None
    return Query(run.task, ability, functions=functions, task_id=run.task_id, scenario_id=run.scenario_id)


def _share(verdicts: Iterable[bool]) -> float | None:
    counted = list(verdicts)
    return sum(counted) / len(counted) if counted else None
