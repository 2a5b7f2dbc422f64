"""Relations of arguments that are lists or texts to several values at once."""

from __future__ import annotations

import pytest
from tests.made_runs import Call, call, run

from contramem.errors import GuardError
from contramem.guards.actions import actions_of_run
from contramem.guards.arguments import Length
from contramem.guards.dates import parse_date_relation
from contramem.guards.guard import parse_guard

FREE = call("Art.get", {"id": "P-1"}, {"id": "P-1", "rights": "house", "credit": "Gift of Ada"})
BOUND = call("Art.get", {"id": "P-2"}, {"id": "P-2", "rights": "third-party", "credit": "Loan of Bo"})
LIST = call("Art.list", {}, [{"id": "P-1", "year": 1900}, {"id": "P-2", "year": 1800}])


def release(*ids: str) -> Call:
    return call("Art.release", {"ids": list(ids)})


def write(text: str) -> Call:
    return call("Art.write", {"text": text})


@pytest.mark.parametrize(
    ("guard", "calls", "verdict"),
    [
        ("absence(Art.release[ids picks rights = third-party of Art.get])", [FREE, BOUND, release("P-1")], "holds"),
        ("absence(Art.release[ids picks rights = third-party of Art.get])",
         [FREE, BOUND, release("P-1", "P-2")], "broken"),
        ("existence(Art.release[each ids picks rights = house of Art.get])", [FREE, release("P-1")], "holds"),
        ("existence(Art.release[each ids picks rights = house of Art.get])",
         [FREE, BOUND, release("P-1", "P-2")], "broken"),
        ("existence(Art.release[each ids like A-9])", [release("P-1", "none")], "broken"),
        ("existence(Art.release[ids like A-9])", [release("P-1", "none")], "holds"),
        ("existence(Art.release[each ids like A-9])", [release()], "broken"),
        ("existence(Art.release[each ids equals id of lowest year of Art.list])", [LIST, release("P-2")], "holds"),
        ("existence(Art.release[ids from Art.list.id])", [LIST, release("P-2", "P-3")], "broken"),
        ("existence(Art.release[ids from id of lowest year of Art.list])", [LIST, release("P-1")], "broken"),
        ("existence(Art.release[ids mentions every Art.list.id])", [LIST, release("P-2", "P-1")], "holds"),
        ("existence(Art.release[ids mentions every Art.list.id])", [LIST, release("P-2")], "broken"),
        ("existence(Art.write[text mentions every Art.get.credit])", [FREE, BOUND, write("Gift of Ada")], "broken"),
        ("existence(Art.write[text mentions every Art.get.credit])", [FREE, write("A gift of Ada.")], "holds"),
        ("existence(Art.write[text mentions every Art.get.credit])", [write("A gift of Ada.")], "broken"),
        ("existence(Art.write[text mentions id of highest year of Art.list])", [LIST, write("See P-1.")], "holds"),
        ("absence(Art.write[text omits id of latest year of Art.list])", [LIST, write("See P-2.")], "broken"),
    ],
)  # fmt: skip
def test_a_relation_to_several_values_is_checked(guard: str, calls: list[Call], verdict: str) -> None:
    parsed = parse_guard(guard)
    assert parsed.replay(actions_of_run(run("a", True, *calls, "Done."))) == verdict
    assert parse_guard(str(parsed)) == parsed


@pytest.mark.parametrize(
    ("guard", "sentence"),
    [
        (
            "existence(Art.release[each ids picks rights = house of Art.get])",
            "`release` with each of its `ids` of an item of `Art.get` whose `rights` is house is called and succeeds.",
        ),
        (
            "existence(Art.write[text mentions every Art.get.credit])",
            "`write` with `text` that contains every value of the `credit` of `Art.get` is called and succeeds.",
        ),
        ("absence(Art.write[text from nowhere])", "`write` with `text` that was seen nowhere before is not called."),
    ],
)
def test_a_relation_to_several_values_is_put_into_words(guard: str, sentence: str) -> None:
    assert parse_guard(guard).sentence == sentence


def test_each_is_refused_where_all_items_are_meant_anyway() -> None:
    with pytest.raises(GuardError, match="leave `each` out"):
        parse_guard("existence(Art.release[each ids from Art.list.id])")


@pytest.mark.parametrize("bound", ["at most", "at least"])
@pytest.mark.parametrize("text", ["", "one", "one two", "one two three"])
def test_a_text_satisfies_either_a_length_or_its_reverse(bound: str, text: str) -> None:
    length = Length(bound, 2, "word")
    assert length.has(text) is not length.reverse_bound().has(text)


@pytest.mark.parametrize("bound", ["at most", "at least"])
@pytest.mark.parametrize("end", ["2026-03-01", "2026-03-05", "2026-03-06", "2026-03-07"])
def test_a_date_satisfies_either_a_distance_or_its_reverse(bound: str, end: str) -> None:
    distance = parse_date_relation(f"{bound} 5 days after start")
    (action,) = (
        each
        for each in actions_of_run(run("a", True, call("Desk.book", {"start": "2026-03-01", "end": end})))
        if each.kind == "call"
    )
    assert distance.holds(action, end) is not distance.reverse_bound().holds(action, end)
