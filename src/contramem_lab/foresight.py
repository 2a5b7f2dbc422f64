"""Foresight: how well a memory tells failing from passing recorded runs of unseen tasks.

It needs no model and no environment. Within each task, every pair of a passing and a failing run is ordered by score;
the result is the share ordered correctly, where 0.5 is chance. Baselines order the same pairs, and what counts is the
paired difference to the best.

Guards score a run by the weights of those it broke. The weight of a guard is the share of failing runs that broke it
minus the share of passing runs that did, averaged over reference tasks. Shares are compared within a task, so that easy
and hard tasks don't distort them. The mean is shrunk towards the guard's prior weight, which counts as SHRINKAGE tasks.
docs/guards.md says how these figures were chosen, and on which tasks.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple, TypeAlias

from rapidfuzz.distance import Indel, LCSseq

from contramem.bank.bank import Bank, GuardSupport
from contramem.bank.card import SkillCard
from contramem.contrast.flow import NOWHERE
from contramem.errors import UsageError
from contramem.evaluate.stats import Interval, TaskChange, bootstrap_interval, ends
from contramem.guards.actions import actions_of_run
from contramem.guards.guard import Guard, parse_guard
from contramem.guards.watch import GuardMonitor, guards_of_card
from contramem.inject.guidance import Writer
from contramem.retrieve.bm25 import Bm25
from contramem.retrieve.hit import Query
from contramem.retrieve.profiles import PROFILES
from contramem.retrieve.retriever import Retriever
from contramem.retrieve.tokens import tokenize
from contramem.traces.trajectory import Trajectory, digest

MIN_PAIRS = 200
"""With fewer pairs, a figure is only descriptive."""


@dataclass(frozen=True)
class TaskContest:
    """One task, without runs that were interrupted or have no known outcome."""

    key: str
    task_id: str
    task: str
    ability: str
    scenario_id: str | None
    passing: tuple[Trajectory, ...]
    failing: tuple[Trajectory, ...]

    @property
    def pairs(self) -> int:
        return len(self.passing) * len(self.failing)

    @property
    def query(self) -> Query:
        """The query for retrieving memory for this task."""
        return Query(self.task, self.ability, task_id=self.task_id, scenario_id=self.scenario_id)

    def is_of(self, run: Trajectory) -> bool:
        """Whether the run is of this task (by id or text) or of its scenario."""
        if self.scenario_id is not None and run.scenario_id == self.scenario_id:
            return True
        same_id = run.task_id == self.task_id and run.environment == self.passing[0].environment
        return same_id or (bool(self.task) and run.task == self.task)


def contests(tasks: Iterable[Sequence[Trajectory]]) -> list[TaskContest]:
    """A contest for each task with both passing and failing runs."""
    found = []
    for runs in tasks:
        counted = [run for run in runs if run.outcome.passed is not None and run.outcome.ended != "interrupted"]
        passing = tuple(run for run in counted if run.outcome.passed)
        failing = tuple(run for run in counted if not run.outcome.passed)
        if passing and failing:
            one = passing[0]
            ability = one.ability or "general"
            found.append(TaskContest(one.task_key, one.task_id, one.task, ability, one.scenario_id, passing, failing))
    return found


class OrderedPairs(NamedTuple):
    """How well a score ordered the pairs of one task."""

    right: float
    """The number of pairs in which the passing run scored higher; a tie counts half."""
    pairs: int


def order_pairs(contest: TaskContest, score: Callable[[Trajectory], float]) -> OrderedPairs:
    """Count the (passing, failing) pairs that the score orders correctly."""
    passing_scores = [round(score(run), 9) for run in contest.passing]
    failing_scores = [round(score(run), 9) for run in contest.failing]
    return OrderedPairs(
        sum(
            (score_of_pass > score_of_fail) + 0.5 * (score_of_pass == score_of_fail)
            for score_of_pass in passing_scores
            for score_of_fail in failing_scores
        ),
        contest.pairs,
    )


def share(orders: Sequence[OrderedPairs]) -> float | None:
    """The share of all pairs that are ordered correctly; None without pairs."""
    pairs = sum(order.pairs for order in orders)
    return sum(order.right for order in orders) / pairs if pairs else None


def share_interval(orders: Sequence[OrderedPairs], rng: Random) -> Interval | None:
    """The interval of the share, by resampling tasks. Counts are doubled, so that ties (halves) become integers."""
    return bootstrap_interval([[TaskChange(round(2 * order.right), 2 * order.pairs) for order in orders]], rng)


Scorer: TypeAlias = Callable[[Trajectory], float]
Judge: TypeAlias = Callable[[TaskContest], Scorer]
"""Makes a scorer for the runs of a task. The scorer must not use the outcome of a run."""

NEIGHBOURS = 3
"""How many reference tasks a memory of runs retrieves for a task: as many as an agent is shown cards."""
MIN_SHARE = 0.5
"""The share of a task's passing runs that must make a call for it to be part of the task's workflow."""


def run_length(contest: TaskContest) -> Scorer:
    return lambda run: len(names(run))


def distinct_functions(contest: TaskContest) -> Scorer:
    return lambda run: len(set(names(run)))


def source_pass_rate(runs: Iterable[Trajectory]) -> Judge:
    """The control: the pass rate of the source on other tasks."""
    tried: dict[str, Counter[str]] = defaultdict(Counter)
    passed: dict[str, Counter[str]] = defaultdict(Counter)
    for run in runs:
        if run.outcome.passed is not None:
            tried[run.source][run.task_key] += 1
            passed[run.source][run.task_key] += run.outcome.passed

    def judge(contest: TaskContest) -> Scorer:
        def score(run: Trajectory) -> float:
            others = tried[run.source].total() - tried[run.source][contest.key]
            return (passed[run.source].total() - passed[run.source][contest.key] + 1) / (others + 2)

        return score

    return judge


class Neighbours:
    """Finds passing runs of similar reference tasks, by the words of a task, within its ability."""

    def __init__(self, runs: Iterable[Trajectory]) -> None:
        passing: dict[str, list[Trajectory]] = defaultdict(list)
        for run in runs:
            if run.outcome.passed:
                passing[run.task_key].append(run)
        by_ability: dict[str, list[list[Trajectory]]] = defaultdict(list)
        for key in sorted(passing):
            by_ability[passing[key][0].ability or "general"].append(passing[key])
        self._indexes = {
            ability: (tasks, Bm25([tokenize(task[0].task) for task in tasks])) for ability, tasks in by_ability.items()
        }

    def of(self, contest: TaskContest) -> list[list[Trajectory]]:
        """The passing runs of the `NEIGHBOURS` most similar tasks, excluding the task's own scenario."""
        return self.nearest(contest.task, contest.ability, contest.is_of)

    def nearest(self, task: str, ability: str, is_own: Callable[[Trajectory], bool]) -> list[list[Trajectory]]:
        """The same for a task that has no runs yet."""
        if ability not in self._indexes:
            return []
        tasks, index = self._indexes[ability]
        scores = index.scores(tokenize(task))
        ranked = sorted(range(len(tasks)), key=lambda number: (-round(float(scores[number]), 9), number))
        others = [tasks[number] for number in ranked if not is_own(tasks[number][0])]
        return others[:NEIGHBOURS]

    def nearest_passing_run(self, contest: TaskContest) -> Scorer:
        """Score: the similarity of a run's call sequence to the most similar passing run of a neighbour."""
        name_lists = [names(run) for task in self.of(contest) for run in task]
        return lambda run: max((Indel.normalized_similarity(names(run), other) for other in name_lists), default=0.0)

    def induce_workflows(self, contest: TaskContest) -> Scorer:
        """Score: the share of the neighbours' workflows that a run follows, in order."""
        workflows = [steps for task in self.of(contest) if (steps := workflow(task))]

        def score(run: Trajectory) -> float:
            calls = names(run)
            shares = [LCSseq.similarity(calls, steps) / len(steps) for steps in workflows]
            return sum(shares) / len(shares) if shares else 0.0

        return score


def workflow(passing: Sequence[Trajectory]) -> tuple[str, ...]:
    """The calls that most passing runs of a task make, in the order of the run that makes most of them."""
    return common_steps([names(run) for run in passing])


def common_steps(calls: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The same, given the functions that each run called."""
    runs_calling = Counter(name for run in calls for name in set(run))
    common = {name for name, count in runs_calling.items() if count >= MIN_SHARE * len(calls)}
    steps = [tuple(dict.fromkeys(name for name in run if name in common)) for run in calls]
    return max(steps, key=lambda sequence: (len(sequence), sequence), default=())


def names(run: Trajectory) -> tuple[str, ...]:
    """The functions that the agent called, in order."""
    return tuple(event.function for event in run.calls)


def baselines(pool: Iterable[Trajectory], reference: Iterable[Trajectory] | None) -> Mapping[str, Judge]:
    """All baselines by name. Without reference runs, only those that need none; the pass rate then uses the pool."""
    reference = None if reference is None else list(reference)
    judges: dict[str, Judge] = {
        "run length": run_length,
        "distinct functions": distinct_functions,
        "source pass rate": source_pass_rate(pool if reference is None else reference),
    }
    if reference is not None:
        near = Neighbours(reference)
        judges |= {"nearest passing run": near.nearest_passing_run, "induced workflows": near.induce_workflows}
    return judges


CONTROL = "source pass rate"


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
    """The guards of the cards that an agent is shown at the start of a task, in full or as a sentence."""

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
        self._writer = Writer()

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

    def _find_shown(self, query: Query) -> list[SkillCard]:
        """The skills that the guidance of a run would show, in full or as a sentence."""
        profile = PROFILES["default"]
        return self._writer.at_start(self._retriever.retrieve(query, profile), profile).skills


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


OURS = "guards"
CARDS_ALONE = "guards of the cards alone"
HABITS_ALONE = "habits alone"
EXPECTATION = "expectation alone"
PARTS = (OURS, CARDS_ALONE, HABITS_ALONE, EXPECTATION)
"""Our score and its parts, which are not baselines."""


@dataclass(frozen=True)
class ForesightDifference:
    """A score minus another, over the same pairs."""

    to: str
    value: float
    interval: Interval | None

    def as_json(self) -> dict[str, Any]:
        return {"to": self.to, "value": self.value, "interval": ends(self.interval)}


@dataclass(frozen=True)
class Foresight:
    """How well passing and failing runs were separated."""

    orders: Mapping[str, tuple[OrderedPairs, ...]]
    """By judge: the pairs of each task. All judges have the same tasks in the same order."""
    keys: tuple[str, ...]
    """The keys of those tasks."""
    left_out: int
    """Tasks left out because they taught the bank or are among the reference runs."""
    score: float
    interval: Interval | None
    best: ForesightDifference
    """The difference to the best baseline. The control is not a baseline: it only knows which source ran."""
    control: ForesightDifference
    memory: ForesightDifference
    """The difference to the guards with their prior weights: what was learned from runs."""

    @property
    def tasks(self) -> int:
        return len(self.orders[OURS])

    @property
    def pairs(self) -> int:
        return sum(order.pairs for order in self.orders[OURS])

    @property
    def is_descriptive(self) -> bool:
        """Whether there are too few pairs to draw conclusions."""
        return self.pairs < MIN_PAIRS

    def shares(self) -> dict[str, float]:
        """The share of correctly ordered pairs by judge, including ours."""
        return {name: value for name, orders in self.orders.items() if (value := share(orders)) is not None}

    def as_json(self) -> dict[str, Any]:
        shares = self.shares()
        return {
            "tasks": self.tasks,
            "pairs": self.pairs,
            "left_out": self.left_out,
            "descriptive_only": self.is_descriptive,
            "score": shares.pop(OURS),
            "interval": ends(self.interval),
            "parts": {part: shares.pop(part) for part in PARTS[1:]},
            "baselines": shares,
            "difference": self.best.as_json(),
            "difference_to_control": self.control.as_json(),
            "difference_to_expectation": self.memory.as_json(),
        }


def foresight(
    tasks: Iterable[Sequence[Trajectory]], bank: Bank, reference: Iterable[Sequence[Trajectory]] | None, rng: Random
) -> Foresight:
    """Order the runs of every unseen task. `reference` are the runs that the bank was built from, by task."""
    reference_tasks = None if reference is None else [list(runs) for runs in reference]
    all_tasks = [list(runs) for runs in tasks]
    contested = contests(all_tasks)
    taught = _TaughtTasks(bank, reference_tasks or ())
    unseen = [contest for contest in contested if not taught.by(contest)]
    if not unseen:
        raise UsageError(_nothing_left(len(all_tasks), len(contested)))
    judges = _judges(all_tasks, bank, reference_tasks)
    orders = {name: tuple(order_pairs(contest, judge(contest)) for contest in unseen) for name, judge in judges.items()}
    ours = orders[OURS]
    rivals = [name for name in orders if name not in (*PARTS, CONTROL)]
    best = max(rivals, key=lambda name: (share(orders[name]) or 0.0, name))
    our_share = share(ours)
    assert our_share is not None, "a contest has pairs"
    return Foresight(
        orders=orders,
        keys=tuple(contest.key for contest in unseen),
        left_out=len(contested) - len(unseen),
        score=our_share,
        interval=share_interval(ours, rng),
        best=compare_orders(ours, orders[best], best, rng),
        control=compare_orders(ours, orders[CONTROL], CONTROL, rng),
        memory=compare_orders(ours, orders[EXPECTATION], EXPECTATION, rng),
    )


def compare_orders(
    ours: Sequence[OrderedPairs], theirs: Sequence[OrderedPairs], to: str, rng: Random
) -> ForesightDifference:
    """Our share minus theirs over the same tasks, which are resampled for both sides together."""
    our_share, their_share = share(ours), share(theirs)
    assert our_share is not None and their_share is not None, "a contest has pairs"
    pairs = zip(ours, theirs, strict=True)
    changes = [TaskChange(round(2 * mine.right - 2 * other.right), 2 * mine.pairs) for mine, other in pairs]
    return ForesightDifference(to, our_share - their_share, bootstrap_interval([changes], rng))


def _judges(tasks: list[list[Trajectory]], bank: Bank, reference: list[list[Trajectory]] | None) -> dict[str, Judge]:
    cards = CardGuards(bank)
    habits = Habits() if reference is None else Habits.learn(contests(reference))
    runs = [run for task in tasks for run in task]
    reference_runs = None if reference is None else [run for task in reference for run in task]
    return {
        OURS: guard_judge(cards, habits),
        CARDS_ALONE: card_judge(cards),
        HABITS_ALONE: habit_judge(habits),
        EXPECTATION: habit_judge(Habits()),
        **baselines(runs, reference_runs),
    }


class _TaughtTasks:
    """Recognizes the tasks that taught a bank, by id, text or scenario."""

    def __init__(self, bank: Bank, reference: Iterable[Sequence[Trajectory]]) -> None:
        self._digests: set[str] = set()
        self._of_ability: set[tuple[str, str]] = set()
        for entry in bank.entries.values():
            self._digests.update(entry.support.taught_by)
            if isinstance(entry.card, SkillCard):
                self._of_ability.update((entry.card.ability, key) for key in entry.support.taught_by)
        self._runs = [runs[0] for runs in reference if runs]

    def by(self, contest: TaskContest) -> bool:
        texts = (contest.key, contest.task, contest.scenario_id)
        if any(digest(text) in self._digests for text in texts if text):
            return True
        # Ids such as `user_task_1` recur in every suite, so an id counts only within its ability.
        if (contest.ability, digest(contest.task_id)) in self._of_ability:
            return True
        return any(contest.is_of(run) for run in self._runs)


def _nothing_left(tasks: int, contested: int) -> str:
    if not contested:
        return (
            f"none of the {tasks} tasks has runs that passed and others that failed, so there is nothing to tell apart."
        )
    return (
        f"all {contested} tasks with both outcomes taught the bank or are among the reference runs. "
        "Give runs of other tasks."
    )
