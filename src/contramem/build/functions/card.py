"""Function Cards by aggregation: what all observed calls of one function show, without a model.

Only about the tool. Every sentence is a count over calls or follows from one. Outcomes matter only for forms that a
tool accepts: a form that no passing run used is not recommended.
"""

from __future__ import annotations

from collections.abc import Sequence

from contramem.bank.card import Argument, FunctionCard
from contramem.build.functions.arguments import build_arguments
from contramem.build.functions.calls import Calls, tasks
from contramem.build.functions.effects import side_effects
from contramem.build.functions.errors import Complaint, complaints
from contramem.build.functions.remedies import describe_mistake, recoveries
from contramem.build.functions.returns import gives_back, returns
from contramem.build.functions.rules import count_guessed_values, describe_use, habits, needless_repeats, usage_rules
from contramem.build.functions.words import code, join_list
from contramem.contrast.documentation import clean_documentation
from contramem.contrast.observation import Observation
from contramem.contrast.repeatable import quote_manual
from contramem.contrast.vocabulary import Vocabulary
from contramem.traces.shell import is_program
from contramem.traces.trajectory import Tool

MAX_LINES = 6
MAX_LINE_CHARS = 600
MIN_NEVER_WORKED = 5
"""A function that never worked gets a card if it failed this often."""
MAX_CALLS_PER_ACCIDENT = 20
"""An error that occurred once is mentioned only for a function that was called no more often than this."""


def build_function_card(
    function: str, observations: Sequence[Observation], tool: Tool | None, vocabulary: Vocabulary
) -> FunctionCard | None:
    """A card from all observed calls of `function`. Meanings in its documentation are not repeated.

    None: the calls prove nothing beyond the function's name and signature.
    """
    calls = Calls.of(function, observations)
    if not calls.all:
        return None
    tool = clean_documentation(tool)
    seen = build_arguments(calls, tool, vocabulary)
    arguments = tuple(observed.argument for observed in seen)
    values = [observed.values for observed in seen]
    rules, mistakes, effects = usage_rules(calls, values), _mistakes(calls), side_effects(calls)
    gives = describe_use(calls)
    is_telling = rules or gives or effects.telling or any(observed.telling for observed in seen)
    if not (is_telling or _proves_a_mistake(calls)) or (not calls.worked and not _proves_a_mistake(calls)):
        return None
    careless = needless_repeats(calls) if calls.effect == "read" else ()
    return FunctionCard(
        card_id=f"function::{function}",
        tool=function,
        app=calls.app,
        function=calls.name,
        what_it_does=_line(_what_it_does(calls, arguments, tool)),
        arguments=arguments,
        returns=_line(" ".join(part for part in (returns(calls), gives) if part)),
        usage_rules=(*map(_line, rules), *habits(calls, values))[:MAX_LINES],
        common_mistakes=(*mistakes, *(text for _, text in careless))[:MAX_LINES],
        side_effects=_line(effects.text),
    )


def _line(text: str) -> str:
    return text if len(text) <= MAX_LINE_CHARS else text[: MAX_LINE_CHARS - 1].rstrip() + "…"


# What it does


def _what_it_does(calls: Calls, arguments: Sequence[Argument], tool: Tool | None) -> str:
    if tool is not None and (documented := quote_manual(tool.description, calls.name, _argument_names(calls, tool))):
        return documented
    seen = calls.worked or calls.all
    always = [a.name for a in arguments if all(a.name in call.arguments for call in seen)]
    given = any(call.arguments for call in seen)
    by = f" with {join_list([code(name) for name in always[:4]])}" if always else "" if given else " without arguments"
    if not calls.worked:
        return f"Called{by}; no call was seen to work."
    return f"Called{by}, it {gives_back(calls)}." if by else f"It {gives_back(calls)}."


def _argument_names(calls: Calls, tool: Tool) -> tuple[str, ...]:
    properties = tool.parameters.get("properties")
    return (*calls.argument_names, *(properties if isinstance(properties, dict) else ()))


# Mistakes


def _mistakes(calls: Calls) -> tuple[str, ...]:
    mistakes = [
        (len(group.calls), describe_mistake(group, calls))
        for group in complaints(calls)
        if _is_worth_a_word(group, calls)
    ]
    mistakes += count_guessed_values(calls)
    return tuple(_line(text) for _, text in sorted(mistakes, key=lambda item: (-item[0], item[1])))


def _is_worth_a_word(complaint: Complaint, calls: Calls) -> bool:
    """Not a one-in-a-hundred accident, nor an error about which nothing can be said: that a program failed and then
    worked, or other code, is no news."""
    if not complaint.text:
        is_code = is_program(calls.function) or _takes_one_text(calls)
        return not is_code and any(recovery.count > 1 for recovery in recoveries(complaint, calls))
    return len(complaint.calls) > 1 or len(calls.all) <= MAX_CALLS_PER_ACCIDENT


def _takes_one_text(calls: Calls) -> bool:
    """Is a text all that is passed, as to a function that runs code?"""
    forms = [call.forms.get(name) for name in calls.argument_names for call in calls.all if name in call.arguments]
    return len(calls.argument_names) == 1 and set(forms) == {"text"}


def _proves_a_mistake(calls: Calls) -> bool:
    """Did a mistake occur more than once, or was a way out seen? For a function that never worked, more is required."""
    if not calls.worked:
        return len(calls.failed) >= MIN_NEVER_WORKED and tasks(calls.failed) > 1
    worth = [group for group in complaints(calls) if _is_worth_a_word(group, calls)]
    return any(len(group.calls) > 1 or recoveries(group, calls) for group in worth)
