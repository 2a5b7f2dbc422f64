"""Function Cards by aggregation: what all observed calls of one function show, without a model.

Tool-level only. Every sentence is a count over calls or follows from one; nothing here looks at how a run ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from contramem.bank.card import Argument, FunctionCard
from contramem.build.function_arguments import build_arguments
from contramem.build.function_calls import Calls
from contramem.build.function_errors import Complaint, complaints, described, is_addressed
from contramem.build.function_returns import gives_back, returns
from contramem.build.function_rules import guessed_values, needless_repeats, usage_rules
from contramem.build.function_words import (
    ADDS,
    CHANGES,
    DESTROYS,
    REACHES_OUT,
    act,
    code,
    does,
    listed,
    share_of,
    verb_of,
)
from contramem.contrast.observation import Observation
from contramem.contrast.vocabulary import Vocabulary
from contramem.traces.trajectory import Tool

MAX_LINES = 6
MAX_LINE_CHARS = 600
MAX_CALLS_PER_ACCIDENT = 20
"""An error that came once is told only of a function that was not called more often than this."""


def build_function_card(
    function: str, observations: Sequence[Observation], tool: Tool | None, vocabulary: Vocabulary
) -> FunctionCard | None:
    """One card from all observed calls of `function`. With its documentation, only what that does not say.

    None: the calls show nothing that the function's name does not say.
    """
    calls = Calls(function, observations)
    if not calls.all:
        return None
    arguments = build_arguments(calls, tool, vocabulary)
    mistakes = _mistakes(calls)
    rules = usage_rules(calls, arguments)
    effects = _side_effects(calls)
    if not (arguments or mistakes or rules or effects or _shows_fields(calls)):
        return None
    return FunctionCard(
        card_id=f"function::{function}",
        tool=function,
        app=calls.app,
        function=calls.name,
        what_it_does=_line(_what_it_does(calls, arguments, tool)),
        arguments=arguments,
        returns=_line(returns(calls)),
        usage_rules=rules[:MAX_LINES],
        common_mistakes=mistakes[:MAX_LINES],
        side_effects=_line(effects),
    )


def _shows_fields(calls: Calls) -> bool:
    return any(call.form is not None and call.form.fields for call in calls.worked)


def _line(text: str) -> str:
    return text if len(text) <= MAX_LINE_CHARS else text[: MAX_LINE_CHARS - 1].rstrip() + "…"


# What it does


def _what_it_does(calls: Calls, arguments: Sequence[Argument], tool: Tool | None) -> str:
    documented = _first_sentence(tool.description) if tool is not None else ""
    if documented:
        return documented
    seen = calls.worked or calls.all
    always = [a.name for a in arguments if all(a.name in call.arguments for call in seen)]
    given = any(call.arguments for call in seen)
    by = f" with {listed([code(name) for name in always[:4]])}" if always else "" if given else ", without arguments"
    if not calls.worked:
        return f"Called to {act(calls.name)}{by}; no call was seen to work."
    return f"Observed to {act(calls.name)}{by}; {gives_back(calls)}."


_SENTENCE = re.compile(r"(.+?[.!?])(?:\s|$)", re.DOTALL)


def _first_sentence(description: str) -> str:
    """Empty where the documentation is no description: it came with a trace, and a trace is not trusted."""
    text = " ".join(description.split())
    found = _SENTENCE.match(text)
    first = found[1] if found else text
    return "" if is_addressed(first) else first


# Mistakes and effects


def _mistakes(calls: Calls) -> tuple[str, ...]:
    found = [
        (len(group.calls), described(group, calls)) for group in complaints(calls) if _is_worth_a_word(group, calls)
    ]
    found += guessed_values(calls)
    if calls.effect == "read":
        found += needless_repeats(calls)
    return tuple(_line(text) for _, text in sorted(found, key=lambda item: (-item[0], item[1])))


def _is_worth_a_word(complaint: Complaint, calls: Calls) -> bool:
    """An accident of one call in a hundred is none."""
    return len(complaint.calls) > 1 or len(calls.all) <= MAX_CALLS_PER_ACCIDENT


def _side_effects(calls: Calls) -> str:
    if calls.effect == "finalize":
        return "Ends the work on the task."
    if calls.effect == "wait":
        return "Lets time pass."
    if calls.effect != "write" or not calls.worked:
        return ""
    return " ".join(_write_effects(calls))


def _write_effects(calls: Calls) -> Iterator[str]:
    verb, deed = verb_of(calls.name), does(calls.name)
    if verb in DESTROYS:
        yield f"{deed or 'A write'}. Destructive: verify the selection before the call."
    elif verb in REACHES_OUT:
        yield f"{deed or 'A write'}. Irreversible: verify target and content before the call."
    else:
        kind = "adds to stored state" if verb in ADDS else "changes stored state" if verb in CHANGES else "a write"
        yield f"{deed}: {kind}." if deed else f"{kind[0].upper()}{kind[1:]}."
    again = list(calls.repeats_after_success())
    accepted = sum(not call.error for call in again)
    if accepted:
        count = share_of(accepted, len(again), "repeat")
        yield f"A repeat is not refused: the same call was accepted again in {count}."
    elif again:
        yield f"The same call a second time was refused in {share_of(len(again), len(again), 'repeat')}."
