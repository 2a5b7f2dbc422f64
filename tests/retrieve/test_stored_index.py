"""The stored index gives the very scores of the one in memory, and is made anew when it is not what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from contramem.bank.card import FunctionCard
from contramem.retrieve.scorer import MappedBm25, StoredScorers, TermBm25, bm25, keep_index, plain_bm25
from contramem.retrieve.tokens import tokenize


def card(verb: str, noun: str) -> FunctionCard:
    tool, does = f"Desk.{verb}_{noun}", f"{verb}s a {noun} of the house"
    return FunctionCard(
        card_id=f"function::{tool}", tool=tool, app="Desk", function=f"{verb}_{noun}", what_it_does=does, returns="text"
    )


CARDS = [card(verb, noun) for verb in ("find", "close", "move") for noun in ("case", "visit", "order")]
TASK = tokenize("Please close the visit, then find the case of the house and close it.")


@pytest.fixture
def scorers(tmp_path: Path) -> StoredScorers:
    return StoredScorers(tmp_path / "index", "a" * 64, min_cards=1)


def stored(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "index").iterdir())


def test_scores_and_explanations_equal_those_of_the_index_in_memory(scorers: StoredScorers) -> None:
    fresh = bm25(CARDS, {})
    scorers(CARDS, {})
    opened = scorers(CARDS, {})
    assert isinstance(opened.index, MappedBm25)
    assert opened.scores(TASK).tolist() == fresh.scores(TASK).tolist()
    assert any(fresh.scores(TASK))
    assert [opened.explain(TASK, number) for number in range(9)] == [fresh.explain(TASK, number) for number in range(9)]
    assert (opened.unit, len(opened.index)) == (fresh.unit, 9)
    assert not any(opened.scores(["nowhere"]))


def test_other_cards_and_other_banks_have_files_of_their_own(scorers: StoredScorers, tmp_path: Path) -> None:
    scorers(CARDS, {})
    scorers(CARDS[:5], {})
    assert len(stored(tmp_path)) == 2
    assert len(scorers(CARDS[:5], {}).index) == 5
    StoredScorers(tmp_path / "index", "b" * 64, min_cards=1)(CARDS, {})
    assert [path.name[:12] for path in stored(tmp_path)] == ["b" * 12], "those of the bank before are removed"


@pytest.mark.parametrize("kept", [0, 10, 60, -1])
def test_a_truncated_file_is_rebuilt(scorers: StoredScorers, tmp_path: Path, kept: int) -> None:
    scorers(CARDS, {})
    (path,) = stored(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:kept])
    assert scorers(CARDS, {}).scores(TASK).tolist() == bm25(CARDS, {}).scores(TASK).tolist()
    assert path.read_bytes() == whole


def test_a_document_number_out_of_range_is_ignored(scorers: StoredScorers, tmp_path: Path) -> None:
    scorers(CARDS, {})
    (path,) = stored(tmp_path)
    path.write_bytes(path.read_bytes()[:-8] + b"\xff" * 7 + b"\x7f")
    assert len(scorers(CARDS, {}).scores(TASK)) == 9


def test_the_index_stays_in_memory_if_the_folder_is_not_writable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    made = StoredScorers(tmp_path / "file", "a" * 64, min_cards=1)(CARDS, {})
    assert isinstance(made, TermBm25) and not isinstance(made.index, MappedBm25)


def test_few_cards_are_not_stored(tmp_path: Path) -> None:
    StoredScorers(tmp_path / "index", "a" * 64)(CARDS, {})
    assert not (tmp_path / "index").exists()


def test_only_bm25_indexes_are_stored(tmp_path: Path) -> None:
    assert isinstance(keep_index(bm25, tmp_path, "a" * 64), StoredScorers)
    assert keep_index(plain_bm25, tmp_path, "a" * 64) is plain_bm25
