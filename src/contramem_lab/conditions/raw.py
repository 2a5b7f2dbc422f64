"""Raw retrieval: shows an agent masked passing runs of the most similar tasks, within a token budget."""

from __future__ import annotations

from collections.abc import Sequence

from contramem.counting import count_tokens
from contramem.inject.provider import TextMemory
from contramem.retrieve.hit import Query
from contramem.traces.trajectory import Trajectory
from contramem_lab.baselines import Neighbours, names, workflow
from contramem_lab.conditions.condition import NOTHING, BuiltMemory, ConditionInputs, ConstructionCost
from contramem_lab.conditions.masked import MaskedRun, RunKey, key_of, mask_runs
from contramem_lab.conditions.shown import render_entries

BUDGET_TOKENS = 2_400
"""The budget of the largest card profile (`gaia2`)."""
TITLE = "Earlier runs that passed similar tasks"


def raw(inputs: ConditionInputs) -> BuiltMemory:
    reference = inputs.reference
    prepared, began = reference.prepare(), reference.clock()
    runs = mask_runs(reference)
    near = Neighbours(run for run in reference.runs if runs[key_of(run)].counts)
    texts = [_text(run) for run in runs.values() if run.passed and run.counts]
    seconds = prepared + reference.clock() - began
    return BuiltMemory(
        provider=TextMemory(_Nearest(near, runs)),
        items=len(texts),
        unit="runs",
        tokens=sum(map(count_tokens, texts)),
        construction=ConstructionCost(NOTHING, trajectories=len(texts), seconds=seconds),
        judge=near.nearest_passing_run,
    )


class _Nearest:
    """Renders a typical passing run of each neighbour, nearest first, within the budget."""

    def __init__(self, near: Neighbours, runs: dict[RunKey, MaskedRun]) -> None:
        self._near, self._runs = near, runs

    def __call__(self, query: Query) -> str:
        def is_own(run: Trajectory) -> bool:
            return not query.own.isdisjoint(self._runs[key_of(run)].identity)

        entries: list[str] = []
        for task in self._near.nearest(query.task, query.ability or "general", is_own):
            run = self._runs[key_of(_typical(task))]
            # A run that does not fit is cut after a whole step, and is the last one shown.
            for steps in range(len(run.lines), 0, -1):
                text = render_entries(TITLE, [*entries, _text(run, steps)])
                if count_tokens(text) <= BUDGET_TOKENS:
                    entries.append(_text(run, steps))
                    break
            if not entries or steps < len(run.lines):
                break
        return render_entries(TITLE, entries)


def _typical(passing: Sequence[Trajectory]) -> Trajectory:
    """The shortest run among those that make most of the common calls, which excludes a short run that was lucky."""
    common = set(workflow(passing))
    return min(passing, key=lambda run: (-len(common & set(names(run))), len(run.events), run.source, run.run))


def _text(run: MaskedRun, steps: int | None = None) -> str:
    shown: Sequence[str] = run.lines[:steps]
    more = [] if len(shown) == len(run.lines) else ["…"]
    lines = [f"{number}. {line}" for number, line in enumerate(shown, 1)]
    return "\n".join([f"### Task: {run.task}", *lines, *more])
