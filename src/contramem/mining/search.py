"""Search: the fewest rules that explain the failures of a domain, each with what these runs cannot tell apart from it.

A rule is a statement, perhaps under a condition. In every task the runs that keep and break a statement give evidence
for or against it (chance.py); a condition is a mask over tasks, so all statements under all conditions are one product
of matrices. The best rule is taken, the failures that it explains are set aside, and so on. What chance reaches in each
family of statements is measured by permuting outcomes within tasks, and has to be exceeded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from contramem.mining.chance import evidence, exact_chance, permute_within
from contramem.mining.conditions import Condition, Fact, find_conditions, find_facts
from contramem.mining.kinds import find_kinds
from contramem.mining.matrix import Domain, Statement, Statements
from contramem.mining.statements import DOING, collect_statements

MIN_NET = 0.5
"""Nats by which a rule must beat the best that chance reached in its family."""
MAX_CHANCE = 0.1
SURE_OF_ANSWERS = 4.0
"""Nats from which what an answer says may be the reason, and not only go along with it."""
MAX_RULES = 80
ROUNDS = 11
"""Permutations that penalties are measured with."""
NEAR = 0.7
"""Nats that do not tell two explanations apart."""
MAX_OPEN = 3
FAR_FETCHED = 0.6
"""Nats from which a condition is so much less likely meant than another that it isn't named beside it."""
MAX_LOOSE = 1500
MAX_PAIR_COST = 2.0
"""Nats that two conditions may cost together: two far-fetched ones always fit something."""
MIN_TELLING = 0.3
"""Nats from which a task counts as showing a rule."""
WORST = -99.0


@dataclass
class Scope:
    """Tasks in which rules are looked for."""

    name: str
    tasks: list[int]
    runs: NDArray[np.intp]
    starts: NDArray[np.intp]
    """Where the runs of each stratum begin."""
    statements: NDArray[np.intp]
    conditions: list[Condition] = field(default_factory=list)
    masks: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    costs: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    by_function: dict[str, list[int]] = field(default_factory=dict)
    """Conditions on what a function was called with."""
    kinds: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    cost: float = 0.0
    """To hold for one kind of several is less likely than to hold for all."""


@dataclass
class Rule:
    """A statement that passing runs keep and failing runs break."""

    statement: Statement
    scope: Scope
    condition: Condition | None
    score: float
    net: float
    kept: NDArray[np.bool_]
    broken: NDArray[np.bool_]
    explains: NDArray[np.bool_]
    """The failing runs that no rule before it explained."""
    chance: float = 1.0
    tasks: int = 0
    """How many tasks show it."""
    is_certain: bool = True
    note: str = ""
    """Why it isn't certain, apart from what follows."""
    or_if: list[Condition] = field(default_factory=list)
    """Conditions that divide the tasks as well."""
    or_rather: list[Statement] = field(default_factory=list)
    """Other sources of the same argument that fit as well."""
    rivals: list[Statement] = field(default_factory=list)
    instead: Statement | None = None
    """What passing runs did where it forbids something."""


class Found(NamedTuple):
    """The best of a kind in a scope."""

    net: float
    score: float
    statement: int
    condition: int
    """-1: none."""
    row: NDArray[np.float64]


class Search:
    """Finds rules in a domain."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.statements: Statements = collect_statements(domain)
        self.all = self.statements.all
        self.matrix = self.statements.matrix if self.all else np.zeros((0, len(domain.runs)), dtype=np.int8)
        self.cost = np.array([statement.cost for statement in self.all])
        self.families = sorted({statement.family for statement in self.all})
        self.family = np.array([self.families.index(statement.family) for statement in self.all], dtype=np.intp)
        self.penalty = np.full((2, len(self.families)), 2.0)
        self.kinds = find_kinds(domain.tasks, domain.runs, domain.reads)
        self.kind_of = np.zeros(len(domain.tasks), dtype=np.intp)
        for number, kind in enumerate(self.kinds):
            self.kind_of[kind] = number
        self.facts: list[Fact] = find_facts(domain)
        self.scopes = list(self._make_scopes()) if self.all else []

    @cached_property
    def strata(self) -> NDArray[np.intp]:
        """What the outcome of each run is compared within: its task, or its kind if tasks have one run each."""
        strata: NDArray[np.intp] = self.kind_of[self.domain.task_of] if self.domain.is_single else self.domain.task_of
        return strata

    # Scopes

    def _make_scopes(self) -> Iterator[Scope]:
        """Kinds of tasks, kinds in which the same is done, and kinds in which a function is called."""
        seen = set[tuple[int, ...]]()
        found = [scope for name, tasks in self._groups() if (scope := self._scope(name, tasks, seen)) is not None]
        for scope in found:
            parts = [np.isin(scope.tasks, kind) for kind in self.kinds]
            scope.kinds = np.array([part for part in parts if part.any()], dtype=np.float32)
            scope.cost = 0.7 * any(set(scope.tasks) < set(other.tasks) for other in found)
            yield scope

    def _groups(self) -> Iterator[tuple[str, list[int]]]:
        domain = self.domain
        share = [
            {
                function: float(np.mean([domain.last[function][n] >= 0 for t in kind for n in domain.tasks[t].runs]))
                for function in domain.functions
                if domain.changes(function)
            }
            for kind in self.kinds
        ]
        acts = [{function for function, often in each.items() if often >= 0.15} for each in share]
        left = set(range(len(self.kinds)))
        while left:  # kinds in which the same is done, whatever the words
            group = [left.pop()]
            for kind in group:
                near = [o for o in left if acts[kind] and len(acts[kind] & acts[o]) >= 0.6 * len(acts[kind] | acts[o])]
                group += near
                left -= set(near)
            if len(group) > 1:
                yield "alike", sorted(task for kind in group for task in self.kinds[kind])
        for kind_tasks in self.kinds:
            yield "kind", kind_tasks
        for function in sorted({function for each in acts for function in each}):
            among = [kind for kind, each in enumerate(acts) if function in each]
            yield f"about {function}", sorted(task for kind in among for task in self.kinds[kind])

    def _scope(self, name: str, tasks: list[int], seen: set[tuple[int, ...]]) -> Scope | None:
        if len(tasks) < 2 or tuple(tasks) in seen:
            return None
        seen.add(tuple(tasks))
        runs = np.array([n for task in tasks for n in self.domain.tasks[task].runs], dtype=np.intp)
        starts = np.cumsum([0, *(len(self.domain.tasks[task].runs) for task in tasks)])[:-1]
        part = self.matrix[:, runs]
        chosen = np.flatnonzero((part < 0).any(axis=1) & (part > 0).any(axis=1))
        if name.startswith("about"):  # what to do is a question of one kind; how to do it may be common to many
            chosen = np.array([n for n in chosen if self.all[n].family not in DOING], dtype=np.intp)
        scope = Scope(name, tasks, runs, starts, chosen)
        scope.conditions = find_conditions(self.facts, tasks, len(self.domain.tasks))
        if scope.conditions:
            scope.masks = np.array([each.mask[tasks] for each in scope.conditions], dtype=np.float32)
            scope.costs = np.array([each.cost + 0.5 for each in scope.conditions])
            for number, each in enumerate(scope.conditions):
                if each.function:
                    scope.by_function.setdefault(each.function, []).append(number)
        return scope

    # Evidence

    def table(self, scope: Scope, chosen: Any, passed: NDArray[np.bool_], alive: NDArray[np.bool_]) -> Any:
        """The evidence for statements, by task."""
        part = self.matrix[np.ix_(chosen, scope.runs)] * alive[scope.runs].astype(np.int8)
        won = passed[scope.runs]
        kept, kept_passed, broken, broken_passed = (
            np.add.reduceat(what, scope.starts, axis=1, dtype=np.int32)
            for what in (part > 0, (part > 0) & won, part < 0, (part < 0) & won)
        )
        if self.domain.is_single:
            return _spread(kept, kept_passed, broken, broken_passed)
        return evidence(kept, kept_passed, broken, broken_passed)

    def best(
        self, scope: Scope, passed: NDArray[np.bool_], alive: NDArray[np.bool_], raw: dict[Any, float] | None = None
    ) -> list[Found]:
        """The best rules of a scope: whole, for some of its kinds, under a condition, under two. With `raw`, only the
        best scores by family are noted, before any penalty."""
        if not len(scope.statements):
            return []
        chosen = scope.statements
        table = self.table(scope, chosen, passed, alive)
        total = table.sum(axis=1)
        family, cost = self.family[chosen], self.cost[chosen]
        small = int(scope.cost > 0)
        enough = (table > MIN_TELLING).sum(axis=1) >= 2
        if raw is not None:
            for number in range(len(self.families)):
                here = enough & (family == number)
                raw[0, number] = max(raw.get((0, number), 0.0), float((total - cost)[here].max(initial=0)))
        whole = np.where(enough, total - self.penalty[small, family] - cost - scope.cost, WORST)
        at = int(whole.argmax())
        found = [Found(float(whole[at]), float(total[at]), int(chosen[at]), -1, table[at])]
        if raw is None and len(scope.kinds) > 1:
            found += self._of_some_kinds(scope, table, total, enough)
        if scope.conditions:
            found += self._conditional(scope, table, enough, raw)
        return found

    def _of_some_kinds(self, scope: Scope, table: Any, total: Any, enough: Any) -> Iterator[Found]:
        family, cost = self.family[scope.statements], self.cost[scope.statements]
        sums = table @ scope.kinds.T
        dropped = (sums < -0.5).sum(axis=1)
        united = np.maximum(sums, 0).sum(axis=1)
        doing = np.array([self.families[n] in DOING for n in family])
        worth = np.where(
            enough & (dropped > 0) & ~doing, united - self.penalty[0, family] - cost - scope.cost - 0.5 * dropped, WORST
        )
        at = int(worth.argmax())
        if worth[at] > MIN_NET:
            number = self._unite(scope, sums[at] >= -0.5)
            yield Found(float(worth[at]), float(united[at]), int(scope.statements[at]), number, table[at])

    def _unite(self, scope: Scope, keep: NDArray[np.bool_]) -> int:
        """Some of the kinds of a scope as a condition."""
        inside = np.flatnonzero(scope.kinds[keep].any(axis=0))
        tasks = [scope.tasks[place] for place in inside]
        mask = np.zeros(len(self.domain.tasks), dtype=np.bool_)
        mask[tasks] = True
        for number, each in enumerate(scope.conditions):
            if each.about == "kind" and (each.mask == mask).all():
                return number
        return self._add_condition(scope, Condition("", "kind", mask, 2.5), 3.0)

    def _add_condition(self, scope: Scope, condition: Condition, cost: float) -> int:
        scope.conditions.append(condition)
        row = condition.mask[scope.tasks][None, :].astype(np.float32)
        scope.masks = np.vstack([scope.masks.reshape(-1, len(scope.tasks)), row])
        scope.costs = np.append(scope.costs, cost)
        return len(scope.conditions) - 1

    def _conditional(self, scope: Scope, table: Any, enough: Any, raw: dict[Any, float] | None) -> list[Found]:
        chosen = scope.statements
        family, cost = self.family[chosen], self.cost[chosen]
        positive, negative = np.maximum(table, 0).sum(axis=1), np.minimum(table, 0).sum(axis=1)
        upper = positive - (0 if raw is not None else self.penalty[1, family] + cost)
        loose = np.flatnonzero((negative < -1) & enough & (upper > (1 if raw is not None else MIN_NET)))
        if not len(loose):
            return []
        loose = loose[np.argsort(-upper[loose])[:MAX_LOOSE]]
        scores = table[loose].astype(np.float32) @ scope.masks.T
        scores[(table[loose] > MIN_TELLING).astype(np.float32) @ scope.masks.T < 2] = WORST
        for place, number in enumerate(loose):  # not: "call it if it is called with"
            scores[place, self._circular(scope, self.all[chosen[number]])] = WORST
        if raw is not None:
            for kind in range(len(self.families)):
                least = scores[family[loose] == kind] - cost[loose][family[loose] == kind][:, None] - scope.costs
                raw[1, kind] = max(raw.get((1, kind), 0.0), float(least.max(initial=0)))
            return []
        net = scores - (self.penalty[1, family[loose]] + cost[loose])[:, None] - scope.costs - scope.cost
        top, column = divmod(int(net.argmax()), net.shape[1])
        found = Found(
            float(net[top, column]), float(scores[top, column]), int(chosen[loose[top]]), column, table[loose[top]]
        )
        return [found, *self._paired(scope, table, loose, scores, net)]

    def _circular(self, scope: Scope, statement: Statement) -> list[int]:
        """Conditions on what the statement itself is about."""
        about = scope.by_function.get(statement.function, ())
        if not statement.argument:
            return list(about)
        return [number for number in about if scope.conditions[number].argument == statement.argument]

    def _paired(self, scope: Scope, table: Any, loose: Any, scores: Any, net: Any) -> Iterator[Found]:
        """Two conditions at once, for statements to which the best one leaves exceptions. The pair is kept."""
        best: tuple[float, float, int, int, int] | None = None
        promise = np.maximum(table[loose], 0).sum(axis=1) - scores.max(axis=1, initial=WORST) + net.max(axis=1)
        for row in map(int, np.argsort(-promise)[:40]):
            statement = scope.statements[loose[row]]
            values = table[loose[row]].astype(np.float32)
            price = self.penalty[1, self.family[statement]] + self.cost[statement] + scope.cost + 1.2
            positive = scope.masks @ np.maximum(values, 0)
            for one in map(int, np.argsort(-(scores[row] + 2 * positive))[:12]):
                both = scope.masks * scope.masks[one]
                good = both @ (values > MIN_TELLING).astype(np.float32) >= 2
                good &= scope.costs + scope.costs[one] < MAX_PAIR_COST
                gain = np.where(good, both @ values - scope.costs, WORST)
                two = int(gain.argmax())
                worth = float(gain[two] - scope.costs[one]) - price
                if gain[two] > 0 and worth > max(MIN_NET, float(net[row].max())) and (best is None or worth > best[0]):
                    best = (worth, float(gain[two] + scope.costs[two]), row, one, two)
        if best is not None:
            worth, score, row, one, two = best
            a, b = scope.conditions[one], scope.conditions[two]
            pair = Condition(
                f"{a.text} and {b.text}", f"{a.about} and {b.about}", a.mask & b.mask, a.cost + b.cost + 1.2
            )
            known = [n for n, each in enumerate(scope.conditions) if each.text == pair.text]
            number = known[0] if known else self._add_condition(scope, pair, pair.cost)
            yield Found(worth, score, int(scope.statements[loose[row]]), number, table[loose[row]])

    # Chance

    def calibrate(self, rng: np.random.Generator, rounds: int = ROUNDS) -> None:
        """Measure what chance reaches in each family."""
        alive = np.ones(len(self.domain.runs), dtype=np.bool_)
        reached: dict[Any, list[float]] = {}
        for _ in range(rounds):
            raw: dict[Any, float] = {}
            passed = self.permuted(rng)
            for scope in self.scopes:
                self.best(scope, passed, alive, raw)
            for key, value in raw.items():
                reached.setdefault(key, []).append(value)
        for (kind, number), values in reached.items():
            self.penalty[kind, number] = max(1.0, float(np.median(values)))

    def permuted(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        order = np.argsort(self.strata, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(self.strata[order])) + 1)
        return permute_within(self.domain.passed, groups, rng)

    # Rules

    def find_rules(self, passed: NDArray[np.bool_]) -> list[Rule]:
        """The best rule, without the failures that it explains the next best, and so on. What agents say last mostly
        tells what they did, so it may explain only what is left."""
        alive = np.ones(len(passed), dtype=np.bool_)
        is_last = np.array([statement.function == "finalize" for statement in self.all], dtype=np.bool_)
        active = [scope.statements[~is_last[scope.statements]] for scope in self.scopes]
        later: list[Any] | None = [scope.statements[is_last[scope.statements]] for scope in self.scopes]
        scopes = [
            replace(scope, statements=chosen, conditions=list(scope.conditions))
            for scope, chosen in zip(self.scopes, active, strict=True)
        ]
        ready: list[list[Found] | None] = [None] * len(scopes)
        rules = list[Rule]()
        taken = set[tuple[int, int, int]]()
        while len(rules) < MAX_RULES:
            for number, scope in enumerate(scopes):
                if ready[number] is None:
                    ready[number] = self.best(scope, passed, alive)
            top = max(
                ((found, number) for number, some in enumerate(ready) for found in some or ()),
                key=lambda pair: pair[0].net,
                default=None,
            )
            if top is None or top[0].net < MIN_NET:
                if later is None:
                    break
                for scope, more in zip(scopes, later, strict=True):
                    scope.statements = np.concatenate([scope.statements, more])
                later, ready = None, [None] * len(scopes)
                continue
            found, number = top
            scope = scopes[number]
            rule = self._make(scope, found, passed, alive)
            key = number, found.statement, found.condition
            if rule is None or key in taken:
                scope.statements = scope.statements[scope.statements != found.statement]
                ready[number] = None
                continue
            taken.add(key)
            rules.append(rule)
            alive &= ~rule.explains
            touched = set(self.domain.task_of[rule.explains])
            for other, each in enumerate(scopes):
                if touched & set(each.tasks):
                    ready[other] = None
        return rules

    def _make(self, scope: Scope, found: Found, passed: NDArray[np.bool_], alive: NDArray[np.bool_]) -> Rule | None:
        domain, statement = self.domain, self.all[found.statement]
        condition = self._in_the_gap(scope, found) if found.condition >= 0 else None
        here = np.zeros(len(passed), dtype=np.bool_)
        here[scope.runs] = True
        if condition is not None:
            here &= condition.mask[domain.task_of]
        kept, broken = here & (statement.column > 0), here & (statement.column < 0)
        explains = broken & ~passed & alive
        right, guilty = kept & passed & alive, set(domain.sources[explains])
        several = domain.source_count > 1
        if explains.sum() < 2 or len(set(domain.sources[right])) < 1 + several:
            return None
        rule = Rule(statement, scope, condition, found.score, found.net, kept, broken, explains)
        rule.chance = exact_chance(kept & alive, broken & alive, passed, self.strata)
        if rule.chance > MAX_CHANCE:
            return None
        rule.tasks = int((np.abs(found.row) > MIN_TELLING).sum())
        if several and len(guilty) < 2 and np.isin(domain.sources[right], list(guilty)).sum() < 2:
            rule.is_certain, rule.note = False, "only one agent broke it, and never kept it"
        if condition is not None and condition.about != "kind":
            self._weigh_conditions(rule, found)
        self._find_rivals(rule, passed, alive)
        narrow = scope.cost and statement.family in (*DOING, "mention", "phrase")
        if rule.tasks < 3 or (rule.tasks < 4 and narrow):
            rule.is_certain, rule.note = False, rule.note or f"seen in {rule.tasks} tasks"
        if statement.function == "finalize" and found.net < SURE_OF_ANSWERS:
            rule.is_certain, rule.note = False, rule.note or "answers mostly tell what was done"
        if statement.family in ("nocall", "notvalue"):
            rule.instead = self._find_instead(here & alive, statement, passed)
        return rule

    def _in_the_gap(self, scope: Scope, found: Found) -> Condition:
        """The condition; of thresholds that the runs do not tell apart the middle one, with both ends of the gap."""
        chosen = scope.conditions[found.condition]
        if chosen.gap is None:
            return chosen
        scores = scope.masks @ found.row.astype(np.float32)
        operator = re.search(r" (<=|>) | (at least|at most) ", chosen.text)
        alike = [
            each
            for number, each in enumerate(scope.conditions)
            if each.about == chosen.about
            and each.gap is not None
            and abs(scores[number] - scores[found.condition]) < 0.01
            and operator is not None
            and operator[0] in each.text
        ]
        if len(alike) < 2:
            return chosen
        alike.sort(key=lambda each: float(each.gap[0]) if each.gap else 0.0)
        first, last, middle = alike[0].gap, alike[-1].gap, alike[len(alike) // 2]
        return replace(middle, gap=(first[0], last[1]) if first and last else None)

    def _weigh_conditions(self, rule: Rule, found: Found) -> None:
        """Would some fact divide the tasks as well if facts were dealt anew? Which others do, of these?"""
        scope, condition = rule.scope, rule.condition
        assert condition is not None
        row = found.row.astype(np.float32)
        scores = scope.masks @ row
        best = float(scores[found.condition])
        telling = np.flatnonzero(np.abs(row) > MIN_TELLING)
        rng = np.random.default_rng(0)
        dealt = np.repeat(row[None, :], 200, axis=0)
        for each in dealt:
            each[telling] = rng.permutation(each[telling])
        by_luck = float(((scope.masks @ dealt.T).max(axis=0) >= best - 0.01).mean())
        circular = set(self._circular(scope, rule.statement))
        near = list[int]()
        seen = {condition.about}
        for number in np.argsort(scope.costs - scores):
            each = scope.conditions[number]
            if scores[number] < best - NEAR or each.about in seen or number in circular or not each.text:
                continue
            same_field = each.about.rpartition(".")[2] == condition.about.rpartition(".")[2] and "." in each.about
            if same_field and (each.mask == condition.mask).all():
                continue
            seen.add(each.about)
            near.append(int(number))
        pairs = list(self._plain_pairs(scope, row, best)) if scope.costs[found.condition] > 1.2 else []
        rule.or_if = [*pairs, *(scope.conditions[number] for number in near)]
        rule.or_if = [each for each in rule.or_if if each.cost <= condition.cost + FAR_FETCHED]
        rule.or_if = sorted(rule.or_if, key=lambda each: each.cost)[:MAX_OPEN]
        plain = [number for number in near if scope.costs[number] <= scope.costs[found.condition] + 0.35]
        if plain or pairs or by_luck > 0.1 or " and " in condition.text:
            rule.is_certain = False

    def _plain_pairs(self, scope: Scope, row: Any, best: float) -> Iterator[Condition]:
        """Two categories that together divide the tasks as well as a far-fetched single fact does."""
        plain = [n for n, each in enumerate(scope.conditions) if each.cost <= 0.3 and " and " not in each.text]
        good = [n for n in plain if scope.masks[n] @ np.maximum(row, 0) >= best - NEAR][:40]
        found = list[tuple[float, Condition]]()
        for place, one in enumerate(good):
            for two in good[place + 1 :]:
                a, b = scope.conditions[one], scope.conditions[two]
                if a.about != b.about and (scope.masks[one] * scope.masks[two]) @ row >= best - NEAR:
                    pair = Condition(
                        f"{a.text} and {b.text}", f"{a.about} and {b.about}", a.mask & b.mask, a.cost + b.cost
                    )
                    found.append((pair.cost, pair))
        yield from (pair for _, pair in sorted(found, key=lambda each: each[0])[:2])

    def _find_rivals(self, rule: Rule, passed: NDArray[np.bool_], alive: NDArray[np.bool_]) -> None:
        """Other statements that explain the same failures about as well; of one argument, they leave it open."""
        scope, statement = rule.scope, rule.statement
        mask = alive.copy()
        if rule.condition is not None:
            mask &= rule.condition.mask[self.domain.task_of]
        conditional = int(rule.condition is not None and rule.condition.about != "kind")
        total = self.table(scope, scope.statements, passed, mask).sum(axis=1)
        total = total - self.penalty[conditional, self.family[scope.statements]] - self.cost[scope.statements]
        own = np.flatnonzero([self.all[n] is statement for n in scope.statements])
        mine = float(total[own[0]]) if len(own) else rule.net
        near = [(0.0, other) for other in statement.others]
        for place in np.argsort(-total)[:40]:
            other = self.all[scope.statements[place]]
            if total[place] < mine - NEAR or other is statement:
                continue
            shared = ((other.column < 0) & rule.explains).sum()
            if shared >= (0.5 if other.subject == statement.subject else 0.8) * rule.explains.sum():
                near.append((float(mine - total[place]), other))
        near.sort(key=lambda pair: pair[1].cost)
        rule.rivals = [other for _, other in near][:6]
        if statement.family in _EXACT:
            rule.or_rather = [
                other
                for gap, other in near
                if other.family in _EXACT
                and other.subject == statement.subject
                and gap <= NEAR + 0.1
                and other.cost <= statement.cost + 0.5
                and not _refines(other.guard, statement.guard)
            ][:MAX_OPEN]
            rule.is_certain &= not rule.or_rather

    def _find_instead(
        self, here: NDArray[np.bool_], statement: Statement, passed: NDArray[np.bool_]
    ) -> Statement | None:
        """What passing runs did that runs which broke the rule did not."""
        right, wrong = here & passed & (statement.column > 0), here & (statement.column < 0)
        best, found = 0.4, None
        for other in self.all:
            if other.family == "call" and other.function != statement.function and self.domain.changes(other.function):
                did = float((other.column[right] > 0).mean()) if right.any() else 0.0
                also = float((other.column[wrong] > 0).mean()) if wrong.any() else 0.0
                worth = did - also - 0.1 * ("[" not in other.guard)
                if did >= 0.7 and worth > best:
                    best, found = worth, other
        return found


_EXACT = frozenset({"source", "formula", "pick", "value"})


def _refines(guard: str, other: str) -> bool:
    """Does it say the same with one filter more?"""
    (first, _, more), (second, _, less) = guard.partition(" where "), other.partition(" where ")
    return first.rstrip(")]") == second.rstrip(")]") and set(less.rstrip(")]").split(", ")) - {""} <= set(
        more.rstrip(")]").split(", ")
    )


def _spread(kept: Any, kept_passed: Any, broken: Any, broken_passed: Any) -> Any:
    """Tasks with one run each: every run gives evidence by how well runs like it fare over all tasks of the scope. The
    sum over the tasks of a condition is close to the evidence of these tasks together."""
    sums = [each.sum(axis=1, keepdims=True) for each in (kept, kept_passed, broken, broken_passed)]
    whole = evidence(*(each.astype(np.int64) for each in sums))
    count = np.maximum((kept + broken).sum(axis=1, keepdims=True), 1)
    passes = np.where(broken_passed > 0, np.log(0.04), 0.0)
    share = np.where((kept + broken) > 0, whole / count, 0.0)
    return np.where(broken_passed > 0, np.minimum(share, passes), share)


def search(domain: Domain, seed: int = 0) -> list[Rule]:
    """The rules of a domain, those that beat chance by most first."""
    found = Search(domain)
    if not found.all:
        return []
    found.calibrate(np.random.default_rng(seed))
    return found.find_rules(domain.passed)
