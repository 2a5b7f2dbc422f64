"""A frozen bank is the same bytes for the same content, and a reader believes nothing unchecked."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from bank_examples import DELETE_EMAIL, SUPPORT, example_bank
from bank_strategies import ABILITIES, SUPPORTS, patches
from hypothesis import given
from hypothesis import strategies as st

from contramem.bank.acts import judge, person
from contramem.bank.bank import Bank, GuardSupport
from contramem.bank.frozen import freeze, load_frozen, parse_frozen, write_frozen
from contramem.errors import BankFileError


def edited(content: bytes, line: int, old: str, new: str) -> bytes:
    lines = content.split(b"\n")
    assert old.encode() in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old.encode(), new.encode(), 1)
    return b"\n".join(lines)


def test_the_header_has_format_hash_profile_and_counts():
    header, *cards = freeze(example_bank(), "gaia2").decode().splitlines(keepends=True)
    assert json.loads(header) == {
        "contramem_bank": 1,
        "content_sha256": hashlib.sha256("".join(cards).encode()).hexdigest(),
        "profile": "gaia2",
        "functions": 1,
        "skills": {"email": 1},
    }
    assert [list(json.loads(card))[:2] for card in cards] == [["card_id", "kind"]] * 2


def test_data_for_retrieval_is_beside_the_card():
    card = parse_frozen(freeze(example_bank()), "bank").skills[0]
    assert card.taught_by == SUPPORT.taught_by
    assert card.support == {card.guards[0]: GuardSupport(held=3, broken=2)}
    assert "model-a" not in freeze(example_bank()).decode()


def test_only_served_cards_are_frozen():
    bank = example_bank()
    bank = bank.with_changes(judge(bank, DELETE_EMAIL.card_id, "MUTE", person("anna")).changes)
    bank = bank.with_changes(judge(bank, bank.skills[0].card_id, "PIN", person("anna")).changes)
    frozen = parse_frozen(freeze(bank), "bank")
    assert [card.kind for card in frozen.cards] == ["skill"]


@given(st.data())
def test_a_bank_comes_back_as_it_was_and_freezes_to_the_same_bytes(data):
    bank = Bank()
    for _ in range(data.draw(st.integers(0, 6))):
        ability = data.draw(st.sampled_from(ABILITIES))
        bank = bank.apply(data.draw(patches(bank, ability)), ability, data.draw(SUPPORTS))
    content = freeze(bank)
    shuffled = Bank(dict(data.draw(st.permutations(list(bank.entries.items())))))
    assert freeze(shuffled) == content
    thawed = parse_frozen(content, "bank").to_bank()
    assert thawed.cards == bank.cards
    assert freeze(thawed) == content


def test_a_file_is_written_atomically(tmp_path):
    header = write_frozen(tmp_path / "bank.jsonl", example_bank())
    assert load_frozen(tmp_path / "bank.jsonl").header == header
    assert [path.name for path in tmp_path.iterdir()] == ["bank.jsonl"]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(BankFileError, match=r"bank\.jsonl: cannot be written \(No such file or directory\)"):
        write_frozen(tmp_path / "no" / "bank.jsonl", example_bank())


def test_a_file_edited_by_hand_is_refused_unless_the_caller_wants_the_edit(tmp_path):
    path = tmp_path / "bank.jsonl"
    path.write_bytes(edited(freeze(example_bank()), 3, "Partition before", "Split before"))
    with pytest.raises(BankFileError, match=r"changed after it was frozen.*contramem bank import"):
        load_frozen(path)
    frozen = load_frozen(path, allow_edited=True)
    assert frozen.edited
    assert frozen.skills[0].skill.core_rule.startswith("Split before")


def test_other_line_endings_do_not_count_as_an_edit():
    assert not parse_frozen(freeze(example_bank()).replace(b"\n", b"\r\n"), "bank").edited


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        pytest.param(b"", "line 1 is not a header", id="empty"),
        pytest.param(b"\xff\xfe\x00", "line 1 is not a header", id="binary"),
        pytest.param(b'{"task": 1}\n', "line 1 is not a header", id="trace"),
        pytest.param(b'{"contramem_bank": 1}\n', "bank:1: content_sha256: Field required", id="header"),
        pytest.param(
            edited(freeze(example_bank()), 1, '"contramem_bank":1', '"contramem_bank":4'),
            r"has bank format 4; this is contramem .* reads up to format 1\. Upgrade",
            id="newer",
        ),
        pytest.param(
            edited(freeze(example_bank()), 3, '"title"', '"titel"'), "bank:3: skill.title: Field req", id="field"
        ),
        pytest.param(
            edited(freeze(example_bank()), 2, '"kind":"function"', '"kind":"skill"'), "bank:2: skill", id="kind"
        ),
        pytest.param(edited(freeze(example_bank()), 2, "{", "["), "bank:2: Invalid JSON", id="json"),
        pytest.param(
            freeze(example_bank()) + freeze(example_bank()).split(b"\n")[1],
            r"bank:4: function::EmailClientV2.delete_email is in line 2 already",
            id="twice",
        ),
    ],
)
def test_an_invalid_line_is_reported_with_its_number(content, complaint):
    with pytest.raises(BankFileError, match=complaint):
        parse_frozen(content, "bank")


def test_a_missing_file_is_reported(tmp_path: Path):
    with pytest.raises(BankFileError, match=r"nowhere\.jsonl: cannot be read \(No such file"):
        load_frozen(tmp_path / "nowhere.jsonl")
