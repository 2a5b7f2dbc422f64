"""Explain: the few differences between passing and failing runs of a kind of task that hold up, each as a guard.

Each candidate is replayed on the runs. The best one is taken, the failures that it explains are set aside, and the next
must explain others: what merely goes along with a rule explains nothing that the rule has not explained already. A
candidate that passing runs contradict is tried with a condition on data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contramem.chance import OutcomeTable
from contramem.monitor.guard import Guard, Verdict
from contramem.study.atoms import collect_atoms
from contramem.study.candidates import propose_candidates
from contramem.study.recorded_actions import IndexedRuns
from contramem.study.run_set import RunSet, StudyRun
from contramem.study.sharpen import MAX_CONTRADICTING, Weights, sharpen

MAX_CHANCE = 0.2
"""Of a difference that is worth a trial. What holds up is decided on the tasks kept back, not here."""
MIN_BROKEN = 2
"""Failing runs that must have broken a guard. One run may have failed for any reason."""
MAX_SHARPENED = 60
"""Candidates that conditions are tried on: those that failing runs break most often."""


@dataclass(frozen=True)
class Difference:
    """A guard that passing runs keep and failing runs break."""

    guard: Guard
    counts: OutcomeTable
    tasks: int
    chance: float
    """Of so large a difference, were outcomes dealt at random within tasks; not corrected for what was tried."""
    explains: int
    """Failing runs that no difference above it had explained."""
    same: tuple[Guard, ...]
    """Other guards that exactly the same runs keep and break: these runs cannot tell them apart."""


@dataclass(frozen=True)
class Explanation:
    """What was found, and how much was tried."""

    differences: tuple[Difference, ...]
    tried: int
    runs: int
    failing: int
    unexplained: int


@dataclass(frozen=True, eq=False)
class _Candidate:
    guard: Guard
    weights: Weights
    key: tuple[Verdict, ...]


def explain(runs: Sequence[StudyRun], run_set: RunSet, limit: int = 8) -> Explanation:
    """The differences between the passing and the failing runs among `runs`, those that explain most first."""
    candidates, tried = _replay(runs, run_set)
    failing = {place for place, run in enumerate(runs) if not run.passed}
    open_failures = set(failing)
    differences: list[Difference] = []
    while open_failures and len(differences) < limit:
        best = _best(candidates, runs, failing - open_failures)
        if best is None:
            break
        group = sorted((c for c in candidates if c.key == best.key), key=_simplicity)
        explained = best.weights.broken_and_failed() & open_failures
        differences.append(_difference(group, runs, len(explained)))
        open_failures -= explained
        candidates = [candidate for candidate in candidates if candidate.key != best.key]
    return Explanation(tuple(differences), tried, len(runs), len(failing), len(open_failures))


def _replay(runs: Sequence[StudyRun], run_set: RunSet) -> tuple[list[_Candidate], int]:
    """The candidates that could explain a failure, those with a condition included, and how many were tried."""
    guards = propose_candidates(runs)
    replayed = _Replays(runs, run_set)
    useful = [candidate for guard in guards if (candidate := replayed.candidate_if_useful(guard)) is not None]
    holding = [candidate for candidate in useful if not _is_contradicted(candidate)]
    loose = sorted((c for c in useful if _is_contradicted(c)), key=lambda c: -len(c.weights.broken_and_failed()))
    atoms, tried = collect_atoms(runs), len(guards)
    for candidate in loose[:MAX_SHARPENED]:
        tried += len(atoms)
        splits = sharpen(candidate.guard, runs, candidate.key, run_set, atoms)
        holding += [replayed.candidate(split.guard) for split in splits[:3] if split.chance <= MAX_CHANCE]
    return holding, tried


class _Replays:
    """Replays candidates on the same runs. What too few failing runs break is dropped at once: there are thousands."""

    def __init__(self, runs: Sequence[StudyRun], run_set: RunSet) -> None:
        self._runs, self._run_set = runs, run_set
        self._index = IndexedRuns(run.recorded for run in runs)
        self._failing = [place for place, run in enumerate(runs) if not run.passed]

    def candidate_if_useful(self, guard: Guard) -> _Candidate | None:
        verdicts = self._index.replay(guard)
        broken = sum(verdicts[place] == "broken" for place in self._failing)
        return (
            _Candidate(guard, Weights(self._runs, verdicts, self._run_set), verdicts) if broken >= MIN_BROKEN else None
        )

    def candidate(self, guard: Guard) -> _Candidate:
        verdicts = self._index.replay(guard)
        return _Candidate(guard, Weights(self._runs, verdicts, self._run_set), verdicts)


def _is_contradicted(candidate: _Candidate) -> bool:
    table = candidate.weights.table(candidate.weights.spoken)
    return table.broke_passed > MAX_CONTRADICTING * (table.kept_passed + table.broke_passed)


def _best(candidates: Sequence[_Candidate], runs: Sequence[StudyRun], explained: set[int]) -> _Candidate | None:
    """The candidate that chance explains least, failures that are explained already set aside."""
    ranked = []
    for candidate in candidates:
        places = [place for place in candidate.weights.spoken if place not in explained]
        table = candidate.weights.table(places)
        if table.broke_failed >= MIN_BROKEN and table.kept_passed:
            chance = candidate.weights.chance(places)
            if chance <= MAX_CHANCE:
                ranked.append((chance, table.broke_passed, *_simplicity(candidate), candidate))
    return min(ranked, key=lambda entry: entry[:-1])[-1] if ranked else None


_CLEAREST = ("precedence", "response", "covers", "existence", "at_most_once", "not_succession", "absence")


def _simplicity(candidate: _Candidate) -> tuple[int, int, str]:
    """Fewest conditions first, then the template that says most about why."""
    guard = candidate.guard
    clearness = _CLEAREST.index(guard.template) if guard.template in _CLEAREST else len(_CLEAREST)
    return len(guard.conditions), clearness, str(guard)


def _difference(group: Sequence[_Candidate], runs: Sequence[StudyRun], explains: int) -> Difference:
    first = group[0]
    spoken = first.weights.spoken
    return Difference(
        first.guard,
        first.weights.table(spoken),
        len({runs[place].task for place in spoken}),
        first.weights.chance(spoken),
        explains,
        tuple(candidate.guard for candidate in group[1:]),
    )
