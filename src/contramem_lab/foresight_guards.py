"""Scores runs by guards: each guard that a run broke lowers its score by the weight of the guard.

The weight of a guard is the share of failing runs that broke it minus the share of passing runs that did, averaged over
reference tasks. Shares are compared within a task, so that easy and hard tasks don't distort them. The mean is shrunk
towards the guard's prior weight, which counts as SHRINKAGE tasks. docs/guards.md says how these figures were chosen,
and on which tasks.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from contramem.bank.bank import Bank
from contramem.bank.card import SkillCard
from contramem.bank.support import GuardSupport
from contramem.contrast.flow import NOWHERE
from contramem.inject.rule_lines import rule_line_of
from contramem.monitor.action import actions_of_run
from contramem.monitor.guard import Guard, parse_guard
from contramem.monitor.guard_monitor import GuardMonitor, guards_of_card
from contramem.retrieve.hit import Query
from contramem.retrieve.profiles import PROFILES
from contramem.retrieve.retriever import Retriever
from contramem.traces.trajectory import Trajectory
from contramem_lab.baselines import Judge, Scorer
from contramem_lab.contest import TaskContest

Weights: TypeAlias = Mapping[Guard, float]

SHRINKAGE = 5
"""How many tasks the prior weight of a guard counts as."""
MAX_GUARDS = 32
"""How many guards of an ability are kept, strongest first: more of them don't improve the order."""
GENERAL_PRIORS = {
    parse_guard("existence(writes)"): 0.35,
    parse_guard("existence(finalize)"): 0.1,
    parse_guard("existence(ask)"): 0.0,
    parse_guard("at_most_once(writes)"): 0.05,
    parse_guard("precedence(reads, writes)"): 0.05,
}
"""Prior weights of guards that name no function, so that they apply to every ability."""
CALL_PRIOR, SOURCED_VALUE_PRIOR, UNKNOWN_VALUE_PRIOR = 0.25, 0.1, 0.05
"""Prior weights of guards suggested by a run: a call that succeeded, a successful call with a value from an earlier
result, and a value that had been seen nowhere."""
CARD_WEIGHT = 0.25
"""The weight of a retrieved card's guard that no passing run contradicts."""


class GuardWeights(NamedTuple):
    """The guards of an ability, with the weights learned from its reference runs."""

    weights: Weights
    """The weights of the strongest guards."""
    weighed: frozenset[Guard] = frozenset()
    """All guards for which a weight was learned, including those too weak to keep. Other guards have prior weights."""


class Habits:
    """The guard weights of each ability, learned from reference runs."""

    def __init__(self, by_ability: Mapping[str, GuardWeights] | None = None) -> None:
        """Without learned weights, only prior weights are used."""
        self._by_ability = by_ability or {}

    @classmethod
    def learn(cls, contests: Iterable[TaskContest]) -> Habits:
        """Learn weights from reference tasks that have both outcomes."""
        by_ability: dict[str, list[TaskContest]] = defaultdict(list)
        for contest in contests:
            by_ability[contest.ability].append(contest)
        return cls({ability: _learn_ability(group) for ability, group in by_ability.items()})

    def of(self, ability: str) -> GuardWeights:
        return self._by_ability.get(ability, GuardWeights(GENERAL_PRIORS))


def _learn_ability(group: Sequence[TaskContest]) -> GuardWeights:
    priors = dict(GENERAL_PRIORS)
    for contest in group:
        for run in (*contest.passing, *contest.failing):
            for guard, weight in _suggest_guards(run).items():
                priors.setdefault(guard, weight)
    guards = sorted(priors)
    evidence = {guard: SHRINKAGE * priors[guard] for guard in guards}
    tasks = dict.fromkeys(guards, SHRINKAGE)
    for contest in group:
        passing = [verdicts(guards, run) for run in contest.passing]
        failing = [verdicts(guards, run) for run in contest.failing]
        for guard in guards:
            if any(verdicts[guard] == "holds" for verdicts in (*passing, *failing)):
                evidence[guard] += _share_broken(failing, guard) - _share_broken(passing, guard)
                tasks[guard] += 1
    weights = {guard: evidence[guard] / tasks[guard] for guard in guards}
    strongest = sorted(guards, key=lambda guard: (-abs(weights[guard]), guard))[:MAX_GUARDS]
    return GuardWeights({guard: weights[guard] for guard in strongest}, frozenset(guards))


def _share_broken(runs: Sequence[Mapping[Guard, str]], guard: Guard) -> float:
    return sum(run[guard] == "broken" for run in runs) / len(runs)


def _suggest_guards(run: Trajectory) -> dict[Guard, float]:
    """The guards that a run suggests, kept or broken, with their prior weights."""
    suggestions: dict[Guard, float] = {}
    for action in actions_of_run(run):
        if action.kind != "call":
            continue
        if action.worked:
            suggestions[Guard("existence", action.function)] = CALL_PRIOR
        for argument in action.arguments:
            origin = action.origin(argument)
            if origin == NOWHERE:
                suggestions[Guard("known_value", action.function, argument=argument)] = UNKNOWN_VALUE_PRIOR
            elif origin is not None and action.worked:
                suggestions[Guard("existence", f"{action.function}[{argument} from {origin}]")] = SOURCED_VALUE_PRIOR
    return suggestions


def verdicts(guards: Iterable[Guard], run: Trajectory) -> dict[Guard, str]:
    """The verdict of every guard on a finished run, in one pass."""
    watch = GuardMonitor([(guard, "", "") for guard in guards], run.task)
    for event in run.events:
        watch.observe(event)
    return {automaton.guard: automaton.verdict for automaton in watch.automata}


def by_guards(habits: GuardWeights) -> Scorer:
    """Score a run by the weights of the guards it broke, plus the prior weights of guards that were not learned."""

    def score(run: Trajectory) -> float:
        outcomes = verdicts(habits.weights, run)
        broken = -sum(habits.weights[guard] for guard, verdict in outcomes.items() if verdict == "broken")
        return broken + sum(_prior_score(guard, weight, habits) for guard, weight in _suggest_guards(run).items())

    return score


def _prior_score(guard: Guard, weight: float, learned: GuardWeights) -> float:
    """The contribution of a guard that the run itself suggested: an `existence` it kept or a `known_value` it broke."""
    if guard in learned.weighed or guard in learned.weights:
        return 0.0
    return weight if guard.demand == "a call" else -weight


class CardGuards:
    """The guards of the cards that an agent is shown at the start of a task, in full or in the list of rules."""

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
        """The weight of each guard: full if no passing run contradicted it, otherwise less."""
        query = Query(
            contest.task,
            ability=contest.ability if contest.ability in self._abilities else None,
            task_id=contest.task_id,
            scenario_id=contest.scenario_id,
        )
        weights: dict[Guard, float] = {}
        for card in self._find_shown(query):
            for guard, card_id, _ in guards_of_card(card):
                weights[guard] = CARD_WEIGHT * _trust(self._support[card_id].get(str(guard)))
        return weights

    def _find_shown(self, query: Query) -> Iterator[SkillCard]:
        """Cards in full, then those that have a line in the list of rules."""
        retrieved = self._retriever.retrieve(query, PROFILES["default"])
        in_full = (hit.card for hit in retrieved.skills)
        in_lines = (hit.card for hit in retrieved.listed if isinstance(hit.card, SkillCard) and rule_line_of(hit.card))
        yield from (card for card in (*in_full, *in_lines) if isinstance(card, SkillCard))


def _trust(support: GuardSupport | None) -> float:
    if support is None:
        return 1.0
    return math.sqrt((support.held + 1) / (support.held + support.contradicted + 1))


def guard_judge(cards: CardGuards, habits: Habits) -> Judge:
    """Judge by the cards' guards and the habits of the ability; a guard of both gets the larger weight."""

    def judge(contest: TaskContest) -> Scorer:
        weights, weighed = habits.of(contest.ability)
        joined = dict(weights)
        for guard, weight in cards.weights(contest).items():
            joined[guard] = max(weight, weights.get(guard, weight))
        return by_guards(GuardWeights(joined, weighed))

    return judge


def card_judge(cards: CardGuards) -> Judge:
    """Judge by the cards' guards alone."""

    def judge(contest: TaskContest) -> Scorer:
        weights = cards.weights(contest)

        def score(run: Trajectory) -> float:
            return -sum(weights[guard] for guard, verdict in verdicts(weights, run).items() if verdict == "broken")

        return score

    return judge


def habit_judge(habits: Habits) -> Judge:
    """Judge by the habits of the ability alone."""
    return lambda contest: by_guards(habits.of(contest.ability))
