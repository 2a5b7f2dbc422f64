"""What a person wrote into a card: taken as it stands, and what the checks think of it is said."""

from __future__ import annotations

from contramem.bank.bank import Bank
from contramem.validate.case import Case, Text, functions_of
from contramem.validate.validator import Validator
from contramem.validate.verdict import Refusal


def doubts(text: Text, bank: Bank) -> list[Refusal]:
    """What can be said against `text` without the runs: its form, functions `bank` does not know, personal data.

    A person may know better, so nothing is refused here; `contramem bank validate` would refuse it.
    """
    functions = frozenset(function for entry in bank.entries.values() for function in functions_of(entry.card))
    return Validator().judge(Case(text, functions=functions))
