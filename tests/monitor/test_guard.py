"""Guards are read, written and checked on runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.made_runs import Call, call, packet, run

from contramem.errors import GuardError
from contramem.monitor.guard import Guard, parse_guard

READ = call("Mail.read", {"id": "m-1"}, [{"id": "m-1234"}])
WRITE = call("Mail.delete", {"id": "m-1234"})
GUESS = call("Mail.delete", {"id": "m-9876"})
REFUSED_WRITE = call("Mail.delete", {"id": "m-1234"}, "Error: locked", error="Error: locked")
REFUSED = call("Mail.read", {"id": "m-1"}, "Error: no", error="Error: no")


@pytest.mark.parametrize(
    ("guard", "calls", "verdict"),
    [
        ("existence(Mail.delete)", [WRITE], "holds"),
        ("existence(Mail.delete)", [READ], "broken"),
        ("existence(Mail.read)", [REFUSED], "broken"),
        ("absence(Mail.delete)", [READ], "holds"),
        ("absence(Mail.delete)", [WRITE], "broken"),
        ("at_most_once(Mail.delete)", [WRITE, GUESS], "holds"),
        ("at_most_once(Mail.delete)", [WRITE, WRITE], "broken"),
        ("at_most_once(Mail.delete)", [READ], "vacuous"),
        ("precedence(Mail.read, Mail.delete)", [READ, WRITE], "holds"),
        ("precedence(Mail.read, Mail.delete)", [WRITE, READ], "broken"),
        ("precedence(Mail.read, Mail.delete)", [REFUSED, WRITE], "broken"),
        ("precedence(Mail.read, Mail.delete)", [READ], "vacuous"),
        ("precedence(Mail.read, Mail.delete)", [REFUSED_WRITE, READ, WRITE], "holds"),
        ("precedence(Mail.read, Mail.delete)", [REFUSED_WRITE, READ], "broken"),
        ("response(Mail.read, Mail.delete)", [READ, WRITE], "holds"),
        ("response(Mail.read, Mail.delete)", [WRITE, READ], "broken"),
        ("response(Mail.read, Mail.delete)", [WRITE], "vacuous"),
        ("known_value(Mail.delete.id)", [READ, WRITE], "holds"),
        ("known_value(Mail.delete.id)", [READ, GUESS], "broken"),
        ("known_value(Mail.delete.id)", [READ], "vacuous"),
        ("existence(Mail.delete) when Mail.read", [READ], "broken"),
        ("existence(Mail.delete) when Mail.read", [GUESS], "vacuous"),
    ],
)
def test_a_guard_on_a_run(guard: str, calls: list[Call], verdict: str) -> None:
    made = packet(run("a", True, *calls, "Done."))
    assert parse_guard(guard).check(made.runs[0].actions) == verdict


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("delete before read", "is no guard"),
        ("sequence(A.b, A.c)", "there is no template 'sequence'"),
        ("precedence(A.b)", "precedence takes two functions"),
        ("existence(A.b, A.c)", "existence takes one function"),
        ("existence(read)", "functions are written App.function"),
    ],
)
def test_what_is_no_guard_is_refused_with_what_is_wrong(text: str, complaint: str) -> None:
    with pytest.raises(GuardError, match=complaint):
        parse_guard(text)


FUNCTIONS = st.from_regex(r"[A-Z][a-z]{1,5}\.[a-z_]{1,8}", fullmatch=True)
NAMES = st.from_regex(r"[a-z_]{1,6}", fullmatch=True)
GUARDS = st.one_of(
    st.tuples(st.sampled_from(["existence", "absence", "at_most_once"]), FUNCTIONS, st.just(""), st.just("")),
    st.tuples(st.sampled_from(["precedence", "response"]), FUNCTIONS, FUNCTIONS, st.just("")),
    st.tuples(st.just("known_value"), FUNCTIONS, st.just(""), NAMES),
)


@given(GUARDS, st.just("") | FUNCTIONS)
def test_a_guard_reads_back_as_it_was_written(parts: tuple[str, str, str, str], when: str) -> None:
    guard = Guard(*parts, when)  # type: ignore[arg-type]
    assert parse_guard(str(guard)) == guard
