"""What a field is called decides whether its value is a secret, whatever the value looks like."""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest

from contramem.collection.runs import Collection
from contramem.privacy.secrets import SecretMask, SecretNames, find_secrets, is_secret_name, mask_secrets
from contramem.traces import trajectory
from contramem.traces.trajectory import (
    Event,
    Origin,
    Outcome,
    Result,
    RunUsage,
    ShownMemory,
    Tool,
    Trajectory,
)


def run(*events: Event, source: str = "a", task: str = "Log in as bob and read the mail.") -> Trajectory:
    return Trajectory("shop", "t1", source, Origin("x"), events, Outcome(True), task=task, authored=True)


def login(**arguments: object) -> Event:
    return Event(0, "agent", "call", "", "Shop.login", arguments, result=Result({"session_token": "abc-123-xyz"}))


@pytest.mark.parametrize(
    "name",
    ["password", "userPassword", "passphrase", "api_key", "access_token", "Authorization", "パスワード", "dbpassword"],
)
def test_a_field_that_is_called_a_secret_is_one(name: str) -> None:
    assert is_secret_name(name, "letmein")


@pytest.mark.parametrize("name", ["confirmation_code", "account_number", "zip_code", "first_name", "sort_key", "http"])
def test_ordinary_numbers_and_codes_are_none(name: str) -> None:
    assert not is_secret_name(name, "mosaic magnet")


def test_a_secret_is_masked_in_pairs_of_name_and_value() -> None:
    mask = SecretMask()
    given = {
        "headers": [["Authorization", "mosaic magnet"], ["Accept", "any text"]],
        "env": [{"key": "otp", "value": "ribbon glacier"}, {"key": "mode", "value": "fast"}],
    }
    mask.collect(given)
    assert mask.apply(given) == {
        "headers": [["Authorization", "<SECRET_1>"], ["Accept", "any text"]],
        "env": [{"key": "otp", "value": "<SECRET_2>"}, {"key": "mode", "value": "fast"}],
    }


@pytest.mark.parametrize("name", ["password_id", "tokens", "keyword", "pinned", "user", "monkey", "max_tokens"])
def test_a_field_that_only_sounds_like_one_is_not(name: str) -> None:
    assert not is_secret_name(name, "letmein")


@pytest.mark.parametrize("secret", ["letmein", "correct horse battery", "Zebra", "sommer 2024!"])
def test_a_secret_in_an_argument_is_masked_everywhere_in_all_runs_of_its_task(secret: str) -> None:
    task = f"Log in as bob with {secret} please."
    knows = run(login(user="bob", password=secret), Event(1, "agent", "final", f"I used {secret}."), task=task)
    other = run(Event(0, "user", "message", f"Try {secret} again."), source="b", task=task)
    with Collection([knows, other]) as pool:
        (runs,) = pool
    assert secret.encode() not in msgspec.json.encode(runs)
    assert {masked.task_key for masked in runs} == {knows.task_key}
    assert {masked.task_identity for masked in runs} == {knows.task_identity}


def test_a_token_is_the_same_mask_where_it_is_returned_and_where_it_is_used() -> None:
    use = Event(1, "agent", "call", "", "Shop.list", {"session_token": "abc-123-xyz"})
    (masked,) = mask_secrets([run(login(user="bob", password="letmein"), use)])
    assert masked.events[0].result is not None
    assert masked.events[0].result.content["session_token"] == masked.events[1].arguments["session_token"]


def test_a_text_that_was_searched_before_keeps_its_secrets() -> None:
    text = "The password is hunter2, as ever."
    for _ in range(2):
        mask = SecretMask()
        mask.collect(["Nothing here.", text])
        assert mask.in_text(text) == "The password is <SECRET_1>, as ever."


def test_a_text_that_was_masked_before_is_masked_again_when_a_secret_is_found_later() -> None:
    mask = SecretMask()
    assert mask.in_text("hunter2 opens it") == "hunter2 opens it"
    mask.collect({"password": "hunter2"})
    assert mask.in_text("hunter2 opens it") == "<SECRET_1> opens it"


def test_a_pin_stays_a_number() -> None:
    (masked,) = mask_secrets([run(login(user="bob", pin=4711))])
    assert isinstance(masked.events[0].arguments["pin"], int)
    assert masked.events[0].arguments["pin"] != 4711


@pytest.mark.parametrize(
    "text", ["Invalid password 'letmein' for bob", "password=letmein", "the passphrase is letmein", "Passwort: letmein"]
)
def test_a_secret_that_a_message_names_is_masked(text: str) -> None:
    (masked,) = mask_secrets([run(Event(0, "agent", "message", text))])
    assert "letmein" not in masked.events[0].text


def test_a_message_about_a_missing_password_stays_as_it_is() -> None:
    text = "The password is required. password: string"
    (masked,) = mask_secrets([run(Event(0, "agent", "message", text))])
    assert masked.events[0].text == text


def test_a_secret_in_the_system_prompt_is_masked() -> None:
    made = msgspec.structs.replace(run(), system="Log in with password: hunter2-xyz-77.")
    (masked,) = mask_secrets([made])
    assert "hunter2" not in masked.system


def test_a_run_without_anything_like_a_secret_is_not_searched() -> None:
    plain = run(Event(0, "user", "message", "Close the case."))
    assert mask_secrets([plain])[0] is plain


ISSUED = "ghp_" + "0123456789abcdefABCDEF"


LABELS = {
    Event: {"function", "actor", "kind", "effect"},
    Tool: {"function"},
    Outcome: {"ended"},
    Origin: {"file", "position"},
    Trajectory: {"environment", "task_id", "source", "run", "text_digest", "scenario_id", "ability"},
}


"""Fields that hold a text and are not searched, because it is a name, a digest or one of few words. Another one is
another place where a secret may stand: see that `sanitize` lets none in."""


FULL = Trajectory(
    "shop",
    "t1",
    "a",
    Origin("x"),
    (Event(0, "agent", "call", function="Shop.login", result=Result()),),
    tools=(Tool("Shop.login"),),
    usage=RunUsage(),
    guidance=(ShownMemory(0, "Log in first."),),
)


"""A run that holds each kind of struct."""


def structs_in(value: Any) -> list[msgspec.Struct]:
    """`value` and every struct below it."""
    if isinstance(value, tuple):
        return [found for child in value for found in structs_in(child)]
    if not isinstance(value, msgspec.Struct):
        return []
    return [value, *(found for field in value.__struct_fields__ for found in structs_in(getattr(value, field)))]


def with_text(hint: Any, text: str) -> Any:
    """A value of this type that holds the text; None if it can hold none."""
    if get_origin(hint) is Annotated:
        return with_text(get_args(hint)[0], text)
    if get_origin(hint) is tuple:
        part = with_text(get_args(hint)[0], text)
        return None if part is None else (part,)
    if get_origin(hint) in (Union, UnionType):
        return next((part for kind in get_args(hint) if (part := with_text(kind, text)) is not None), None)
    if get_origin(hint) is dict:
        return {"note": text}
    return text if hint in (str, Any) or "Literal" in str(hint) else None


def test_every_text_of_every_struct_is_searched_unless_its_declaration_marks_it() -> None:
    structs = {type(struct): struct for struct in structs_in(FULL)}
    for kind, struct in structs.items():
        for field, hint in get_type_hints(kind, include_extras=True).items():
            if (value := with_text(hint, f"The token is {ISSUED} today.")) is None:
                continue
            planted = msgspec.structs.replace(struct, **{field: value})
            mask = SecretMask()
            mask.collect(planted)
            is_left = ISSUED.encode() in msgspec.json.encode(mask.apply(planted))
            assert is_left == (field in LABELS.get(kind, ())), f"{kind.__name__}.{field}: is it searched, or marked?"
    every = {kind for kind in vars(trajectory).values() if isinstance(kind, type) and issubclass(kind, msgspec.Struct)}
    assert structs.keys() == every, "a new kind of struct belongs into FULL"


@pytest.mark.parametrize(
    "planted",
    [
        pytest.param({"tools": (Tool("Shop.login", f"Log in, e.g. with {ISSUED}."),)}, id="description"),
        pytest.param(
            {"tools": (Tool("Shop.login", "", {"properties": {"password": {"description": f"Like {ISSUED}."}}}),)},
            id="schema",
        ),
        pytest.param({"guidance": (ShownMemory(0, f"Pass {ISSUED} to Shop.login."),)}, id="guidance"),
    ],
)
def test_a_marked_secret_that_stands_nowhere_else_does_not_leave_the_pool(planted: dict[str, Any]) -> None:
    runs = [msgspec.structs.replace(run(login(user="bob"), source=source), **planted) for source in "ab"]
    with Collection(runs) as pool:
        (task,) = pool
    assert ISSUED not in str(task) and "<SECRET_" in str(task)


def test_the_schema_of_an_argument_that_is_called_a_secret_gives_none() -> None:
    schema = {"properties": {"password": {"type": "string", "description": "of the account"}}}
    given = msgspec.structs.replace(run(login(user="string")), tools=(Tool("Shop.login", "", schema),))
    (masked,) = mask_secrets([given])
    assert masked.tools == given.tools and masked.events[0].arguments == {"user": "string"}


def test_where_an_app_is_called_like_a_secret_the_next_one_is_none() -> None:
    given = msgspec.structs.replace(run(login(user="mail")), apps=("passwords", "mail"))
    assert mask_secrets([given])[0].apps == ("passwords", "mail")


def test_the_user_names_fields_that_hold_secrets_and_fields_that_do_not() -> None:
    names = SecretNames(secret=["locker combination"], public=["page_token"])
    assert "locker_combination" in names and "page_token" not in names and "access_token" in names
    mask = SecretMask(names)
    mask.collect({"lockerCombination": "86-34-95", "page_token": "abc-def"})
    assert mask.in_text("86-34-95, abc-def") == "<SECRET_1>, abc-def"


def test_a_password_that_is_a_common_word_is_masked_only_where_it_is_called_one() -> None:
    mask = SecretMask()
    mask.collect({"password": "answer", "note": "The answer is here: password='answer'."})
    masked = mask.apply({"password": "answer", "note": "The answer is here: password='answer'."})
    assert masked == {"password": "<SECRET_1>", "note": "The answer is here: password='<SECRET_1>'."}


@pytest.mark.parametrize(
    "text",
    ["the password is required", "reset your password to continue", "a token of 64 characters", "password: string"],
)
def test_words_about_secrets_are_none(text: str) -> None:
    assert not list(find_secrets(text))


@pytest.mark.parametrize(
    "text",
    [
        "Bearer: zan-77",
        "api_key=zan-77",
        "密码是zan-77",
        "--password zan-77",
        "https://bob:zan-77@db.example",
        "AccountKey=zan-77;",
    ],
)
def test_what_a_text_calls_a_secret_is_one(text: str) -> None:
    mask = SecretMask()
    mask.collect(text)
    assert "zan-77" not in mask.in_text(text)
