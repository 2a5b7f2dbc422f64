"""Runs side by side: what each run of a task did, one line per call, with identical runs grouped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from contramem.contrast.vocabulary import scalars
from contramem.errors import UsageError, nearest
from contramem.study.run_set import RunSet, StudyRun
from contramem.traces.task_key import TaskKey
from contramem.traces.trajectory import Event

MAX_TASKS = 3
MAX_WAYS = 6
"""How many different ways to solve one task are shown."""
MAX_REQUEST, MAX_RESULT, MAX_ARGUMENT, MAX_ANSWER = 1_200, 300, 400, 400
"""Characters."""
MAX_CHOICES = 2_000
"""Characters of a result that runs chose from: a list with a value in it that a call passed on."""


@dataclass(frozen=True)
class _PrintedResults:
    """What was shown of a task so far."""

    passed_on: frozenset[str]
    """The texts that its runs passed to calls, as they stand in a result."""
    results: set[str] = field(default_factory=set)
    messages: set[str] = field(default_factory=set)

    def limit_of(self, result: str) -> int:
        """How many characters of a result are shown."""
        is_chosen_from = result.startswith("[") and any(value in result for value in self.passed_on)
        return MAX_CHOICES if is_chosen_from else MAX_RESULT


def lay_side_by_side(run_set: RunSet, *, task: str = "", kind: str = "", on_all: bool = False) -> str:
    """The runs of one task, or of the first tasks of a kind that have passing and failing runs."""
    return "\n\n".join(_show_task(chosen, run_set.by_task[chosen]) for chosen in _choose(run_set, task, kind, on_all))


def _choose(run_set: RunSet, task: str, kind: str, on_all: bool) -> Sequence[str]:
    if task:
        named = [key for key in run_set.by_task if TaskKey.parse(key).is_named(task)]
        if not named:
            raise UsageError(f"there is no task {task!r}{nearest(task, run_set.by_task)}")
        return named[:MAX_TASKS]
    if not kind:
        raise UsageError("give a task or a kind of task.")
    tasks = [key for key in run_set.kind(kind).tasks if on_all or run_set.halves[key] == "open"]
    mixed = [key for key in tasks if len({run.passed for run in run_set.by_task[key]} - {None}) == 2]
    return (mixed or tasks)[:MAX_TASKS]


def _show_task(task: str, runs: Sequence[StudyRun]) -> str:
    ways = defaultdict[tuple[str, ...], list[StudyRun]](list)
    for run in runs:
        ways[_calls_of(run)].append(run)
    # Passing runs first, then what most runs did.
    ordered = sorted(ways.values(), key=lambda alike: (-max(bool(run.passed) for run in alike), -len(alike)))
    shown = _PrintedResults(_find_passed_on(runs))
    blocks = [_show_way(alike, shown) for alike in _spread(ordered)]
    more = f"\n({len(ordered) - MAX_WAYS} further ways are not shown.)" if len(ordered) > MAX_WAYS else ""
    request = _cut(" ".join(runs[0].trajectory.task.split()), MAX_REQUEST)
    if any(len(text) > shown.limit_of(text) for text in shown.results):
        whole = f"SELECT call, result FROM calls JOIN runs USING (run_id) WHERE task = '{task}'"
        more += f"\n(Results with ... are cut. The whole: {whole}, by query_runs or contramem author query.)"
    return f"# {task}\nrequest: {request}\n" + "\n".join(blocks) + more


def _find_passed_on(runs: Sequence[StudyRun]) -> frozenset[str]:
    return frozenset(
        msgspec.json.encode(value).decode()
        for run in runs
        for call in run.recorded.calls
        for _, value in scalars(call.arguments)
        if isinstance(value, str) and value
    )


def _spread(ways: Sequence[Sequence[StudyRun]]) -> list[Sequence[StudyRun]]:
    """Show as many passing as failing ways, if there are enough."""
    passing = [alike for alike in ways if any(run.passed for run in alike)]
    failing = [alike for alike in ways if not any(run.passed for run in alike)]
    kept = passing[: max(MAX_WAYS // 2, MAX_WAYS - len(failing))]
    return [*kept, *failing[: MAX_WAYS - len(kept)]]


def _show_way(alike: Sequence[StudyRun], shown: _PrintedResults) -> str:
    passed = sum(run.passed is True for run in alike)
    failed = sum(run.passed is False for run in alike)
    sources = ", ".join(dict.fromkeys(run.source for run in alike[:MAX_WAYS]))
    lines = [f"## {passed} passed, {failed} failed ({sources})"]
    lines += [f"- {line}" for line in _lines(alike[0], shown)]
    return "\n".join(lines)


def _lines(run: StudyRun, shown: _PrintedResults) -> Iterator[str]:
    events = run.trajectory.events
    for event in events:
        if event.actor == "agent" and event.function:
            yield f"{write_call(event)}{_show_result(event, shown)}"
        elif event.text and event.actor in ("agent", "user") and event.text != run.trajectory.task:
            if event is not events[-1] and event.text in shown.messages:
                continue  # "Let me look at this." before every call says nothing
            shown.messages.add(event.text)
            yield f"{event.actor} says: {_cut(' '.join(event.text.split()), MAX_ANSWER)}"


def _show_result(event: Event, shown: _PrintedResults) -> str:
    """The result; only the first time it occurs in a task."""
    if event.result is None:
        return ""
    if event.result.error is not None:
        return f" -> error: {_cut(event.result.error, MAX_RESULT)}"
    text = _write(event.result.content)
    if text in shown.results and len(text) > MAX_RESULT // 4:
        return " -> (as above)"
    shown.results.add(text)
    return f" -> {_cut(' '.join(text.split()), shown.limit_of(text))}"


def write_call(event: Event) -> str:
    """`App.function(argument=value)`, as called."""
    given = ", ".join(f"{name}={_cut(_write(value), MAX_ARGUMENT)}" for name, value in event.arguments.items())
    return f"{event.function}({given})"


def _calls_of(run: StudyRun) -> tuple[str, ...]:
    events = run.trajectory.events
    return tuple(write_call(event) for event in events if event.actor == "agent" and event.function)


def _write(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else f"{text[:size]}... ({len(text):,} characters)"
