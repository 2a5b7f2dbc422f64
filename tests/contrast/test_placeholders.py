"""The placeholder policy, sentence by sentence."""

from __future__ import annotations

import itertools
import re
import unicodedata
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.made_runs import call, packet, run

from contramem.cli.contrast import as_json
from contramem.collection.runs import Collection
from contramem.contrast.packet import Packet, contrast, packet_of
from contramem.contrast.placeholders import Placeholders
from contramem.contrast.vocabulary import Vocabulary
from contramem.traces.trajectory import Trajectory

# Values of each kind, each unlike every other and unlike the words around them.
names = st.builds(
    "{} {}".format,
    st.sampled_from(["Zora", "Łukasz", "José", "Anna-Maria", "Søren", "Иван", "Étienne", "İpek"]),
    st.sampled_from(["Quibble", "O'Brien", "Żak", "Ångström", "Петров", "Müller-Lüdenscheidt"]),
)
emails = st.builds("{}{}@{}".format, st.sampled_from(["zq", "j.w"]), st.integers(10, 9999), st.just("xmail.example"))
ids = st.builds("{}-{}".format, st.sampled_from(["XQ", "mz"]), st.integers(10_000, 99_999))
urls = st.builds("https://{}.example/p{}".format, st.sampled_from(["qx", "zw"]), st.integers(10, 9999))
phones = st.builds("+1 555 {} {}".format, st.integers(200, 999), st.integers(1000, 9999))
values = st.one_of(
    st.tuples(st.just("customer_name"), names),
    st.tuples(st.just("email"), emails),
    st.tuples(st.just("order_id"), ids),
    st.tuples(st.just("url"), urls),
    st.tuples(st.just("phone"), phones),
)


def said(role: str, value: str, task: str = "", passed: bool = True, source: str = "a") -> Trajectory:
    """One value everywhere: in the task, an argument, a structured result, messages, an error and the feedback."""
    return run(
        source,
        passed,
        call("Shop.find", {role: value}, {"found": [{role: value}]}),
        f"I look at ({value}) now.",
        ("user", f"yes, {value}!"),
        call("Shop.update", {"filter": {role: [value]}}, "Error", error=f"Error: nothing to do for {value}"),
        f"done with '{value}'.",
        task=task or f"please look at {value} for me",
        feedback=f"wrong: {value}",
    )


def alone(*steps: Any) -> Packet:
    """A packet of one run whose task names no value."""
    return packet(run("a", True, *steps, task="please"))


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.items() for text in strings(item)]
    if isinstance(value, (list, tuple)):
        return [text for item in value for text in strings(item)]
    return [value] if isinstance(value, str) else []


def printed(made: Packet) -> str:
    """All text of a packet as `contramem contrast --json` prints it."""
    return "\n".join(strings(msgspec.to_builtins({**as_json(made), "provenance": None})))


def shown(made: Placeholders | Packet, value: str) -> set[str]:
    originals = made.placeholders.originals() if isinstance(made, Packet) else made.originals()
    return {name for name, original in originals.items() if original == value}


# One value, one placeholder


@given(values)
@settings(max_examples=60)
def test_one_value_has_one_placeholder_wherever_it_stands(given_value: tuple[str, str]) -> None:
    role, value = given_value
    made = packet(said(role, value), said(role, value, passed=False, source="b"))
    (name,) = shown(made, value)
    for one in made.runs:
        first, then = (step for step in one.steps if step.function)
        assert first.arguments[role] == name
        assert then.arguments["filter"] == {role: [name]}
        assert all(name in step.text for step in one.steps if step.text)
        assert name in one.feedback
    assert name in made.task


@given(values)
@settings(max_examples=60)
def test_no_printed_part_of_a_packet_contains_an_original_value(given_value: tuple[str, str]) -> None:
    role, value = given_value
    made = packet(said(role, value), said(role, value.upper(), passed=False, source="b"))
    assert value.lower() not in printed(made).lower()


def test_the_mapping_is_in_no_representation_of_a_packet() -> None:
    made = packet(said("email", "zora@xmail.example"))
    assert "zora" not in repr(made)
    assert "zora" not in repr(made.placeholders)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param("Zora Quibble", "ZORA QUIBBLE", id="case"),
        pytest.param("Zora Quibble", "zora\nquibble", id="a line break inside"),
        pytest.param("Zora Quibble", "Zora\u00a0Quibble", id="a blank that does not break"),
        pytest.param("José Müller", unicodedata.normalize("NFD", "José Müller"), id="accents typed apart"),
        pytest.param("ΟΔΥΣΣΕΥΣ", "Οδυσσευς", id="a final sigma"),
        pytest.param("JOSÉ MÜLLER", "José Müller", id="case beyond ASCII"),
    ],
)
def test_a_value_in_different_spellings_is_one_value(first: str, then: str) -> None:
    made = alone(call("Shop.find", {"customer_name": first}), f"İstanbul: I found {then}, as asked.")
    assert made.runs[0].steps[-1].text.endswith("I found <PERSON_1>, as asked.")


def test_telephone_and_account_numbers_are_one_however_they_are_grouped() -> None:
    made = alone(
        call("Shop.find", {"phone": "555-123-2002", "card": "4237-4252-7456-2574"}),
        "I call (555) 123-2002, 555.123.2002 or 5551232002 about 4237 4252 7456 2574 and 4237425274562574",
    )
    assert made.runs[0].steps[-1].text == ("I call <PHONE_1>, <PHONE_1> or <PHONE_1> about <ACCOUNT_1> and <ACCOUNT_1>")


def test_numbers_are_one_however_they_are_written() -> None:
    made = alone(call("Shop.pay", {"amount": 1200.0}), "I paid $1,200 and not 1200.00 EUR, but 1200")
    assert made.runs[0].steps[-1].text == "I paid <AMOUNT_1> and not <AMOUNT_1>, but <AMOUNT_1>"


def test_an_identifier_keeps_its_leading_zeros() -> None:
    made = alone(call("Shop.find", {"order_id": "00123"}), call("Shop.find", {"order_id": "123"}), "ok")
    assert [step.arguments["order_id"] for step in made.runs[0].actions[:2]] == ["<ID_1>", "<ID_2>"]


def test_a_number_in_two_roles_is_two_values_and_prose_does_not_guess() -> None:
    made = alone(
        call("Shop.pay", {"amount": 42, "order_id": 42, "quantity": 42}),
        "I paid $42 for order 42.",
    )
    assert made.runs[0].actions[0].arguments == {"amount": "<AMOUNT_1>", "order_id": "<ID_1>", "quantity": "<NUMBER_1>"}
    assert made.runs[0].steps[-1].text == "I paid <AMOUNT_1> for order <AMOUNT_1|ID_1>."


def test_a_full_name_made_of_known_names_is_a_person() -> None:
    made = alone(
        call("Shop.find", {"first_name": "Zora", "last_name": "Quibble"}),
        "I greet Zora Quibble and Zora.",
    )
    assert re.fullmatch(r"I greet <PERSON_\d> and <PERSON_1>\.", made.runs[0].steps[-1].text)


# Deterministic


@given(st.permutations(range(4)))
@settings(max_examples=20)
def test_placeholders_do_not_depend_on_the_order_in_which_runs_were_read(order: list[int]) -> None:
    runs = [
        said("email", f"zq{number}@xmail.example", "please look", passed=number % 2 == 0, source=f"model{number // 2}")
        for number in range(4)
    ]
    assert made_of([runs[index] for index in order]) == made_of(runs)


def made_of(runs: list[Trajectory]) -> str:
    with Collection(runs) as pool:
        (task,) = pool.tasks()
        made = packet_of(pool.runs(task), Vocabulary(pool))
    return printed(made) + repr(made.placeholders.originals())


# What stays


@pytest.mark.parametrize(
    "text",
    [
        "Book it from January 11th to January 15th 2025.",
        "It starts on 2024-05-15 at 10:30 and takes 45 minutes.",
        "First read, then write; on Monday, May 5, 2024, 5pm.",
        "The invoice of 12/2026 was sent in 2024.",
    ],
)
def test_dates_and_times_stay(text: str) -> None:
    made = alone(call("Cal.add", {"event_id": "15", "start": "2024-05-15 10:30"}), text)
    assert made.runs[0].steps[-1].text == text
    assert made.runs[0].actions[0].arguments["start"] == "2024-05-15 10:30"


def test_numbers_that_are_called_a_time_stay() -> None:
    made = alone(call("Cal.add", {"year": 2024, "duration_minutes": 45, "days": 12}), "ok")
    assert made.runs[0].actions[0].arguments == {"year": 2024, "duration_minutes": 45, "days": 12}


@given(st.lists(st.sampled_from(["Shop.find", "Shop.pay", "Shop.cancel"]), min_size=1, max_size=8))
@settings(max_examples=30)
def test_the_order_of_operations_stays(functions: list[str]) -> None:
    steps = [call(name, {"order_id": f"XQ-{number}0000"}) for number, name in enumerate(functions)]
    made = alone(*steps, "ok")
    assert [step.function for step in made.runs[0].actions if step.function] == functions
    assert [step.arguments["order_id"] for step in made.runs[0].actions if step.function] == [
        f"<ID_{number}>" for number in range(1, len(functions) + 1)
    ]


def test_placeholders_that_are_in_the_text_already_stay() -> None:
    made = alone(call("Shop.find", {"email": "zq1@xmail.example"}), "as <EMAIL_7> and <ID_2|AMOUNT_3> say")
    assert made.runs[0].steps[-1].text == "as <EMAIL_7> and <ID_2|AMOUNT_3> say"


@pytest.mark.parametrize(
    "text",
    [
        "Invite the user to the workspace, then read the file.",
        "Step 1: Search. Step 2: Read. Done!",
        "Here is the Order Summary and the order summary.",
        "call `get_file_by_id` and `invite_user_to_channel` with the `file_id`",
    ],
)
def test_common_words_and_names_of_functions_stay_readable(text: str) -> None:
    made = alone(
        call("Desk.get_file_by_id", {"file_id": "XQ-12345", "type": "file"}),
        call("Desk.invite_user_to_channel", {"channel": "user"}),
        text,
    )
    assert made.runs[0].steps[-1].text == text


def test_a_plain_word_is_replaced_in_prose_where_it_is_marked_as_a_value() -> None:
    made = alone(call("Chat.read", {"channel": "zorble"}), 'a zorble thought in "zorble" and #zorble')
    assert made.runs[0].steps[-1].text == 'a zorble thought in "<TEXT_1>" and #zorble'


def test_an_ordinary_word_that_fills_a_field_identifies_nothing() -> None:
    made = alone(call("Board.find", {"list_name": "Completed", "owner": "Cook"}), "START with the Backlog of Cook.")
    assert made.runs[0].actions[0].arguments == {"list_name": "Completed", "owner": "<PERSON_1>"}
    assert made.runs[0].steps[-1].text == "START with the Backlog of <PERSON_1>."


def test_a_word_that_a_persons_field_holds_too_is_replaced_with_a_capital_only() -> None:
    made = alone(
        call("Chat.send", {"channel": "general", "to": "general"}),
        call("Crm.find", {"query": "Mason", "user": "Mason"}),
    )
    assert made.runs[0].actions[0].arguments == {"channel": "general", "to": "general"}
    assert made.runs[0].actions[1].arguments == {"query": "<PERSON_1>", "user": "<PERSON_1>"}


# What goes


def test_a_verb_at_the_start_of_a_sentence_is_no_part_of_the_name() -> None:
    made = alone(
        call("Chat.read", {"user": "Dora"}),
        "First. Invite Dora to it. Checked Dora's mail. Dora Bell left.",
    )
    assert made.runs[0].steps[-1].text == "First. Invite <PERSON_1> to it. Checked <PERSON_1>'s mail. <NAME_1> left."


def test_a_heading_of_ordinary_words_names_nothing() -> None:
    text = "## Root Cause of the Delay\nNone.\n\n2. **Missing Data**: Zanmel Tools asked.\n\n# Zanmel Tools\nThe End."
    made = alone(call("Chat.read", {"user": "Dora"}), text)
    assert made.runs[0].steps[-1].text == text.replace("Zanmel Tools", "<NAME_1>")


def test_a_label_of_ordinary_words_names_nothing() -> None:
    text = "Featured Article: free\n- Privacy Policy: open\nZanmel Tools: closed"
    made = alone(call("Chat.read", {"user": "Dora"}), text)
    assert made.runs[0].steps[-1].text == text.replace("Zanmel Tools", "<NAME_1>")


def test_a_word_for_a_thing_is_a_name_only_if_it_fills_a_field() -> None:
    text = "We met at the Orchid and ate Raisins. We told Dora."
    made = alone(call("Board.open", {"project_name": "Orchid"}), text)
    assert made.runs[0].steps[-1].text == "We met at the <NAME_1> and ate <NAME_2>. We told <NAME_3>."


def test_known_names_are_replaced_inside_what_is_only_capitalised() -> None:
    made = alone(call("Shop.find", {"first_name": "Mei", "last_name": "Kovacs"}), "I am mei kovacs.", "Mei Kovacs")
    assert "ovacs" not in printed(made)


def test_the_longer_of_two_values_that_overlap_is_replaced() -> None:
    made = alone(
        call("Shop.find", {"address": "Maple Drive 5, Quibbletown", "city": "Quibbletown"}),
        "Visit Maple Drive 5, Quibbletown or Quibbletown",
    )
    assert made.runs[0].steps[-1].text == "Visit <ADDRESS_1> or <ADDRESS_2>"


@given(emails)
@settings(max_examples=25)
@example("zq10@xmail.example")
def test_markup_and_code_hide_no_value(value: str) -> None:
    text = f'**{value}** `{value}` [{value}](mailto:{value}) > {value}\n```json\n{{"to":["{value}"]}}\n```\n|{value}|'
    made = alone("ok", text)
    assert value not in made.runs[0].steps[-1].text
    assert made.runs[0].steps[-1].text.count("<EMAIL_1>") == 7


def test_keys_that_are_data_are_replaced_and_fields_stay() -> None:
    made = alone(call("Shop.share", {"rights": {"zora@xmail.example": "zorble", "expires_at": "2024-05-15"}}), "ok")
    assert made.runs[0].actions[0].arguments == {"rights": {"<EMAIL_1>": "<TEXT_1>", "expires_at": "2024-05-15"}}


def test_nested_arguments_keep_their_shape() -> None:
    arguments = {"items": [{"id": "XQ-11111", "n": [1, 2]}, {"id": None, "n": []}], "all": True, "note": ""}
    made = alone(call("Shop.order", arguments), "ok")
    assert made.runs[0].actions[0].arguments == {
        "items": [{"id": "<ID_1>", "n": ["<NUMBER_1>", "<NUMBER_2>"]}, {"id": None, "n": []}],
        "all": True,
        "note": "",
    }


def test_huge_values_are_replaced_whole() -> None:
    body = "Dear Zora Quibble, " + "really " * 20_000
    made = alone(call("Mail.send", {"body": body}, {"sent": body}), "ok")
    assert made.runs[0].actions[0].arguments == {"body": "<TEXT_1>"}
    assert "Quibble" not in printed(made)


def test_a_value_never_seen_is_still_hidden_where_its_form_tells() -> None:
    placeholders = Placeholders([run("a", True, "ok")], Vocabulary())
    assert placeholders.text("ask zora@xmail.example or +1 555 123 2002") == "ask <EMAIL> or <PHONE>"
    assert placeholders.value("Shop.find", "email", "zora@xmail.example") == "<EMAIL>"


@given(st.text(max_size=200))
def test_any_text_can_be_redacted_and_redacting_twice_changes_nothing(text: str) -> None:
    placeholders = Placeholders([run("a", True, text or "-", task=text)], Vocabulary())
    once = placeholders.text(text)
    assert placeholders.text(text) == once


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
nested = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)


@given(st.dictionaries(st.text(min_size=1, max_size=8), nested, max_size=3), nested)
@settings(max_examples=80)
def test_any_arguments_and_results_can_be_redacted(arguments: dict[str, Any], result: Any) -> None:
    made = alone(call("Shop.find", arguments, result), "ok")
    assert made.runs[0].actions[0].arguments.keys() == arguments.keys()


def test_single_values_of_different_tasks_are_not_joined() -> None:
    first, then = (packet(said("email", f"zq{number}@xmail.example", "please look")) for number in (1, 2))
    assert printed(first) == printed(then)


def test_numbers_of_placeholders_have_no_gaps_within_a_kind() -> None:
    made = packet(*(said("order_id", f"XQ-{n}0000", source=str(n)) for n in range(1, 6)))
    numbers = [int(name[4:-1]) for name in made.placeholders.originals() if name.startswith("<ID_")]
    assert numbers == list(itertools.islice(itertools.count(1), len(numbers)))


def test_an_ordinary_word_stays_readable_though_a_field_held_it() -> None:
    """`passenger` is a person's field by its name, and holds the state of a door."""
    made = alone(
        call("Car.status", {}, {"passenger": "locked", "owner": "zorax"}),
        call("Car.start", {}, "Error", error="All doors must be locked, says zorax. Insufficient fuel."),
        "It said: Insufficient fuel.",
    )
    (error,) = [step.error for step in made.runs[0].steps if step.error]
    assert error.startswith("All doors must be locked, says <PERSON>. Insufficient")


def test_words_that_a_tool_lists_itself_are_never_replaced() -> None:
    refusal = "Board not valid. Please choose from: 'Back end', 'Front end', 'Design'."
    runs = [
        run(
            "a", False, call("Board.add", {"board": board}, error=refusal), "The Front End board.", task_id=f"t{number}"
        )
        for number, board in enumerate(("front-end", "Front End", "Front end"))
    ]
    with Collection(runs) as pool:
        made = list(contrast(pool, Vocabulary(pool)))
    assert all("'Front end'" in packet.runs[0].actions[0].error for packet in made)
    assert made[2].runs[0].actions[0].arguments == {"board": "Front end"}
