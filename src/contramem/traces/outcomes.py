"""Outcomes: what a value, a report or a grader's file says; verdicts that lie beside runs, that a user supplies in a
table, or that a rule tells from what a session ran last.

Agents write a trajectory, and graders write what it was worth somewhere near it. Looked for in this order, never above
the folder that was named: files in the run's folder and the one above it, a tree of `logs/` that mirrors the runs, and
a summary of the whole run. Only a run that knows no verdict gets one.

A user's table is a CSV with a column `run` (file name, path ending or session id) and any of `passed`, `reward`,
`task_id`, `source`, `trial`, `feedback`, or the usual other names of these. An empty cell leaves what the trace says.

Of a session, the rule `tests` takes the last test command, `exit` the last shell command, `commit` whether it
committed. A session that the rule finds nothing in stays unknown.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeAlias
from xml.etree import ElementTree

import msgspec

from contramem.errors import TraceError, UsageError
from contramem.traces.effects import words
from contramem.traces.files import TraceFile, find_separator, number
from contramem.traces.run_content import content_digest
from contramem.traces.trajectory import Event, Trajectory

MAX_XML_BYTES = 50 << 20

_PASSED = frozenset("pass passed true success successful succeeded solved resolved correct yes ok".split())
_FAILED = frozenset("fail failed false failure unsuccessful unsolved unresolved incorrect wrong no nok error".split())
VERDICTS = ("resolved", "is_resolved", "passed", "success", "is_correct", "correct", "solved")
"""What graders and people call the field with their verdict."""
_REWARDS = ("reward", "score")
_VERDICT_WORDS = frozenset("pass passed passes success successful succeeded solved resolved correct".split())
_JUDGED_WORDS = frozenset("eval evaluation grade judge judgement judgment outcome result score status verdict".split())
"""What a field may be called that a grader filled, and also one that tells something else: never taken unasked."""
_PASSING_LISTS = ("resolved_ids", "resolved", "resolved_instances", "passed_ids")
_FAILING_LISTS = ("unresolved_ids", "unresolved", "failed_ids", "error_ids", "empty_patch_ids")


class Verdict(NamedTuple):
    passed: bool | None
    reward: float | None = None
    feedback: str = ""


def verdict_of(value: object) -> tuple[bool | None, float | None]:
    """(passed, reward) of an outcome in any usual form: a bool, a word, or a number that passes from 1."""
    if isinstance(value, Verdict):
        return value.passed, value.reward
    if isinstance(value, bool):
        return value, None
    if isinstance(value, str) and (word := value.strip().lower()) in _PASSED | _FAILED:
        return word in _PASSED, None
    reward = number(value)
    return (None, None) if reward is None else (reward >= 1, reward)


class VerdictField(NamedTuple):
    """A field of a record that may be its verdict."""

    place: str
    passed: bool
    reward: float | None
    is_plain: bool
    """Its name says that the run passed, so it is taken where no field has a documented name."""


def verdict_fields(record: Mapping[str, Any]) -> list[VerdictField]:
    """All fields of a record, and of the objects in it, that may be its verdict: by their name and by their value."""
    inner = [(f"{key}.", value) for key, value in record.items() if isinstance(value, dict)]
    held = [(f"{around}{key}", value) for around, fields in [("", record), *inner] for key, value in fields.items()]
    return [field for place, value in held if not isinstance(value, (dict, list)) and (field := _field(place, value))]


def _field(place: str, value: object) -> VerdictField | None:
    named = words(place.rpartition(".")[2])
    ends = {*named[:1], *named[-1:]} | ({named[1]} if named[:1] in (["is"], ["was"], ["has"]) and named[1:] else set())
    is_plain = not ends.isdisjoint(_VERDICT_WORDS)
    is_reward = not ends.isdisjoint(_REWARDS)
    if not (is_plain or is_reward or not ends.isdisjoint(_JUDGED_WORDS)):
        return None
    passed, reward = verdict_of(value)
    if passed is None or (reward is not None and not (reward in (0, 1) or (is_reward and 0 <= reward <= 1))):
        return None
    return VerdictField(place, passed, reward, is_plain)


def verdict_in_document(document: Any, names: Sequence[str]) -> Verdict | None:
    """What a report says about the run that goes by one of `names`; about the only run, when it names none."""
    if isinstance(document, list):
        return next((verdict for row in document if _is_about(row, names) and (verdict := _fields(row))), None)
    if not isinstance(document, dict):
        return None
    for name in names:
        if isinstance(document.get(name), dict):
            return _fields(document[name])
        if isinstance(document.get(name), bool):
            return Verdict(document[name])
    if (listed := _verdict_of_list(document, names)) is not None:
        return listed
    if isinstance(document.get("results"), (list, dict)):
        return verdict_in_document(document["results"], names)
    if _run_name(document) and names and not _is_about(document, names):
        return None
    return _fields(document)


def _run_name(row: dict[str, Any]) -> str:
    keys = ("instance_id", "task_id", "task_name", "id", "trial_name")
    return next((str(row[key]) for key in keys if isinstance(row.get(key), (str, int))), "")


def _is_about(row: object, names: Sequence[str]) -> bool:
    return isinstance(row, dict) and _run_name(row) in names


def _verdict_of_list(document: dict[str, Any], names: Sequence[str]) -> Verdict | None:
    for keys, passed in ((_PASSING_LISTS, True), (_FAILING_LISTS, False)):
        for key in keys:
            ids = document.get(key)
            if isinstance(ids, list) and any(name in ids for name in names):
                return Verdict(passed)
    # SWE-bench's experiments list what was resolved and what has no patch or log; all else of the benchmark failed.
    return Verdict(False) if isinstance(document.get("resolved"), list) and "no_logs" in document else None


def _fields(row: dict[str, Any]) -> Verdict | None:
    for key in VERDICTS:
        if isinstance(row.get(key), bool):
            return Verdict(row[key], feedback=_failing_tests(row))
    rewards = (
        (row.get("verifier_result") or {}).get("rewards") if isinstance(row.get("verifier_result"), dict) else None
    )
    values = (
        [value for value in map(number, rewards.values()) if value is not None] if isinstance(rewards, dict) else []
    )
    values += [value for key in _REWARDS if (value := number(row.get(key))) is not None]
    return Verdict(min(values) >= 1, min(values)) if values else None


def _failing_tests(row: dict[str, Any]) -> str:
    status = row.get("tests_status")
    groups = status.values() if isinstance(status, dict) else ()
    failing = [name for group in groups if isinstance(group, dict) for name in group.get("failure") or ()]
    return ", ".join(map(str, failing[:5]))[:500]


def exit_code_verdict(file: TraceFile) -> Verdict | None:
    text = file.content[:100].decode("utf-8", "replace").strip()
    return Verdict(text == "0") if re.fullmatch(r"-?\d+", text) else None


def word_verdict(file: TraceFile) -> Verdict | None:
    """The verdict in a file of one word (`success`) or number."""
    passed, reward = verdict_of(file.content[:100].decode("utf-8", "replace"))
    return None if passed is None else Verdict(passed, reward)


def reward_verdict(file: TraceFile) -> Verdict | None:
    reward = number(file.content[:100].decode("utf-8", "replace").strip())
    return None if reward is None else Verdict(reward >= 1, reward)


def junit_verdict(file: TraceFile) -> Verdict | None:
    """Every test of a JUnit file passed, and there was one. A file with entities of its own is not parsed."""
    content = file.content
    if len(content) > MAX_XML_BYTES or b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        return None
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, RecursionError):
        return None
    cases = list(root.iter("testcase"))
    if not cases:
        return None
    failing = [
        case.get("name") or "" for case in cases if case.find("failure") is not None or case.find("error") is not None
    ]
    return Verdict(not failing, feedback=", ".join(failing[:5])[:500])


# Verdicts that lie beside runs

MAX_LEVELS = 4
_REPORTS = ("report.json", "results.json", "result.json", "evaluation.json", "eval.json")
_PLAIN: dict[str, Callable[[TraceFile], Verdict | None]] = {
    "reward.txt": reward_verdict,
    "verifier/reward.txt": reward_verdict,
    "exit_code": exit_code_verdict,
    "exit_code.txt": exit_code_verdict,
    "returncode": exit_code_verdict,
    "status.txt": word_verdict,
    "result.txt": word_verdict,
    "outcome.txt": word_verdict,
    "verdict.txt": word_verdict,
    "junit.xml": junit_verdict,
    "test-results.xml": junit_verdict,
    "results.xml": junit_verdict,
}
_MIRRORS = ("logs", "eval_outputs", "evaluation", "reports")


class VerdictsBeside:
    """Finds the verdict of a run that knows none. Remembers which files are there, and what reports say."""

    def __init__(self) -> None:
        self._names: dict[str, frozenset[str]] = {}
        self._documents: dict[str, object] = {}
        self.found = 0
        """How many runs got their verdict from a file beside them."""
        self.files: dict[str, int] = {}
        """How many verdicts came from files of each name."""

    def apply(self, trajectory: Trajectory, file: TraceFile) -> Trajectory:
        if trajectory.outcome.passed is not None or ("content" in file.__dict__ and not file.path.exists()):
            return trajectory
        file.looked_beside = True
        trial = self._trial(file)
        if trial and trajectory.task_id != trial.get("task_name"):
            trajectory = _of_trial(trajectory, trial)
        names = (trajectory.task_id, file.name.partition(".")[0], file.path.parent.name, trajectory.run)
        for relative, read in self._places(file, trajectory.task_id):
            verdict = self._read(file, relative, read, names)
            if verdict is not None and verdict.passed is not None:
                self.count(Path(relative).name)
                return _with_verdict(trajectory, verdict)
        return trajectory

    def count(self, name: str, verdicts: int = 1) -> None:
        """Take note of verdicts that came from files of this name."""
        self.found += verdicts
        self.files[name] = self.files.get(name, 0) + verdicts

    def _trial(self, file: TraceFile) -> dict[str, object]:
        """The Harbor trial that a session was recorded in: its `result.json` names task and agent."""
        for level in range(1, 8):
            relative = "../" * level + "result.json"
            if not self._exists(file, relative):
                continue
            document = self._document(file, relative)
            if isinstance(document, dict) and {"trial_name", "task_name", "agent_info"} <= document.keys():
                return document
        return {}

    def _places(
        self, file: TraceFile, task_id: str
    ) -> Iterator[tuple[str, Callable[[TraceFile], Verdict | None] | None]]:
        for above in ("", "../"):
            for name in _REPORTS:
                yield above + name, None
            for name, read in _PLAIN.items():
                yield above + name, read
        yield "../results/results.json", None  # the experiments of SWE-bench: trajs/, logs/ and results/ side by side
        for level in range(1, MAX_LEVELS + 1):
            for mirror in _MIRRORS:
                for inner in dict.fromkeys((task_id, file.path.parent.name)):
                    yield "../" * level + f"{mirror}/{inner}/report.json", None
        for level in range(2, MAX_LEVELS + 1):
            for name in _REPORTS:
                yield "../" * level + name, None
        trial = self._levels_to_trial(file)
        if trial:
            yield trial, None

    def _levels_to_trial(self, file: TraceFile) -> str:
        return next(("../" * level + "result.json" for level in range(MAX_LEVELS + 1, 8)
                     if self._exists(file, "../" * level + "result.json")), "")  # fmt: skip

    def _exists(self, file: TraceFile, relative: str) -> bool:
        """Whether the file is there, with one look into each folder: most runs lie beside thousands of others."""
        if "\0" in relative or len(relative) > 1000:
            return False
        path = Path(file.path.parent, relative)
        folder = str(path.parent)
        if folder not in self._names:
            try:
                self._names[folder] = frozenset(entry.name for entry in path.parent.iterdir())
            except (OSError, ValueError):
                self._names[folder] = frozenset()
        return path.name in self._names[folder]

    def _read(
        self, file: TraceFile, relative: str, read: Callable[[TraceFile], Verdict | None] | None, names: tuple[str, ...]
    ) -> Verdict | None:
        if not self._exists(file, relative):
            return None
        if read is None:
            return verdict_in_document(self._document(file, relative), names)
        beside = file.beside(relative)
        try:
            return None if beside is None else read(beside)
        except TraceError:
            return None

    def _document(self, file: TraceFile, relative: str) -> object:
        beside = file.beside(relative)
        if beside is None or beside.path == file.path:
            return None
        key = str(beside.path)
        if key not in self._documents:
            if len(self._documents) > 256:
                self._documents.clear()
            try:
                self._documents[key] = beside.document
            except TraceError:
                self._documents[key] = None
        return self._documents[key]


def _of_trial(trajectory: Trajectory, trial: dict[str, object]) -> Trajectory:
    info = trial.get("agent_info")
    agent = info.get("name") if isinstance(info, dict) else None
    source = f"{agent}/{trajectory.source}" if isinstance(agent, str) and agent else trajectory.source
    return msgspec.structs.replace(
        trajectory,
        environment=f"harbor/{trial['source']}" if trial.get("source") else "harbor",
        task_id=str(trial["task_name"]),
        run=str(trial["trial_name"]),
        source=source,
        authored=False,
    )


def _with_verdict(trajectory: Trajectory, verdict: Verdict) -> Trajectory:
    outcome = msgspec.structs.replace(
        trajectory.outcome,
        passed=verdict.passed,
        reward=verdict.reward if trajectory.outcome.reward is None else trajectory.outcome.reward,
        feedback=trajectory.outcome.feedback or verdict.feedback,
    )
    return msgspec.structs.replace(trajectory, outcome=outcome)


# Outcomes that a user supplies

COLUMNS = {
    "run": ("file", "filename", "path", "run_id", "session", "session_id", "log", "trace", "trace_id", "id"),
    "passed": ("success", "verdict", "resolved", "correct", "is_correct", "outcome", "result", "status", "grade"),
    "reward": ("score",),
    "task_id": ("task", "case", "case_id", "ticket", "instance_id"),
    "source": ("model", "agent", "llm"),
    "trial": ("attempt",),
    "feedback": ("comment", "notes", "reason"),
}
"""The columns, with other names that people give them."""


class OutcomeRows:
    """Rows by the run they are about; keeps track of rows that matched no run."""

    def __init__(self, rows: Mapping[str, Mapping[str, str]], path: str) -> None:
        self._rows = rows
        self.path = path
        self.used: set[str] = set()
        """The rows that matched a run."""

    def copy(self) -> OutcomeRows:
        """The same rows, with none of them matched."""
        return OutcomeRows(self._rows, self.path)

    def apply(self, trajectory: Trajectory) -> Trajectory:
        """The trajectory with the values from its row, or unchanged if there is none."""
        for name in _names(trajectory):
            if name in self._rows:
                self.used.add(name)
                return _apply_row(trajectory, self._rows[name])
        return trajectory

    def unused(self) -> Iterator[tuple[str, str, str]]:
        """(where, what, hint) for each row that matched no run: most likely a misspelt name."""
        for name in self._rows:
            if name not in self.used:
                hint = "Name a run by its file, the end of its path, or its session id."
                yield self.path, f"row {name!r} matches no run that was read", hint


def _names(trajectory: Trajectory) -> Iterator[str]:
    yield trajectory.run
    yield str(trajectory.origin)
    path = PurePosixPath(trajectory.origin.file.replace("!", "/").replace("\\", "/"))
    for count in range(1, len(path.parts) + 1):
        yield "/".join(path.parts[-count:])
    yield path.name.partition(".")[0]
    yield content_digest(trajectory).hex()  # as the explorer names runs that are from one place


def _apply_row(trajectory: Trajectory, row: Mapping[str, str]) -> Trajectory:
    outcome = trajectory.outcome
    reward = number(row["reward"]) if row.get("reward") else outcome.reward
    passed = outcome.passed
    if row.get("passed"):
        passed, _ = verdict_of(row["passed"])
    elif row.get("reward") and reward is not None:
        passed = reward >= 1
    feedback = row.get("feedback") or outcome.feedback
    return msgspec.structs.replace(
        trajectory,
        outcome=msgspec.structs.replace(outcome, passed=passed, reward=reward, feedback=feedback),
        task_id=row.get("task_id") or trajectory.task_id,
        # A task id given by the user says which runs belong together, whatever their requests were.
        authored=False if row.get("task_id") else trajectory.authored,
        source=row.get("source") or trajectory.source,
        run=row.get("trial") or trajectory.run,
    )


def read_outcomes(path: Path) -> OutcomeRows:
    """Read and check the whole file before any trace is read."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    table = csv.DictReader(text.splitlines(), delimiter=find_separator(text))
    columns = _find_columns(table.fieldnames or [])
    if "run" not in columns or len(columns) < 2:
        raise UsageError(
            f"{path}: has columns {', '.join(table.fieldnames or [])}; "
            f"it needs 'run' and any of {', '.join(list(COLUMNS)[1:])}."
        )
    rows: dict[str, Mapping[str, str]] = {}
    for line, cells in enumerate(table, 2):
        row = {column: (cells[name] or "").strip() for column, name in columns.items()}
        if row.get("passed") and verdict_of(row["passed"])[0] is None:
            raise UsageError(f"{path}:{line}: passed is {row['passed']!r}; write true or false, or leave it empty.")
        if row["run"] in rows:
            raise UsageError(f"{path}:{line}: {row['run']!r} appears in an earlier row too. Keep one of them.")
        rows[row["run"]] = row
    return OutcomeRows(rows, str(path))


def _find_columns(header: Sequence[str]) -> dict[str, str]:
    """Our column -> the table's, by its name or one of the other names."""
    by_name = {name.strip().lower(): name for name in header}
    found = {}
    for column, others in COLUMNS.items():
        name = next((by_name[name] for name in (column, *others) if name in by_name), None)
        if name is not None:
            found[column] = name
    return found


# Outcomes of coding sessions by a rule

_TESTS = frozenset(
    "pytest unittest tox nox jest vitest mocha phpunit rspec ctest npm_test yarn_test pnpm_test bun_test cargo_test "
    "go_test make_test make_check gradle_test gradlew_test mvn_test dotnet_test manage_test rails_test".split()
)
Rule: TypeAlias = Callable[[Trajectory], bool | None]


def _last_works(run: Trajectory, wanted: Callable[[str], bool]) -> bool | None:
    last = next((call for call in reversed(run.calls) if wanted(call.function)), None)
    return None if last is None or last.result is None else last.result.error is None


def _works(call: Event) -> bool:
    return call.result is not None and call.result.error is None


RULES: dict[str, Rule] = {
    "tests": lambda run: _last_works(run, lambda function: function.removeprefix("shell.") in _TESTS),
    "exit": lambda run: _last_works(run, lambda function: function.startswith("shell.")),
    "commit": lambda run: any(
        call.function in ("shell.git_commit", "shell.gh_pr") and _works(call) for call in run.calls
    ),
}


def judge_by_rule(run: Trajectory, rule: str) -> Trajectory:
    """The run with the verdict of the rule, unless it has one."""
    passed = RULES[rule](run) if run.outcome.passed is None else None
    if passed is None:
        return run
    outcome = msgspec.structs.replace(run.outcome, passed=passed, feedback=run.outcome.feedback or f"by rule: {rule}")
    return msgspec.structs.replace(run, outcome=outcome)
