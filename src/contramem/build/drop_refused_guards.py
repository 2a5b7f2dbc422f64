"""Fitting: the words of a delta or a patch without the guards that were refused. The words do not go with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from contramem.bank.card import SkillDelta
from contramem.monitor.guard import guards_of
from contramem.validate.verdict import Refusal


class CheckedProposal(NamedTuple):
    """What was proposed, as far as the checks let it in."""

    text: SkillDelta
    refusals: list[Refusal]
    """What is wrong with the text itself."""
    unfit: list[Refusal]
    """What was wrong with guards that it now goes without."""


def fitted(text: SkillDelta, refusals: Sequence[Refusal]) -> CheckedProposal:
    """Take out the guards that `refusals` are about. Those that stay are written in the one way they are counted by."""
    unfit = [refusal for refusal in refusals if refusal.guard]
    refused = {refusal.guard for refusal in unfit}
    guards = dict.fromkeys(map(str, guards_of(guard for guard in text.guards if guard not in refused)))
    return CheckedProposal(
        text.model_copy(update={"guards": tuple(guards)}),
        [refusal for refusal in refusals if not refusal.guard],
        unfit,
    )
