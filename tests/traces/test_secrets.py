"""What a field is called decides whether its value is a secret, whatever the value looks like."""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest

from contramem.collection.runs import Collection
from contramem.traces import trajectory
from contramem.traces.secret_names import IN_PROSE, is_secret_name
from contramem.traces.secrets import SecretMask, mask_secrets, secrets_in_prose
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
    ["password", "userPassword", "passphrase", "api_key", "access_token", "Authorization", "card_number"],
)
def test_a_field_that_is_called_a_secret_is_one(name: str) -> None:
    assert is_secret_name(name, "letmein")


@pytest.mark.parametrize(
    "name",
    ["smtpPass", "rootpw", "door_code", "gateCode", "recovery_key", "passport_no", "mothers_maiden_name", "iban"],
)
def test_codes_keys_and_numbers_of_papers_are_secrets_by_their_name(name: str) -> None:
    assert is_secret_name(name, "mosaic magnet")


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


def test_a_secret_is_masked_in_the_column_of_a_table() -> None:
    mask = SecretMask()
    table = {"columns": ["user", "smtpPass"], "rows": [["bob", "yonder-kernel"], ["ann", "plum tree"]]}
    mask.collect(table)
    assert mask.apply(table)["rows"] == [["bob", "<SECRET_1>"], ["ann", "<SECRET_2>"]]
    assert mask.in_text("It is yonder-kernel.") == "It is <SECRET_1>."


@pytest.mark.parametrize("name", ["page_token", "password_id", "keyword", "pinned", "user", "monkey", "max_tokens"])
def test_a_field_that_only_sounds_like_one_is_not(name: str) -> None:
    assert not is_secret_name(name, "letmein")


def test_a_bare_pass_is_a_secret_unless_it_is_a_plain_word() -> None:
    assert is_secret_name("pass", "Timber#116") and is_secret_name("pass", "plum tree")
    assert not is_secret_name("pass", "annual") and not is_secret_name("pass", True)


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


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("machine desk.example login ops password kadatedizu", "kadatedizu"),
        ("setx DESK_TOKEN mucimibece%", "mucimibece%"),
        ('{"error": {"message": "setx DESK_TOKEN hogohotuca!"}}', "hogohotuca!"),
        ("curl -u ops:zuzetedako7 desk", "zuzetedako7"),
        ("mysql -u app -pzuzetedako7 desk", "zuzetedako7"),
        ("--Authorization Basic A6BQyssjBw1PycsgIUmKRa== --force", "A6BQyssjBw1PycsgIUmKRa"),
        ("postgres://app:k9MOjU7RorWq@db28.internal/x", "k9MOjU7RorWq"),
        ("860691 is your login code", "860691"),
        ("SSN 404-20-7248", "404-20-7248"),
        ("CPF 341.667.841-65", "341.667.841-65"),
        ("11010519761231595X", "11010519761231595X"),
        ("whsec_5THygERU57YNaEtqXYSs5nZiSOyQcYXy", "whsec_5THygERU57YNaEtqXYSs5nZiSOyQcYXy"),
        ("2579841425:AAAy37mEsKAgAzebR3FsncWbt4kI12GviEw", "AAAy37mEsKAgAzebR3FsncWbt4kI12GviEw"),
        ('{"data": "{\\"api_key\\": \\"kadatedizu\\"}"}', "kadatedizu"),
        ("TG1RN-BSHBV-8NFON-9RLM3-1PMD2", "BSHBV"),
        (f"seed phrase: {' '.join(['velvet', 'zebra', 'timber', 'canyon'] * 3)}", "timber"),
        ("756.2954.6914.13", "2954"),
        ("Aadhaar 7580 2092 8050", "2092"),
        ("GOCSPX-" + "aB3" * 9, "aB3aB3"),
        ("curl --user ops:Birch25^ desk.example", "Birch25^"),
        ("docker login -u ops -p Alder722* desk.example", "Alder722*"),
        ("echo Cedar599! | docker login -u ops --password-stdin", "Cedar599!"),
        ("redis-cli -a Willow958* ping", "Willow958*"),
        ("smbclient //desk/s -U ops%Birch64^", "Birch64^"),
        ("[sudo] password for ops: breeze-willow", "breeze-willow"),
        ("openssl enc -pass pass:cyclone.hawthorn -in s", "cyclone.hawthorn"),
        ("unzip -P Birch527# ships.zip", "Birch527#"),
        ("keytool -storepass Yew317* -list", "Yew317*"),
        ("ansible_become_pass: Oak947*", "Oak947*"),
        ("creds ops/zephyr.yew", "zephyr.yew"),
        ("PrivateKey = fhloRsVRHJ9spHGdGXvFH4wrgTpb6f/fd0p04Coilfi=", "fhloRsVRHJ9"),
        ("SharedAccessKey=lAbjhsKJMKlBmuMgPYSvUed8Fi1H9eum2D", "lAbjhsKJMKl"),
        ("con clave_acceso crimson trumpet82.", "trumpet82"),
        ("invalid locker_code: amberibex", "amberibex"),
    ],
)
def test_a_secret_is_masked_as_shells_links_and_papers_write_it(text: str, secret: str) -> None:
    (masked,) = mask_secrets([run(Event(0, "user", "message", f"Note: {text}"))])
    assert secret not in masked.events[0].text


@pytest.mark.parametrize(
    "text",
    [
        "Reset the password before you log in, then list all pins.",
        "The token limit is reached; see page 3 of 12-31-2024.",
        "Run tar -p on the folder, and grep -u in the notes.",
        "Open https://desk.example/a@b and read it.",
        "docker run --user 1000:1000 -p 8080:80 desk, then login page/homepage works.",
        "All checks_pass: true, first_pass = 4, unzip the file to docs -P.",
    ],
)
def test_words_about_secrets_are_not_secrets(text: str) -> None:
    (masked,) = mask_secrets([run(Event(0, "user", "message", text))])
    assert masked.events[0].text == text


def test_a_run_without_anything_like_a_secret_is_not_searched() -> None:
    plain = run(Event(0, "user", "message", "Close the case."))
    assert mask_secrets([plain])[0] is plain


@pytest.mark.parametrize("name", ["masterkey", "Kundenkennwort", "dbpassword", "db_pass", "csrf", "mdp", "şifre"])
def test_names_of_one_word_and_of_other_languages_are_names_of_secrets(name: str) -> None:
    assert is_secret_name(name, "tulip")


@pytest.mark.parametrize("name", ["boarding_pass", "seed", "keyboard", "passport_type", "secretary", "next_page_token"])
def test_names_that_only_sound_like_secrets_are_none(name: str) -> None:
    assert not is_secret_name(name, "tulip")


@pytest.mark.parametrize("name", ["salasana", "mot_de_passe", "motDePasse", "kata_sandi", "mật_khẩu", "密码"])
def test_a_field_that_is_called_a_secret_in_another_language_is_one(name: str) -> None:
    assert is_secret_name(name, "velvet otter")


@pytest.mark.parametrize(
    "text",
    [
        *("la contraseña es velvet otter", "das Kennwort lautet velvet otter.", "le mot de passe est « velvet otter »"),
        *(
            "密码是velvet otter",
            "パスワードはvelvet otterです",
            "lösenordet är velvet otter",
            "הסיסמה היא velvet otter",
        ),
    ],
)
def test_what_a_text_calls_a_password_in_another_language_is_masked(text: str) -> None:
    (masked,) = mask_secrets([run(Event(0, "user", "message", text))])
    assert "velvet otter" not in masked.events[0].text


@pytest.mark.parametrize("text", ["Забыл пароль.", "Bitte das Passwort", "contraseña"])
def test_a_word_for_a_password_without_one_masks_nothing(text: str) -> None:
    (masked,) = mask_secrets([run(Event(0, "user", "message", text))])
    assert masked.events[0].text == text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Error: wrong secretAnswer Football.243", "Football.243"),
        ("wrong secret_answer: blue door", "blue door"),
        ("pinCode 4711ab", "4711ab"),
    ],
)
def test_a_name_that_begins_like_a_secret_names_one_in_a_text(text: str, secret: str) -> None:
    assert list(secrets_in_prose(text)) == [secret]


@pytest.mark.parametrize("text", ["password_id: 55", "passwordPolicy: strict", "token_count = 12", "tokenType: bearer"])
def test_a_name_about_a_secret_names_none(text: str) -> None:
    assert list(secrets_in_prose(text)) == []


@pytest.mark.parametrize(
    "name", [word for word in IN_PROSE if word != "2fa code" and word not in ("passport", "nino", "one time code")]
)
def test_whatever_a_text_calls_a_secret_is_one_as_a_field_too(name: str) -> None:
    assert is_secret_name(name.replace(" ", "_"), "tulip")
    assert list(secrets_in_prose(f"{name}: tulip7")) == ["tulip7"]


def test_a_secret_in_quotation_marks_after_other_words_is_found_without_them() -> None:
    assert "Fuchs im Bau" in list(secrets_in_prose('Das Passwort lautet "Fuchs im Bau", sagt er'))
    assert "Bananas.984" in list(secrets_in_prose('[{"msg": "hasło: Bananas.984"}]'))


def test_no_word_for_a_secret_hides_a_longer_one() -> None:
    assert list(secrets_in_prose("wifi password: maroon-ibex")) == ["maroon-ibex"]
    last_words = {word.split()[-1] for word in IN_PROSE if " " in word}
    assert not [word for word in IN_PROSE for last in last_words if word.startswith(last) and word != last]


@pytest.mark.parametrize("name", ["pass_phrase", "passPhrase", "pass-code", "user_pass_word", "api_key"])
def test_a_word_for_a_secret_is_one_in_two_parts_too(name: str) -> None:
    assert is_secret_name(name, "tulip")


@pytest.mark.parametrize(
    "table",
    [
        "| user | password |\n|---|---|\n| ops | shadow walk |\n| bob | x |",
        "user,password,note\nops,shadow walk,none",
        "user\tdbPassword\nops\tshadow walk",
        "USER   PASSWD\nops    shadow walk\n",
    ],
)
def test_a_secret_is_masked_in_the_column_of_a_table_that_is_a_text(table: str) -> None:
    (masked,) = mask_secrets([run(Event(0, "user", "message", f"Here you are:\n{table}"))])
    assert "shadow walk" not in masked.events[0].text and "ops" in masked.events[0].text


def test_a_list_in_a_sentence_is_no_table() -> None:
    text = "Enter the name, password, and mail of the user.\nThen press ok, wait a moment, and go on."
    (masked,) = mask_secrets([run(Event(0, "user", "message", text))])
    assert masked.events[0].text == text


def test_a_name_of_a_secret_before_nothing_but_signs_names_no_value() -> None:
    for space in (" ", "\u00a0", "\u2003", "\u1680", "\u205f", "\u3000"):
        for quote in "\"'`“":
            assert not list(secrets_in_prose(f"password: {quote}{space}{quote}"))


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
