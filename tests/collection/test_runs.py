"""The collection: every run once, by task, the same whatever the order, larger than memory, without secrets."""

from __future__ import annotations

import os
import stat
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contramem.collection.runs import Collection, forget_collection, open_collection
from contramem.errors import UsageError
from contramem.traces.run_content import content_digest
from contramem.traces.trajectory import Event, Origin, Outcome, Trajectory


def run(task: str = "t", source: str = "a", trial: str = "0", said: str = "hi", file: str = "f.jsonl") -> Trajectory:
    return Trajectory(
        "env", task, source, Origin(file), (Event(0, "agent", "final", said),), Outcome(True), run=trial, ability="x"
    )


def test_runs_come_back_whole_by_task_and_sorted() -> None:
    first, then, other = run(source="b"), run(source="a"), run(task="s", said="é 😀")
    with Collection([first, then, other]) as collection:
        assert collection.tasks() == ["env/s", "env/t"]
        assert collection.runs("env/t") == [then, first]
        assert list(collection) == [[other], [then, first]]
        assert len(collection) == 3
        assert collection.runs("env/unknown") == []


def test_the_same_run_from_two_places_is_one_run() -> None:
    with Collection() as collection:
        collection.add(run(file="one.jsonl"))
        collection.add(run(file="copy.jsonl"))
        assert len(collection) == 1
    assert content_digest(run(file="one.jsonl")) == content_digest(run(file="copy.jsonl"))


def test_runs_that_claim_one_trial_are_numbered() -> None:
    with Collection([run(said="x"), run(said="y"), run(said="z"), run(trial="1")]) as collection:
        assert [one.run for one in collection.runs("env/t")] == ["0", "0~2", "0~3", "1"]


runs = st.builds(
    run,
    task=st.sampled_from("st"),
    source=st.sampled_from("ab"),
    trial=st.sampled_from("01"),
    said=st.text(min_size=1, max_size=3),
)


@given(st.lists(runs, max_size=8), st.randoms(use_true_random=False))
def test_what_a_collection_holds_does_not_depend_on_the_order_of_reading(
    read: list[Trajectory], random: Random
) -> None:
    shuffled = random.sample(read, len(read))
    with Collection(read) as one, Collection(shuffled) as other:
        assert list(one) == list(other)


def test_adding_goes_on_after_reading() -> None:
    with Collection([run(said="x" * 100)]) as collection:
        assert len(collection.runs("env/t")) == 1
        collection.add(run(said="later"))
        assert {each.events[0].text for each in collection.runs("env/t")} == {"x" * 100, "later"}


def test_lone_surrogates_and_huge_integers_do_not_stop_a_collection() -> None:
    events = (Event(0, "agent", "call", "\ud800", "App.f", {"n": 2**70, "deep": [{"\udfff": -(2**70)}], "ok": 2**63}),)
    odd = msgspec.structs.replace(run(), events=events)
    with Collection([odd, odd]) as collection:
        ((kept,),) = collection
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
        with Collection(_many(count)) as collection:
            assert sum(len(found) for found in collection) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 500_000


def test_of_the_places_of_a_run_the_first_by_name_counts() -> None:
    for files in (["one.jsonl", "copy.jsonl"], ["copy.jsonl", "one.jsonl"]):
        with Collection(run(file=file) for file in files) as collection:
            assert [each.origin for each in collection.runs("env/t")] == [Origin("copy.jsonl")]


def test_everything_but_the_origin_makes_a_run_another_run() -> None:
    changed = [
        run(said="other"), run(source="other"), run(trial="other"), run(task="other"),
        msgspec.structs.replace(run(), outcome=Outcome(False)),
    ]  # fmt: skip
    assert len({content_digest(one) for one in [run(), *changed]}) == 6


# Sketches and groups


def called(task: str, source: str, trial: str, ability: str, outcome: Outcome, functions: Sequence[str]) -> Trajectory:
    events = [Event(number, "agent", "call", function=name) for number, name in enumerate(functions)]
    asked = Event(len(events), "user", "call", function="User.ask")
    return msgspec.structs.replace(run(task, source, trial), events=(*events, asked), outcome=outcome, ability=ability)


calling = st.lists(
    st.builds(
        called,
        st.sampled_from("st"), st.sampled_from("ab"), st.sampled_from("01"), st.sampled_from("xy"),
        st.builds(Outcome, st.sampled_from([True, False, None]), ended=st.sampled_from(["complete", "interrupted"])),
        st.sets(st.sampled_from(["A.f", "A.g"])).map(sorted),
    ),
    max_size=8,
)  # fmt: skip


@given(calling)
def test_a_task_is_sketched_by_all_its_runs(read: list[Trajectory]) -> None:
    with Collection(read) as collection:
        sketched = {task.task_key: task for task in collection.sketches()}
        assert list(sketched) == collection.tasks()
        for key, task in sketched.items():
            attempts = collection.runs(key)
            evidence = [each.outcome.passed for each in attempts if each.outcome.ended == "complete"]
            assert (task.passes, task.fails) == (True in evidence, False in evidence)
            assert task.runs == sum(passed is not None for passed in evidence)
            assert set(task.called) == {event.function for each in attempts for event in each.calls}
            assert collection.functions(key) == {*task.called, "User.ask"}
            ranked = sorted(attempts, key=lambda each: [True, False, None].index(each.outcome.passed))
            assert task.ability == ranked[0].ability


def test_a_run_more_changes_one_group_of_tasks(tmp_path: Path) -> None:
    many = [run(f"t{number}") for number in range(300)]
    with (
        Collection(many, path=tmp_path / "some.runs") as some,
        Collection(many[::-1], path=tmp_path / "more.runs") as more,
    ):
        before = list(some.groups())
        assert [key for group in before for key in group.keys] == some.tasks()
        assert len(before) > 2
        assert list(more.groups()) == before
        more.add(run("t299", said="another"))
        assert len({*(group.content for group in more.groups())} - {group.content for group in before}) == 1


def test_groups_and_shards_are_as_large_as_workers_get_them() -> None:
    with Collection((run(f"t{number}") for number in range(30)), shard_bytes=200) as collection:
        assert len(list(collection.groups())) > 5
        assert [key for group in collection.groups() for key in group.keys] == collection.tasks()
        assert [task for shard in collection.shards() for task in shard.decode()] == list(collection)


# The file


def test_runs_are_there_again_and_the_file_is_the_owners_alone(tmp_path: Path) -> None:
    with open_collection(tmp_path / "bank.db.runs") as collection:
        collection.add(run())
    assert stat.S_IMODE((tmp_path / "bank.db.runs").stat().st_mode) == 0o600
    with open_collection(tmp_path / "bank.db.runs") as collection:
        assert list(collection) == [[run()]]
    assert [file.name for file in tmp_path.iterdir()] == ["bank.db.runs"]
    assert forget_collection(tmp_path / "bank.db.runs")
    assert not forget_collection(tmp_path / "bank.db.runs")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="file modes are a matter of POSIX")
def test_a_file_that_others_could_have_written_is_not_used(tmp_path: Path) -> None:
    with open_collection(tmp_path / "runs") as collection:
        collection.add(run())
    (tmp_path / "runs").chmod(0o666)
    with open_collection(tmp_path / "runs") as collection:
        assert collection.path is None
        assert not len(collection)


def test_while_one_process_writes_another_has_a_temporary_collection(tmp_path: Path) -> None:
    with open_collection(tmp_path / "runs") as first, open_collection(tmp_path / "runs") as second:
        assert (first.path, second.path) == (tmp_path / "runs", None)


@pytest.mark.parametrize("content", [b"not a database" * 1_000, b""])
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "runs").touch(mode=0o600)
    (tmp_path / "runs").write_bytes(content)
    with open_collection(tmp_path / "runs") as collection:
        collection.add(run())
        assert collection.path == tmp_path / "runs"
    with open_collection(tmp_path / "runs") as collection:
        assert len(collection) == 1


def test_a_place_that_cannot_be_written_is_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with open_collection(tmp_path / "file" / "runs") as collection:
        collection.add(run())
        assert len(collection) == 1


def test_a_run_whose_bytes_have_changed_on_disk_is_not_given(tmp_path: Path) -> None:
    with open_collection(tmp_path / "runs") as collection:
        collection.add(run(said="this was said by the agent"))
    written = (tmp_path / "runs").read_bytes()
    (tmp_path / "runs").write_bytes(written.replace(b"said by the agent", b"said by an AGENT"))
    with open_collection(tmp_path / "runs") as collection, pytest.raises(UsageError, match=r"damaged.*remove it"):
        list(collection)


# Secrets


def told(source: str, *texts: str, password: str | None = None) -> Trajectory:
    events = [Event(number, "agent", "message", text) for number, text in enumerate(texts)]
    if password is not None:
        events.append(Event(len(events), "agent", "call", "", "App.login", {"password": password}))
    return msgspec.structs.replace(run(source=source), events=tuple(events))


SECRETS = ("hunter2secret", "correct-horse-7", "tr0ub4dor&3")
tellers = st.lists(
    st.builds(
        told,
        st.sampled_from("abc"),
        st.sampled_from([f"We try {secret} today." for secret in SECRETS]),
        password=st.sampled_from([None, *SECRETS]),
    ),
    min_size=1, max_size=6,
)  # fmt: skip


@given(tellers, st.randoms(use_true_random=False))
def test_what_one_run_shows_to_be_a_secret_is_masked_in_all_runs_of_its_task(
    read: list[Trajectory], random: Random
) -> None:
    secret = {event.arguments["password"] for each in read for event in each.events if event.arguments}
    shuffled = random.sample(read, len(read))
    with Collection(read) as one, Collection(shuffled) as other:
        assert list(one) == list(other)
        masked = msgspec.json.encode(list(one)).decode()
    assert not [each for each in secret if each in masked]
    assert all(each in masked for each in SECRETS if each not in secret and any(each in str(run) for run in read))


def test_a_secret_has_the_same_mark_in_all_runs_of_its_task() -> None:
    with Collection([told("b", password=SECRETS[0]), told("a", SECRETS[0], password=SECRETS[1])]) as collection:
        first, second = collection.runs("env/t")
    assert first.events[0].text == second.events[0].arguments["password"] == "<SECRET_1>"
    assert first.events[1].arguments["password"] == "<SECRET_2>"


def test_no_secret_stands_in_the_file(tmp_path: Path) -> None:
    with open_collection(tmp_path / "runs") as collection:
        collection.add(told("a", f"We try {SECRETS[0]} today."))
        collection.add(told("b", password=SECRETS[0]))
        assert len(next(iter(collection))) == 2
    assert SECRETS[0].encode() not in (tmp_path / "runs").read_bytes()
