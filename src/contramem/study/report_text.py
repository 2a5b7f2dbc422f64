"""Reports as lines of text, printed by commands and returned by MCP tools. Short, because models pay for every word."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from contramem.chance import OutcomeTable
from contramem.study.ask import ExplainReport, KindReport, TrialReport, Unprovable
from contramem.study.explain import Difference
from contramem.study.propose import Reply
from contramem.study.run_set import StudyRun
from contramem.study.trial_log import Confirmation
from contramem.study.values_seen import SeenValues

MAX_LISTED = 8
"""Runs, kinds or sources per list; the rest is only counted."""
MAX_KINDS, MAX_FUNCTIONS = 60, 8
MAX_EXAMPLE_CHARS = 160
MAX_SAME, MAX_CHANGES = 4, 4


def write_kinds(reports: Sequence[KindReport]) -> str:
    """A line per kind, with its functions and a request below."""
    lines = [f"{sum(len(report.tasks) for report in reports):,} tasks of {len(reports):,} kinds, largest first."]
    for report in reports[:MAX_KINDS]:
        lines.append(
            f"{report.kind}: {_count(len(report.tasks), 'task')} ({report.open_tasks} open), "
            f"{report.passed} of {_count(report.runs, 'run')} passed{_extremes(report)}"
        )
        lines.append(f"  uses {_list_functions(report.functions) or 'no function'}")
        lines.append(f"  {' '.join(report.example.split())[:MAX_EXAMPLE_CHARS]}")
    if len(reports) > MAX_KINDS:
        lines.append(f"... and {len(reports) - MAX_KINDS:,} smaller kinds: SELECT DISTINCT kind FROM kinds.")
    return "\n".join(lines)


def _list_functions(functions: Sequence[str]) -> str:
    """`Mail: search, send; Files: list`: the name of an app only once."""
    by_app = defaultdict[str, list[str]](list)
    for function in functions[:MAX_FUNCTIONS]:
        app, _, name = function.partition(".")
        by_app[app].append(name)
    more = f" and {len(functions) - MAX_FUNCTIONS} more" if len(functions) > MAX_FUNCTIONS else ""
    return "; ".join(f"{app}: {', '.join(names)}" for app, names in by_app.items()) + more


def _extremes(report: KindReport) -> str:
    """The sources that passed most and least often."""
    rates = sorted((-passed / runs, source, passed, runs) for source, (passed, runs) in report.by_source.items())
    if len(rates) < 2:
        return ""
    (_, best, most, of_best), (_, worst, least, of_worst) = rates[0], rates[-1]
    return f"; best {best} {most} of {of_best}, worst {worst} {least} of {of_worst}"


def write_trial(report: TrialReport) -> str:
    """The result of a trial: what it means, then the counts, then the runs to look at."""
    return "\n".join(_trial_lines(report))


def _trial_lines(report: TrialReport) -> Iterator[str]:
    trial = report.trial
    grade = f", {report.grade}" if report.grade else ""
    yield str(trial.guard)
    yield f"{trial.judgement}{grade}. {advise(report)}"
    where = "all tasks" if report.on_all else "the open half"
    about = f"{_count(sum(trial.counts), 'run')} of {_count(trial.tasks, 'task')}, {trial.vacuous:,} others"
    yield f"on {where}: {_outcomes(trial.counts)}; chance {trial.chance:.2g}; it is about {about} are not concerned"
    if report.confirmation is not None:
        yield _confirmation_line(report.confirmation)
    if report.unprovable is not None:
        yield f"on the half kept back: no look was spent, because {_why_unprovable(report.unprovable)}"
    if len(trial.by_kind) > 1:
        yield f"by kind (passed/kept passed/broke): {_table(trial.by_kind)}"
    if len(trial.by_source) > 1:
        yield f"by source (passed/kept passed/broke): {_table(trial.by_source)}"
    yield from _run_lines("passed and broke it", trial.contradicting)
    yield from _run_lines("failed and kept it", trial.kept_in_vain)
    yield from _value_lines(report.values, "")
    for split in report.splits:
        yield f"sharper: {split.guard} ({_outcomes(split.inside)}; chance {split.chance:.2g})"
    yield f"({_count(report.tried, 'guard')} tried on these runs, {report.looks} of them on the half kept back)"


def advise(report: TrialReport) -> str:
    """What a trial means for whoever proposed the guard, and what to do next."""
    counts, confirmation = report.trial.counts, report.confirmation
    if report.unmet:
        return f"{' '.join(report.unmet)} Mend the condition."
    if confirmation is not None:
        return _advise_after_look(report, confirmation)
    if report.trial.judgement == "never tried":
        return "No run does what it speaks about. Is the condition too narrow, or a name misspelt?"
    if report.trial.judgement == "contradicted":
        return _advise_against(report)
    if not counts.broke_failed:
        return "No failing run breaks it, so it explains no failure."
    if report.unprovable is not None:
        advice = "propose it as observed" if report.grade else "try it on everything (--all)"
        return f"The tasks kept back cannot prove it. If it makes sense, {advice}."
    verb = "propose" if report.on_all else "confirm"
    if counts.broke_passed:
        share = f"{counts.broke_passed} of {counts.passed} passing runs"
        return f"{share} break it. Look at them: an exception of the rule, or noise? If noise, {verb} it as it is."
    if report.trial.judgement == "no difference":
        few = f"No passing run breaks it, but only {counts.broke_failed} failing do: chance could explain it."
        return f"{few} Propose it if it makes sense." if report.on_all else f"{few} Confirm it."
    return f"No passing run breaks it, and chance hardly explains it. {verb.capitalize()} it."


def _advise_against(report: TrialReport) -> str:
    """Why passing runs break a guard: it covers runs that it is not for, or a condition is missing."""
    guard = report.trial.guard
    template = getattr(guard, "template", "")
    if template in ("existence", "last", "at_least") and not guard.when:  # type: ignore[union-attr]
        return f"`{template}` without `when` asks for it in every run, of whatever kind. Add a `when`, or give a kind."
    return "Passing runs break it: look at some (show_runs, `author runs`) and find the condition that is missing."


def _advise_after_look(report: TrialReport, confirmation: Confirmation) -> str:
    if confirmation.is_proven:
        return "Proven on the tasks kept back. Propose it."
    if report.grade == "observed":
        return "Not proven, but no task of either half speaks against it: propose it as observed if it makes sense."
    if confirmation.entry.judgement == "supported":
        return (
            f"The tasks kept back support it, but after {confirmation.looks} looks that is no proof. Look at the "
            "passing runs that break it; propose it if they are noise and the rule makes sense."
        )
    return "Not confirmed on the tasks kept back. Drop it, or find the condition that is missing."


def _confirmation_line(confirmation: Confirmation) -> str:
    word = "proven" if confirmation.is_proven else "not proven"
    again = ", decided before: the same runs give no second chance" if confirmation.is_repeated else ""
    entry = confirmation.entry
    allowed = f"look {confirmation.looks} allows {confirmation.level:.2g}"
    return f"on the half kept back: {word}{again}; {_outcomes(entry.counts)}; chance {entry.chance:.2g} ({allowed})"


def _why_unprovable(unprovable: Unprovable) -> str:
    if not unprovable.runs:
        return "no run there does what it speaks about"
    about = f"{_count(unprovable.runs, 'run')} of {_count(unprovable.tasks, 'task')}"
    if unprovable.least_chance == 1:
        return f"in no task there do runs both keep and break it, and both pass and fail ({about})"
    least = f"chance {unprovable.least_chance:.2g} at best; the next look allows {unprovable.level:.2g}"
    return f"the runs there are too few to prove it ({about}: {least})"


def write_explanations(reports: Sequence[ExplainReport], *, with_weak: bool = False) -> str:
    """What separates the runs of each kind; kinds without a result last, with what their runs did."""
    telling = [report for report in reports if report.explanation.differences]
    silent = [report for report in reports if not report.explanation.differences]
    unseen = [report.name for report in silent if not report.tasks]
    shown = [(report, _explanation_lines) for report in telling]
    shown += [(report, _silence_lines) for report in silent if report.explanation.failing]
    blocks = ["\n".join([*write(report), *_weak_lines(report, with_weak)]) for report, write in shown]
    if unseen:
        blocks.append(f"No task on the open half, so look with everything (--all): {', '.join(unseen)}.")
    return "\n".join(blocks) or "No run failed here."


def _silence_lines(report: ExplainReport) -> Iterator[str]:
    """What can be said where no difference holds up: what runs changed, and where more can be seen."""
    explanation = report.explanation
    yield (
        f"# {report.name}: {_count(report.tasks, 'task')}, "
        f"{explanation.failing} of {_count(explanation.runs, 'run')} failed, and no difference holds up "
        f"({explanation.tried:,} guards tried)"
    )
    yield from (
        f"   passed {passed}, failed {failed}: {', '.join(made) or 'changed nothing'}"
        for made, passed, failed in report.changes[:MAX_CHANGES]
    )
    more = [f"function {function} ({tasks} open tasks)" for function, tasks in report.elsewhere[:MAX_CHANGES]]
    more += [f"everything (--all, {_count(report.kept_back, 'more task')})"] if report.kept_back else []
    look = "Look at its runs call by call (show_runs, contramem author runs)"
    yield f"   {look}" + (f", or explain with {', '.join(more)}." if more else ".")


def _explanation_lines(report: ExplainReport) -> Iterator[str]:
    explanation = report.explanation
    yield (
        f"# {report.name}: {_count(report.tasks, 'task')}, "
        f"{explanation.failing} of {_count(explanation.runs, 'run')} failed, "
        f"{explanation.unexplained} unexplained ({explanation.tried:,} guards tried)"
    )
    for number, difference in enumerate(explanation.differences, 1):
        yield f"{number}. {difference.guard}"
        yield f"   {_outcomes(difference.counts)}; {_weight(difference, report)}"
        yield from _detail_lines(difference, report)
    for difference in explanation.overlapping:
        yield f"also {difference.guard}"
        yield f"   {_outcomes(difference.counts)}; its failures are explained above"


def _weak_lines(report: ExplainReport, with_weak: bool) -> Iterator[str]:
    """What is no more than a hint, or how many of these there are."""
    if report.weak and not with_weak:
        yield f"   ({_count(len(report.weak), 'weak hint')} left out, mostly accidents; weak (--weak) shows them)"
        return
    for difference in report.weak:
        yield f"weak {difference.guard}"
        yield f"   {_outcomes(difference.counts)}; {_weight(difference, report)}"
        yield from _detail_lines(difference, report)


def _detail_lines(difference: Difference, report: ExplainReport) -> Iterator[str]:
    if difference.is_doubtful:
        yield f"   doubtful: about {difference.by_luck:.0f} such conditions fit by luck; does this one make sense?"
    if difference.is_local:
        broke, passed = difference.elsewhere.broke_passed, difference.elsewhere.passed
        yield f"   elsewhere {broke} of {passed} passing runs break it: add what sets these tasks apart"
    yield from _value_lines(report.values.get(difference.guard, {}), "   ")
    yield from (f"   fits the same runs: {guard}" for guard in difference.same[:MAX_SAME])
    if len(difference.same) > MAX_SAME:
        yield f"   fits the same runs: {len(difference.same) - MAX_SAME} others (json lists them)"


def _weight(difference: Difference, report: ExplainReport) -> str:
    grade = "observed" if difference.guard in report.observed else "not observed"
    tasks, failures = _count(difference.tasks, "task"), _count(difference.explains, "failure")
    return f"{tasks}; chance {difference.chance:.2g}, {grade}; explains {failures}"


def write_reply(reply: Reply) -> str:
    """The decision on a proposal, with what to do about it."""
    where = f" as decision {reply.decision}" if reply.decision is not None else ""
    operation = f" {reply.operation}" if reply.operation else ""
    first = f"{reply.fate}{where}{operation}: {reply.title or 'card'} {' '.join(reply.card_ids)}".rstrip()
    how = ["Propose it again with carry_out_edits (--yes) to do so."] if reply.fate == "waiting" else []
    return "\n".join([first, *(f"  {reason}" for reason in (*reply.reasons, *how))])


def _outcomes(counts: OutcomeTable) -> str:
    kept, broke = counts.kept_passed + counts.kept_failed, counts.broke_passed + counts.broke_failed
    return f"kept: {counts.kept_passed} of {kept} passed; broke: {counts.broke_passed} of {broke} passed"


def _table(tables: Mapping[str, OutcomeTable]) -> str:
    """`name 3/4 0/5`: passed among those that followed it, passed among those that broke it."""
    cells = [
        f"{name} {counts.kept_passed}/{counts.kept_passed + counts.kept_failed} "
        f"{counts.broke_passed}/{counts.broke_passed + counts.broke_failed}"
        for name, counts in sorted(tables.items(), key=lambda item: -sum(item[1]))
    ]
    return _cut_list(cells)


def _run_lines(title: str, runs: Sequence[StudyRun]) -> Iterator[str]:
    if runs:
        yield f"{title}: {_cut_list([run.name for run in runs])}"


def _value_lines(values: SeenValues, indent: str) -> Iterator[str]:
    for place, sides in values.items():
        yield f"{indent}{place}: " + "; ".join(f"{side} {seen}" for side, seen in sides.items())


def _cut_list(names: Iterable[str]) -> str:
    listed = list(names)
    more = f", and {len(listed) - MAX_LISTED:,} more" if len(listed) > MAX_LISTED else ""
    return ", ".join(listed[:MAX_LISTED]) + more


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
