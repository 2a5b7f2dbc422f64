"""The automata say what the definitions say, at every step of any run."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.guards.definitions import can_be_met, verdict

from contramem.contrast.flow import NOWHERE, TASK
from contramem.guards.actions import Action
from contramem.guards.guard import parse_guard, relevant_functions
from contramem.guards.templates import Automaton


class MadeAction(Action):
    """A action with what a run would know about it written down."""

    def __init__(self, function: str, value: str = "", *, worked: bool = True, items: str = "") -> None:
        kind = {"ask": "ask", "final": "final"}.get(function, "call")
        called = function if kind == "call" else ""
        effect = "write" if function in ("Mail.send", "Mail.delete") else "read"
        super().__init__(kind, called, {"id": value} if value else {}, effect, worked)  # type: ignore[arg-type]
        self._items = items

    def origin(self, argument: str) -> str | None:
        value = self.arguments.get(argument)
        return None if value is None else NOWHERE if value == "y" else TASK

    def returned_values(self, field: str) -> frozenset[str]:
        return frozenset(self._items) if field == "id" else frozenset()

    def __repr__(self) -> str:
        failed = "" if self.worked else " failed"
        return f"{self.function or self.kind}({self.arguments.get('id', '')}){failed} -> {self._items!r}"


ALPHABET = [
    MadeAction("Mail.search", "x", items="xy"),
    MadeAction("Mail.search", "x", worked=False),
    MadeAction("Mail.send", "x"),
    MadeAction("Mail.send", "y"),
    MadeAction("Mail.send", "x", worked=False),
    MadeAction("Mail.delete", "y"),
    MadeAction("Files.list"),
    MadeAction("ask"),
    MadeAction("final"),
]
RUNS = st.lists(st.sampled_from(ALPHABET), max_size=8)
WHATS = st.sampled_from(
    """Mail.search|Mail.send|Mail.send[id = x]|Mail.send[id from nowhere]|Files.list[id missing]|writes(Mail)|writes|ask
    |finalize""".split("|")
)


@st.composite
def guards(draw: st.DrawFn) -> str:
    one = draw(st.sampled_from(["existence", "absence", "at_most_once", "last"]))
    two = draw(st.sampled_from(["precedence", "response", "not_succession"]))
    text = draw(
        st.one_of(
            WHATS.map(lambda what: f"{one}({what})"),
            st.tuples(WHATS, WHATS).filter(lambda w: w[0] != w[1]).map(lambda w: f"{two}({w[0]}, {w[1]})"),
            st.sampled_from(
                """known_value(Mail.send.id)|covers(Mail.search.id, Mail.send.id)|at_most_once(Mail.send by id)
                |at_most(Mail.send, 2)|at_most(writes by id, 1)|at_least(Mail.send, 2)|at_least(Mail.send by id, 2)
                """.split("|")
            ),
        )
    )
    return text + draw(st.just("") | WHATS.map(lambda what: f" when {what}"))


@settings(max_examples=150)
@given(guards(), RUNS)
def test_the_verdict_matches_the_definition_after_every_action(text: str, run: list[MadeAction]) -> None:
    guard = parse_guard(text)
    watching = Automaton(guard)
    assert watching.verdict == verdict(guard, [])
    for length, action in enumerate(run, 1):
        watching.observe(action)
        assert watching.verdict == verdict(guard, run[:length])


@settings(max_examples=60)
@given(guards(), st.lists(st.sampled_from(ALPHABET), max_size=4))
def test_the_state_is_right_for_every_continuation_of_the_run(text: str, run: list[MadeAction]) -> None:
    guard = parse_guard(text)
    watching = Automaton(guard)
    for action in run:
        watching.observe(action)
    holds_now = verdict(guard, run) != "broken"
    futures = can_be_met(guard, run, ALPHABET, depth=2)
    assert (watching.state in ("satisfied", "holding")) == holds_now
    assert watching.state != "satisfied" or futures == {True}
    assert watching.state != "broken" or futures == {False}


@pytest.mark.parametrize(
    "text",
    [
        "existence(Mail.send)",
        "absence(Mail.send)",
        "precedence(Mail.search, Mail.send)",
        "response(Mail.search, Mail.send)",
        "not_succession(Mail.search, Mail.send)",
        "last(Mail.send)",
        "known_value(Mail.send.id)",
        "at_most_once(Mail.send)",
        "covers(Mail.search.id, Mail.send.id)",
        "absence(Mail.send) when Files.list",
    ],
)
def test_a_holding_guard_can_still_be_broken_and_a_pending_one_can_still_be_met(text: str) -> None:
    guard = parse_guard(text)
    for run in ([], ALPHABET[:1], ALPHABET[2:3], ALPHABET[:3], ALPHABET[2:0:-1]):
        watching = Automaton(guard)
        for action in run:
            watching.observe(action)
        futures = can_be_met(guard, run, ALPHABET, depth=2)
        assert watching.state not in ("holding", "pending") or futures == {True, False}


@settings(max_examples=80)
@given(guards(), RUNS, st.sampled_from([action for action in ALPHABET if action.worked]))
def test_would_break_is_true_exactly_if_the_action_breaks_the_guard_for_good(
    text: str, run: list[MadeAction], action: MadeAction
) -> None:
    watching = Automaton(parse_guard(text))
    for earlier in run:
        watching.observe(earlier)
    was_broken, warned = watching.state == "broken", watching.would_break(action)
    watching.observe(action)
    assert warned == (watching.state == "broken" and not was_broken)


@settings(max_examples=80)
@given(guards(), RUNS)
def test_calls_of_irrelevant_functions_change_nothing(text: str, run: list[MadeAction]) -> None:
    guard = parse_guard(text)
    whole, filtered = Automaton(guard), Automaton(guard)
    for action in run:
        whole.observe(action)
        if relevant_functions(guard) is None or action.function in relevant_functions(guard):
            filtered.observe(action)
    assert (filtered.state, filtered.verdict) == (whole.state, whole.verdict)


def test_a_guard_is_vacuous_until_it_is_triggered() -> None:
    watching = Automaton(parse_guard("response(Mail.search, Mail.send)"))
    assert (watching.state, watching.verdict) == ("holding", "vacuous")
    watching.observe(ALPHABET[0])
    assert (watching.state, watching.verdict) == ("pending", "broken")
    watching.observe(ALPHABET[2])
    assert (watching.state, watching.verdict) == ("holding", "holds")


@pytest.mark.slow
@settings(max_examples=150)
@given(st.lists(st.sampled_from("ABC"), min_size=1, max_size=8))
def test_declare4py_gives_the_same_verdicts_where_its_templates_coincide(names: list[str]) -> None:
    pytest.importorskip("Declare4Py", reason="Declare4Py is not installed; it is not part of the dev extra")
    from Declare4Py.ProcessModels.DeclareModel import DeclareModel
    from Declare4Py.Utils.Declare.Checkers import ConstraintChecker

    coinciding = {
        "Existence1[A] | |": "existence(T.A)",
        "Absence1[A] | |": "absence(T.A)",
        "End[A] | |": "last(T.A)",
        "Precedence[A, B] | | |": "precedence(T.A, T.B)",
        "Response[A, B] | | |": "response(T.A, T.B)",
        "Not Response[A, B] | | |": "not_succession(T.A, T.B)",
    }
    model = DeclareModel().parse_from_string("\n".join(["activity A", "activity B", "activity C", *coinciding]))
    trace = [{"concept:name": name} for name in names]
    results = ConstraintChecker().check_trace_conformance(trace, model, consider_vacuity=True)
    run = [MadeAction(f"T.{name}") for name in names]
    ours = [parse_guard(text).replay(run) != "broken" for text in coinciding.values()]
    assert ours == ["SATISFIED" in str(result.state) for result in results]
