from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from contramem.bank.card import Argument, FunctionCard
from contramem.bank.frozen import write_frozen
from contramem.counting import count_tokens
from contramem.errors import BankFileError, UsageError
from contramem.inject.guidance import brief_text_of
from contramem.inject.run import Memory
from contramem.retrieve.profiles import PROFILES
from contramem.traces.trajectory import Event, Result, Tool

TASK = "Delete the newsletter emails except the one about travel; ask if the exception is ambiguous."
OTHER = "Compose a sonnet about zeppelins"
"""A task that no card fits: no function is shown at its start."""
DELETE = "EmailClient.delete_email"


@pytest.fixture(autouse=True)
def switched_on(monkeypatch):
    monkeypatch.delenv("CONTRAMEM_OFF", raising=False)


def test_a_run_gets_cards_at_start(memory):
    guidance = memory.start(TASK, ability="ambiguity", run_id="r1").guidance
    assert guidance.card_ids[0] == "skill::ambiguous-keep"
    assert guidance.card_ids == tuple(hit.card.card_id for hit in guidance.hits) + guidance.listed
    assert guidance.tokens == count_tokens(guidance.text)
    assert guidance.encoding == "o200k_base"


def test_a_request_that_no_card_is_about_gets_every_skill_as_a_sentence_and_no_function(memory):
    guidance = memory.start("Compose a sonnet about zeppelins").guidance
    assert set(guidance.listed) == {card.card_id for card in memory.bank.skills} == set(guidance.card_ids)


@pytest.mark.parametrize("profile", ["gaia2", "time", "appworld"])
def test_the_profiles_of_the_paper_say_nothing_when_nothing_fits(memory, profile):
    guidance = memory.start("Compose a sonnet about zeppelins", profile=profile).guidance
    assert not guidance
    assert guidance.text == ""
    assert guidance.note == "no card is relevant enough to this task"


def test_provenance_never_reaches_the_agent(memory):
    text = memory.start(TASK, ability="ambiguity", profile="gaia2").guidance.text
    assert "taught" not in text
    assert "skill::" not in text
    assert not any(digest in text for card in memory.bank.skills for digest in card.taught_by)


def test_a_function_brings_its_card_once_a_run(memory):
    run = memory.start(OTHER)
    assert "### EmailClient.delete_email" in run.before_call(DELETE, {"email_id": "1"}).text
    assert run.before_call("EmailClient__delete_email", {"email_id": "2"}) is None
    assert memory.start(OTHER).before_call(DELETE, {"email_id": "1"}) is not None


def test_and_again_after_it_failed(memory, failure):
    run = memory.start(OTHER)
    run.before_call(DELETE)
    run.observe(Event(1, "agent", "call", function=DELETE, result=Result("done")))
    assert run.before_call(DELETE) is None
    run.observe(failure("delete_email"))
    assert run.before_call(DELETE).text.startswith("The last call of this function failed.")
    assert run.before_call(DELETE) is None
    run.observe(failure("delete_email"))
    assert run.before_call(DELETE) is None, "a tool that is down brings its card once more, not each time"


def test_missing_arguments_are_named(memory):
    run = memory.start(OTHER)
    assert "This call lacks: email_id" in run.before_call(DELETE, {"folder_name": "INBOX"}).text
    assert "This call lacks" not in memory.start(OTHER).before_call(DELETE).text


@pytest.mark.parametrize(
    ("profile", "function", "shown"),
    [
        ("default", DELETE, True),
        ("default", "Calendar.list_events", False),
        ("gaia2", "Calendar.list_events", True),
        ("time", DELETE, False),
        ("appworld", DELETE, False),
        ("small", DELETE, False),
        ("gaia2", "Unheard.of", False),
        ("gaia2", "", False),
    ],
)
def test_the_profile_says_which_functions_bring_cards(memory, profile, function, shown):
    assert (memory.start(OTHER, profile=profile).before_call(function, None) is not None) == shown


def test_the_finalization_card_is_repeated_once(memory):
    run = memory.start("Cancel the ride after 5 minutes.", ability="time", profile="time")
    assert run.before_final().card_ids == ("skill::finish-last",)
    assert run.before_final() is None
    assert memory.start("Cancel the ride after 5 minutes.", ability="time").before_final() is None


@pytest.mark.parametrize("budget", [90, 150, 200, 260, 320, 400, 600])
def test_the_budget_is_kept(memory, budget):
    profile = replace(PROFILES["gaia2"], budget_tokens=budget, call_budget_tokens=budget)
    run = memory.start(TASK, profile=profile)
    assert run.guidance.tokens <= budget
    whole = memory.start(TASK, profile="gaia2").guidance.card_ids
    assert sorted(run.guidance.card_ids + run.guidance.left_out) == sorted(whole), "none is lost without a word"
    before = run.before_call(DELETE)
    assert before is None or before.tokens <= budget


def test_a_cut_is_between_fields_and_reported(memory):
    whole = memory.start(TASK, ability="ambiguity", profile="gaia2").guidance
    cut = memory.start(TASK, ability="ambiguity", profile=replace(PROFILES["gaia2"], budget_tokens=300)).guidance
    assert cut.shortened
    assert set(cut.text.splitlines()) <= set(whole.text.splitlines())


def test_small_models_get_the_skill_that_fits_as_one_sentence_or_nothing(memory):
    guidance = memory.start(TASK, ability="ambiguity", profile="small").guidance
    assert guidance.listed[:1] == ("skill::ambiguous-keep",)
    assert len(guidance.text.split()) <= 150
    assert not memory.start(OTHER, profile="small").guidance


def test_small_models_are_not_told_what_the_description_of_a_tool_says(memory):
    run = memory.start("Which events are there in the calendar?", tools=["Calendar.list_events"], profile="small")
    assert "list_events" not in run.guidance.text
    assert run.before_call("Calendar.list_events") is None


def test_small_models_are_told_which_functions_give_the_values():
    card = FunctionCard(
        card_id="function::Mail.send", tool="Mail.send", app="Mail", function="send", what_it_does="Sends.",
        returns="nothing",
        arguments=(
            Argument(name="to", form="text", meaning="values come from results of `find_contact`"),
            Argument(name="body", form="text", meaning="values come from the task"),
        ),
        usage_rules=("Call it once.",),
    )  # fmt: skip
    text = brief_text_of(card)
    assert text is not None
    assert text.lines == ("- send: `to`: values come from results of `find_contact`.",)


@pytest.mark.parametrize(("value", "off"), [("1", True), ("true", True), ("0", False), ("", False), ("off", False)])
def test_the_kill_switch_is_read_at_each_start(memory, monkeypatch, value, off):
    before = memory.start(OTHER)
    monkeypatch.setenv("CONTRAMEM_OFF", value)
    run = memory.start(TASK)
    assert bool(run.guidance) is not off
    assert (memory.start(OTHER).before_call(DELETE) is None) is off
    assert before.before_call(DELETE), "a run that started before goes on as it was"
    if off:
        assert run.guidance.note == "CONTRAMEM_OFF is set"
        assert run.before_final() is None


def test_tools_may_be_names_or_tools(memory):
    guidance = memory.start(TASK, tools=[Tool("EmailClient.search_emails"), "checkout"], profile="gaia2").guidance
    shown = [card_id for card_id in guidance.card_ids if card_id.startswith("function::")]
    assert shown == ["function::EmailClient.search_emails"]


def test_the_bank_names_its_profile(memory):
    assert memory.start(TASK).profile is PROFILES["default"]
    with pytest.raises(UsageError, match="no profile 'huge'"):
        memory.start(TASK, profile="huge")


def test_a_bank_that_is_not_there_is_one_clear_line(tmp_path):
    with pytest.raises(BankFileError, match=r"none\.jsonl"):
        Memory.load(tmp_path / "none.jsonl")


def test_a_huge_task_is_read_by_its_opening(memory):
    assert memory.start(TASK + " filler" * 500_000, ability="ambiguity").guidance.card_ids[0] == "skill::ambiguous-keep"


def test_a_hundred_runs_at_once_keep_their_state_apart(memory, failure):
    def one(number):
        run = memory.start(OTHER, run_id=str(number))
        first = run.before_call(DELETE, {"email_id": "1"})
        if number % 2:
            run.observe(failure(DELETE))
        return first is not None, run.before_call(DELETE, {"email_id": "1"}) is not None

    with ThreadPoolExecutor(10) as pool:
        assert list(pool.map(one, range(100))) == [(True, bool(number % 2)) for number in range(100)]


def test_ten_threads_on_one_run_see_a_card_once(memory):
    run = memory.start(OTHER)
    with ThreadPoolExecutor(10) as pool:
        shown = list(pool.map(lambda _: run.before_call(DELETE, {"email_id": "1"}), range(100)))
    assert sum(guidance is not None for guidance in shown) == 1


def test_the_gaia2_profile_shows_the_card_before_each_proposed_call(memory):
    run = memory.start(OTHER, profile="gaia2")
    assert run.before_call(DELETE, {"email_id": "1"}) is not None
    assert run.before_call(DELETE, {"email_id": "1"}) is None, "the call that was held for its card gets through"
    run.observe(Event(1, "agent", "call", function=DELETE, result=Result("done")))
    assert run.before_call(DELETE, {"email_id": "2"}) is not None


def test_a_bank_carries_the_profile_of_an_ability(memory, tmp_path):
    write_frozen(tmp_path / "bank.jsonl", memory.bank.to_bank(), "gaia2", {"Time": "time"})
    again = Memory.load(tmp_path / "bank.jsonl")
    assert again.start(OTHER, ability="time").profile.name == "time"
    assert again.start(OTHER, ability="time").before_call(DELETE) is None
    assert again.start(OTHER, ability="search").profile.name == "gaia2"
