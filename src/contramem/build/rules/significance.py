"""Which guards are accepted on the evidence of outcomes if many are tried (Benjamini and Hochberg 1995).

contramem/chance.py computes how likely chance explains a single guard.
"""

from __future__ import annotations

from collections.abc import Collection

from contramem.grading import FALSE_SHARE


def bar(chances: Collection[float], tried: int, false_share: float = FALSE_SHARE) -> float:
    """The largest probability by chance that is still accepted if `tried` guards were tried; 0.0: none is.

    Guards that were tried but are not among `chances` count as hopeless, which errs on the safe side.
    """
    accepted = 0.0
    for rank, probability in enumerate(sorted(chances), 1):
        if probability <= false_share * rank / max(tried, len(chances)):
            accepted = probability
    return accepted
