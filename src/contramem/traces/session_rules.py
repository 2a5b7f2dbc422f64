"""Outcomes of coding sessions by a rule: a session holds no verdict, but what it ran last often is one.

`tests` takes the last test command of the session, `exit` its last shell command, `commit` whether it committed. A
session that the rule finds nothing in stays unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from contramem.traces.trajectory import Event, Trajectory

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
