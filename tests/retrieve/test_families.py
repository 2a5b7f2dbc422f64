"""Word families: a request and a function that share no word can be about the same."""

from __future__ import annotations

from contramem.bank.card import FunctionCard
from contramem.retrieve.hit import Query
from contramem.retrieve.intent import acts_of, subjects_of
from contramem.retrieve.profiles import PROFILES
from contramem.retrieve.retriever import Retriever
from contramem.retrieve.tokens import tokenize


def function(tool: str) -> FunctionCard:
    app, _, name = tool.partition(".")
    return FunctionCard(
        card_id=f"function::{tool}", tool=tool, app=app, function=name, what_it_does="Not documented.", returns="text"
    )


FUNCTIONS = [function(tool) for tool in ("bank.send_money", "mail.search_emails", "office.create_calendar_event")]


def names(request: str, profile: str = "default", **requests: tuple[str, ...]) -> list[str]:
    words = {f"function::{name.replace('__', '.')}": said for name, said in requests.items()}
    found = Retriever([], FUNCTIONS, requests=words).retrieve(Query(request), PROFILES[profile]).functions
    return [hit.name for hit in found]


def test_words_of_one_family_share_a_subject() -> None:
    request, function_name = tokenize("Pay the rent"), tokenize("send_money")
    assert set(subjects_of(request)) & set(subjects_of(function_name)) == {"about money"}
    assert "to send" in acts_of(function_name)
    assert subjects_of(tokenize("zeppelin sonnet")) == []


def test_a_plain_request_finds_a_function_by_its_family() -> None:
    assert names("Set up a meeting with Mark tomorrow") == ["office.create_calendar_event"]
    assert names("Compose a sonnet about zeppelins") == []


def test_the_profiles_of_the_paper_ignore_word_families() -> None:
    assert names("Set up a meeting with Mark tomorrow", "gaia2") == []


def test_a_function_is_found_by_words_of_earlier_requests() -> None:
    request = "Settle what I owe my landlord"
    assert names(request) == []
    assert names(request, bank__send_money=("landlord owe settle",)) == ["bank.send_money"]
