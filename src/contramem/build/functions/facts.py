"""What the calls of a function show about its arguments, as values that are kept beside its card."""

from __future__ import annotations

from collections.abc import Sequence

from contramem.bank.support import ArgumentFacts
from contramem.build.functions.arguments import build_arguments
from contramem.build.functions.calls import Calls
from contramem.build.functions.rules import rules_of_form
from contramem.contrast.observation import Observation
from contramem.contrast.vocabulary import Vocabulary


def gather_argument_facts(function: str, observations: Sequence[Observation]) -> dict[str, ArgumentFacts]:
    """By argument. They do not depend on who wrote the card."""
    calls = Calls(function, observations)
    return {
        argument.name: ArgumentFacts(
            forms=dict(zip(argument.form.forms, argument.form.words, strict=True)),
            sources=argument.origin.sources,
            form_rules=rules_of_form(calls, argument),
        )
        for argument in build_arguments(calls, None, Vocabulary())
    }
