"""Propose: check the cards that somebody wrote, set them beside those of the bank, and record what becomes of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from contramem.bank.bank import Bank
from contramem.bank.card import SkillDelta
from contramem.bank.ledger import Attribution, Decision, RunRef
from contramem.bank.patch import Add, Amend, Merge, Narrow, Noop, Patch
from contramem.bank.store import Store
from contramem.bank.support import CardSupport, GuardSupport
from contramem.errors import PatchError, UsageError
from contramem.study.neighbours import find_neighbours
from contramem.study.proposal import Proposal
from contramem.study.proposal_checks import check_card, check_guard
from contramem.study.run_set import RunSet, StudyRun
from contramem.study.trial import Trial
from contramem.study.trial_log import TrialLog

Fate: TypeAlias = Literal["accepted", "refused", "waiting"]
MAX_RUNS_CITED = 12


@dataclass(frozen=True)
class Reply:
    """What became of one proposal."""

    title: str
    fate: Fate
    operation: str | None
    reasons: tuple[str, ...]
    """Why it was refused, or what is suggested."""
    card_ids: tuple[str, ...] = ()
    decision: int | None = None
    """Its number in the ledger."""


@dataclass(frozen=True)
class Proposer:
    """Who proposes, and what they tried before."""

    name: str
    run_set: RunSet
    log: TrialLog

    @property
    def attribution(self) -> Attribution:
        return Attribution(kind="person", name=self.name)


def propose(
    proposals: Sequence[Proposal | UsageError], store: Store, author: Proposer, confirm: Callable[[str], bool]
) -> list[Reply]:
    """Decide on each proposal in turn. `confirm` is asked before a card that is there is changed."""
    with store.writing("bank propose"):
        return [_decide(proposal, store, author, confirm) for proposal in proposals]


def _decide(proposal: Proposal | UsageError, store: Store, author: Proposer, confirm: Callable[[str], bool]) -> Reply:
    if isinstance(proposal, UsageError):
        return Reply("", "refused", None, (str(proposal),))
    bank, delta = store.bank(), proposal.as_delta()
    ability = proposal.ability or _usual_ability(author.run_set)
    trials, reasons = _check(proposal, delta, bank, author)
    if reasons:
        return _refuse(proposal, delta, ability, reasons, store, author)
    try:
        patch, question = _choose_patch(proposal, delta, bank, ability, author)
    except UsageError as error:
        return _refuse(proposal, delta, ability, (str(error),), store, author)
    if question and not confirm(question):
        return Reply(proposal.title, "waiting", patch.operation, (question,), patch.target_card_ids)
    return _carry_out(patch, delta, ability, trials, store, author)


def _check(proposal: Proposal, delta: SkillDelta, bank: Bank, author: Proposer) -> tuple[list[Trial], tuple[str, ...]]:
    functions = frozenset(card.tool for card in bank.functions)
    reasons = list(check_card(delta, author.run_set, functions))
    trials = []
    if not proposal.guards:
        reasons.append("It has no guard, so nothing of it can be checked. State one with `contramem try`.")
    for text in proposal.guards:
        trial, complaint = check_guard(text, author.run_set)
        if complaint:
            reasons.append(complaint)
        elif trial is not None:
            trials.append(trial)
    return trials, tuple(reasons)


def _choose_patch(
    proposal: Proposal, delta: SkillDelta, bank: Bank, ability: str, author: Proposer
) -> tuple[Patch, str]:
    """The smallest edit, and what to ask before it is carried out. No question: it changes no card that is there."""
    reason = proposal.reason or f"proposed by {author.name}"
    reason = f"{reason} {_describe_trials(delta, author.log)}".strip()[:600]
    edit: dict[str, Any] = {"delta_index": 0, "reason": reason, "new_or_updated_card": delta}
    if proposal.replaces:
        targets = tuple(bank.find(card_id).card.card_id for card_id in proposal.replaces)
        return _replacement(targets, edit), f"{delta.title!r} takes the place of {', '.join(targets)}. Carry it out?"
    neighbours = find_neighbours(delta, bank.skills_of(ability))
    by_relation = {relation: [n.card for n in neighbours if n.relation == relation] for _, relation, _ in neighbours}
    if opposite := by_relation.get("opposite"):
        raise UsageError(
            f"It says the opposite of {opposite[0].card_id} ({opposite[0].title}). If that card is wrong, name it "
            "under `replaces`; if both hold, give each its condition."
        )
    if same := by_relation.get("same"):
        if len(same) == 1 and same[0].skill.core_rule == delta.skill.core_rule:
            noop = Noop(delta_index=0, reason=reason, target_card_ids=(same[0].card_id,))
            return noop, ""
        ids = tuple(card.card_id for card in same)
        verb = "is merged with" if len(ids) > 1 else "says the same as"
        return _replacement(ids, edit), f"{delta.title!r} {verb} {', '.join(ids)}. Give it these words?"
    if wider := by_relation.get("wider"):
        card_id = wider[0].card_id
        narrow = Narrow(target_card_ids=(card_id,), retained_card_id=card_id, **edit)
        return narrow, f"{card_id} ({wider[0].title}) says this without the condition. Narrow it?"
    if narrower := by_relation.get("narrower"):
        raise UsageError(
            f"{narrower[0].card_id} ({narrower[0].title}) says this under a condition. Without it the rule reaches "
            "further; if it should, name that card under `replaces`."
        )
    return Add(**edit), ""


def _replacement(ids: tuple[str, ...], edit: dict[str, Any]) -> Patch:
    if len(ids) == 1:
        return Amend(target_card_ids=ids, retained_card_id=ids[0], **edit)
    return Merge(target_card_ids=ids, retained_card_id=ids[0], **edit)


def _describe_trials(delta: SkillDelta, log: TrialLog) -> str:
    """What was tried before: for the ledger."""
    tried, looks = log.count()
    proven = [guard for guard in delta.guards if (confirmation := log.confirmation(guard)) and confirmation.is_proven]
    if not tried:
        return ""
    grade = f"{len(proven)} of {len(delta.guards)} guards proven on tasks kept back"
    return f"[{tried} guards tried, {looks} held against tasks kept back; {grade}]"


def _carry_out(
    patch: Patch, delta: SkillDelta, ability: str, trials: Sequence[Trial], store: Store, author: Proposer
) -> Reply:
    bank, footing = store.bank(), _support(trials, author.run_set)
    try:
        changes = bank.plan(patch, ability, bank.footing(patch.target_card_ids) + footing)
    except PatchError as error:
        decision = _decision(patch.operation, delta, ability, str(error), author, accepted=False)
        (entry,) = store.record(decision)
        return Reply(delta.title, "refused", patch.operation, (str(error),), patch.target_card_ids, entry.number)
    decision = Decision(
        operation=patch.operation,
        reason=patch.reason,
        by=author.attribution,
        ability=ability,
        candidate=delta,
        patch=patch,
        changes=changes,
        runs=_cite(trials, author.run_set),
    )
    (entry,) = store.record(decision)
    return Reply(delta.title, "accepted", patch.operation, (patch.reason,), decision.card_ids, entry.number)


def _refuse(
    proposal: Proposal, delta: SkillDelta, ability: str, reasons: tuple[str, ...], store: Store, author: Proposer
) -> Reply:
    decision = _decision(None, delta, ability, " ".join(reasons), author, accepted=False)
    (entry,) = store.record(decision)
    return Reply(proposal.title, "refused", None, reasons, (), entry.number)


def _decision(
    operation: str | None, delta: SkillDelta, ability: str, reason: str, author: Proposer, accepted: bool
) -> Decision:
    by = author.attribution
    return Decision.model_validate(
        {
            "operation": operation,
            "accepted": accepted,
            "reason": reason,
            "by": by,
            "ability": ability,
            "candidate": delta,
        }
    )


def _support(trials: Sequence[Trial], run_set: RunSet) -> CardSupport:
    runs = [run for trial in trials for run in _telling(trial, run_set)]
    tasks = {run.task: run.recorded.run.task_identity for run in runs}
    contradicting = {run.task for trial in trials for run in trial.contradicting}
    support = {
        str(trial.guard): GuardSupport(
            held=trial.counts.kept_passed, broken=trial.counts.broke_failed, contradicted=trial.counts.broke_passed
        )
        for trial in trials
    }
    return CardSupport(
        tasks=tuple(tasks),
        sources=tuple({run.source for run in runs}),
        contradicted_by=tuple(contradicting),
        taught_by=tuple(digest for identity in tasks.values() for digest in identity),
        support=support,
    )


def _telling(trial: Trial, run_set: RunSet) -> list[StudyRun]:
    """Runs that passed and kept the guard, or failed and broke it."""
    verdicts = ((run, run.recorded.replay(trial.guard)) for run in run_set.evidence)
    return [run for run, verdict in verdicts if verdict == ("holds" if run.passed else "broken")]


def _cite(trials: Sequence[Trial], run_set: RunSet) -> tuple[RunRef, ...]:
    runs = dict.fromkeys(run for trial in trials for run in _telling(trial, run_set))
    return tuple(
        RunRef(task=run.task, source=run.source, run=run.trial, passed=run.passed, origin=str(run.recorded.run.origin))
        for run in list(runs)[:MAX_RUNS_CITED]
    )


def _usual_ability(run_set: RunSet) -> str:
    return Counter(run.recorded.run.ability or "general" for run in run_set.runs).most_common(1)[0][0]
