"""Memories other than cards: raw retrieval, offline AWM, offline ACE; the last two by rules or with a model.

AWM (Wang et al. 2024; paper, A.7): one induction per ability over runs that passed, workflows of at least two actions,
and the whole library at task start. ACE (Zhang et al. 2025; paper, A.6): a playbook that grows one trajectory at a
time; the Reflector sees one trajectory with its outcome and the whole playbook, the Curator adds bullets or does
nothing. Neither compares runs of a task, merges, narrows or retrieves.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Literal, Protocol, TypeVar

import msgspec
from pydantic import BaseModel, Field
from rapidfuzz.distance import LCSseq

from contramem.bank.card import Line, Strict
from contramem.bank.store import Store, open_store
from contramem.bank.tables import StoredExchange
from contramem.build.model.answering import AskNow
from contramem.build.model.author import MAX_ASKED, MAX_REPEATED_CHARS, ModelChoice
from contramem.build.model.prompts import in_messages
from contramem.build.model.replies import UnparsedReply, parse_reply, schema_of
from contramem.build.model.step_text import call_text
from contramem.contrast.flow import NOWHERE
from contramem.contrast.step import Step
from contramem.counting import count_tokens
from contramem.guards.guard import Guard
from contramem.inject.provider import TextMemory
from contramem.llm.client import PromptMessage, Request, Stage
from contramem.llm.exchange import Exchange
from contramem.privacy.instructions import overrides
from contramem.prompts import fence, render
from contramem.retrieve.bm25 import Bm25
from contramem.retrieve.hit import Query
from contramem.retrieve.tokens import tokenize
from contramem.traces.trajectory import Trajectory
from contramem_lab.condition import (
    NOTHING,
    RULES,
    BuiltMemory,
    ByModel,
    ConditionInputs,
    ConstructionCost,
    MaskedRun,
    RunKey,
    key_of,
    mask_runs,
)
from contramem_lab.foresight import (
    NEIGHBOURS,
    Judge,
    Neighbours,
    Scorer,
    TaskContest,
    common_steps,
    names,
    verdicts,
    workflow,
)

TEMPLATE = "prompts/shown.jinja"


def render_entries(title: str, entries: Sequence[str]) -> str:
    """The entries under a title, with the same policy as for cards; empty without entries."""
    return render(TEMPLATE, "contramem_lab", title=title, entries=entries).text.strip() if entries else ""


class Entry(Protocol):
    """A workflow or a bullet."""

    @property
    def text(self) -> str:
        """The text shown to agents."""

    @property
    def taught_by(self) -> frozenset[str]:
        """Digests of the tasks that it was learned from, which never get it."""


class Library:
    """Renders the library of an ability, or of all if there is no label, without entries learned from the task."""

    def __init__(self, title: str, by_ability: Mapping[str, Sequence[Entry]], *, separate: bool) -> None:
        """`separate` puts each entry in a paragraph of its own; otherwise entries are lines of one list."""
        self._title, self._by_ability, self._separate = title, by_ability, separate

    def __call__(self, query: Query) -> str:
        labels = [query.ability] if query.ability else sorted(self._by_ability)
        entries = [entry for label in labels for entry in self._by_ability.get(label, ())]
        return self._text(entry for entry in entries if query.own.isdisjoint(entry.taught_by))

    def __len__(self) -> int:
        return sum(map(len, self._by_ability.values()))

    @property
    def tokens(self) -> int:
        """The size of the libraries of all abilities."""
        return sum(count_tokens(self._text(entries)) for entries in self._by_ability.values())

    def _text(self, entries: Iterable[Entry]) -> str:
        texts = [entry.text for entry in entries]
        return render_entries(self._title, texts if self._separate or not texts else ["\n".join(texts)])


Returned = TypeVar("Returned")
Work = Generator[Request, StoredExchange, Returned]
"""A conversation: yields requests, is sent the replies, and returns its outcome."""


@dataclass(frozen=True)
class Asking:
    """A model and the store for its replies, so that work that was stopped resumes without paying twice."""

    choice: ModelChoice
    store: Store
    exchange: Exchange
    answer: AskNow

    def request(self, template: str, stage: Stage, subject: str, kind: type[BaseModel], **values: object) -> Request:
        prompt = render(f"prompts/{template}.jinja", "contramem_lab", **values)
        return Request(
            model=self.choice.name,
            settings=self.choice.settings,
            messages=in_messages(prompt),
            schema=schema_of(kind),
            stage=stage,
            subject=subject,
            prompt=prompt.digest,
        )

    def side_by_side(self, works: Sequence[Work[Returned]]) -> list[Returned]:
        """Run all conversations in rounds: each round sends the next request of every one."""
        outcomes: dict[int, Returned] = {}
        requests: dict[int, Request] = {}
        for number, work in enumerate(works):
            self._advance(number, work, None, requests, outcomes)
        while requests:
            unanswered = {request.digest: request for request in requests.values() if not self.exchange.has(request)}
            self.answer(list(unanswered.values()))
            for number, request in list(requests.items()):
                self._advance(number, works[number], self.exchange.reply(request), requests, outcomes)
        return [outcomes[number] for number in range(len(works))]

    @staticmethod
    def _advance(
        number: int,
        work: Work[Returned],
        reply: StoredExchange | None,
        requests: dict[int, Request],
        outcomes: dict[int, Returned],
    ) -> None:
        try:
            requests[number] = next(work) if reply is None else work.send(reply)
        except StopIteration as end:
            requests.pop(number, None)
            outcomes[number] = end.value

    def calls(self) -> tuple[StoredExchange, ...]:
        """All calls that were paid for, now or earlier."""
        return self.store.calls()


@contextmanager
def asking(inputs: ConditionInputs, model: ByModel, name: str) -> Iterator[Asking]:
    with open_store(inputs.store(name, inputs.reference), create=True) as store, store.writing(name):
        yield Asking(model.choice, store, *model.asking(store))


def converse(request: Request, parse: Callable[[str], Returned]) -> Work[Returned | None]:
    """Ask, and ask again with the error if the reply does not parse. None if the model declines or keeps failing."""
    for attempt in range(2, MAX_ASKED + 2):
        call = yield request
        if call.finish in ("refusal", "content_filter"):
            return None
        try:
            return parse(call.reply or "")
        except UnparsedReply as unparsed:
            text = render(
                "build/model/prompts/again.jinja", complaints=unparsed.complaints, attempt=attempt, attempts=MAX_ASKED
            ).text
            excerpt = (call.reply or "")[:MAX_REPEATED_CHARS] or "(nothing)"
            request = replace(
                request,
                messages=(
                    *request.messages[:2],
                    PromptMessage("assistant", excerpt),
                    PromptMessage("user", text.strip()),
                ),
            )
    return None


BUDGET_TOKENS = 2_400
"""The budget of the largest card profile (`gaia2`)."""
RAW_TITLE = "Earlier runs that passed similar tasks"


def raw(inputs: ConditionInputs) -> BuiltMemory:
    reference = inputs.reference
    prepared, began = reference.prepare(), reference.clock()
    runs = mask_runs(reference)
    near = Neighbours(run for run in reference.runs if runs[key_of(run)].counts)
    texts = [_text(run) for run in runs.values() if run.passed and run.counts]
    seconds = prepared + reference.clock() - began
    return BuiltMemory(
        provider=TextMemory(_Nearest(near, runs)),
        items=len(texts),
        unit="runs",
        tokens=sum(map(count_tokens, texts)),
        construction=ConstructionCost(NOTHING, trajectories=len(texts), seconds=seconds),
        judge=near.nearest_passing_run,
    )


class _Nearest:
    """Renders a typical passing run of each neighbour, nearest first, within the budget."""

    def __init__(self, near: Neighbours, runs: dict[RunKey, MaskedRun]) -> None:
        self._near, self._runs = near, runs

    def __call__(self, query: Query) -> str:
        def is_own(run: Trajectory) -> bool:
            return not query.own.isdisjoint(self._runs[key_of(run)].identity)

        entries: list[str] = []
        for task in self._near.nearest(query.task, query.ability or "general", is_own):
            run = self._runs[key_of(_typical(task))]
            # A run that does not fit is cut after a whole step, and is the last one shown.
            for steps in range(len(run.lines), 0, -1):
                text = render_entries(RAW_TITLE, [*entries, _text(run, steps)])
                if count_tokens(text) <= BUDGET_TOKENS:
                    entries.append(_text(run, steps))
                    break
            if not entries or steps < len(run.lines):
                break
        return render_entries(RAW_TITLE, entries)


def _typical(passing: Sequence[Trajectory]) -> Trajectory:
    """The shortest run among those that make most of the common calls, which excludes a short run that was lucky."""
    common = set(workflow(passing))
    return min(passing, key=lambda run: (-len(common & set(names(run))), len(run.events), run.source, run.run))


def _text(run: MaskedRun, steps: int | None = None) -> str:
    shown: Sequence[str] = run.lines[:steps]
    more = [] if len(shown) == len(run.lines) else ["…"]
    lines = [f"{number}. {line}" for number, line in enumerate(shown, 1)]
    return "\n".join([f"### Task: {run.task}", *lines, *more])


MIN_ACTIONS = 2
"""A single action is not a workflow (the criterion of the released code)."""
AWM_TITLE = "Workflows that earlier runs followed"


@dataclass(frozen=True)
class Workflow:
    """What a routine is for, and its actions with variables for values."""

    about: str
    actions: tuple[str, ...]
    functions: tuple[str, ...]
    """The functions that the actions call, in order."""
    taught_by: frozenset[str]

    @property
    def text(self) -> str:
        lines = [f"{number}. {action}" for number, action in enumerate(self.actions, 1)]
        return "\n".join([f"### Workflow: {self.about}", *lines])


Workflows = Mapping[str, Sequence[Workflow]]
"""By ability."""


def awm(inputs: ConditionInputs) -> BuiltMemory:
    reference = inputs.reference
    prepared, began = reference.prepare(), reference.clock()
    demonstrations = by_task(mask_runs(reference).values())
    used = sum(len(runs) for tasks in demonstrations.values() for runs in tasks)
    if inputs.model:
        with asking(inputs, inputs.model, "awm") as model:
            workflows: Workflows = induce_by_model(demonstrations, model)
            calls = model.calls()
        took = ConstructionCost.of_calls(inputs.by, used, calls, prepared + reference.clock() - began)
    else:
        workflows = {ability: induce_workflows(tasks) for ability, tasks in demonstrations.items()}
        took = ConstructionCost(RULES, used, seconds=prepared + reference.clock() - began)
    library = Library(AWM_TITLE, workflows, separate=True)
    return BuiltMemory(
        TextMemory(library), len(library), "workflows", library.tokens, took, judge_by_workflows(workflows)
    )


def by_task(runs: Iterable[MaskedRun]) -> dict[str, list[list[MaskedRun]]]:
    """The demonstrations: runs that passed, by ability and task."""
    demonstrations: dict[str, dict[frozenset[str], list[MaskedRun]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        if run.counts and run.passed:
            demonstrations[run.ability][run.identity].append(run)
    return {ability: list(tasks.values()) for ability, tasks in sorted(demonstrations.items())}


def induce_workflows(tasks: Sequence[Sequence[MaskedRun]]) -> list[Workflow]:
    """Induce workflows by rules from the demonstrations of one ability. Tasks with the same calls share a workflow."""
    by_functions: dict[tuple[str, ...], Workflow] = {}
    for runs in tasks:
        calls = [tuple(step.function for step in run.calls) for run in runs]
        functions = common_steps(calls)
        if len(functions) < MIN_ACTIONS:
            continue
        example = next(run for run, called in zip(runs, calls, strict=True) if _follows(called, functions))
        new = Workflow(example.task, _actions(example, functions), functions, example.identity)
        workflow = by_functions.setdefault(functions, new)
        by_functions[functions] = replace(workflow, taught_by=workflow.taught_by | new.taught_by)
    return list(by_functions.values())


def _follows(called: tuple[str, ...], functions: tuple[str, ...]) -> bool:
    """Whether the first calls of these functions are in this order."""
    return tuple(dict.fromkeys(name for name in called if name in functions)) == functions


def _actions(run: MaskedRun, functions: tuple[str, ...]) -> tuple[str, ...]:
    """The run's first call of each function, without its result."""
    first = {step.function: step for step in reversed(run.calls)}
    return tuple(call_text(first[name], origins=False) for name in functions)


def judge_by_workflows(workflows: Workflows) -> Judge:
    """Score a run by the share of the most similar tasks' workflows that it follows, in order: an agent that sees the
    whole library picks what fits the task."""
    indexes = {
        ability: (members, Bm25([tokenize(workflow.about) for workflow in members]))
        for ability, members in workflows.items()
        if members
    }

    def judge(contest: TaskContest) -> Scorer:
        own = contest.query.own
        members, index = indexes.get(contest.ability, ((), None))
        chosen: list[Workflow] = []
        if index is not None:
            scores = index.scores(tokenize(contest.task))
            ranked = sorted(range(len(members)), key=lambda number: (-round(float(scores[number]), 9), number))
            chosen = [members[number] for number in ranked if own.isdisjoint(members[number].taught_by)][:NEIGHBOURS]

        def score(run: Trajectory) -> float:
            calls = names(run)
            shares = [LCSseq.similarity(calls, workflow.functions) / len(workflow.functions) for workflow in chosen]
            return sum(shares) / len(shares) if shares else 0.0

        return score

    return judge


class WorkflowText(Strict):
    about: Line
    actions: tuple[Line, ...]
    demonstrations: Annotated[tuple[int, ...], Field(min_length=1)]


class InducerReply(Strict):
    workflows: tuple[WorkflowText, ...]


def induce_by_model(
    demonstrations: Mapping[str, Sequence[Sequence[MaskedRun]]], model: Asking
) -> dict[str, list[Workflow]]:
    """Workflows by ability. Abilities are asked about in parallel."""
    works = [
        _induce(ability, [run for task in tasks for run in task], model) for ability, tasks in demonstrations.items()
    ]
    return dict(zip(demonstrations, model.side_by_side(works), strict=True))


def _induce(ability: str, runs: Sequence[MaskedRun], model: Asking) -> Work[list[Workflow]]:
    demonstrations = "\n\n".join(_demonstration(number, run) for number, run in enumerate(runs, 1))
    request = model.request(
        "awm_inducer",
        "builder",
        ability,
        InducerReply,
        ability=fence("ability", ability),
        demonstrations=fence("runs", demonstrations),
    )
    reply = yield from converse(request, lambda text: parse_reply(text, InducerReply))
    checked = (_check_workflow(text, runs) for text in reply.workflows) if reply else ()
    return [workflow for workflow in checked if workflow is not None]


def _demonstration(number: int, run: MaskedRun) -> str:
    # Actions and the shape of their results, without the outcome of the run.
    return "\n".join([f"Run {number}. Task: {run.task}", *run.lines])


_CALLED = re.compile(r"\s*([\w.\-]+)\(")


def _check_workflow(text: WorkflowText, runs: Sequence[MaskedRun]) -> Workflow | None:
    """None if it is too short, names a function that no run calls or a run that doesn't exist, or has planted text."""
    called = {step.function for run in runs for step in run.calls}
    functions = tuple(match[1] for action in text.actions if (match := _CALLED.match(action)))
    if len(functions) < MIN_ACTIONS or len(functions) < len(text.actions) or not called.issuperset(functions):
        return None
    if not all(1 <= number <= len(runs) for number in text.demonstrations):
        return None
    if any(overrides(words) for words in (text.about, *text.actions)):
        return None
    taught_by = frozenset().union(*(runs[number - 1].identity for number in text.demonstrations))
    return Workflow(text.about, text.actions, functions, taught_by)


ACE_TITLE = "Playbook from earlier runs"
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
        with asking(inputs, inputs.model, "ace") as model:
            playbooks: Mapping[str, Playbook] = learn_playbooks(runs, model)
            calls = model.calls()
        took = ConstructionCost.of_calls(inputs.by, used, calls, prepared + reference.clock() - began)
    else:
        playbooks = {ability: learn_playbook(members) for ability, members in runs.items()}
        took = ConstructionCost(RULES, used, seconds=prepared + reference.clock() - began)
        judge = judge_by_playbooks(playbooks)
    library = Library(ACE_TITLE, playbooks, separate=False)
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


def judge_by_playbooks(playbooks: Mapping[str, Playbook]) -> Judge:
    """Score a run by the number of bullets whose guard it broke."""

    def judge(contest: TaskContest) -> Scorer:
        own = contest.query.own
        playbook = playbooks.get(contest.ability, ())
        guards = sorted({bullet.guard for bullet in playbook if bullet.guard and own.isdisjoint(bullet.taught_by)})

        def score(run: Trajectory) -> float:
            return -sum(verdict == "broken" for verdict in verdicts(guards, run).values())

        return score

    return judge


class AceReflectorReply(Strict):
    insights: tuple[Line, ...]


class Addition(Strict):
    operation: Literal["ADD"]
    section: Literal["strategies", "tools", "mistakes"]
    content: Line


class AceCuratorReply(Strict):
    operations: tuple[Addition, ...]


def learn_playbooks(runs: Mapping[str, Sequence[MaskedRun]], model: Asking) -> dict[str, Playbook]:
    """A playbook for each ability. Abilities are learned in parallel; within one, each run extends the playbook."""
    works = [_learn_playbook(ability, members, model) for ability, members in runs.items()]
    return dict(zip(runs, model.side_by_side(works), strict=True))


def _learn_playbook(ability: str, runs: Sequence[MaskedRun], model: Asking) -> Work[Playbook]:
    playbook: Playbook = ()
    for run in runs:
        written = fence("playbook", "\n".join(bullet.text for bullet in playbook)) if playbook else "empty"
        request = model.request(
            "ace_reflector",
            "reflector",
            ability,
            AceReflectorReply,
            ability=fence("ability", ability),
            playbook=written,
            trajectory=fence("run", "\n".join([f"Task: {run.task}", *run.lines])),
            outcome="passed" if run.passed else "failed",
            feedback=f" Feedback: {run.feedback}" if run.feedback else "",
        )
        reflection = yield from converse(request, lambda text: parse_reply(text, AceReflectorReply))
        if reflection is None or not reflection.insights:
            continue
        request = model.request(
            "ace_curator",
            "curator",
            ability,
            AceCuratorReply,
            ability=fence("ability", ability),
            playbook=written,
            insights=fence("insights", "\n".join(f"- {insight}" for insight in reflection.insights)),
            sections=", ".join(SECTIONS),
        )
        decision = yield from converse(request, lambda text: parse_reply(text, AceCuratorReply))
        if decision is not None:
            playbook = curate_playbook(
                playbook, [_bullet(operation, run) for operation in decision.operations if _is_safe(operation)]
            )
    return playbook


def _is_safe(addition: Addition) -> bool:
    return overrides(addition.content) is None


def _bullet(addition: Addition, run: MaskedRun) -> Bullet:
    return Bullet(addition.section, " ".join(addition.content.split()), run.identity)
