"""Which guards are accepted for what outcomes show, when many are tried (Benjamini and Hochberg 1995).

How likely chance explains a single guard is computed in contramem/chance.py.
"""

from __future__ import annotations

from collections.abc import Collection

FALSE_SHARE = 0.1
"""Of the guards that are accepted for what outcomes show, the share that may be expected to be chance."""


def bar(chances: Collection[float], tried: int, false_share: float = FALSE_SHARE) -> float:
    """The largest probability by chance that is still accepted when `tried` guards were; 0.0: none is.

    Guards that were tried and are not among `chances` count as hopeless, which errs on the safe side.
    """
    accepted = 0.0
    for rank, probability in enumerate(sorted(chances), 1):
        if probability <= false_share * rank / max(tried, len(chances)):
            accepted = probability
    return accepted
