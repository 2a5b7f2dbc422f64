from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from tests.evaluate.comparison_runs import CALL, FINAL, run, runs, sides

from contramem.evaluate.compare import Effort, compare
from contramem.evaluate.pairs import WithAndWithout, count_agent_events, is_hung
from contramem.evaluate.report.tables import finding, points_text, verdict
from contramem.traces.trajectory import Event, Result


def compared(base, memory, **more):
    return compare(base, memory, rng=Random(0), **more)


def test_success_flips_and_harmed_tasks_of_a_small_comparison():
    """Two tasks are gained, one is lost, one stays passed."""
    found = compared(
        runs("base", {"t1": "fail", "t2": "fail", "t3": "pass", "t4": "pass"}),
        runs("memory", {"t1": "pass", "t2": "pass", "t3": "fail", "t4": "pass"}),
    )
    assert (found.tasks, found.pairs, found.gained, found.lost) == (4, 4, 2, 1)
    assert found.gained_tasks == ("t1", "t2")
    assert found.harmed_tasks == ("t3",)
    assert found.success == WithAndWithout(0.5, 0.75)
    assert found.difference == 0.25
    assert found.mcnemar.exact_p == 1.0
    assert found.interval is None, "four tasks are too few for an interval"


def test_a_flip_says_where_both_runs_can_be_read():
    [flip] = compared(*sides(lost=1, passed=3)).flips
    assert (flip.task, flip.change) == ("lost-0", "lost")
    assert (flip.base, flip.memory) == ("base/model/lost-0-0.json", "memory/model/lost-0-0.json")


def test_a_task_is_harmed_when_it_passes_less_often_over_its_trials():
    """t1: 2 of 3 trials become 1 of 3, by one gain and two losses. t2: one gain, one loss."""
    base = [run("t1", o == "p", trial=str(n)) for n, o in enumerate("ppf")]
    base += [run("t2", o == "p", trial=str(n)) for n, o in enumerate("pff")]
    memory = [run("t1", o == "p", trial=str(n), side="memory") for n, o in enumerate("ffp")]
    memory += [run("t2", o == "p", trial=str(n), side="memory") for n, o in enumerate("fpf")]
    found = compared(base, memory)
    assert (found.tasks, found.pairs, found.gained, found.lost) == (2, 6, 2, 3)
    assert found.harmed_tasks == ("t1",)
    assert found.gained_tasks == ()


def test_the_macro_average_counts_each_ability_the_same():
    """Search: 1 of 2 becomes 2 of 2. Time: 8 of 8 become 4 of 8."""
    base, memory = sides(gained=1, passed=1, ability="search", environment="search")
    more_base, more_memory = sides(lost=4, passed=4, ability="time", environment="time")
    found = compared(base + more_base, memory + more_memory)
    assert found.macro.success == WithAndWithout(0.75, 0.75)
    assert found.macro.difference == 0
    assert found.difference == approx(-0.3)
    assert {ability: part.success for ability, part in found.by_ability.items()} == {
        "search": WithAndWithout(0.5, 1.0),
        "time": WithAndWithout(1.0, 0.5),
    }
    assert found.by_ability["time"].harmed_tasks == tuple(f"time/lost-{n}" for n in range(4)), "passed-0 is in both"


def test_agent_events_are_what_the_agent_did_and_saw():
    events = (
        Event(0, "user", "message", text="Send it."),
        Event(1, "agent", "call", function="Mail.list", effect="read", result=Result("[]")),
        Event(2, "environment", "notification", text="New mail."),
        Event(3, "app", "observation", text="1 unread"),
        Event(4, "agent", "wait", effect="wait"),
        Event(5, "agent", "final", text="Done."),
        Event(6, "verifier", "feedback", text="Right."),
    )
    assert count_agent_events(run("t1", events=events)) == 4


@pytest.mark.parametrize(
    ("ended", "events", "hung"),
    [
        ("limit", (CALL,), True),
        ("limit", (CALL, FINAL), False),
        ("limit", (CALL, Event(1, "agent", "call", function="App.submit", effect="finalize")), False),
        ("complete", (CALL,), False),
        ("interrupted", (CALL,), False),
    ],
)
def test_a_hung_run_met_a_limit_and_never_finalized(ended, events, hung):
    assert is_hung(run("t1", ended=ended, events=events)) is hung


def test_hung_runs_are_counted_separately_on_each_side():
    base = [run("t1", False, ended="limit", events=(CALL,)), run("t2", False)]
    found = compared(base, runs("memory", {"t1": "pass", "t2": "fail"}))
    assert found.hung == WithAndWithout(1, 0)
    assert found.gained_tasks == ("t1",)


def test_effort_is_the_mean_over_pairs_for_which_both_sides_are_known():
    base = [run("t1", usage={"tokens_in": 90, "tokens_out": 10, "cost_usd": 0.5}), run("t2", usage={"cost_usd": 9})]
    memory = [run("t1", side="memory", usage={"tokens_in": 40, "tokens_out": 20, "cost_usd": 0.25})]
    found = compared(base, [*memory, run("t2", side="memory")])
    assert found.tokens == Effort(100, 60, pairs=1)
    assert found.cost_usd == Effort(0.5, 0.25, pairs=1)
    assert found.agent_events == Effort(2, 2, pairs=2)
    assert found.model_calls is None, "unknown is not zero"


def test_a_scenario_is_complete_when_all_its_tasks_pass():
    """Scenario s1: one of two tasks passes, then both. Scenario s2: both pass, then one."""
    scenario = {"a": "s1", "b": "s1", "c": "s2", "d": "s2", "e": "s3", "f": "s3"}
    before = {"a": True, "b": False, "c": True, "d": True, "e": True, "f": True}
    after = {"a": True, "b": True, "c": True, "d": False, "e": True, "f": True}
    found = compared(
        [run(task, passed, scenario_id=scenario[task]) for task, passed in before.items()],
        [run(task, passed, scenario_id=scenario[task], side="memory") for task, passed in after.items()],
    ).completion
    assert (found.scenarios, found.tasks) == (3, 6)
    assert found.tgc == WithAndWithout(5 / 6, 5 / 6)
    assert found.sgc == WithAndWithout(2 / 3, 2 / 3)


def test_a_scenario_with_a_run_left_out_is_not_counted_as_complete():
    base = [run("a", scenario_id="s1"), run("b", None, scenario_id="s1"), run("c", scenario_id="s2")]
    memory = [
        run(task, side="memory", scenario_id=scenario) for task, scenario in (("a", "s1"), ("b", "s1"), ("c", "s2"))
    ]
    found = compared(base, memory).completion
    assert (found.scenarios, found.tasks) == (1, 1)


def test_without_scenarios_there_is_no_scenario_completion():
    assert compared(*sides(passed=2)).completion is None


def test_left_out_runs_are_counted_and_dropped_tasks_are_named():
    base = [run("t1"), run("t2"), run("t3", False, ended="interrupted"), run("t4", None)]
    memory = [run(task, side="memory") for task in ("t1", "t3", "t4", "t5")]
    found = compared(base, memory, drop_unpaired=True)
    assert found.left_out == {"interrupted": 1, "partner left out": 2, "unknown outcome": 1, "unpaired": 2}
    assert found.unpaired == WithAndWithout(("t2",), ("t5",))


@given(*(st.integers(0, 2) for _ in range(4)))
def test_the_difference_is_gained_minus_lost_over_pairs(gained, lost, passed, failed):
    if gained + lost + passed + failed:
        found = compared(*sides(gained, lost, passed, failed))
        assert found.difference == approx(found.success.memory - found.success.base)
        assert len(found.harmed_tasks) == found.lost == lost


def test_the_order_of_the_runs_changes_nothing():
    base, memory = sides(gained=9, lost=4, passed=7)
    assert compared(base[::-1], memory) == compared(base, memory[::-1])


@pytest.mark.parametrize(
    ("kinds", "found", "words"),
    [
        ({"gained": 30, "lost": 3, "passed": 30}, "helps", "more than chance gives, so memory helps here"),
        ({"gained": 3, "lost": 30, "passed": 30}, "harms", "more than chance gives, so memory harms here"),
        ({"gained": 5, "lost": 4, "passed": 30}, "unclear", "open whether memory helps or harms"),
        ({"gained": 6, "lost": 6, "passed": 9}, "unclear", "15 of 21 tasks pass, as many as without (6 gained,"),
        ({"gained": 3, "failed": 2}, "too little data", "fewer than 10 tasks"),
        ({"gained": 40}, "too little data", "every task changed the same way"),
        ({"passed": 40}, "unchanged", "No outcome changed on 40 tasks"),
        ({"passed": 1}, "unchanged", "No outcome changed on 1 task:"),
    ],
)
def test_the_verdict_claims_no_more_than_the_numbers_support(kinds, found, words):
    comparison = compared(*sides(**kinds))
    assert finding(comparison) == found
    assert words in verdict(comparison)


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ({"gained": 30, "lost": 3, "passed": 30}, "so that side is better here"),
        ({"gained": 3, "lost": 30, "passed": 30}, "so that side is worse here"),
        ({"gained": 5, "lost": 4, "passed": 30}, "open which side is better"),
    ],
)
def test_memory_gets_no_credit_for_the_runs_of_another_model(kinds, words):
    base, memory = sides(**kinds)
    said = verdict(compared(base, [msgspec.structs.replace(one, source="a stronger model") for one in memory]))
    assert words in said and "The two sides are not runs of one source" in said
    assert "memory helps" not in said and "With memory" not in said


def test_an_interval_off_zero_is_not_enough_when_the_exact_test_disagrees():
    """Five gains of twenty tasks and no loss: the bootstrap excludes zero, the exact p is 0.0625."""
    comparison = compared(*sides(gained=5, failed=15))
    assert comparison.interval.low > 0
    assert finding(comparison) == "unclear"


@pytest.mark.parametrize(("share", "text"), [(0.123, "+12.3"), (-0.05, "−5.0"), (0.0, "0.0"), (-0.0001, "0.0")])
def test_points_carry_their_sign(share, text):
    assert points_text(share) == text
