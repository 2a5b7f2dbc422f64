import pytest
from hypothesis import given
from hypothesis import strategies as st

from contramem.retrieve.tokens import MAX_CHARACTERS, singular, tokenize


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("EmailClient.delete_emails", ["email", "client", "delete", "email"], id="app-and-function"),
        pytest.param("sendEmail", ["send", "email"], id="camel-case"),
        pytest.param("HTTPServer", ["http", "server"], id="capitals-in-a-row"),
        pytest.param("step2 of V10", ["step", "2", "v", "10"], id="digits"),
        pytest.param("Delete the e-mails, please!", ["delete", "e", "mail"], id="sentence"),
        pytest.param("Prüfe die Übersicht 予定", ["prüfe", "die", "übersicht", "予定"], id="other-letters"),
        pytest.param("the of and", [], id="stop-words-only"),
        pytest.param("", [], id="empty"),
    ],
)
def test_text_becomes_words(text, words):
    assert tokenize(text) == words


@pytest.mark.parametrize(
    ("word", "folded"),
    [
        ("emails", "email"), ("entries", "entry"), ("messages", "message"), ("deletes", "delete"), ("status", "status"),
        ("address", "address"), ("series", "sery"), ("is", "is"), ("goes", "goe"), ("bus", "bus"),
    ],
)  # fmt: skip
def test_plurals_are_folded(word, folded):
    assert singular(word) == folded


def test_words_that_change_a_procedure_are_kept():
    assert tokenize("not all, only once before every write") == [
        "not",
        "all",
        "only",
        "once",
        "before",
        "every",
        "write",
    ]


def test_only_the_beginning_of_a_huge_text_is_read():
    assert tokenize("delete " + "x" * MAX_CHARACTERS + " archive")[0] == "delete"
    assert "archive" not in tokenize("delete " + "x" * MAX_CHARACTERS + " archive")


@given(st.text())
def test_any_text_gives_lower_case_words_without_stop_words(text):
    words = tokenize(text)
    assert all(word and not word.isspace() and word not in ("the", "and") for word in words)
    assert words == tokenize(text)
