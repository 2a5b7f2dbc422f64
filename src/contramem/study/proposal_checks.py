"""The checks of a proposed card: its guards on all runs, private values, planted words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from contramem.errors import GuardError
from contramem.grading import find_objection
from contramem.study.ask import read_guard
from contramem.study.guard_check import find_unmet
from contramem.study.proposal import Proposal
from contramem.study.replays import replay_guard
from contramem.study.run_set import RunSet
from contramem.study.sharpen import find_splits
from contramem.study.trial import Trial, weigh
from contramem.validate.case import Case, Field, fields
from contramem.validate.poison import poison
from contramem.validate.privacy import Privacy
from contramem.validate.schema import schema


def check_card(proposal: Proposal, run_set: RunSet, functions: frozenset[str]) -> Iterator[str]:
    """Objections to the words of a card, each with what to do about it."""
    delta, written = proposal.as_delta(), list_fields(proposal)
    yield from schema(Case(delta, functions=functions | run_set.functions))
    case = Case(delta, functions=functions | run_set.functions, written=written)
    for check in (Privacy(run_set.public), poison):
        yield from check(case)
    yield from find_copies(written, run_set)
    sources = {run.source.casefold() for run in run_set.runs}
    for field in written:
        if any(re.search(rf"(?<!\w){re.escape(source)}(?!\w)", field.text.casefold()) for source in sources):
            yield f"{field.name} names a model or agent that ran; a lesson holds whoever runs."


def list_fields(proposal: Proposal) -> tuple[Field, ...]:
    """The texts of a proposed card under the names that its author gave them. What was filled in from the title is left
    out; what was filled in from the guards is called so."""
    names = {"applies_when": "when", "core_rule": "rule"}
    if not proposal.completion:
        names["completion"] = "the guard in words" if proposal.guards else "rule"
    listed = (Field(names.get(field.name, field.name), field.text) for field in fields(proposal.as_delta()))
    return tuple(dict.fromkeys(field for field in listed if field.name != "solves" or proposal.solves))


def find_copies(written: Sequence[Field], run_set: RunSet) -> Iterator[str]:
    """Fields that repeat what a result, a request or a message says, word for word.

    Only its first and last words are told: that is enough to find it, and what was planted does not get into the
    ledger."""
    for field in written:
        if field.name != "guards" and (words := run_set.copies.find(field.text).split()):
            yield (
                f"{field.name} repeats words of a result, a request or a message, from “{' '.join(words[:2])}” to "
                f"“{' '.join(words[-2:])}”; say it in words of your own. What runs of several tasks and agents got as "
                "an error, or wrote and passed with, may be repeated."
            )


def check_guard(text: str, run_set: RunSet) -> tuple[Trial | None, str]:
    """The guard on all runs, and the objection to it; empty: the runs support it."""
    try:
        guard = read_guard(text, run_set)
    except GuardError as error:
        return None, str(error)
    runs = run_set.evidence
    verdicts = replay_guard(guard, runs)
    trial = weigh(guard, zip(runs, verdicts, strict=True), run_set)
    if unmet := find_unmet(guard, runs):
        return trial, " ".join([find_objection(str(guard), trial.counts) or f"{guard}:", *unmet])
    if trial.judgement == "contradicted":
        splits = find_splits(guard, runs, verdicts, run_set)[:1]
        hint = f" It would hold as: {splits[0].guard}" if splits else " Give it a condition, or leave it out."
        return trial, f"{find_objection(str(guard), trial.counts)}{hint}"
    return trial, find_objection(str(guard), trial.counts)
