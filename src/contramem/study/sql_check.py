"""SqlCheck: a rule that no guard can express, checked by a query that says for each run whether it follows the rule.

    SELECT run_id, count(*) = 1 AS keeps FROM calls WHERE function = 'Mail.send' GROUP BY run_id

One row per run to which the rule applies: its `run_id`, and `keeps`, true or false.
"""

from __future__ import annotations

from dataclasses import dataclass

from contramem.errors import UsageError
from contramem.guards.templates import Verdict
from contramem.study.run_set import RunSet
from contramem.study.tables import RunTables
from contramem.study.trial import Trial, weigh

COLUMNS = ("run_id", "keeps")


@dataclass(frozen=True)
class SqlCheck:
    """A query that divides runs into those that follow a rule and those that break it."""

    sql: str

    def __str__(self) -> str:
        return f"check: {' '.join(self.sql.split())}"

    @property
    def sentence(self) -> str:
        return "Runs keep to it by a query of their author's."


def try_check(check: SqlCheck, run_set: RunSet, tables: RunTables) -> Trial:
    """Which runs follow the rule. Raises UsageError for a query that does not say so exactly once per run."""
    answer = tables.query(check.sql)
    if tuple(answer.columns) != COLUMNS:
        given = ", ".join(answer.columns)
        raise UsageError(f"`check` has to select {' and '.join(COLUMNS)}, a row for each run; it selects {given}.")
    if answer.is_cut:
        raise UsageError(f"`check` gives more than {len(answer.rows):,} rows. Limit it to some tasks or functions.")
    kept: dict[int, bool] = {}
    for run_id, keeps in answer.rows:
        if run_id in kept:
            raise UsageError(f"`check` gives several rows for run {run_id}: group by run_id.")
        if not isinstance(keeps, bool | None):
            raise UsageError(f"`keeps` has to be true or false, and is {keeps!r} for run {run_id}.")
        if keeps is not None:
            kept[run_id] = keeps
    verdicts: dict[bool | None, Verdict] = {True: "holds", False: "broken", None: "vacuous"}
    evidence = [(run, verdicts[kept.get(number)]) for number, run in enumerate(run_set.runs, 1)]
    return weigh(check, [(run, verdict) for run, verdict in evidence if run.passed is not None], run_set)
