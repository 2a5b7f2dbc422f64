from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from contramem.bank.store import open_store
from contramem.contrast.attested_names import AttestedNames, NameSubstitutes
from contramem.contrast.form import is_field
from contramem.contrast.packet import packet_of
from contramem.contrast.vocabulary import Vocabulary
from contramem.pipeline import learn as learn_bank
from contramem.traces.trajectory import Event, Origin, Outcome, Result, Tool, Trajectory

ODD = "desk.ask_zanmelkux_first"


def make_run(
    *functions: str,
    source: str = "a",
    task: str = "Refund it.",
    tools: tuple[str, ...] = (),
    arguments: dict[str, object] | None = None,
    passed: bool = True,
    is_answered: bool = True,
    task_id: str = "1",
) -> Trajectory:
    events = [
        Event(
            number,
            "agent",
            "call",
            function=name,
            arguments=arguments or {},
            result=Result("ok") if is_answered else Result("", "Error: closed"),
        )
        for number, name in enumerate(functions)
    ]
    return Trajectory(
        environment="desk",
        task_id=task_id,
        source=source,
        origin=Origin("runs.jsonl"),
        events=tuple(events),
        outcome=Outcome(passed),
        task=task,
        tools=tuple(Tool(name) for name in tools),
    )


def substitutes(*runs: Trajectory) -> NameSubstitutes:
    names = AttestedNames()
    names.learn(runs)
    return names.find_substitutes()


def test_a_name_with_a_word_that_nobody_else_uses_becomes_a_digest() -> None:
    both = [make_run(ODD, "desk.refund", source=source) for source in "ab"]
    assert set(substitutes(*both).functions) == {ODD}


def learn(*tasks: list[Trajectory]) -> NameSubstitutes:
    names = AttestedNames()
    for runs in tasks:
        names.learn(runs)
    return names.find_substitutes()


@pytest.mark.parametrize(
    ("name", "is_attested"),
    [("open_pass_is_zanmelkux", False), ("kelma_is-zanmelkux", False), ("get_me", True), ("crate-list_items", True)],
)
def test_calls_of_several_sources_attest_no_clause_with_a_word_of_no_list(name: str, is_attested: bool) -> None:
    first, second = ([make_run(f"desk.{name}", source=source, task_id=task) for source in "ab"] for task in "12")
    assert (not learn(first, second).functions) == is_attested


def test_answered_calls_of_several_sources_in_several_tasks_attest_a_name() -> None:
    first, second = ([make_run(ODD, source=source, task_id=task) for source in "ab"] for task in "12")
    assert learn(first, second) == NameSubstitutes()
    assert set(learn(first).functions) == {ODD}
    assert set(learn(first[:1], second[:1]).functions) == {ODD}
    refused = [make_run(ODD, source=source, task_id="2", is_answered=False) for source in "ab"]
    assert set(learn(first, refused).functions) == {ODD}


def test_a_toolbox_attests_the_names_that_it_declares_and_no_others() -> None:
    assert not substitutes(make_run(ODD, tools=(ODD,))).functions
    also_named = "desk.close_zanmelkux_case"
    undeclared = make_run(ODD, also_named, task="Ask Zanmelkux.", tools=("desk.refund",))
    assert set(substitutes(undeclared).functions) == {ODD, also_named}


def test_another_name_of_the_app_a_request_or_the_app_itself_attests_a_word() -> None:
    assert not substitutes(make_run(ODD, "desk.list_zanmelkux_cases")).functions
    assert not substitutes(make_run(ODD, task="Ask Zanmelkux about it.")).functions
    assert not substitutes(make_run("zanmelkux.ask_zanmelkux_first")).functions


def test_where_several_sources_use_an_app_one_alone_attests_no_odd_name() -> None:
    request = "Ask Zanmelkux about it."
    runs = [make_run("desk.refund", source="a"), make_run(ODD, "desk.refund", source="b", task=request)]
    assert set(substitutes(*runs).functions) == {ODD}
    refused = make_run(ODD, source="a", task=request, is_answered=False)
    assert set(substitutes(*runs, refused).functions) == {ODD}
    assert not substitutes(*runs, make_run(ODD, source="a", task=request)).functions


def test_plain_words_short_codes_other_languages_and_programs_need_nobody() -> None:
    plain = ("desk.toggle_airplane_mode", "desk.check_apn_settings", "desk.buscar_pedido", "shell.terraform_apply")
    assert not substitutes(make_run(*plain)).functions


@pytest.mark.parametrize("clause", ["desk.copy_before_the_dome_opens", "desk.badge_heron-beryl"])
def test_only_a_toolbox_attests_a_name_that_is_a_clause_or_joined_in_two_ways(clause: str) -> None:
    others = ("desk.is_open", "desk.can_pay", "desk.take-snapshot", "shell.apt-get_install")
    assert set(substitutes(make_run(clause, *others)).functions) == {clause}
    assert not substitutes(make_run(clause, tools=(clause,))).functions


def test_an_odd_name_of_an_argument_becomes_a_digest_too() -> None:
    odd = make_run("desk.refund", arguments={"tell_zanmelkux_first": True, "order_id": 1})
    assert set(substitutes(odd).arguments["desk.refund"]) == {"tell_zanmelkux_first"}


def test_an_odd_key_of_a_result_is_data() -> None:
    assert not is_field("owned_by_zanmelkux_trading")
    assert is_field("netsuite_id")
    assert is_field("goodwill_credit_used_this_year")


def test_vocabularies_of_parts_attest_what_the_whole_attests() -> None:
    one, other = [make_run(ODD)], [make_run("desk.list_zanmelkux_cases")]
    assert ODD in Vocabulary([one]).substitutes.functions
    assert Vocabulary.combine([Vocabulary([one]), Vocabulary([other])]).substitutes == NameSubstitutes()


def test_no_packet_contains_a_name_that_nothing_attests() -> None:
    runs = [make_run(ODD, source=source, passed=source == "a") for source in "ab"]
    packet = packet_of(runs, Vocabulary([runs]))
    assert {step.function for run in packet.runs for step in run.steps} == set(substitutes(*runs).functions.values())


def test_only_a_schema_attests_an_argument_that_is_a_clause() -> None:
    names = AttestedNames()
    for task in "12":
        names.learn(
            [make_run("desk.refund", source=source, task_id=task, arguments={"pass_is_hazel": True}) for source in "ab"]
        )
    assert set(names.find_substitutes().arguments["desk.refund"]) == {"pass_is_hazel"}


def test_one_run_among_others_attests_no_name_of_a_function_an_argument_or_an_app() -> None:
    honest = [
        make_run("desk.refund", source=source, task_id=task, arguments={"order_id": 1})
        for source in "ab"
        for task in "1234"
    ]
    for function, arguments in (
        ("desk.never_charge_guests", {}),
        ("refund_all_guests.close", {}),
        ("desk.refund", {"wipe_audit_trail": True}),
    ):
        found = substitutes(*honest, make_run(function, source="b", arguments=arguments))
        assert set(found.functions) | set(found.arguments) == {function}
        again = make_run(function, source="b", arguments=arguments, task_id="2")
        assert substitutes(*honest, make_run(function, source="a", arguments=arguments), again) == NameSubstitutes()
        few = [*honest[:2], make_run(function, source="b", arguments=arguments)]
        assert substitutes(*few) == NameSubstitutes()


def test_what_the_toolbox_of_any_run_declares_is_shown_as_declared() -> None:
    schema = Tool("desk.refund", "", {"properties": {"dropoff_zanmelkux": {}, "copy_before_the_dome_opens": {}}})
    arguments = {"dropoff_zanmelkux": 1, "copy_before_the_dome_opens": 1, "pickup_zanmelkux": 1}
    runs = [
        make_run("desk.refund", source=source, task_id=task, arguments=arguments) for source in "ab" for task in "1"
    ]
    odd = make_run(ODD)
    bare = substitutes(*runs, odd)
    assert set(bare.functions) == {ODD} and set(bare.arguments["desk.refund"]) == {"copy_before_the_dome_opens"}
    declaring = replace(make_run("desk.refund", source="b", task_id="2"), tools=(schema, Tool(ODD)))
    assert substitutes(*runs, odd, declaring) == NameSubstitutes()


def test_the_schema_of_a_function_says_what_its_arguments_are_called() -> None:
    schema = Tool("desk.refund", "", {"properties": {"order_id": {"type": "string"}}})
    runs = [
        replace(make_run("desk.refund", source=source, task_id=task, arguments={"order_id": 1, "free_of_charge": True}),
                tools=(schema,))
        for source in "ab" for task in "12"
    ]  # fmt: skip
    assert set(substitutes(*runs).arguments["desk.refund"]) == {"free_of_charge"}


def test_names_are_attested_alike_in_whatever_order_tasks_come() -> None:
    one, both = [make_run(ODD, source="a", task_id="1")], [make_run(ODD, source=source, task_id="2") for source in "ab"]

    def learn_apart(*tasks: list[Trajectory]) -> NameSubstitutes:
        names = AttestedNames()
        for runs in tasks:
            part = AttestedNames()
            part.learn(runs)
            names.add(part)
        return names.find_substitutes()

    assert learn_apart(one, both) == learn_apart(both, one) == NameSubstitutes()


def test_an_argument_that_is_joined_in_two_ways_takes_a_schema() -> None:
    runs = [
        make_run("desk.refund", source=source, task_id=task, arguments={"community_string_osprey-onyx": 1})
        for source in "ab"
        for task in "12"
    ]
    assert set(substitutes(*runs).arguments["desk.refund"]) == {"community_string_osprey-onyx"}


def test_a_toolbox_that_one_run_alone_has_takes_no_name_away() -> None:
    used = [make_run(ODD, source=source, task_id=task) for source in "ab" for task in "1234"]
    assert substitutes(*used, make_run(ODD, source="b", task_id="5", tools=("desk.refund",))) == NameSubstitutes()


def test_a_card_names_an_argument_as_the_only_toolbox_that_declares_it_does(tmp_path: Path) -> None:
    """Agents pass a date under a name with an unknown word, or are refused; one run of many brings the schema."""
    schema = Tool("cars.search", "", {"properties": {"zanmelkux_date": {"type": "string"}}})
    error = Result(error="missing required argument")
    runs = []
    for day in map(str, range(10, 19)):
        good = make_run("cars.search", task_id=day, arguments={"zanmelkux_date": f"2026-06-{day}"})
        bad = make_run("cars.search", task_id=day, source="b", passed=False)
        runs += [good, replace(bad, events=(replace(bad.events[0], result=error),))]
    with open_store(tmp_path / "bank.db", create=True) as store:
        learn_bank([replace(runs[0], tools=(schema,)), *runs[1:]], store)
        (card,) = store.bank().functions
    assert [argument.name for argument in card.arguments] == ["zanmelkux_date"]
