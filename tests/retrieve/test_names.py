import json
from pathlib import Path

from contramem.bank.card import FunctionCard
from contramem.retrieve.hit import FunctionNames
from contramem.retrieve.intent import AppVocabulary, intents, serves
from contramem.retrieve.tokens import tokenize


def function(tool):
    app, _, name = tool.partition(".")
    fields = {"card_id": f"function::{tool}", "tool": tool, "app": app, "function": name}
    return FunctionCard(**fields, what_it_does="Does it.", returns="Nothing.")


def test_a_function_is_found_by_every_usual_spelling():
    names = FunctionNames([function("Mail.send"), function("Chat.send"), function("Mail.delete")])
    for spelling in ("Mail.delete", "Mail__delete", "mcp__Mail__delete", "delete"):
        assert names.find(spelling).tool == "Mail.delete"
    assert names.find("Chat__send").tool == "Chat.send"


def test_a_bare_name_that_two_apps_share_finds_no_card():
    names = FunctionNames([function("Mail.send"), function("Chat.send")])
    assert names.find("send") is None
    assert names.find("unheard_of") is None


def test_a_word_identifies_an_app_if_no_other_app_has_it():
    apps = AppVocabulary(
        ["EmailClientV2.send_email", "Chats.send_message", "Messages.list_chats", "RentAFlat.save_apartment"]
    )
    assert apps.apps_in(tokenize("email Bob about the apartments")) == {"EmailClientV2", "RentAFlat"}
    assert apps.apps_in(tokenize("send it")) == frozenset()
    assert apps.apps_in(tokenize("read the chats")) == {"Chats"}, "the name of an app outweighs functions of others"


def test_intents_come_from_verbs_and_their_synonyms():
    asked = intents(tokenize("Buy the flask and tell Bob when it arrives"))
    assert serves("Shopping.checkout", asked)
    assert serves("EmailClient.send_email", asked)
    assert not serves("EmailClient.delete_email", asked)
    assert not serves("Cab.user_cancel_ride", asked)
    assert serves("Maps.geocode", asked), "a verb nobody knows is not held against the function"


def test_sample_cards_are_valid_and_have_distinct_ids():
    cards = json.loads(Path(__file__).with_name("sample_cards.json").read_text(encoding="utf-8"))
    assert len({card["card_id"] for card in cards}) == len(cards)
