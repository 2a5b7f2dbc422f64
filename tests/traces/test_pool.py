"""The pool: every run once, by task, the same whatever the order, and larger than memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contramem.traces.pool import Pool
from contramem.traces.run_content import content_digest
from contramem.traces.trajectory import Event, Origin, Outcome, Trajectory


def run(task: str = "t", source: str = "a", trial: str = "0", said: str = "hi", file: str = "f.jsonl") -> Trajectory:
    return Trajectory(
        "env", task, source, Origin(file), (Event(0, "agent", "final", said),), Outcome(True), run=trial, ability="x"
    )


def test_runs_come_back_whole_by_task_and_sorted() -> None:
    first, then, other = run(source="b"), run(source="a"), run(task="s", said="é 😀")
    with Pool([first, then, other]) as pool:
        assert pool.tasks() == ["env/s", "env/t"]
        assert pool.runs("env/t") == [then, first]
        assert list(pool) == [[other], [then, first]]
        assert len(pool) == 3
        assert pool.runs("env/unknown") == []


def test_the_same_run_from_two_places_is_one_run() -> None:
    with Pool() as pool:
        pool.add(run(file="one.jsonl"))
        pool.add(run(file="copy.jsonl"))
        assert len(pool) == 1
    assert content_digest(run(file="one.jsonl")) == content_digest(run(file="copy.jsonl"))


def test_runs_that_claim_one_trial_are_numbered() -> None:
    with Pool([run(said="x"), run(said="y"), run(said="z"), run(trial="1")]) as pool:
        assert [one.run for one in pool.runs("env/t")] == ["0", "0~2", "0~3", "1"]


runs = st.builds(
    run,
    task=st.sampled_from("st"),
    source=st.sampled_from("ab"),
    trial=st.sampled_from("01"),
    said=st.text(min_size=1, max_size=3),
)


@given(st.lists(runs, max_size=8), st.randoms(use_true_random=False))
def test_what_a_pool_holds_does_not_depend_on_the_order_of_reading(read: list[Trajectory], random: object) -> None:
    shuffled = list(read)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    with Pool(read) as one, Pool(shuffled) as other:
        assert list(one) == list(other)


@given(st.lists(runs, min_size=1, max_size=8))
def test_a_pool_on_disk_is_like_one_in_memory(read: list[Trajectory]) -> None:
    with Pool(read) as in_memory, Pool(read, in_memory_bytes=1) as on_disk:
        assert list(in_memory) == list(on_disk)


def test_adding_goes_on_after_reading() -> None:
    with Pool([run(said="x" * 100)], in_memory_bytes=10) as pool:
        assert len(pool.runs("env/t")) == 1
        pool.add(run(said="later"))
        assert {one.events[0].text for one in pool.runs("env/t")} == {"x" * 100, "later"}


def test_lone_surrogates_and_huge_integers_do_not_stop_a_pool() -> None:
    events = (Event(0, "agent", "call", "\ud800", "App.f", {"n": 2**70, "deep": [{"\udfff": -(2**70)}], "ok": 2**63}),)
    odd = msgspec.structs.replace(run(), events=events)
    with Pool([odd, odd]) as pool:
        ((kept,),) = pool
    assert kept.events[0].text == "?"
    assert kept.events[0].arguments == {"n": str(2**70), "deep": [{"?": str(-(2**70))}], "ok": 2**63}


def _many(count: int) -> Iterator[Trajectory]:
    for number in range(count):
        yield run(task=str(number % 50), said=f"{number} " + "x" * 40_000)


@pytest.mark.slow
def test_memory_stays_bounded_when_the_runs_are_larger() -> None:
    peaks = []
    for count in (25, 100):  # 1 MB and 4 MB of runs
        tracemalloc.start()
        with Pool(_many(count), in_memory_bytes=1 << 18) as pool:
            assert sum(len(found) for found in pool) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 500_000


def test_the_origin_of_the_first_reading_is_kept() -> None:
    with Pool([run(file="one.jsonl"), run(file="copy.jsonl")]) as pool:
        assert [one.origin for one in pool.runs("env/t")] == [Origin("one.jsonl")]


def test_everything_but_the_origin_makes_a_run_another_run() -> None:
    changed = [
        run(said="other"), run(source="other"), run(trial="other"), run(task="other"),
        msgspec.structs.replace(run(), outcome=Outcome(False)),
    ]  # fmt: skip
    assert len({content_digest(one) for one in [run(), *changed]}) == 6


def test_groups_that_need_not_last_are_as_large_as_a_shard() -> None:
    with Pool(run(f"t{n}") for n in range(200)) as pool:
        (whole,) = pool.groups(lasting=False)
        assert whole.keys == [key for group in pool.groups() for key in group.keys]
        assert len(list(pool.groups())) > 1
