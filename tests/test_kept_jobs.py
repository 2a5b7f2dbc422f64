"""Jobs whose results are kept: whatever is kept already, the same results in the same order."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from contramem.engine import SERIAL
from contramem.kept_jobs import KeptJob, compute
from contramem.kept_work import NO_WORK, KeptWork


class Sum(NamedTuple):
    value: int
    is_lasting: bool


def add(shared: int, shard: int) -> Sum:
    return Sum(shared + shard, is_lasting=shard != 3)


def jobs(numbers: list[int], made: list[int] | None = None) -> list[KeptJob[int]]:
    def make(number: int) -> int:
        if made is not None:
            made.append(number)
        return number

    return [KeptJob(str(number).encode(), lambda number=number: make(number)) for number in numbers]  # type: ignore[misc]


@settings(max_examples=8)
@given(st.lists(st.integers(0, 9), max_size=8), st.lists(st.integers(0, 9), max_size=8))
def test_what_is_kept_changes_neither_results_nor_order(before: list[int], numbers: list[int]) -> None:
    with TemporaryDirectory() as folder, KeptWork(Path(folder, "work.db")) as work:
        list(compute(SERIAL, work, add, jobs(before), 100))
        again = [result.value for result in compute(SERIAL, work, add, jobs(numbers), 100)]
    assert again == [100 + number for number in numbers]


def test_only_what_is_missing_is_made_and_what_does_not_last_is_made_again(tmp_path: Path) -> None:
    with KeptWork(tmp_path / "work.db") as work:
        list(compute(SERIAL, work, add, jobs([1, 2, 3]), 100))
        made: list[int] = []
        list(compute(SERIAL, work, add, jobs([2, 3, 4, 1], made), 100))
    assert made == [3, 4]


def test_a_job_without_a_key_is_always_done(tmp_path: Path) -> None:
    with KeptWork(tmp_path / "work.db") as work:
        for _ in range(2):
            assert [result.value for result in compute(SERIAL, work, add, [KeptJob(b"", lambda: 5)], 1)] == [6]
    assert not (tmp_path / "work.db").exists()


def test_a_result_that_was_damaged_meanwhile_is_computed(tmp_path: Path) -> None:
    with KeptWork(tmp_path / "work.db") as work:
        list(compute(SERIAL, work, add, jobs([1, 2]), 100))
    file = tmp_path / "work.db"
    file.write_bytes(file.read_bytes().replace(b"is_lasting", b"is_l@sting").replace(b"Sum", b"Sun"))
    with KeptWork(file) as work:
        assert [result.value for result in compute(SERIAL, work, add, jobs([1, 2]), 100)] == [101, 102]


def test_without_kept_work_everything_is_computed() -> None:
    assert [result.value for result in compute(SERIAL, NO_WORK, add, jobs([1, 2]), 100)] == [101, 102]
