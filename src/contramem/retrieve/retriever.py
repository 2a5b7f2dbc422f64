"""Retriever: finds the cards of a bank that fit a task (paper, section on retrieval, and A.8).

    score = BM25(task; weighted fields of a card) + capped app-overlap bonus - mismatch penalty

The ability label selects the skills to search; without a label, all are searched. Bonus and penalty move a card up or
down but never exclude it. Only the profile's floor and the distance to the best card exclude cards, and both look at
the words alone. The same query always gives the same hits in the same order.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from heapq import nlargest
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from contramem.bank.bank import GRADES
from contramem.bank.card import Card, FunctionCard, SkillCard
from contramem.retrieve.card_index import CardIndex, Ranking
from contramem.retrieve.hit import FunctionNames, Hit, Query
from contramem.retrieve.intent import AppVocabulary, acts_of, asked_changes, intents, only_changes, serves, subjects_of
from contramem.retrieve.profiles import Profile
from contramem.retrieve.scorer import RequestWords, ScorerMaker, bm25, plain_bm25
from contramem.retrieve.tokens import tokenize
from contramem.traces.effects import effect_of
from contramem.traces.shell import APP as SHELL
from contramem.traces.shell import is_shell

if TYPE_CHECKING:
    from contramem.guards.conditions import TaskSays
    from contramem.retrieve.bm25 import Integers

MIN_SHARED = 6
"""How many digests of teaching tasks two cards must share to be companions. A task has up to three digests."""
MAX_UNFIT = 8
"""How many cards for other requests may be passed over in the ranking."""
MAX_TOOL_SETS = 100
"""For so many different sets of tools is kept which skills an agent with them can use."""
LEADING = 8
"""How many of the best cards tell by their functions what the request may call."""
LEADS = 4
"""How many functions count that a request may call."""
TOP = 60
"""How many of the best cards by words are ranked again by functions."""
MAX_POOL = 200
"""If more cards are about a function, only those count that the words find."""
ALL = ""
FUNCTIONS = "\0functions"
"""Keys of two indexes besides those of the abilities: all skills (for tasks without a label), and the functions."""


@dataclass(frozen=True)
class Retrieval:
    """The cards retrieved for a task."""

    skills: tuple[Hit, ...]
    functions: tuple[Hit, ...]
    final: Hit | None
    """The finalization card to repeat near the end, if the profile asks for one."""
    apps: frozenset[str]
    """The apps the task was taken to be about."""
    note: str = ""
    """A warning for the caller: no skill has the given ability label."""
    usable: Usable | None = None
    """For profiles that show all skills: those whose functions the agent has."""


@dataclass(frozen=True, eq=False)
class SkillSet:
    """The skills of one ability whose functions an agent has. Kept, because agents with the same tools start many
    runs. Numbers are those of the index, the best proven first."""

    cards: tuple[SkillCard, ...]
    """In the order of a list: by the function that they are about, then the best proven first."""
    ids: frozenset[str]
    numbers: Integers
    """In order."""
    naming: Mapping[str, Integers]
    """The skills that name a function, by function."""
    deciding: Mapping[str, Integers]
    """The skills that are about a function, by function."""
    of_app: Mapping[str, Integers]
    """The skills that name a function of an app, by app. Empty if it is known which functions the agent has."""

    def rarity(self, function: str) -> float:
        """From 1 for a function that one skill is about to almost 0 for one that all are about."""
        return math.log1p(len(self.cards) / len(self.deciding[function])) / math.log1p(len(self.cards))


@dataclass(frozen=True)
class Usable:
    """The skills that an agent can use, ranked for one request when that is needed."""

    skills: SkillSet
    taught: frozenset[str]
    """Ids of the cards that the task itself taught."""
    _index: CardIndex
    _ranking: Ranking
    _top: list[int]
    """The best skills by the words of the request alone."""
    _functions: tuple[Hit, ...]

    def best(self, limit: int) -> list[SkillCard]:
        """The best skills for the request: by its words, and by the functions that it may lead to. Those are the
        functions of the skills that its words find, by the requests that taught them too. Skills without either are
        left out."""
        import numpy

        relevance = self._ranking.relevance
        score, pools = relevance.copy(), [numpy.array(self._top, dtype=numpy.int64)]
        for function, lead in self._leads():
            numbers = self.skills.deciding[function]
            score[numbers] = relevance[numbers] + lead
            if len(numbers) <= MAX_POOL:
                pools.append(numbers)
        numbers = numpy.unique(numpy.concatenate(pools))
        # Rounded, so that floating-point noise never decides between two equal cards.
        order = (-score[numbers].round(9)).argsort(kind="stable")[:limit]
        return self._cards([number for number in numbers[order].tolist() if score[number] > 0])

    def about(self, function: str, shown: Collection[str], limit: int) -> list[SkillCard]:
        """The skills that name `function` (`App.function`) and were not shown, the best for the request first; then, if
        it is not known which functions the agent has, others about the app of `function`."""
        if len(shown) >= len(self.skills.cards):
            return []
        found: dict[str, SkillCard] = {}
        for numbers in (self.skills.naming.get(function), self.skills.of_app.get(function.partition(".")[0])):
            if numbers is not None and len(found) < limit:
                best = self._index.best(self._ranking, limit + len(shown), numbers)
                found |= {card.card_id: card for card in self._cards(best) if card.card_id not in shown}
        return list(found.values())[:limit]

    def _leads(self) -> list[tuple[str, float]]:
        """The functions that the request may lead to, each with the relevance of the best card that says so."""
        leads: dict[str, float] = {hit.name: hit.relevance for hit in self._functions}
        for number in self._top[:LEADING]:
            for name in deciding_functions(self._index.cards[number]):
                leads[name] = max(leads.get(name, 0.0), float(self._ranking.relevance[number]))
        rare = ((name, lead * self.skills.rarity(name)) for name, lead in leads.items() if name in self.skills.deciding)
        return nlargest(LEADS, rare, key=lambda lead: lead[1])

    def _cards(self, numbers: Iterable[int]) -> list[SkillCard]:
        cards = [self._index.cards[number] for number in numbers]
        return [card for card in cards if isinstance(card, SkillCard) and card.card_id not in self.taught]


_RequestTests: TypeAlias = "tuple[tuple[TaskSays, ...], ...]"
"""By guard. A skill is for a request that meets all those of one guard, or any request if there are none."""
DEFAULT_SCORER: ScorerMaker = bm25
"""Used unless the caller chooses another."""


class Retriever:
    """Ranks the cards of one bank. Indexes are built when first needed; threads may share a retriever."""

    def __init__(
        self,
        skills: Iterable[SkillCard],
        functions: Iterable[FunctionCard],
        taught_by: Mapping[str, Collection[str]] | None = None,
        scopes: Mapping[str, str] | None = None,
        requests: RequestWords | None = None,
        make_scorer: ScorerMaker = DEFAULT_SCORER,
    ) -> None:
        """`taught_by` (digests of task ids, texts and scenarios), `scopes` and `requests` are keyed by card id."""
        self._make_scorer, self._requests = make_scorer, requests or {}
        self._skills, self._functions = tuple(skills), tuple(functions)
        named = {function for card in self._skills for function in card.functions_used}
        self.names = FunctionNames(self._functions, named)
        self._taught_by = taught_by or {}
        self._taught = _invert(self._taught_by)
        self._scoped = _invert({card_id: (scope,) for card_id, scope in (scopes or {}).items()})
        self._labels = frozenset(card.ability.casefold() for card in self._skills)
        self._apps = frozenset(card.app.casefold() for card in self._functions)
        self._apps_by_label = _apps_by_label(self._skills, self._functions)
        self._indexes: dict[tuple[str, bool], CardIndex] = {}
        self._advising: dict[str, list[SkillCard]] = {}
        """By function. Threads that find the same cards at the same time overwrite each other's equal lists."""
        self._skill_sets: dict[tuple[str, frozenset[str] | None], SkillSet] = {}
        """By ability label and tools. Threads that add the same entry overwrite each other's equal sets."""
        self._request_tests: dict[str, _RequestTests] = {}
        self._lock = Lock()

    @property
    def abilities(self) -> tuple[str, ...]:
        """The labels of the bank's skills, sorted."""
        return tuple(sorted({card.ability for card in self._skills}))

    def retrieve(self, query: Query, profile: Profile) -> Retrieval:
        """The cards to show for `query` that reach the profile's floor, best first."""
        words = tokenize(query.task)
        label = query.ability.casefold() if query.ability else ALL
        apps = self._apps_for(words, label, profile) if query.apps is None else query.apps
        functions = self._function_hits(query, words, apps, profile) if profile.functions else ()
        if label and label not in self._labels:
            labels = ", ".join(self.abilities) or "none"
            note = f"no skill has the ability {query.ability!r} (abilities of this bank: {labels})"
            return Retrieval((), functions, None, apps, note)
        index = self._index(label, profile.paper_search)
        ranking = index.rank(words, apps, profile)
        own = frozenset(card_id for name in query.own for card_id in self._taught.get(name, ()))
        taught = index.numbers(own)
        final = self._of_scope("finalization", index, ranking, taught, 1) if profile.final_reminder else []
        final_hit = index.hit(ranking, final[0], 1) if final else None
        if not profile.shows_all:
            skills = self._skill_hits(query, index, ranking, ranking.fits, taught, profile)
            return Retrieval(skills, functions, final_hit, apps)
        skill_set = self._skill_set(label, index, query.functions)
        top = index.best(ranking, TOP, skill_set.numbers)
        least = profile.floor * index.unit
        fits = sorted(number for number in top if ranking.relevance[number] >= max(least, 1e-9))
        skills = self._skill_hits(query, index, ranking, fits, taught, profile)
        usable = Usable(skill_set, own, index, ranking, top, functions)
        return Retrieval(skills, functions, final_hit, apps, usable=usable)

    def advising(self, function: str, query: Query) -> list[SkillCard]:
        """Skill Cards with a guard on how, when or whether to call `function` (`App.function`), the best proven first.
        None that the task of the query taught."""
        taught = {card_id for name in query.own for card_id in self._taught.get(name, ())}
        label = query.ability.casefold() if query.ability else ALL
        if function not in self._advising:
            self._advising[function] = self._find_advising(function)
        return [
            card
            for card in self._advising[function]
            if card.card_id not in taught and label in (ALL, card.ability.casefold())
        ]

    def _find_advising(self, function: str) -> list[SkillCard]:
        from contramem.guards.guard import guards_of  # parsing guards takes time, and most runs never ask

        named = [card for card in self._skills if function in card.functions_used]
        advising = [card for card in named if any(guard.advises_on == function for guard in guards_of(card.guards))]
        return sorted(advising, key=self._standing)

    def _skill_hits(
        self,
        query: Query,
        index: CardIndex,
        ranking: Ranking,
        fits: Integers | list[int],
        taught: list[int],
        profile: Profile,
    ) -> tuple[Hit, ...]:
        """The skills to show in full, of those that fit. `taught` are the cards learned from this task itself; they are
        left out, as are cards for requests that say something else."""
        reserved = self._of_scope("universal", index, ranking, taught, profile.universal_skills)
        others = index.without(fits, taught + reserved)
        wanted = profile.skills - len(reserved)
        best = [
            number
            for number in index.best(ranking, wanted + MAX_UNFIT, others)
            if profile.paper_search or _meets(query.task, self._tests_of(index.cards[number]))
        ][:wanted]
        numbers = reserved + index.near_best(ranking, best, profile.share_of_best)
        if profile.companions:
            companions = [
                number
                for number in self._companions(index, numbers)
                if number not in (*numbers, *taught) and _tells_when(index.cards[number])
            ]
            numbers += index.best(ranking, profile.companions, companions)
        return tuple(
            index.hit(ranking, number, rank, reserved=rank <= len(reserved)) for rank, number in enumerate(numbers, 1)
        )

    def _tests_of(self, card: Card) -> _RequestTests:
        """The conditions of a skill's guards on the request; none if one of its guards has no such condition."""
        if card.card_id not in self._request_tests:
            from contramem.guards.conditions import TaskSays
            from contramem.guards.guard import guards_of  # parsing guards takes time to import

            guards = guards_of(card.guards) if isinstance(card, SkillCard) else ()
            tests = [tuple(test for test in guard.conditions if isinstance(test, TaskSays)) for guard in guards]
            self._request_tests[card.card_id] = tuple(tests) if all(tests) else ()
        return self._request_tests[card.card_id]

    def _skill_set(self, label: str, index: CardIndex, tools: frozenset[str] | None) -> SkillSet:
        key = label, tools
        if key not in self._skill_sets:
            if len(self._skill_sets) >= MAX_TOOL_SETS:
                self._skill_sets.clear()
            self._skill_sets[key] = self._make_skill_set(index, tools)
        return self._skill_sets[key]

    def _make_skill_set(self, index: CardIndex, tools: frozenset[str] | None) -> SkillSet:
        import numpy

        can_call = self._can_call(tools)
        cards = [
            (number, card)
            for number, card in enumerate(index.cards)
            if isinstance(card, SkillCard) and all(map(can_call, card.functions_used))
        ]
        in_order = numpy.array([number for number, _ in cards], dtype=numpy.int64)
        cards.sort(key=lambda card: self._standing(card[1]))
        naming, deciding, apps = (defaultdict[str, list[int]](list) for _ in range(3))
        for number, card in cards:
            for kept, names in ((naming, card.functions_used), (deciding, deciding_functions(card)), (apps, card.apps)):
                for name in names:
                    kept[name].append(number)
        maps = [{name: numpy.array(some) for name, some in kept.items()} for kept in (naming, deciding, apps)]
        listed = sorted((card for _, card in cards), key=lambda card: deciding_functions(card)[:1])
        ids = frozenset(card.card_id for card in listed)
        return SkillSet(tuple(listed), ids, in_order, maps[0], maps[1], maps[2] if tools is None else {})

    def _standing(self, card: SkillCard) -> tuple[int, int, str]:
        """The best proven first, then those that most tasks taught."""
        grade = getattr(card, "grade", None)
        trust = GRADES.index(grade) if grade else len(GRADES)
        return trust, -len(self._taught_by.get(card.card_id, ())), card.card_id

    def _can_call(self, tools: frozenset[str] | None) -> Callable[[str], bool]:
        """Whether an agent with these tools can call a function. With a shell it can run any program."""
        if tools is None:
            return lambda name: True
        names = {self.names.full_name(name) for name in tools}
        shell = any(map(is_shell, tools))
        return lambda name: name in names or (shell and name.startswith(f"{SHELL}."))

    def _companions(self, index: CardIndex, shown: Iterable[int]) -> list[int]:
        """The cards that were learned from the same tasks as a shown card: from at least half of the tasks of either,
        and from several, because any two cards may come from one task."""
        companions = set[str]()
        for card_id in (index.cards[number].card_id for number in shown):
            own = self._taught_by.get(card_id, ())
            shared = Counter(other for name in own for other in self._taught[name])
            companions |= {
                other
                for other, count in shared.items()
                if count >= MIN_SHARED and 2 * count >= max(len(own), len(self._taught_by[other]))
            }
        return index.numbers(companions)

    def _of_scope(self, scope: str, index: CardIndex, ranking: Ranking, taught: list[int], limit: int) -> list[int]:
        """The best cards of a scope, whatever their score. Scopes belong to an ability, so without a label there are
        none."""
        if not limit or any(index is self._indexes.get((ALL, search)) for search in (False, True)):
            return []
        scoped = index.numbers(self._scoped.get(scope, ()))
        return index.best(ranking, limit, [number for number in scoped if number not in taught])

    def _function_hits(self, query: Query, words: list[str], apps: frozenset[str], profile: Profile) -> tuple[Hit, ...]:
        index = self._index(FUNCTIONS)
        terms = [*words, *subjects_of(words), *acts_of(words)] if profile.word_families else words
        ranking = index.rank(terms, apps, profile, profile.floor_for_functions(words))
        # The lower floor of a short request applies only within its apps.
        allowed = index.about_apps(ranking, profile.function_floor * index.unit if profile.function_floor else 0.0)
        if query.functions is not None:
            allowed = index.only(allowed, index.numbers(card.card_id for card in self._callable(query.functions)))
        elif query.ability:
            allowed = self._of_own_app(index, allowed, query.ability.casefold())
        asked = intents(words)
        wants = asked_changes(query.task, asked)
        for_changes = None if profile.paper_search else wants
        of_verb = asked if profile.verb_intent else None
        best = index.best_with_id(ranking, profile.functions, allowed, partial(_is_asked_for, for_changes, of_verb))
        numbers = index.near_best(ranking, best, profile.function_share_of_best)
        if not profile.paper_search and wants:  # what is asked for comes before what has to be looked up for it
            numbers.sort(key=lambda number: not only_changes(index.cards[number].card_id))
        return tuple(index.hit(ranking, number, rank) for rank, number in enumerate(numbers, 1))

    def _of_own_app(self, index: CardIndex, numbers: Integers, label: str) -> Integers:
        """If the label is the name of an app, its functions: an agent of one app cannot call another's."""
        if label not in self._apps:
            return numbers
        return index.with_id(numbers, lambda card_id: card_id.casefold().startswith(f"function::{label}."))

    def _apps_for(self, words: list[str], label: str, profile: Profile) -> frozenset[str]:
        """The apps that a task is about: those that both its words and the skills of its ability name, or else those
        that either names. A label may be the name of an app itself."""
        named = self._vocabulary.apps_in(words)
        if not profile.apps_of_label:
            return named
        labelled = self._apps_by_label.get(label, frozenset())
        return frozenset(named & labelled or named | labelled)

    def _callable(self, tools: Collection[str]) -> Iterator[FunctionCard]:
        """The cards of functions that an agent with these tools can call. With a shell it can run any program."""
        yield from (card for name in tools if (card := self.names.find(name)))
        if any(map(is_shell, tools)):
            yield from (card for card in self._functions if card.app == SHELL)

    def _index(self, label: str, paper_search: bool = False) -> CardIndex:
        """The index of the functions, of the skills of one ability, or of all skills. Built once, under a lock."""
        key = label, paper_search
        if key not in self._indexes:
            with self._lock:
                if key not in self._indexes:
                    make_scorer = plain_bm25 if paper_search else self._make_scorer
                    self._indexes[key] = CardIndex(self._cards(label), make_scorer, self._requests)
        return self._indexes[key]

    def _cards(self, label: str) -> Iterable[Card]:
        if label == FUNCTIONS:
            return self._functions
        return (card for card in self._skills if label in (ALL, card.ability.casefold()))

    @cached_property
    def _vocabulary(self) -> AppVocabulary:
        named = {function for card in self._skills for function in card.functions_used}
        return AppVocabulary(sorted(named | {card.tool for card in self._functions}))


def _apps_by_label(skills: Iterable[SkillCard], functions: Iterable[FunctionCard]) -> dict[str, frozenset[str]]:
    """By ability label, the apps that its skills name; a label that is the name of an app stands for that app."""
    apps: dict[str, set[str]] = {}
    for card in skills:
        apps.setdefault(card.ability.casefold(), set()).update(card.apps)
    for function in functions:
        apps.setdefault(function.app.casefold(), set()).add(function.app)
    return {label: frozenset(names) for label, names in apps.items()}


def _is_asked_for(changes: frozenset[str] | None, intents: frozenset[str] | None, card_id: str) -> bool:
    """Whether the function serves what is asked for. `changes` are what may be changed, `intents` what may be done at
    all; None: anything."""
    if changes is not None and only_changes(card_id) and not serves(card_id, changes):
        return False
    return intents is None or serves(card_id, intents)


def _tells_when(card: Card) -> bool:
    """Whether a guard of a skill tells by calls and observations when it applies, so that it may be shown although the
    words of a request did not find it."""
    from contramem.guards.guard import guards_of  # parsing guards takes time to import

    return isinstance(card, SkillCard) and any(guard.conditions or guard.advises_on for guard in guards_of(card.guards))


def functions_named(card: Card) -> tuple[str, ...]:
    return card.functions_used if isinstance(card, SkillCard) else (card.tool,)


def deciding_functions(card: Card) -> tuple[str, ...]:
    """The functions that a card is about: those that change something, or all if none does."""
    named = functions_named(card)
    return tuple(name for name in named if effect_of(name) != "read") or named


def _meets(task: str, tests: _RequestTests) -> bool:
    return not tests or any(all(test.matches_task(task) for test in of_guard) for of_guard in tests)


def _invert(values: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    """Turn a mapping from card id to values into one from value to card ids."""
    inverted = defaultdict[str, list[str]](list)
    for card_id, of_card in values.items():
        for value in of_card:
            inverted[value].append(card_id)
    return dict(inverted)
