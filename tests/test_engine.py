"""Engines: the same results in the same order in this process, in several, and when a worker dies on the way."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from contramem.engine import LocalEngine, open_engine
from contramem.errors import EngineError, UsageError


def add(shared: int, shard: int) -> int:
    return shared + shard


def die_once(marker: str, shard: int) -> int:
    """Kills its own process the first time it is given shard 3."""
    if shard == 3 and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return shard


def die_always(_: None, shard: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return shard


def refuse(_: None, shard: int) -> int:
    raise UsageError(f"shard {shard} cannot be used")


def test_one_worker_stays_in_this_process() -> None:
    with LocalEngine(1) as engine:
        assert list(engine.map(lambda shared, shard: shared + shard, range(4), 10)) == [10, 11, 12, 13]


def test_a_single_shard_starts_no_process() -> None:
    with LocalEngine(2) as engine:
        assert list(engine.map(lambda shared, shard: shared + shard, [1], 10)) == [11]


@pytest.mark.slow
def test_results_come_in_the_order_of_the_shards() -> None:
    with LocalEngine(2) as engine:
        assert list(engine.map(add, range(50), 100)) == list(range(100, 150))
        assert list(engine.map(add, range(3), 7)) == [7, 8, 9]


@pytest.mark.slow
def test_a_shard_whose_worker_dies_is_run_again(tmp_path: Path) -> None:
    with LocalEngine(2) as engine:
        assert list(engine.map(die_once, range(10), str(tmp_path / "died"))) == list(range(10))


@pytest.mark.slow
def test_a_shard_that_kills_every_worker_is_an_error_that_says_what_to_do() -> None:
    with LocalEngine(2) as engine, pytest.raises(EngineError, match="--workers 1"):
        list(engine.map(die_always, range(3), None))


@pytest.mark.slow
def test_an_error_in_a_job_is_raised_in_the_caller() -> None:
    with LocalEngine(2) as engine, pytest.raises(UsageError, match="cannot be used"):
        list(engine.map(refuse, range(3), None))


def test_an_address_without_ray_is_refused() -> None:
    with pytest.raises(UsageError, match="--engine ray"):
        open_engine("local", address="ray://head:10001")
