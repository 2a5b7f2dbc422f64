"""Every claim must map to events of its packet, or to observed calls."""

from __future__ import annotations

import re
from collections.abc import Iterator

from contramem.bank.card import FunctionCard, SkillDelta
from contramem.validate.case import Case
from contramem.validate.counts import contradictions
from contramem.validate.packet_contents import counts_in


def evidence(case: Case) -> Iterator[str]:
    """Report claims that nothing in the runs shows."""
    if isinstance(case.text, FunctionCard):
        yield from _call_counts(case)
        return
    yield from _events_in_text(case)
    if case.cites is not None and case.packets:
        yield from _cites(case)
        yield from _functions(case, case.text)
        yield from _run_counts(case)


def _cites(case: Case) -> Iterator[str]:
    assert case.cites is not None
    if not case.cites:
        yield "The lesson cites no event of any run."
    steps = {place: step for contents in case.contents for place, step in contents.steps.items()}
    letters = {letter for letter, _ in steps}
    for run, position in case.cites:
        if run not in letters:
            yield f"The lesson cites run {run}, which is not in the packet."
        elif (run, position) not in steps:
            yield f"The lesson cites event {position} of run {run}, which has no such event."
        elif steps[run, position].tainted:
            yield f"Event {position} of run {run} follows from text planted in an observation, and teaches nothing."


_EVENT = re.compile(r"\b([A-Z]+)#(\d+)\b")


def _events_in_text(case: Case) -> Iterator[str]:
    """Report event numbers: readers of the card have not seen the runs."""
    steps = {place for contents in case.contents for place in contents.steps}
    for field in case.fields:
        for run, position in _EVENT.findall(field.text):
            if (run, int(position)) in steps:
                yield f"{field.name} names {run}#{position}, an event of a run; the text has to stand without the runs."


def _functions(case: Case, delta: SkillDelta) -> Iterator[str]:
    cited = {run for run, _ in case.cites or ()}
    called = {
        function
        for contents in case.contents
        for run, functions in contents.called.items()
        if run in cited
        for function in functions
    }
    for function in delta.functions_used:
        if function not in called:
            yield f"The lesson names {function}, which none of the runs it cites calls."


def _run_counts(case: Case) -> Iterator[str]:
    for field in case.fields:
        for contents in case.contents:
            yield from (f"{field.name} says {what}" for what in contradictions(field.text, contents.sides))


def _call_counts(case: Case) -> Iterator[str]:
    assert isinstance(case.text, FunctionCard)
    calls = sum(observation.function == case.text.tool for observation in case.observations)
    for field in case.fields if calls else ():
        for some, whole in counts_in(field.text):
            if not some <= whole <= calls:
                yield f"{field.name} says {some} of {whole}, but {calls} calls were observed."
