"""Guards are read, written and checked on runs."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.made_runs import Call, call, packet, run

from contramem.errors import GuardError
from contramem.guards.actions import actions_of_run, actions_of_steps
from contramem.guards.arguments import ArgumentCondition
from contramem.guards.conditions import Pattern
from contramem.guards.guard import Guard, parse_guard

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
        ("not_succession(Mail.delete, Mail.read)", [READ, WRITE], "holds"),
        ("not_succession(Mail.delete, Mail.read)", [WRITE, READ], "broken"),
        ("not_succession(Mail.delete, Mail.read)", [READ], "vacuous"),
        ("last(Mail.delete)", [READ, WRITE], "holds"),
        ("last(Mail.delete)", [WRITE, READ], "broken"),
        ("last(finalize)", [WRITE], "holds"),
        ("at_most_once(Mail.delete by id)", [WRITE, WRITE], "broken"),
        ("existence(writes(Mail))", [READ, WRITE], "holds"),
        ("existence(writes(Mail))", [READ], "broken"),
        ("absence(writes)", [READ], "holds"),
        ("absence(ask)", [READ], "holds"),
        ("precedence(Mail.read, writes)", [WRITE], "broken"),
        ("existence(Mail.delete[id from Mail.read])", [READ, WRITE], "holds"),
        ("existence(Mail.delete[id from Mail.read])", [READ, GUESS], "broken"),
        ("absence(Mail.delete[id from nowhere])", [READ, GUESS], "broken"),
        ("existence(Mail.delete[id given and to missing])", [WRITE], "holds"),
        ("existence(Mail.delete) when Mail.read[id is identifier]", [READ], "broken"),
        ("existence(Mail.delete) when Mail.read[id is boolean]", [READ], "vacuous"),
        ("existence(Mail.delete) when Mail.read", [READ], "broken"),
        ("existence(Mail.delete) when Mail.read", [GUESS], "vacuous"),
        ("existence(Mail.delete) unless Mail.read", [READ], "vacuous"),
        ("absence(Mail.delete) unless Mail.read", [GUESS], "broken"),
        ("absence(Mail.delete) when Mail.delete unless Mail.read", [READ, WRITE], "vacuous"),
        ("absence(Mail.delete) unless Mail.read and Mail.read[id is boolean]", [READ, WRITE], "broken"),
    ],
)
def test_the_verdict_of_a_guard_on_a_run(guard: str, calls: list[Call], verdict: str) -> None:
    made = packet(run("a", True, *calls, "Done."))
    assert parse_guard(guard).replay(actions_of_steps(made.runs[0].actions)) == verdict


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("delete before read", "is not a guard"),
        ("sequence(A.b, A.c)", "there is no template 'sequence'"),
        ("precedence(A.b)", "precedence takes two functions"),
        ("existence(A.b, A.c)", "existence takes one function"),
        ("existence(read)", "functions are written App.function"),
        ("known_value(Mail.read)", "functions are written App.function, and an argument or field of one App.fun"),
        ("existence(A.b) maybe A.c", "a guard may be followed by `within 60 s`, `when App.function` and `unless"),
        ("existence(A.b) unless A.c unless A.d", "one `unless`"),
        ("existence(A.b) unless", "is none of them"),
        ("existence(A.b[id])", "'id' in 'A.b\\[id\\]' is not a condition"),
        ("precedence(A.b, A.c", "is not a guard"),
        ("precedence(A.b, A.b)", "precedence needs two different functions"),
    ],
)
def test_text_that_is_not_a_guard_is_refused_with_the_reason(text: str, complaint: str) -> None:
    with pytest.raises(GuardError, match=complaint):
        parse_guard(text)


FUNCTIONS = st.from_regex(r"[A-Z][a-z]{1,5}\.[a-z_]{1,8}", fullmatch=True)
NAMES = st.from_regex(r"[a-z_]{1,6}", fullmatch=True)
VALUES = st.text(min_size=1, max_size=8).map(str.strip).filter(bool)
FORMS, PLACES = ["e-mail address", "date YYYY-MM-DD", "integer"], ["task", "user", "nowhere", "Mail.read"]
CONDITIONS = st.one_of(
    st.tuples(NAMES, st.just("="), VALUES),
    st.tuples(NAMES, st.just("is"), st.sampled_from(FORMS)),
    st.tuples(NAMES, st.just("from"), st.sampled_from(PLACES)),
    st.tuples(NAMES, st.sampled_from(["given", "missing"])),
).map(lambda parts: ArgumentCondition(*parts))  # type: ignore[arg-type]
PATTERNS = st.one_of(
    st.tuples(st.just("function"), FUNCTIONS, st.lists(CONDITIONS, max_size=2).map(tuple)),
    st.tuples(st.just("writes"), st.just("") | NAMES),
    st.tuples(st.sampled_from(["ask", "finalize"])),
).map(lambda parts: str(Pattern(*parts)))  # type: ignore[arg-type]
ONE, TWO = ["existence", "absence", "at_most_once", "last"], ["precedence", "response", "not_succession"]
GUARDS = st.one_of(
    st.tuples(st.sampled_from(ONE), PATTERNS),
    st.tuples(st.just("at_most_once"), FUNCTIONS, st.just(""), NAMES),
    st.tuples(st.sampled_from(TWO), PATTERNS, PATTERNS).filter(lambda parts: parts[1] != parts[2]),
    st.tuples(st.just("known_value"), FUNCTIONS, st.just(""), NAMES),
    st.tuples(st.just("covers"), FUNCTIONS, FUNCTIONS, NAMES, st.just(""), NAMES),
).map(lambda parts: Guard(*parts))  # type: ignore[arg-type]


@given(GUARDS, st.just("") | PATTERNS)
def test_parsing_a_written_guard_gives_the_same_guard(guard: Guard, when: str) -> None:
    guard = guard._replace(when=when)
    assert parse_guard(str(guard)) == guard


@given(GUARDS, st.just("") | PATTERNS)
def test_every_guard_has_a_sentence(guard: Guard, when: str) -> None:
    sentence = guard._replace(when=when).sentence
    assert sentence.endswith(".") and sentence[0] in "`AEOT"


@pytest.mark.parametrize(
    ("guard", "sentence"),
    [
        ("precedence(Mail.search, Mail.delete)", "`delete` is called only after `search` has succeeded."),
        ("known_value(Mail.delete.id)", "Every `id` given to `delete` was seen before the call."),
        ("covers(Mail.search.id, Mail.delete.id)", "Every `id` that `search` returns is given as `id` to `delete`, wh"),
        ("absence(writes(Mail)) when ask", "A call that changes Mail is not made, if there is a question to"),
    ],
)
def test_a_guard_in_plain_words(guard: str, sentence: str) -> None:
    assert parse_guard(guard).sentence.startswith(sentence)


def test_a_class_names_no_function_and_is_its_own_target() -> None:
    guard = parse_guard("response(Mail.read[id given], writes(Mail)) when ask")
    assert (guard.functions, guard.target) == (("Mail.read",), "writes(Mail)")


def test_covers_requires_a_call_for_every_item_returned() -> None:
    guard = parse_guard("covers(Mail.search.id, Mail.delete.id)")
    search = call("Mail.search", {"q": "news"}, [{"id": "m-1"}, {"id": "m-2"}])
    first, second = call("Mail.delete", {"id": "m-1"}), call("Mail.delete", {"id": "m-2"})
    assert guard.replay(actions_of_run(run("a", True, search, first, second, "Done."))) == "holds"
    assert guard.replay(actions_of_run(run("a", True, search, first, "Done."))) == "broken"
    assert guard.replay(actions_of_run(run("a", True, first, "Done."))) == "vacuous"


RECORDED = [READ, WRITE, GUESS, REFUSED, REFUSED_WRITE, call("Mail.send", {"to": "ada@example.org"}), ("user", "Yes.")]


@settings(max_examples=40)
@given(st.lists(st.sampled_from(RECORDED), max_size=6), GUARDS)
def test_a_packet_and_its_recorded_run_get_the_same_verdict(steps: list[Call | tuple[str, str]], made: Guard) -> None:
    """All but `covers`, which looks at what a call returned: a packet does not keep that."""
    recorded = run("a", True, *steps, "Done.")
    actions = packet(recorded).runs[0].actions
    texts = ["known_value(Mail.delete.id)", "precedence(Mail.read, writes)", "existence(ask)", "last(finalize)"]
    texts += ["at_most_once(Mail.delete)", "absence(Mail.delete[id from nowhere])", str(made)]
    for guard in map(parse_guard, texts):
        if guard.template != "covers":
            assert guard.replay(actions_of_steps(actions)) == guard.replay(actions_of_run(recorded))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("existence(App.pay[amount == 5])", "existence(App.pay[amount = 5])"),
        ("existence(App.pay[reason = 'late fee'])", "existence(App.pay[reason = late fee])"),
        ("""existence(App.pay[reason one of 'a, b' | 'c'])""", """existence(App.pay[reason one of "a, b" | c])"""),
        ("""absence(App.pay[note contains "it's == 5"])""", """absence(App.pay[note contains "it's == 5"])"""),
    ],
)
def test_other_ways_to_write_the_same_are_read(text: str, written: str) -> None:
    assert str(parse_guard(text)) == written


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("absence(App.hold) when App.find.tier = A or App.find.tier = B", "joined by `and` only"),
        ("absence(App.hold[reason = A, amount > 5])", "joined by `and` only"),
        ("absence(App.hold) if App.find.tier = A", "Write `when`."),
        ("absence(App.hold) when App.list has any", "has several` (none, one, at least 3"),
        ("absence(App.hold) when not App.find", "for `not`, write `unless`"),
    ],
)
def test_what_other_languages_have_is_told_how_to_write_here(text: str, complaint: str) -> None:
    with pytest.raises(GuardError, match=re.escape(complaint)):
        parse_guard(text)
