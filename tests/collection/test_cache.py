"""The cache: the same results in the same order whatever is cached, and nothing that somebody else wrote."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contramem.collection import cache as caching
from contramem.collection.cache import Cache, Job, digest_parts
from contramem.collection.runs import open_collection
from contramem.engine import SERIAL


class Sum(NamedTuple):
    value: int
    is_lasting: bool


def add(shared: int, shard: int) -> Sum:
    return Sum(shared + shard, is_lasting=shard != 3)


def jobs(numbers: list[int], made: list[int] | None = None) -> list[Job[int]]:
    def make(number: int) -> int:
        if made is not None:
            made.append(number)
        return number

    return [Job(str(number).encode(), lambda number=number: make(number)) for number in numbers]  # type: ignore[misc]


@contextmanager
def opened(folder: Path) -> Iterator[Cache]:
    with open_collection(folder / "runs") as collection:
        assert collection.path is not None
        yield collection.cache


@settings(max_examples=8)
@given(st.lists(st.integers(0, 9), max_size=8), st.lists(st.integers(0, 9), max_size=8))
def test_what_is_cached_changes_neither_results_nor_order(before: list[int], numbers: list[int]) -> None:
    with TemporaryDirectory() as folder, opened(Path(folder)) as cache:
        list(cache.compute(SERIAL, add, jobs(before), 100))
        again = [result.value for result in cache.compute(SERIAL, add, jobs(numbers), 100)]
    assert again == [100 + number for number in numbers]


def test_only_what_is_missing_is_made_and_what_does_not_last_is_made_again(tmp_path: Path) -> None:
    with opened(tmp_path) as cache:
        list(cache.compute(SERIAL, add, jobs([1, 2, 3]), 100))
    made: list[int] = []
    with opened(tmp_path) as cache:
        list(cache.compute(SERIAL, add, jobs([2, 3, 4, 1], made), 100))
    assert made == [3, 4]


def test_a_job_without_a_key_is_always_done(tmp_path: Path) -> None:
    with opened(tmp_path) as cache:
        for _ in range(2):
            assert [result.value for result in cache.compute(SERIAL, add, [Job(b"", lambda: 5)], 1)] == [6]


def test_a_result_that_was_damaged_meanwhile_is_computed(tmp_path: Path) -> None:
    with opened(tmp_path) as cache:
        list(cache.compute(SERIAL, add, jobs([1, 2]), 100))
    file = tmp_path / "runs"
    file.write_bytes(file.read_bytes().replace(b"Sum", b"Sun"))
    with opened(tmp_path) as cache:
        assert [result.value for result in cache.compute(SERIAL, add, jobs([1, 2]), 100)] == [101, 102]


class Planted:
    """Raises when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return exec, ("raise SystemExit('a value of somebody else was unpickled')",)


def test_a_value_that_another_user_wrote_is_never_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched, opened(tmp_path) as cache:
        patched.setattr(caching, "user_key", lambda: b"another key")
        for number in (1, 2):
            cache.put("add", str(number).encode(), pickle.dumps(Planted()))
    with opened(tmp_path) as cache:
        assert [result.value for result in cache.compute(SERIAL, add, jobs([1, 2]), 100)] == [101, 102]


def test_the_key_of_a_user_is_private_and_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTRAMEM_CACHE", str(tmp_path / "cache"))
    caching.user_key.cache_clear()
    try:
        key = caching.user_key()
        assert (tmp_path / "cache" / "key").stat().st_mode & 0o777 == 0o600
        caching.user_key.cache_clear()
        assert caching.user_key() == key
        (tmp_path / "cache" / "key").unlink()
        caching.user_key.cache_clear()
        assert caching.user_key() != key
    finally:
        caching.user_key.cache_clear()


def test_a_value_is_found_again_by_its_stage_and_key(tmp_path: Path) -> None:
    keys = [str(number).encode() for number in range(500)]
    with opened(tmp_path) as cache:
        for key in keys:
            cache.put("read", key, key)
    with opened(tmp_path) as cache:
        assert cache.find("read", [*keys, b"other"]) == {*keys}
        assert [cache.get("read", key) for key in keys] == keys
        assert cache.get("contrast", keys[0]) is None
        cache.drop("read", keys[0])
        assert cache.get("read", keys[0]) is None


def test_what_a_command_did_not_use_is_dropped_when_it_says_so(tmp_path: Path) -> None:
    with opened(tmp_path) as cache:
        for key in (b"old", b"used"):
            cache.put("read", key, b"value")
    with opened(tmp_path) as cache:
        assert cache.get("read", b"used") == b"value"
        cache.put("read", b"new", b"value")
        cache.drop_unused()
        assert cache.find("read", [b"old", b"used", b"new"]) == {b"used", b"new"}


def test_keys_tell_values_apart() -> None:
    assert digest_parts("a", 1) == digest_parts("a", 1)
    assert digest_parts("a", 1) != digest_parts("a1")
