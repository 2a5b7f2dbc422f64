"""Kinds of tasks: by the words of what was asked and by what was looked up, never by what was then done."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from contramem.mining.facts import Call, Run, Task
from contramem.mining.records import is_category

ALIKE = 0.75
"""How alike (words and lookups, 0 to 1 each) tasks of one kind are on average."""
OFTEN = 0.16
"""The share of a task's runs that must look something up for it to belong to the task."""
MAX_LINKED = 400
"""Tasks that are linked; the others join the kind that is nearest to them."""


def find_kinds(tasks: Sequence[Task], runs: Sequence[Run], reads: frozenset[str]) -> list[list[int]]:
    """The tasks of each kind, by average linkage."""
    words = _share([_words_of(task.request) for task in tasks])
    looked = _share([_looked_up(task, runs, reads) for task in tasks])
    near = words @ words.T + looked @ looked.T if len(tasks) <= MAX_LINKED else None
    if near is not None:
        return _link(near)
    chosen = np.arange(len(tasks))[:: -(-len(tasks) // MAX_LINKED)]
    kinds = [
        [int(chosen[n]) for n in kind]
        for kind in _link(words[chosen] @ words[chosen].T + looked[chosen] @ looked[chosen].T)
    ]
    middles = [(words[kind].mean(axis=0), looked[kind].mean(axis=0)) for kind in kinds]
    known = set(map(int, chosen))
    for n in range(len(tasks)):
        if n not in known:
            scores = [float(words[n] @ w + looked[n] @ f) for w, f in middles]
            best = int(np.argmax(scores))
            if scores[best] >= ALIKE:
                kinds[best].append(n)
            else:
                kinds.append([n])
                middles.append((words[n], looked[n]))
    return [sorted(kind) for kind in kinds]


def _words_of(request: str) -> set[str]:
    """The words of a request without names and numbers."""
    plain = re.sub(r"(?<=[\w,] )[A-Z]\w*|\w*\d\w*", " ", request)
    return set(re.findall(r"[a-z]{2,}", plain.casefold()))


def _looked_up(task: Task, runs: Sequence[Run], reads: frozenset[str]) -> set[str]:
    """What most runs looked up: functions, what was given to them, and words among that: one function may list trucks
    and another time drivers."""
    counts = Counter(
        name for n in task.runs for name in {name for call in runs[n].calls for name in _looks(call, reads)}
    )
    return {name for name, count in counts.items() if count >= OFTEN * len(task.runs)}


def _looks(call: Call, reads: frozenset[str]) -> Iterator[str]:
    if call.function in reads:
        yield call.function
        for name, value in call.arguments.items():
            yield f"{call.function}[{name}]"
            if is_category(value):
                yield f"{call.function}[{name} = {value}]"


def _share(sets: Sequence[set[str]]) -> NDArray[np.float64]:
    """Rows of length 1, rare names weighing most: the product of two is how much the sets share."""
    counts = Counter(name for names in sets for name in names)
    places = {name: n for n, name in enumerate(sorted(name for name, count in counts.items() if count > 1))}
    rows = np.zeros((len(sets), max(1, len(places))))
    for n, names in enumerate(sets):
        for name in names & places.keys():
            rows[n, places[name]] = np.sqrt(np.log(1 + len(sets) / counts[name]))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    shares: NDArray[np.float64] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return shares


def _link(near: NDArray[np.float64]) -> list[list[int]]:
    """Average linkage until no two groups are alike enough (Lance and Williams 1967)."""
    groups: list[list[int]] = [[n] for n in range(len(near))]
    sums = near.copy()
    np.fill_diagonal(sums, -np.inf)
    sizes = np.ones(len(near))
    alive = np.ones(len(near), dtype=np.bool_)
    while alive.sum() > 1:
        at = int(sums.argmax())
        one, two = divmod(at, len(near))
        if sums[one, two] < ALIKE:
            break
        merged = (sizes[one] * sums[one] + sizes[two] * sums[two]) / (sizes[one] + sizes[two])
        merged[~alive] = -np.inf
        merged[[one, two]] = -np.inf
        sums[one], sums[:, one] = merged, merged
        sums[two], sums[:, two] = -np.inf, -np.inf
        alive[two] = False
        sizes[one] += sizes[two]
        groups[one] += groups[two]
    return [sorted(group) for group, lives in zip(groups, alive, strict=True) if lives]
