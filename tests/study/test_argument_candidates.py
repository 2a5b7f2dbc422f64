"""Candidates about arguments: what texts say, when dates fall, what adds up; counted as a replay counts it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import pytest
from tests.made_runs import call, run
from tests.study.box_office import box_office

from contramem.study.candidates import propose_candidates
from contramem.study.explain import explain
from contramem.study.guard_candidate import GuardCandidate
from contramem.study.replays import Replays
from contramem.study.run_set import RunSet, StudyRun
from contramem.traces.trajectory import Event, Trajectory


@pytest.fixture(scope="module")
def runs() -> tuple[StudyRun, ...]:
    return RunSet.of(box_office()).runs


@pytest.fixture(scope="module")
def proposed(runs: tuple[StudyRun, ...]) -> dict[str, GuardCandidate]:
    return {candidate.text: candidate for candidate in propose_candidates(runs)}


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param('existence(Box.write_letter[body contains "somebody will call within five days"])', id="phrase"),
        pytest.param("absence(Box.write_letter[body contains compensation])", id="word that nobody should write"),
        pytest.param("existence(Box.invoice[due falls 14 days before Box.find_booking.date])", id="deadline"),
        pytest.param("absence(Box.invoice[due falls on Wednesday])", id="day of the week"),
        pytest.param("existence(Box.settle[amount sums Box.list_sales.amount where channel = door])", id="sum of some"),
        pytest.param("existence(Box.settle[amount <= Box.find_booking.paid])", id="at most as much as was seen"),
        pytest.param("absence(Box.write_letter[body has at most 60 characters])", id="length"),
    ],
)
def test_a_difference_between_arguments_is_a_candidate(pattern: str, proposed: dict[str, GuardCandidate]) -> None:
    function = pattern.partition("(")[2].partition("[")[0]
    assert f"{pattern} when {function}" in proposed


def test_what_is_counted_is_what_a_replay_gives(
    runs: tuple[StudyRun, ...], proposed: dict[str, GuardCandidate]
) -> None:
    replays = Replays(runs)
    for candidate in proposed.values():
        guard = candidate.parse()
        assert guard is not None
        replayed = replays.replay(guard)
        assert replayed.within(candidate.masks.spoken) == candidate.masks, candidate.text


def test_words_that_the_request_or_a_result_has_are_no_wording(proposed: dict[str, GuardCandidate]) -> None:
    texts = [text for text in proposed if " contains " in text]
    assert not [text for text in texts if "guest" in text.split() or "q127" in text]


def test_a_choice_among_some_records_is_told_only_where_it_says_more(proposed: dict[str, GuardCandidate]) -> None:
    assert not [text for text in proposed if "counts Box.list_sales where" in text]


def propose_texts(runs: Iterable[Trajectory]) -> list[str]:
    return [candidate.text for candidate in propose_candidates(RunSet.of(runs).runs)]


def office(number: int, passed: bool, *steps: Event, source: str) -> Trajectory:
    return run(source, passed, *steps, "Done.", task=f"Case {number}.", task_id=str(number))


def test_an_argument_is_no_reason_where_failing_runs_pass_what_passing_runs_do() -> None:
    """Hasty runs look the person up elsewhere, find the same id, and fail because they never check it."""

    def desk() -> Iterator[Trajectory]:
        for number in range(6):
            found, person = {"person": f"P{number}41"}, {"person": f"P{number}41"}
            careful = [call("Desk.find", {}, found), call("Desk.check", person), call("Desk.pay", person)]
            hasty = [call("Desk.find", {}, found), call("Desk.open", {}, found), call("Desk.pay", person)]
            yield office(number, True, *careful, source="careful")
            yield office(number, False, *hasty, source="hasty")

    texts = propose_texts(desk())
    assert "precedence(Desk.check, Desk.pay)" in texts
    assert "absence(Desk.pay[person from Desk.open.person]) when Desk.pay" not in texts


def test_an_argument_is_no_reason_where_the_tool_refused_another_one() -> None:
    """Hasty runs do not read the price list, so they make up a price. The item they pass is the right one."""

    def shop() -> Iterator[Trajectory]:
        for number in range(6):
            item = {"item": f"I{number}41"}
            order, prices = call("Shop.order", {}, item), call("Shop.prices", {}, [item | {"price": 1040 + number}])
            yield office(
                number, True, order, prices, call("Shop.sell", item | {"price": 1040 + number}), source="careful"
            )
            wrong = call("Shop.sell", item | {"price": 1999}, error="wrong price")
            yield office(number, False, order, wrong, source="hasty")

    texts = propose_texts(shop())
    assert "existence(Shop.sell[price from Shop.prices.price]) when Shop.sell" in texts
    assert "existence(Shop.sell[item from Shop.prices.item]) when Shop.sell" not in texts


def pay_office(right: Callable[[int], int], wrong: Callable[[int], int]) -> Iterator[Trajectory]:
    for number in range(6):
        for source, amount in (("careful", right(number)), ("hasty", wrong(number))):
            yield office(number, source == "careful", call("Desk.pay", {"parts": amount}), source=source)


def test_an_amount_that_passing_runs_stop_at_is_a_cap() -> None:
    runs = pay_office(right=lambda number: 6, wrong=lambda number: 8 + number)
    assert "absence(Desk.pay[parts > 6]) when Desk.pay" in propose_texts(runs)


def test_a_boundary_between_right_and_wrong_amounts_of_each_task_is_no_cap() -> None:
    runs = pay_office(right=lambda number: 10 + number, wrong=lambda number: 50 + number)
    assert not [text for text in propose_texts(runs) if "parts >" in text]


def list_office(items: int) -> Iterator[Trajectory]:
    for number in range(6):
        found = {"services": [{"service": f"S{number}{item}9", "cost": 5 + item} for item in range(items)]}
        stop = [call("Desk.stop", {"service": f"S{number}{item}9"}) for item in range(items)]
        for source, steps in (("careful", stop), ("hasty", stop[:-1])):
            yield office(number, source == "careful", call("Desk.list", {}, found), *steps, source=source)


def test_every_item_is_asked_for_where_there_are_several() -> None:
    guard = "covers(Desk.list.service, Desk.stop.service)"
    assert guard in propose_texts(list_office(3))
    assert guard not in propose_texts(list_office(1))


def test_nothing_is_chosen_where_the_call_is_made_for_one_record_after_the_other() -> None:
    assert not [text for text in propose_texts(list_office(3)) if " picks " in text]


def test_an_identifier_is_no_reason_to_choose_a_record() -> None:
    def choice_office() -> Iterator[Trajectory]:
        for number in range(6):
            found = {"services": [{"service": f"S{number}{item}9", "cost": 9 - item} for item in range(3)]}
            for source, item in (("careful", 2), ("hasty", number % 2)):
                stop = call("Desk.stop", {"service": f"S{number}{item}9"})
                yield office(number, source == "careful", call("Desk.list", {}, found), stop, source=source)

    texts = propose_texts(choice_office())
    assert "existence(Desk.stop[service picks lowest cost of Desk.list]) when Desk.stop" in texts
    assert not [text for text in texts if "highest service" in text or "lowest service" in text]


def settle_office() -> Iterator[Trajectory]:
    """The plan is about open rents, in cents, and ends with the month; cases go to a queue with a code."""
    for number in range(6):
        entries = [
            {"kind": "rent", "status": "open", "amount": 100.5 + number},
            {"kind": "rent", "status": "open", "amount": 100.5 + number},
            {"kind": "rent", "status": "paid", "amount": 70},
            {"kind": "fee", "status": "open", "amount": 15 + number},
        ]
        rents, everything = 20100 + 200 * number, 21600 + 300 * number
        for source, total, until, queue in (
            ("careful", rents, ("30.06.2031", "31.07.2031", "30.09.2031")[number % 3], "ARREARS-2"),
            ("hasty", everything, f"{10 + number}.06.2031", "desk-1"),
        ):
            steps = [
                call("Desk.ledger", {}, {"entries": entries, "share": 4 + number}),
                call("Desk.plan", {"total": total, "until": until, "share": 4 + number if source == "careful" else 9}),
                call("Desk.open_case", {"queue": queue}),
            ]
            yield office(number, source == "careful", *steps, source=source)


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("Desk.plan[total sums 100 times Desk.ledger.amount where kind = rent, status = open]", id="sum"),
        pytest.param("Desk.plan[until falls on month end]", id="last day of the month, written DD.MM.YYYY"),
        pytest.param("Desk.plan[share times 1 of Desk.ledger.share]", id="amount of one digit"),
        pytest.param("Desk.open_case[queue = ARREARS-2]", id="code"),
    ],
)
def test_the_right_value_is_described_in_several_ways(pattern: str) -> None:
    function = pattern.partition("[")[0]
    assert f"existence({pattern}) when {function}" in propose_texts(settle_office())


def store_office() -> Iterator[Trajectory]:
    """An object goes to the fullest place of its climate that has one left; the fee is written with two decimals."""
    for number in range(6):
        climate = "AB"[number % 2]
        places = [
            {
                "place": f"L{number}{item}7",
                "climate": "AB"[item % 2],
                "free": item // 2 * (number + 2),
                "open": item < 6,
            }
            for item in range(8)
        ]
        right = next(place for place in places if place["climate"] == climate and place["free"])
        wrong = next(place for place in places if place["climate"] != climate and place["free"])
        fees = [{"fee": 100.25 + number}, {"fee": 50.25}]
        for source, place, amount in (
            ("careful", right, f"{150.5 + number:.2f}"),
            ("hasty", wrong, f"{100.25 + number:.2f}"),
        ):
            steps = [
                call("Store.find", {}, {"climate": climate}),
                call("Store.list", {}, {"places": places}),
                call("Store.fees", {}, {"fees": fees}),
                call("Store.move", {"place": place["place"], "fee": amount}),
            ]
            yield office(number, source == "careful", *steps, source=source)


@pytest.mark.parametrize(
    "relation",
    [
        pytest.param(
            "place picks lowest free of Store.list where climate = Store.find.climate, free > 0", id="fullest"
        ),
        pytest.param("fee sums Store.fees.fee", id="amount written as text"),
    ],
)
def test_a_choice_may_depend_on_what_another_call_returned(relation: str) -> None:
    assert f"existence(Store.move[{relation}]) when Store.move" in propose_texts(store_office())


def test_a_choice_may_depend_on_two_words_and_never_on_the_position_among_some() -> None:
    def courier_office() -> Iterator[Trajectory]:
        for number in range(6):
            people = [
                {"person": f"C{number}{item}7", "grade": grade, "state": state, "trips": trips}
                for item, (grade, state, trips) in enumerate(
                    [("senior", "away", 0), ("junior", "free", 1), ("senior", "free", 4), ("senior", "free", 9)]
                )
            ]
            for source, item in (("careful", 2), ("hasty", number % 2)):
                send = call("Desk.send", {"person": f"C{number}{item}7"})
                yield office(
                    number, source == "careful", call("Desk.list", {}, {"people": people}), send, source=source
                )

    texts = propose_texts(courier_office())
    assert (
        "existence(Desk.send[person picks lowest trips of Desk.list where grade = senior, state = free]) when Desk.send"
        in texts
    )
    assert not [text for text in texts if "picks first of Desk.list where" in text]


def test_a_day_of_the_week_is_a_reason_where_several_dates_have_it() -> None:
    def plan_office(*dates: str) -> Iterator[Trajectory]:
        for number in range(6):
            for source, on in (("careful", dates[number % len(dates)]), ("hasty", "2031-03-06")):
                yield office(number, source == "careful", call("Desk.plan", {"on": on}), source=source)

    on_monday = "existence(Desk.plan[on falls on Monday]) when Desk.plan"
    assert on_monday in propose_texts(plan_office("2031-03-03", "2031-03-10", "2031-03-17"))
    assert on_monday not in propose_texts(plan_office("2031-03-03"))


def test_a_day_is_no_reason_where_failing_runs_give_no_date_at_all() -> None:
    def plan_office(wrong: str) -> Iterator[Trajectory]:
        for number in range(6):
            for source, on in (("careful", f"2031-03-{3 + 7 * (number % 3):02}"), ("hasty", wrong)):
                yield office(number, source == "careful", call("Desk.plan", {"on": on}), source=source)

    on_monday = "existence(Desk.plan[on falls on Monday]) when Desk.plan"
    assert on_monday in propose_texts(plan_office("2031-03-06"))
    assert on_monday not in propose_texts(plan_office("soon"))


def test_the_length_of_a_text_that_the_request_gives_is_no_reason() -> None:
    def letter_office(asked: str) -> Iterator[Trajectory]:
        for number in range(6):
            body = f"The meeting {number} is moved to next week, please tell all others about it."
            for source, text in (("careful", body), ("hasty", "It is moved, as said.")):
                task = {"task": f"Case {number}. {asked} {body if asked else ''}", "task_id": str(number)}
                yield run(source, source == "careful", call("Desk.write", {"body": text}), "Done.", **task)

    assert [text for text in propose_texts(letter_office("")) if "characters" in text]
    assert not [text for text in propose_texts(letter_office("Write:")) if "characters" in text]


def test_numbers_too_large_to_calculate_with_are_no_amounts() -> None:
    made = [
        run(
            source,
            passed,
            call("Desk.find", {"case": f"C-{number}"}, {"limit": limit}),
            call("Desk.pay", {"case": f"C-{number}", "amount": limit}),
            "Done.",
            task=f"Pay C-{number}.",
            task_id=str(number),
        )
        for number in range(4)
        for source, passed, limit in (("careful", True, number + 10), ("hasty", False, (10**400, math.inf)[number % 2]))
    ]
    runs = RunSet.of(made)
    assert explain(runs.select(), runs).failing == 4


def payments() -> Iterator[Trajectory]:
    """Money goes to the oldest open invoice, and the rest of it to the next; `hasty` begins with the newest."""
    for number in range(6):
        dates = [f"2026-0{month}-1{number}" for month in (3, 1, 2)]
        bills = [{"bill": f"B{number}{date[6]}", "date": date, "state": "open"} for date in dates]
        listed = call("Desk.list_bills", {}, bills)
        oldest, next_one, newest = sorted(bills, key=lambda bill: bill["date"])
        for source, paid in (("careful", (oldest, next_one)), ("hasty", (newest, next_one))):
            pays = [call("Desk.pay", {"bill": bill["bill"]}) for bill in paid]
            yield run(source, source == "careful", listed, *pays, task=f"Book payment {number}.", task_id=f"{number}")


def test_the_record_that_is_chosen_first_is_found_where_the_call_is_made_for_several() -> None:
    assert "existence(Desk.pay[bill picks lowest date of Desk.list_bills]) when Desk.pay" in propose_texts(payments())
