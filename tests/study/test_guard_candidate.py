"""The parts of a candidate are what its guard says once it is parsed."""

from __future__ import annotations

import pytest
from tests.study.office import note_office

from contramem.guards.conditions import parse_pattern
from contramem.study.candidates import propose_candidates
from contramem.study.guard_candidate import GuardCandidate, about_argument, about_call, about_two_calls
from contramem.study.masks import GuardMasks
from contramem.study.run_set import RunSet
from contramem.study.seen_relation import SeenRelation

NO_RUNS = GuardMasks(0, 0)
ABOVE_FIVE = SeenRelation(">", "5")


def test_every_candidate_has_the_parts_of_its_guard() -> None:
    candidates = propose_candidates(RunSet.of(note_office()).runs)
    assert {"existence", "absence", "precedence", "response"} <= {candidate.template for candidate in candidates}
    for candidate in candidates:
        guard = candidate.parse()
        assert guard is not None
        tests = parse_pattern(guard.function).conditions
        first = guard.function if guard.form.takes_two else ""
        argument = tests[0].argument if tests else guard.argument
        assert (guard.template, guard.target, first, argument) == candidate[2:6], candidate.text
        assert bool(tests) == bool(candidate.relation), candidate.text


@pytest.mark.parametrize(
    ("candidate", "family"),
    [
        (about_call("existence", "Desk.pay", NO_RUNS), "calls"),
        (about_two_calls("precedence", "Desk.look", "Desk.pay", NO_RUNS), "calls"),
        (about_argument("absence", "Desk.pay", "sum", ABOVE_FIVE, NO_RUNS), "arguments"),
        (about_argument("existence", "Desk.pay", "note", SeenRelation("contains", "fee"), NO_RUNS), "words"),
        (
            about_argument("absence", "Desk.pay", "note", SeenRelation("has", "at most 9 characters"), NO_RUNS, True),
            "words",
        ),
    ],
)
def test_a_family_is_what_could_have_been_found_instead(candidate: GuardCandidate, family: str) -> None:
    assert candidate.family == ("Desk.pay", family)


def test_only_whether_a_function_is_called_is_presence() -> None:
    assert about_call("absence", "Desk.pay", NO_RUNS).is_presence
    assert not about_call("at_most_once", "Desk.pay", NO_RUNS).is_presence
    assert not about_argument("absence", "Desk.pay", "sum", ABOVE_FIVE, NO_RUNS).is_presence


def test_a_name_that_guards_cannot_express_is_not_parsed() -> None:
    assert about_argument("absence", "Desk.pay", "sum ]", ABOVE_FIVE, NO_RUNS).parse() is None
