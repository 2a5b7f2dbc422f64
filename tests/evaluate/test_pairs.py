import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluate.comparison_runs import run, runs

from contramem.errors import ComparisonError
from contramem.evaluate.pairs import pair_runs


def paired(pairing):
    return [
        (pair.base.task_id, (pair.base.source, pair.base.trial), (pair.memory.source, pair.memory.trial))
        for pair in pairing.pairs
    ]


def reasons(pairing):
    return sorted((one.side, one.attempt.task_id, one.reason) for one in pairing.left_out)


def test_the_same_task_is_a_pair_whichever_model_ran():
    pairing = pair_runs([run("t1", source="small")], [run("t1", source="small+memory", side="memory")])
    assert paired(pairing) == [("t1", ("small", "0"), ("small+memory", "0"))]
    assert not pairing.by_source


def test_shared_sources_are_compared_each_with_itself():
    base = [run("t1", source=source) for source in ("x", "y")]
    memory = [run("t1", source=source, side="memory") for source in ("y", "x")]
    pairing = pair_runs(base, memory)
    assert paired(pairing) == [("t1", ("x", "0"), ("x", "0")), ("t1", ("y", "0"), ("y", "0"))]
    assert pairing.by_source


def test_several_sources_and_none_shared_is_ambiguous_and_refused():
    base = [run("t1", source=source) for source in ("x", "y")]
    with pytest.raises(ComparisonError, match=r"base side has runs of x, y .* Choose one with --sources"):
        pair_runs(base, [run("t1", source="z", side="memory")])


def test_trials_are_paired_by_their_number():
    base = [run("t1", trial=trial) for trial in "012"]
    memory = [run("t1", trial=trial, side="memory") for trial in "210"]
    assert [(b[1], m[1]) for _, b, m in paired(pair_runs(base, memory))] == [("0", "0"), ("1", "1"), ("2", "2")]


def test_unpaired_runs_are_named_with_their_sources_if_there_are_several():
    base = [run("t1", source=source) for source in ("x", "y", "z")]
    with pytest.raises(ComparisonError, match=r"t1 of y, t1 of z \(base\)"):
        pair_runs(base, [run("t1", source="x", side="memory")])


def test_a_trial_label_that_is_only_a_name_is_ignored():
    pairing = pair_runs([run("t1", trial="session-9f")], [run("t1", trial="session-a2", side="memory")])
    assert len(pairing.pairs) == 1


def test_runs_that_claim_one_trial_are_paired_one_to_one():
    base = [run("t1", passed) for passed in (True, False)]
    memory = [run("t1", passed, side="memory") for passed in (True, False)]
    assert len(pair_runs(base, memory).pairs) == 2


def test_the_same_run_read_from_two_places_is_one_run():
    again = [run("t1", side="base"), run("t1", side="copy-of-base")]
    assert len(pair_runs(again, [run("t1", False, side="memory")]).pairs) == 1


def test_one_id_in_two_environments_is_two_tasks():
    base = [run("t1", environment=environment) for environment in ("slack", "mail")]
    memory = [run("t1", environment=environment, side="memory") for environment in ("slack", "mail")]
    assert [pair.task_key for pair in pair_runs(base, memory).pairs] == ["mail/t1", "slack/t1"]


def test_unpaired_tasks_are_named_with_what_to_do():
    base = runs("base", {"t1": "pass", "t14": "pass"})
    memory = runs("memory", {"t1": "pass", "t31": "pass"})
    with pytest.raises(ComparisonError) as caught:
        pair_runs(base, memory)
    assert str(caught.value) == (
        "2 task(s) were run on one side only: t14 (base); t31 (memory). "
        "Re-run them, or pass --drop-unpaired to compare the rest."
    )


def test_unpaired_tasks_can_be_dropped_and_are_counted():
    pairing = pair_runs(
        runs("base", {"t1": "pass", "t14": "pass"}),
        runs("memory", {"t1": "pass", "t31": "pass"}),
        drop_unpaired=True,
    )
    assert len(pairing.pairs) == 1
    assert reasons(pairing) == [("base", "t14", "unpaired"), ("memory", "t31", "unpaired")]


def test_a_trial_more_on_one_side_is_unpaired():
    base = [run("t1", trial="0"), run("t1", trial="1")]
    with pytest.raises(
        ComparisonError, match=r"t1 trial 1 \(base\). 1 of them were run on both sides, but not in these"
    ):
        pair_runs(base, [run("t1", side="memory")])


def test_a_task_that_was_reworded_between_the_runs_is_explained():
    base = [run("t0"), run("t1", text="Pay the bill.")]
    memory = [run("t0", side="memory"), run("t1", text="Pay the rent.", side="memory")]
    with pytest.raises(ComparisonError, match=r"1 id\(s\) are there with two task texts"):
        pair_runs(base, memory)


def test_a_long_list_of_unpaired_tasks_is_cut():
    base = runs("base", {f"t{number}": "pass" for number in range(40)})
    with pytest.raises(ComparisonError, match=r"39 task\(s\) .* and 29 more \(base\)"):
        pair_runs(base, [run("t0", side="memory")])


def test_an_interrupted_run_is_left_out_with_its_partner_and_is_not_unpaired():
    base = runs("base", {"t1": "pass", "t2": "pass"})
    memory = [run("t1", side="memory"), run("t2", False, side="memory", ended="interrupted")]
    pairing = pair_runs(base, memory)
    assert [pair.base.task_id for pair in pairing.pairs] == ["t1"]
    assert reasons(pairing) == [("base", "t2", "partner left out"), ("memory", "t2", "interrupted")]


def test_a_retry_takes_the_place_of_the_interrupted_run():
    memory = [run("t1", False, side="memory", ended="interrupted"), run("t1", side="memory")]
    pairing = pair_runs([run("t1", False)], memory)
    assert [pair.memory.passed for pair in pairing.pairs] == [True]


def test_a_run_with_unknown_outcome_does_not_count_as_failed():
    memory = [run("t1", side="memory"), run("t2", None, side="memory")]
    pairing = pair_runs(runs("base", {"t1": "pass", "t2": "pass"}), memory)
    assert len(pairing.pairs) == 1
    assert ("memory", "t2", "unknown outcome") in reasons(pairing)


def test_a_run_that_met_its_limit_stays_with_its_outcome():
    pairing = pair_runs([run("t1")], [run("t1", False, side="memory", ended="limit", events=())])
    assert [(pair.change, pair.memory.hung) for pair in pairing.pairs] == [(-1, True)]


def test_nothing_comparable_is_an_error_that_counts_why():
    with pytest.raises(ComparisonError, match=r"no run can be compared \(2 unknown outcome\)"):
        pair_runs([run("t1", None)], [run("t1", None, side="memory")])


def test_an_empty_side_is_an_error():
    with pytest.raises(ComparisonError, match="no run was read for the memory side"):
        pair_runs([run("t1")], [])


def test_a_folder_inside_the_folder_of_the_other_side_is_refused():
    memory = [run("t1", side="memory", trial="1")]
    with pytest.raises(ComparisonError, match=r"1 run\(s\) are on both sides"):
        pair_runs([run("t1"), *memory], memory)


def test_a_side_may_be_compared_with_itself():
    pairing = pair_runs([run("t1"), run("t2")], [run("t1"), run("t2")])
    assert [pair.change for pair in pairing.pairs] == [0, 0]


some_runs = st.lists(
    st.tuples(
        st.sampled_from(["t1", "t2", "t3"]),
        st.sampled_from([True, False, None]),
        st.sampled_from(["x", "y"]),
        st.sampled_from(["0", "1"]),
        st.sampled_from(["complete", "interrupted", "limit"]),
    ),
    min_size=1,
    unique=True,
)


@given(some_runs, some_runs, st.randoms())
def test_every_run_is_paired_or_accounted_for_whatever_the_order(base, memory, rng):
    def made(rows, side):
        return [run(t, passed, source=s, trial=r, ended=e, side=f"{side}-{passed}-{e}") for t, passed, s, r, e in rows]

    def outcome(base, memory):
        try:
            return pair_runs(base, memory, drop_unpaired=True)
        except ComparisonError as error:
            return str(error)

    first, second = made(base, "base"), made(memory, "memory")
    found = outcome(first, second)
    rng.shuffle(first)
    rng.shuffle(second)
    assert outcome(first, second) == found
    if not isinstance(found, str):
        assert 2 * len(found.pairs) + len(found.left_out) == len(base) + len(memory)
        assert all(pair.base.task_key == pair.memory.task_key for pair in found.pairs)
