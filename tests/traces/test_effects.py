"""What a call does to the world, told from its name and its documentation."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from contramem.errors import UsageError
from contramem.traces.effects import LEXICON, effect_of, read_effects, words


@pytest.mark.parametrize(
    ("function", "effect"),
    [
        ("Mail.send_email", "write"),
        ("Mail.get_email", "read"),
        ("Mail.search_emails", "read"),
        ("Shop.cancelOrder", "write"),
        ("Shop.Get-Order", "read"),
        ("Shop.check_order_update_status", "read"),
        ("Shop.list_created_orders", "read"),
        ("Cal.reschedule_event", "write"),
        ("Chat.mark_as_read", "write"),
        ("Files.rm", "write"),
        ("Files.ls", "read"),
        ("Web.is_available", "read"),
        ("System.wait_for_notification", "wait"),
        ("System.sleep", "wait"),
        ("Agent.final_answer", "finalize"),
        ("Agent.submit", "finalize"),
        ("Agent.complete_task", "finalize"),
        ("Agent.finish", "finalize"),
        ("Shop.submit_order", "write"),
        ("Math.calculate", "read"),
        ("Desk.open_ticket", "write"),
        ("Bank.open_savings_account", "write"),
        ("Files.open_file", "read"),
        ("Web.openPage", "read"),
        ("Files.open", "read"),
        ("Files.file_open", "read"),
        ("Shop.list_open_orders", "read"),
        ("Desk.file_claim", "write"),
        ("Desk.process_warranty_claim", "write"),
        ("Box.process_list", "read"),
        ("Files.createfile", "write"),
        ("Files.notebook", "unknown"),
        ("Files.file_size", "unknown"),
        ("Shop.issue_refund", "write"),
        ("Code.issue_search", "read"),
        ("Desk.raise_dispute", "write"),
        ("Odd.frobnicate", "unknown"),
        ("Odd.", "unknown"),
        ("", "unknown"),
    ],
)
def test_the_first_known_verb_of_the_name_decides(function: str, effect: str) -> None:
    assert effect_of(function) == effect


@pytest.mark.parametrize(
    ("description", "effect"),
    [
        ("Returns the balance.", "read"),
        ("Deletes a contact.", "write"),
        ("Fetches pages", "read"),
        ("  - Searches the archive", "read"),
        ("Waits a while.", "unknown"),
        ("The thing.", "unknown"),
        ("", "unknown"),
    ],
)
def test_without_a_verb_in_the_name_the_documentation_tells(description: str, effect: str) -> None:
    assert effect_of("Odd.frobnicate", description) == effect


def test_the_name_wins_over_the_documentation() -> None:
    assert effect_of("Mail.delete_all", "Returns the number of mails.") == "write"


def test_documentation_that_opens_with_a_change_makes_a_write_of_a_read() -> None:
    assert effect_of("Shop.get_quote", "Creates a quote and gives it back.") == "write"
    assert effect_of("Shop.get_quote", "Returns the quote that was created.") == "read"
    assert effect_of("Shop.search_notes", "Run a search over the notes.") == "read"
    assert effect_of("Shop.find_or_create_user", "Creates the user if there is none.") == "write"


@pytest.mark.parametrize(
    ("function", "description"),
    [("Shelf.get_book", "Book with this id."), ("Feed.list_posts", "Post by post."), ("Bot.get_updates", "Updates.")],
)
def test_documentation_that_opens_with_what_the_name_reads_tells_of_no_change(function: str, description: str) -> None:
    assert effect_of(function, description) == "read"


def test_a_verb_has_one_effect() -> None:
    for one, other in combinations(LEXICON.values(), 2):
        assert not one & other


@pytest.mark.parametrize("name", ["sendEmail", "send_email", "Send-Email", "SEND_EMAIL", "send email"])
def test_names_are_split_into_words_however_they_are_written(name: str) -> None:
    assert words(name) == ["send", "email"]


def test_words_of_acronyms_and_numbers() -> None:
    assert words("getHTTPStatus2xx") == ["get", "http", "status", "2", "xx"]


def test_a_users_effects_are_read(tmp_path: Path) -> None:
    file = tmp_path / "effects.toml"
    file.write_text('"Mail.peek" = "read"\nnudge = "write"\n', encoding="utf-8")
    assert read_effects(file) == {"Mail.peek": "read", "nudge": "write"}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        pytest.param(b'"Mail.peek" = "maybe"', "must be one of read, write", id="unknown effect"),
        pytest.param(b"[Mail]\npeek = 'read'", "must be one of", id="a table"),
        pytest.param(b"peek = [", "cannot be read as a TOML table", id="no TOML"),
        pytest.param(b"\xff\xfe", "cannot be read as a TOML table", id="no text"),
    ],
)
def test_a_file_of_effects_that_is_wrong_is_refused_by_name(tmp_path: Path, content: bytes, complaint: str) -> None:
    file = tmp_path / "effects.toml"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=complaint):
        read_effects(file)


def test_a_missing_file_of_effects_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.toml"):
        read_effects(tmp_path / "absent.toml")
