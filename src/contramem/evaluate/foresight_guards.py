"""Judging runs by guards: each guard that a run broke counts against it, by how much breaking it told elsewhere.

The weight of a guard is the mean, over reference tasks, of how much larger a share of the failing runs broke it than of
the passing runs: evidence is paired within the task, so a hard task does not speak against an easy one's habits. The
mean is shrunk towards what one would expect of such a guard before seeing any run, as if SHRINKAGE tasks had shown it.
docs/guards.md says how these figures were chosen, and on which tasks.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from contramem.bank.bank import Bank
from contramem.bank.card import SkillCard
from contramem.bank.support import GuardSupport
from contramem.contrast.flow import NOWHERE
from contramem.evaluate.baselines import Judge, Scorer
from contramem.evaluate.contest import TaskContest
from contramem.monitor.action import actions_of_run
from contramem.monitor.guard import Guard, parse_guard
from contramem.monitor.guard_monitor import GuardMonitor, guards_of_card
from contramem.retrieve.hit import Query
from contramem.retrieve.profiles import PROFILES
from contramem.retrieve.retriever import Retriever
from contramem.traces.trajectory import Trajectory

Weights: TypeAlias = Mapping[Guard, float]

SHRINKAGE = 5
"""Tasks that the expectation counts for."""
MOST = 32
"""Guards of an ability that are kept, the weightiest first: few strong ones tell as much as all."""
ANYWHERE = {
    parse_guard("existence(writes)"): 0.35,
    parse_guard("existence(finalize)"): 0.1,
    parse_guard("existence(ask)"): 0.0,
    parse_guard("at_most_once(writes)"): 0.05,
    parse_guard("precedence(reads, writes)"): 0.05,
}
"""Guards that name no function, with what to expect of them."""
CALLED, FED, MADE_UP = 0.25, 0.1, 0.05
"""What to expect of a call that worked, of one that worked with a value read before, of a value seen nowhere."""
CARD_WEIGHT = 0.25
"""Of a guard of a retrieved card that no passing run contradicts."""


class AbilityRuns(NamedTuple):
    """What is known about an ability."""

    weights: Weights
    """Of the guards that tell most."""
    weighed: frozenset[Guard] = frozenset()
    """All guards that reference runs spoke about, those that tell nothing included. Of others one has expectations."""


class Habits:
    """What the runs of each ability did, and what telling difference it made."""

    def __init__(self, by_ability: Mapping[str, AbilityRuns] | None = None) -> None:
        """Without any, there are expectations only."""
        self._by_ability = by_ability or {}

    @classmethod
    def learn(cls, contests: Iterable[TaskContest]) -> Habits:
        """From reference tasks with both outcomes."""
        by_ability: dict[str, list[TaskContest]] = defaultdict(list)
        for contest in contests:
            by_ability[contest.ability].append(contest)
        return cls({ability: _learn_ability(group) for ability, group in by_ability.items()})

    def of(self, ability: str) -> AbilityRuns:
        return self._by_ability.get(ability, AbilityRuns(ANYWHERE))


def _learn_ability(group: Sequence[TaskContest]) -> AbilityRuns:
    expected = dict(ANYWHERE)
    for contest in group:
        for run in (*contest.passing, *contest.failing):
            for guard, weight in _suggest_guards(run).items():
                expected.setdefault(guard, weight)
    guards = sorted(expected)
    evidence = {guard: SHRINKAGE * expected[guard] for guard in guards}
    tasks = dict.fromkeys(guards, SHRINKAGE)
    for contest in group:
        good = [verdicts(guards, run) for run in contest.passing]
        bad = [verdicts(guards, run) for run in contest.failing]
        for guard in guards:
            if any(verdicts[guard] == "holds" for verdicts in (*good, *bad)):
                evidence[guard] += _share_broken(bad, guard) - _share_broken(good, guard)
                tasks[guard] += 1
    weights = {guard: evidence[guard] / tasks[guard] for guard in guards}
    strongest = sorted(guards, key=lambda guard: (-abs(weights[guard]), guard))[:MOST]
    return AbilityRuns({guard: weights[guard] for guard in strongest}, frozenset(guards))


def _share_broken(runs: Sequence[Mapping[Guard, str]], guard: Guard) -> float:
    return sum(run[guard] == "broken" for run in runs) / len(runs)


def _suggest_guards(run: Trajectory) -> dict[Guard, float]:
    """The guards that a run gives reason to look at, whether it kept or broke them, with what to expect of each."""
    suggestions: dict[Guard, float] = {}
    for action in actions_of_run(run):
        if action.kind != "call":
            continue
        if action.worked:
            suggestions[Guard("existence", action.function)] = CALLED
        for argument in action.arguments:
            origin = action.origin(argument)
            if origin == NOWHERE:
                suggestions[Guard("known_value", action.function, argument=argument)] = MADE_UP
            elif origin is not None and action.worked:
                suggestions[Guard("existence", f"{action.function}[{argument} from {origin}]")] = FED
    return suggestions


def verdicts(guards: Iterable[Guard], run: Trajectory) -> dict[Guard, str]:
    """How a finished run fared under each guard, all in one pass."""
    watch = GuardMonitor([(guard, "", "") for guard in guards], run.task)
    for event in run.events:
        watch.observe(event)
    return {automaton.guard: automaton.verdict for automaton in watch.automata}


def by_guards(habits: AbilityRuns) -> Scorer:
    """What a run broke counts against it; for what nobody weighed, the expectation counts."""

    def score(run: Trajectory) -> float:
        outcomes = verdicts(habits.weights, run)
        broken = -sum(habits.weights[guard] for guard, verdict in outcomes.items() if verdict == "broken")
        return broken + sum(_expectation(guard, weight, habits) for guard, weight in _suggest_guards(run).items())

    return score


def _expectation(guard: Guard, weight: float, known: AbilityRuns) -> float:
    """Of a guard that the run itself suggested: an `existence` it has kept, a `known_value` it has broken."""
    if guard in known.weighed or guard in known.weights:
        return 0.0
    return weight if guard.demand == "a call" else -weight


class CardGuards:
    """The guards of the cards that a bank brings to a task."""

    def __init__(self, bank: Bank) -> None:
        entries = [entry for entry in bank.entries.values() if entry.status in ("active", "pinned")]
        cards = [entry.card for entry in entries if isinstance(entry.card, SkillCard) and entry.card.guards]
        self._support = {entry.card.card_id: entry.support.guard_counts for entry in entries}
        self._retriever = Retriever(
            cards,
            (),
            taught_by={entry.card.card_id: entry.support.taught_by for entry in entries},
            requests={entry.card.card_id: entry.support.request_words for entry in entries},
        )
        self._abilities = {card.ability for card in cards}

    def weights(self, contest: TaskContest) -> Weights:
        """By card: in full where no passing run contradicted the guard, less where some did."""
        query = Query(
            contest.task,
            ability=contest.ability if contest.ability in self._abilities else None,
            task_id=contest.task_id,
            scenario_id=contest.scenario_id,
        )
        weights: dict[Guard, float] = {}
        for hit in self._retriever.retrieve(query, PROFILES["default"]).skills:
            if isinstance(hit.card, SkillCard):
                for guard, card_id, _ in guards_of_card(hit.card):
                    weights[guard] = CARD_WEIGHT * _trust(self._support[card_id].get(str(guard)))
        return weights


def _trust(support: GuardSupport | None) -> float:
    if support is None:
        return 1.0
    return math.sqrt((support.held + 1) / (support.held + support.contradicted + 1))


def guard_judge(cards: CardGuards, habits: Habits) -> Judge:
    """The cards' guards and the habits of the ability together; the larger weight where both know a guard."""

    def judge(contest: TaskContest) -> Scorer:
        weights, weighed = habits.of(contest.ability)
        joined = dict(weights)
        for guard, weight in cards.weights(contest).items():
            joined[guard] = max(weight, weights.get(guard, weight))
        return by_guards(AbilityRuns(joined, weighed))

    return judge


def card_judge(cards: CardGuards) -> Judge:
    """The cards' guards and nothing else."""

    def judge(contest: TaskContest) -> Scorer:
        weights = cards.weights(contest)

        def score(run: Trajectory) -> float:
            return -sum(weights[guard] for guard, verdict in verdicts(weights, run).items() if verdict == "broken")

        return score

    return judge


def habit_judge(habits: Habits) -> Judge:
    """The habits of the ability and nothing else."""
    return lambda contest: by_guards(habits.of(contest.ability))
