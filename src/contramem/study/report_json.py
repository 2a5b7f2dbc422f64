"""Reports as plain values: what `--json` prints and MCP tools return."""

from __future__ import annotations

from typing import Any

from contramem.study.ask import ExplainReport, TrialReport
from contramem.study.explain import Difference
from contramem.study.sharpen import Split

_DOUBT = "about {:.0f} conditions of this sort would fit as well by luck: does this one make sense?"


def trial_json(report: TrialReport) -> dict[str, Any]:
    trial, confirmation = report.trial, report.confirmation
    return {
        "guard": str(trial.guard),
        "sentence": trial.guard.sentence,
        "judgement": trial.judgement,
        "grade": report.grade or None,
        "counts": trial.counts._asdict(),
        "vacuous": trial.vacuous,
        "tasks": trial.tasks,
        "chance": _round(trial.chance),
        "by_kind": {kind: counts._asdict() for kind, counts in trial.by_kind.items()},
        "by_source": {source: counts._asdict() for source, counts in trial.by_source.items()},
        "contradicting": [run.name for run in trial.contradicting],
        "kept_in_vain": [run.name for run in trial.kept_in_vain],
        "values": report.values,
        "splits": [_split_json(split) for split in report.splits],
        "confirmation": None
        if confirmation is None
        else {
            "proven": confirmation.is_proven,
            "counts": confirmation.entry.counts._asdict(),
            "chance": _round(confirmation.entry.chance),
            "judgement": confirmation.entry.judgement,
            "allowed": _round(confirmation.level),
            "look": confirmation.looks,
            "repeated": confirmation.is_repeated,
        },
        "unprovable": report.unprovable and report.unprovable._asdict(),
        "unmet": report.unmet,
        "tried": report.tried,
        "looks": report.looks,
    }


def _split_json(split: Split) -> dict[str, Any]:
    inside, outside = split.inside._asdict(), split.outside._asdict()
    return {"guard": str(split.guard), "inside": inside, "outside": outside, "chance": _round(split.chance)}


def explanation_json(report: ExplainReport) -> dict[str, Any]:
    explanation = report.explanation
    return {
        "kind": report.name,
        "tasks": report.tasks,
        "runs": explanation.runs,
        "failing": explanation.failing,
        "unexplained": explanation.unexplained,
        "tried": explanation.tried,
        "differences": [_difference_json(each, report) for each in explanation.differences],
        "overlapping": [_difference_json(each, report) for each in explanation.overlapping],
        "weak": [_difference_json(each, report) for each in report.weak],
        "changes": [
            {"functions": ", ".join(made), "passed": passed, "failed": failed}
            for made, passed, failed in report.changes
        ],
    }


def _difference_json(difference: Difference, report: ExplainReport) -> dict[str, Any]:
    doubt = {"doubtful": _DOUBT.format(difference.by_luck)} if difference.is_doubtful else {}
    return {
        "guard": str(difference.guard),
        "sentence": difference.guard.sentence,
        "counts": difference.counts._asdict(),
        "tasks": difference.tasks,
        "chance": _round(difference.chance),
        "observed": difference.guard in report.observed,
        "explains": difference.explains,
        **doubt,
        "elsewhere": difference.elsewhere._asdict(),
        "values": report.values.get(difference.guard, {}),
        "same": [str(guard) for guard in difference.same],
    }


def _round(chance: float) -> float:
    return float(f"{chance:.2g}")
