"""Reports as plain values: what `--json` prints and what MCP tools answer."""

from __future__ import annotations

from typing import Any

from contramem.study.ask import ExplainReport, TrialReport
from contramem.study.sharpen import Split


def trial_json(report: TrialReport) -> dict[str, Any]:
    trial, found = report.trial, report.confirmation
    return {
        "guard": str(trial.guard),
        "sentence": trial.guard.sentence,
        "judgement": trial.judgement,
        "grade": report.grade or None,
        "counts": trial.counts._asdict(),
        "vacuous": trial.vacuous,
        "tasks": trial.tasks,
        "chance": trial.chance,
        "by_kind": {kind: counts._asdict() for kind, counts in trial.by_kind.items()},
        "by_source": {source: counts._asdict() for source, counts in trial.by_source.items()},
        "contradicting": [run.name for run in trial.contradicting],
        "kept_in_vain": [run.name for run in trial.kept_in_vain],
        "splits": [_split_json(split) for split in report.splits],
        "confirmation": None
        if found is None
        else {
            "proven": found.is_proven,
            "counts": found.entry.counts._asdict(),
            "chance": found.entry.chance,
            "judgement": found.entry.judgement,
            "allowed": found.level,
            "look": found.looks,
            "repeated": found.is_repeated,
        },
        "tried": report.tried,
        "looks": report.looks,
    }


def _split_json(split: Split) -> dict[str, Any]:
    inside, outside = split.inside._asdict(), split.outside._asdict()
    return {"guard": str(split.guard), "inside": inside, "outside": outside, "chance": split.chance}


def explanation_json(report: ExplainReport) -> dict[str, Any]:
    found = report.explanation
    return {
        "kind": report.name,
        "tasks": report.tasks,
        "runs": found.runs,
        "failing": found.failing,
        "unexplained": found.unexplained,
        "tried": found.tried,
        "differences": [
            {
                "guard": str(difference.guard),
                "sentence": difference.guard.sentence,
                "counts": difference.counts._asdict(),
                "tasks": difference.tasks,
                "chance": difference.chance,
                "explains": difference.explains,
                "same": [str(guard) for guard in difference.same],
            }
            for difference in found.differences
        ],
    }
