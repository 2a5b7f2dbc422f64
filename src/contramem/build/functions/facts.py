"""What the calls of a function show about its arguments, as values that are kept beside its card."""

from __future__ import annotations

from collections.abc import Sequence

from contramem.bank.bank import ArgumentFacts
from contramem.build.functions.arguments import list_arguments, observe_values
from contramem.build.functions.calls import Calls
from contramem.build.functions.rules import rules_of_form
from contramem.contrast.observation import Observation
from contramem.contrast.vocabulary import Vocabulary


def gather_argument_facts(function: str, observations: Sequence[Observation]) -> dict[str, ArgumentFacts]:
    """By argument. They do not depend on who wrote the card."""
    calls, vocabulary = Calls.of(function, observations), Vocabulary()
    observed = (observe_values(name, calls, None, vocabulary) for name in list_arguments(calls, None))
    return {
        values.name: ArgumentFacts(
            forms=dict(zip(values.form.forms, values.form.words, strict=True)),
            sources=values.origin.sources,
            form_rules=rules_of_form(calls, values),
        )
        for values in observed
    }
