"""The forms in which an argument works, and those in which it does not."""

from __future__ import annotations

from collections.abc import Sequence

from contramem.build.functions.blame import concerns
from contramem.build.functions.calls import (
    ABSENT_FORMS,
    NULL,
    Calls,
    by_form,
    fail_more,
    failures,
    find_once,
    leaves_out,
    runs_of,
    tasks,
)
from contramem.contrast.observation import Observation
from contramem.contrast.values import is_list_form

MIN_LOST = 3
"""How many runs must have used a form, and all failed, before it is no longer recommended."""
MIN_PREFERRED = 5
"""How many calls of passing runs are enough to ignore the others."""
MIN_BAD = 0.75
"""A form that fails less often is bad only if another one never failed."""


@find_once
def best_and_bad_forms(calls: Calls, name: str) -> tuple[str, list[str]]:
    """The form of an argument that worked in most calls, and the forms that failed in comparison."""
    forms = by_form([call for call in calls.all if concerns(call, name, calls)], name)
    usable = [form for form in forms if form not in ABSENT_FORMS]
    if not usable:
        return "", []
    best = min(usable, key=lambda form: (failures(forms[form]) - len(forms[form]), form))
    if any(leaves_out(call, name) for call in calls.worked):
        forms.pop(NULL, None)
    bad = [form for form in forms if form != best and _is_bad(form, forms[form], forms[best])]
    # Several odd forms that each failed once or twice prove together what none proves alone.
    others = [form for form in forms if _type_of(form) != _type_of(best)]
    hopeless = [form for form in others if all(call.error for call in forms[form])]
    if not bad and fail_more([call for form in hopeless for call in forms[form]], forms[best]):
        bad = hopeless
    return best, sorted(bad, key=lambda form: (-failures(forms[form]), form))


def _is_bad(form: str, calls: Sequence[Observation], best: Sequence[Observation]) -> bool:
    clear = failures(calls) >= len(calls) * MIN_BAD or (not failures(best) and form not in ABSENT_FORMS)
    return clear and fail_more(calls, best)


def _type_of(form: str) -> str:
    if form in ABSENT_FORMS:
        return NULL
    if is_list_form(form):
        return "list"
    return form if form in ("integer", "number", "boolean", "object") else "text"


def forms_of_failing_runs(calls: Calls, name: str) -> list[str]:
    """Forms that the tool accepted but no passing run used, while passing runs of several tasks used another."""
    forms = by_form([call for call in calls.worked if call.passed is not None], name)
    passing = {form: tasks(call for call in made if call.passed) for form, made in forms.items()}
    if max(passing.values(), default=0) < 2:
        return []
    return [form for form, made in forms.items() if not passing[form] and runs_of(made) >= MIN_LOST]


def prefer_passing(given: Sequence[Observation]) -> Sequence[Observation]:
    """The calls of passing runs if several tasks have some, because what failing runs do should not be recommended;
    else all calls."""
    passing = [call for call in given if call.passed]
    return passing if len(passing) >= MIN_PREFERRED and tasks(passing) > 1 else given
