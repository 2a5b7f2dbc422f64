"""The checks of a proposed card: its guards on all runs, private values, planted words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from contramem.contrast.program_message import spells_letters
from contramem.errors import GuardError
from contramem.study.ask import read_guard
from contramem.study.copied_texts import texts_of
from contramem.study.guard_check import find_unmet
from contramem.study.person_names import find_person_names
from contramem.study.proposal import Proposal
from contramem.study.replays import replay_guard
from contramem.study.run_set import RunSet
from contramem.study.run_values import values_of
from contramem.study.sharpen import find_splits
from contramem.study.trial import Trial, weigh
from contramem.traces.effects import words
from contramem.validate.case import Case, Field, fields
from contramem.validate.poison import poison
from contramem.validate.privacy import Privacy
from contramem.validate.schema import schema


def check_card(proposal: Proposal, run_set: RunSet, functions: frozenset[str]) -> Iterator[str]:
    """Objections to the words of a card, each with what to do about it."""
    delta, written = proposal.as_delta(), list_fields(proposal)
    yield from schema(Case(delta, functions=functions | run_set.functions))
    case = Case(delta, functions=functions | run_set.functions, written=written)
    for check in (Privacy(), poison):
        yield from check(case)
    yield from find_copies(written, run_set)
    values, sources = values_of(run_set), {run.source.casefold() for run in run_set.runs}
    names = set(functions | run_set.functions)
    allowed = {word.lower() for name in names for word in words(name)} | values.convention_words
    for field in written:
        if field.name == "guards":
            continue  # guards are checked on the runs, and their words through `completion`
        private = [piece for piece in values.find_private(field.text) if piece not in names]
        if private:
            pieces = ", ".join(repr(piece) for piece in dict.fromkeys(private))
            yield f"{field.name} holds {pieces}, a value of the runs; say what role it plays instead."
        elif people := list(dict.fromkeys(find_person_names(field.text, allowed))):
            named = ", ".join(map(repr, people))
            yield f"{field.name} seems to name somebody ({named}); say the role instead, or write it in small letters."
        if spells_letters(field.text):
            yield f"{field.name} spells something letter by letter; write it in words."
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
    """Fields that repeat what a result, an argument or a message says, word for word.

    Only its first and last words are told: that is enough to find it, and what was planted does not get into the
    ledger."""
    texts = texts_of(run_set)
    found = [(field.name, texts.find_copy(field.text)) for field in written if field.name != "guards"]
    copied = {name: words for name, words in reversed(found) if words}
    yield from (
        f"{name} repeats a sentence of a result, an argument or a message of the runs, from “{' '.join(words[:2])}” to "
        f"“{' '.join(words[-2:])}”; say it in words of your own. In quotation marks may stand an error that runs of "
        "several tasks and agents got, with <VALUE> for each name in it, and a phrase that passing runs of several "
        "tasks and agents wrote without having read it."
        for name, words in sorted(copied.items())
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
        return trial, " ".join([find_objection(trial) or f"{guard}:", *unmet])
    if trial.judgement == "contradicted":
        splits = find_splits(guard, runs, verdicts, run_set)[:1]
        hint = f" It would hold as: {splits[0].guard}" if splits else " Give it a condition, or leave it out."
        return trial, f"{find_objection(trial)}{hint}"
    return trial, find_objection(trial)


def find_objection(trial: Trial) -> str:
    """The objection to a rule that was tried on all runs; empty: the runs support it."""
    counts, rule = trial.counts, trial.guard
    if trial.judgement == "never tried":
        return f"{rule}: no run does what it speaks about, so nothing bears it out."
    if trial.judgement == "contradicted":
        return f"{rule}: {counts.broke_passed} of {counts.passed} passing runs break it."
    if not counts.broke_failed:
        return f"{rule}: no failing run breaks it, so it tells nothing about failing."
    kept, broke = counts.kept_passed + counts.kept_failed, counts.broke_passed + counts.broke_failed
    if counts.kept_passed * broke <= counts.broke_passed * kept:
        return f"{rule}: runs that keep it pass no more often than runs that break it."
    return ""
