"""Kept work: found again by what it was computed from, private, bounded, and never in the way."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from contramem.kept_work import NO_WORK, KeptWork, default_place, digest_parts, forget_work


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "work.db"


def test_a_result_is_found_again_by_its_stage_and_key(place: Path) -> None:
    with KeptWork(place) as work:
        work.put("read", [(b"a", b"1"), (b"b", b"2")])
    with KeptWork(place) as work:
        assert work.get("read", [b"a", b"b", b"c"]) == {b"a": b"1", b"b": b"2"}
        assert work.find("read", [b"b", b"c"]) == {b"b"}
        assert work.get("contrast", [b"a"]) == {}


def test_more_keys_than_fit_into_one_query_are_found(place: Path) -> None:
    rows = [(str(number).encode(), b"x") for number in range(500)]
    with KeptWork(place) as work:
        work.put("read", rows)
        assert work.get("read", [key for key, _ in rows]) == dict(rows)


def test_its_owner_alone_may_read_it(place: Path) -> None:
    with KeptWork(place) as work:
        work.put("read", [(b"a", b"1")])
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="file modes are a matter of POSIX")
def test_a_file_that_others_could_have_written_is_not_used(place: Path) -> None:
    with KeptWork(place) as work:
        work.put("read", [(b"a", b"1")])
    place.chmod(0o666)
    with KeptWork(place) as work:
        assert work.get("read", [b"a"]) == {}


def test_a_damaged_file_is_as_good_as_none(place: Path) -> None:
    place.parent.mkdir()
    place.touch(mode=0o600)
    place.write_bytes(b"not a database" * 1_000)
    with KeptWork(place) as work:
        work.put("read", [(b"a", b"1")])
        assert work.get("read", [b"a"]) == {}


def test_a_result_whose_bytes_have_changed_on_disk_is_not_given(place: Path) -> None:
    with KeptWork(place) as work:
        work.put("read", [(b"a", b"a result of some length")])
    place.write_bytes(place.read_bytes().replace(b"a result of some length", b"a result of some LENGTH"))
    with KeptWork(place) as work:
        assert work.get("read", [b"a"]) == {}


def test_what_was_used_longest_ago_makes_way(place: Path) -> None:
    for key in (b"old", b"middle"):
        with KeptWork(place) as work:
            work.put("read", [(key, b"x" * 100)])
    with KeptWork(place, max_bytes=250) as work:
        work.get("read", [b"old"])
        work.put("read", [(b"new", b"x" * 100)])
    with KeptWork(place) as work:
        assert work.find("read", [b"old", b"middle", b"new"]) == {b"old", b"new"}


def test_nothing_is_made_before_it_is_asked(place: Path) -> None:
    with KeptWork(place):
        assert not place.exists()


def test_a_place_that_cannot_be_written_is_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with KeptWork(tmp_path / "file" / "work.db") as work:
        work.put("read", [(b"a", b"1")])
        assert work.get("read", [b"a"]) == {}


def test_all_can_be_forgotten(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONTRAMEM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(place.parent))
    with KeptWork(default_place()) as work:
        work.put("read", [(b"a", b"1")])
    assert forget_work()
    assert not default_place().exists()
    assert not forget_work()


def test_without_a_file_results_are_made_and_not_kept() -> None:
    made = []
    NO_WORK.put("read", ((b"a", made.append(1) or b"") for _ in range(2)))  # type: ignore[func-returns-value]
    assert len(made) == 2
    assert NO_WORK.get("read", [b"a"]) == {}


def test_keys_tell_values_apart() -> None:
    assert digest_parts("a", 1) == digest_parts("a", 1)
    assert digest_parts("a", 1) != digest_parts("a1")
