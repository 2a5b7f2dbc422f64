"""Selection keeps every kind of task, keeps rates within a kind, and does not depend on the order of arrival."""

from __future__ import annotations

import pickle
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.made_runs import call, run

from contramem.collection.runs import Collection, TaskSketch
from contramem.contrast.packet import contrast, packet_of
from contramem.contrast.packets import (
    ContrastPlan,
    contrast_all,
    contrast_selected,
    contrast_shard,
    decode_packet,
    encode_packet,
    learn_shard,
    learn_vocabulary,
)
from contramem.contrast.selection import Selection
from contramem.contrast.vocabulary import TRUST, Vocabulary
from contramem.traces.trajectory import Trajectory


def task(key: str, kind: str = "k", ability: str = "a") -> TaskSketch:
    return TaskSketch(key, ability, passes=True, fails=True, called=(kind,))


def select(tasks: list[TaskSketch], max_tasks: int) -> list[str]:
    return Selection(tasks, max_tasks).keys


ROWS = st.lists(st.tuples(st.integers(0, 60), st.sampled_from("xyz")), max_size=40, unique_by=lambda pair: pair[0])


@given(ROWS, st.integers(1, 10), st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(pairs: list[tuple[int, str]], max_tasks: int, random: Random) -> None:
    rows = [task(f"t{number:02}", kind) for number, kind in pairs]
    shuffled = random.sample(rows, len(rows))
    assert select(rows, max_tasks) == select(shuffled, max_tasks)
    assert len(select(rows, max_tasks)) == min(max_tasks, len(rows))


def test_a_rare_kind_of_task_is_kept() -> None:
    rows = [task(f"t{number}", "common") for number in range(500)] + [task("rare", "rare")]
    assert "rare" in select(rows, 5)


def test_what_is_left_out_is_counted_by_ability() -> None:
    tasks = [task(f"t{number}", ability="large") for number in range(35)] + [task("t", ability="small")]
    selection = Selection(tasks, 10)
    assert selection.left_out() == {"large": 25}
    assert selection.tasks == {"large": 35, "small": 1}
    assert selection.contrastive == 36
    assert len(selection.keys) == 11


def test_a_pool_sketches_its_tasks_as_their_packets_show_them() -> None:
    with Collection(made_runs()) as pool:
        packets = contrast_all(pool, learn_vocabulary(pool))
        sketches = list(pool.sketches())
    assert [sketch.task_key for sketch in sketches] == [packet.task_key for packet in packets]
    assert [sketch.ability for sketch in sketches] == [packet.ability for packet in packets]
    assert [sketch.passes and sketch.fails for sketch in sketches] == [packet.is_contrastive for packet in packets]
    assert {sketch.called for sketch in sketches} == {("Desk.find", "Desk.update")}


# Shards


def made_runs() -> list[Trajectory]:
    """Six tasks, three runs each, with words that recur, values that do not, and a value that passing runs share."""
    return [
        run(
            source,
            passed,
            call(
                "Desk.find", {"name": f"case {task}", "state": ("open", "closed")[task % 2]}, {"record": f"R-{task}77"}
            ),
            call("Desk.update", {"record": f"R-{task}77", "unit": "PALLET"}, "no such state" if task == 3 else "ok"),
            "done",
            task=f"Bring case {task} up to date.",
            task_id=f"t{task}",
        )
        for task in range(6)
        for source, passed in (("A", True), ("B", True), ("C", False))
    ]


def test_a_vocabulary_learned_in_shards_is_the_vocabulary_of_all_runs() -> None:
    with Collection(made_runs(), shard_bytes=1) as pool:
        whole = Vocabulary(pool)
        shards = list(pool.shards())
        parts = [pickle.loads(pickle.dumps(learn_shard(TRUST, shard))) for shard in shards]
        combined = Vocabulary.combine(parts)
    assert len(shards) == 6
    assert combined.closed == whole.closed
    assert combined.words("Desk.find", "state") == whole.words("Desk.find", "state") == {"open", "closed"}
    assert combined.public == whole.public


def test_packets_of_shards_are_the_packets_of_the_pool() -> None:
    with Collection(made_runs(), shard_bytes=1) as pool:
        vocabulary = learn_vocabulary(pool)
        whole, plan = list(contrast(pool, vocabulary)), ContrastPlan(vocabulary)
        sharded = [each.decode(vocabulary) for shard in pool.shards() for each in contrast_shard(plan, shard)]
        assert contrast_all(pool, vocabulary) == sharded == whole
    assert [packet.content_digest for packet in sharded] == [packet.content_digest for packet in whole]


def test_a_packet_from_another_process_still_knows_the_values_it_must_not_show() -> None:
    sent = packet_of(made_runs()[:3], Vocabulary())
    received = decode_packet(encode_packet(sent), Vocabulary())
    assert received.placeholders.originals() == sent.placeholders.originals() != {}


def test_packets_are_grouped_by_ability_and_by_function(monkeypatch: pytest.MonkeyPatch) -> None:
    with Collection(made_runs()) as pool:
        file = contrast_selected(pool, pool.tasks(), learn_vocabulary(pool))
        assert len(file) == 6
        [ability], [functions] = file.by_ability(), file.by_function()
        assert (ability.numbers, ability.ability) == (tuple(range(6)), "execution")
        assert (functions.numbers, functions.functions) == (tuple(range(6)), ("Desk.find", "Desk.update"))
        assert ability.content == functions.content, "both hold the same packets"
        assert [packet.task_key for packet in file[4:]] == pool.tasks()[4:]
        assert file[-1] is file[5], "what was used last stays decoded"
        monkeypatch.setattr("contramem.contrast.packets.MAX_HELD", 2)
        assert [group.functions for group in file.by_function()] == [("Desk.find",), ("Desk.update",)]
        held = file[5]
        assert file[0] is not None and file[1] is not None and file[5] is not held, "and is evicted"
        assert file[5] == held


def test_the_card_of_a_function_is_made_from_a_limited_number_of_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contramem.contrast.packets.MAX_TASKS_OF_FUNCTION", 4)
    runs = made_runs()
    with Collection(runs) as pool:
        file = contrast_selected(pool, pool.tasks(), learn_vocabulary(pool))
        [group] = file.by_function()
        drawn = {file[number].task_key for number in group.numbers}
        assert len(drawn) == 4
        [left_out] = [key for key in pool.tasks() if key not in drawn][:1]
    fewer = [run for run in runs if run.task_key != left_out]
    with Collection(fewer) as pool:
        file = contrast_selected(pool, pool.tasks(), learn_vocabulary(pool))
        [group] = file.by_function()
        assert {file[number].task_key for number in group.numbers} == drawn, "whatever else there is"
