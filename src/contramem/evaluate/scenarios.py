"""Task and scenario goal completion, for benchmarks whose tasks come in scenarios (AppWorld's TGC and SGC)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from contramem.evaluate.pairs import Pair, Pairing
from contramem.evaluate.sides import WithAndWithout, both


@dataclass(frozen=True)
class Completion:
    """Shares over the tasks and scenarios that were run completely on both sides."""

    scenarios: int
    tasks: int
    tgc: WithAndWithout[float]
    """Task goal completion: the share of tasks that pass."""
    sgc: WithAndWithout[float]
    """Scenario goal completion: the share of scenarios all of whose tasks pass (Trivedi et al. 2024)."""


def completion(pairing: Pairing) -> Completion | None:
    """None if no trace names a scenario. A scenario with a run left out is not counted: it would pass too easily."""
    broken = {run.attempt.scenario for run in pairing.left_out}
    tried: dict[tuple[str, str, str], list[Pair]] = defaultdict(list)
    for pair in pairing.pairs:
        scenario = pair.base.scenario
        if scenario is not None and scenario not in broken:
            tried[scenario, pair.base.source, pair.base.trial].append(pair)
    if not tried:
        return None
    groups = list(tried.values())
    pairs = [pair for group in groups for pair in group]
    return Completion(
        scenarios=len({scenario for scenario, _, _ in tried}),
        tasks=len({pair.task_key for pair in pairs}),
        tgc=both(lambda side: _share([bool(pair.of(side).passed) for pair in pairs])),
        sgc=both(lambda side: _share([all(pair.of(side).passed for pair in group) for group in groups])),
    )


def _share(outcomes: Sequence[bool]) -> float:
    return sum(outcomes) / len(outcomes)
