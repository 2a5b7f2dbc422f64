"""Offline ACE (Zhang et al. 2025; paper, A.6): a playbook that grows one trajectory at a time.

One epoch. The Reflector sees one trajectory with its outcome and the whole playbook of the ability; the Curator adds
bullets or does nothing; the whole playbook is shown at task start. Runs of the same task are never compared; nothing is
merged, narrowed or retrieved. By rules, the Reflector says what one run alone shows; with a model, each step is a call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from contramem.contrast.flow import NOWHERE
from contramem.contrast.step import Step
from contramem.inject.provider import TextMemory
from contramem.monitor.guard import Guard
from contramem.traces.trajectory import Trajectory
from contramem_lab.baselines import Judge, Scorer
from contramem_lab.conditions.condition import RULES, BuiltMemory, ConditionInputs, ConstructionCost
from contramem_lab.conditions.library import Library
from contramem_lab.conditions.masked import MaskedRun, mask_runs
from contramem_lab.contest import TaskContest
from contramem_lab.foresight_guards import verdicts

TITLE = "Playbook from earlier runs"
STRATEGIES, TOOLS, MISTAKES = "strategies", "tools", "mistakes"
SECTIONS = (STRATEGIES, TOOLS, MISTAKES)


@dataclass(frozen=True)
class Bullet:
    """One line of a playbook."""

    section: str
    content: str
    taught_by: frozenset[str] = frozenset()
    guard: Guard | None = None
    """The bullet as a guard. Bullets of a model have none."""

    @property
    def text(self) -> str:
        return f"- [{self.section}] {self.content}"


Playbook = Sequence[Bullet]


def ace(inputs: ConditionInputs) -> BuiltMemory:
    reference = inputs.reference
    prepared, began = reference.prepare(), reference.clock()
    runs = by_ability(mask_runs(reference).values())
    used = sum(map(len, runs.values()))
    judge: Judge | None = None
    if inputs.model:
        from contramem_lab.conditions.ace_model import learn_playbooks
        from contramem_lab.conditions.asking import asking

        with asking(inputs, inputs.model, "ace") as model:
            playbooks: Mapping[str, Playbook] = learn_playbooks(runs, model)
            calls = model.calls()
        took = ConstructionCost.of_calls(inputs.by, used, calls, prepared + reference.clock() - began)
    else:
        playbooks = {ability: learn_playbook(members) for ability, members in runs.items()}
        took = ConstructionCost(RULES, used, seconds=prepared + reference.clock() - began)
        judge = judge_by(playbooks)
    library = Library(TITLE, playbooks, separate=False)
    return BuiltMemory(TextMemory(library), len(library), "bullets", library.tokens, took, judge)


def by_ability(runs: Iterable[MaskedRun]) -> dict[str, list[MaskedRun]]:
    """All runs that count as evidence, passed or not, in learning order."""
    by_ability: dict[str, list[MaskedRun]] = defaultdict(list)
    for run in runs:
        if run.counts:
            by_ability[run.ability].append(run)
    return dict(sorted(by_ability.items()))


def learn_playbook(runs: Iterable[MaskedRun]) -> Playbook:
    """Build a playbook by rules, one run after the other."""
    playbook: Playbook = ()
    for run in runs:
        playbook = curate_playbook(playbook, reflect_on_run(run))
    return playbook


def curate_playbook(playbook: Playbook, insights: Iterable[Bullet]) -> Playbook:
    """Add the insights that the playbook does not contain; nothing is ever changed or removed."""
    contents = {bullet.content for bullet in playbook}
    added = {bullet.content: bullet for bullet in insights if bullet.content not in contents}
    return (*playbook, *added.values())


def reflect_on_run(run: MaskedRun) -> Iterator[Bullet]:
    """What this run alone shows: what a passing run did, or why a failing run may have failed."""
    yield from _errors(run)
    yield from _strategies(run) if run.passed else _mistakes(run)


def _strategies(run: MaskedRun) -> Iterator[Bullet]:
    for step in run.calls:
        if step.error:
            continue
        if step.effect == "write":
            done = f"A run that ended well called `{step.function}`."
            yield Bullet(STRATEGIES, done, run.identity, Guard("existence", step.function))
        for argument, origin in step.origins.items():
            if "." in origin:
                taken = Guard("existence", f"{step.function}[{argument} from {origin}]")
                sentence = f"Take `{argument}` of `{step.function}` from what `{origin}` returned."
                yield Bullet(STRATEGIES, sentence, run.identity, taken)


def _errors(run: MaskedRun) -> Iterator[Bullet]:
    for number, step in enumerate(run.steps):
        if not step.error:
            continue
        retry = next((later for later in run.steps[number + 1 :] if _is_retry(later, step)), None)
        remedy = (
            f" Another {_list_changes(step, retry)} worked." if retry is not None and _list_changes(step, retry) else ""
        )
        yield Bullet(TOOLS, f"`{step.function}` may answer “{step.error}”.{remedy}", run.identity)


def _is_retry(later: Step, step: Step) -> bool:
    """Whether `later` is a successful call of the same function."""
    return later.function == step.function and not later.error


def _list_changes(step: Step, retry: Step) -> str:
    names = sorted(step.arguments.keys() | retry.arguments.keys())
    return " and ".join(f"`{name}`" for name in names if step.arguments.get(name) != retry.arguments.get(name))


def _mistakes(run: MaskedRun) -> Iterator[Bullet]:
    seen: set[bytes] = set()
    for step in run.calls:
        call = msgspec.json.encode([step.function, step.arguments], order="deterministic")
        if call in seen and not step.error:
            sentence = f"A run failed that called `{step.function}` again with the same arguments."
            yield Bullet(MISTAKES, sentence, run.identity, Guard("at_most_once", step.function))
        seen.add(call)
        for argument, origin in step.origins.items():
            if origin == NOWHERE:
                sentence = (
                    f"A run failed that gave `{step.function}` a value for `{argument}` that it had seen nowhere."
                )
                yield Bullet(MISTAKES, sentence, run.identity, Guard("known_value", step.function, argument=argument))
    if not any(step.effect == "write" for step in run.calls):
        yield Bullet(MISTAKES, "A run failed that changed nothing.", run.identity, Guard("existence", "writes"))
    if run.ended == "limit":
        yield Bullet(MISTAKES, "A run failed that came to no end.", run.identity, Guard("existence", "finalize"))


def judge_by(playbooks: Mapping[str, Playbook]) -> Judge:
    """Score a run by the number of bullets whose guard it broke."""

    def judge(contest: TaskContest) -> Scorer:
        own = contest.query.own
        playbook = playbooks.get(contest.ability, ())
        guards = sorted({bullet.guard for bullet in playbook if bullet.guard and own.isdisjoint(bullet.taught_by)})

        def score(run: Trajectory) -> float:
            return -sum(verdict == "broken" for verdict in verdicts(guards, run).values())

        return score

    return judge
