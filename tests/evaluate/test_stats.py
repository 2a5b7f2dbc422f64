from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from contramem.evaluate.stats import (
    MIN_TASKS,
    TaskChange,
    TaskPasses,
    bootstrap_interval,
    mcnemar,
    mcnemar_chi2,
    mcnemar_exact,
    success_interval,
)

flips = st.integers(0, 400)


def tasks(gained=0, lost=0, unchanged=0):
    return [TaskChange(1, 1)] * gained + [TaskChange(-1, 1)] * lost + [TaskChange(0, 1)] * unchanged


def interval(*strata, seed=1):
    return bootstrap_interval(strata, Random(seed))


def test_the_paper_s_main_result_gives_its_chi_square():
    assert mcnemar_chi2(232, 23) == approx(171.3, abs=0.05)


@pytest.mark.parametrize(("gained", "lost", "p"), [(17, 5, 0.0169), (38, 2, 1.49e-9)])
def test_the_paper_s_baselines_give_their_exact_p(gained, lost, p):
    assert mcnemar_exact(gained, lost) == approx(p, rel=5e-3)


def test_mcnemar_by_hand():
    # 5 tasks gained, 0 lost: 2 * (1/2)**5, and (5 - 0)**2 / 5
    assert mcnemar(5, 0).exact_p == 2 / 32
    assert mcnemar(5, 0).chi2 == 5


def test_without_a_change_there_is_no_test():
    assert mcnemar(0, 0).chi2 is None
    assert mcnemar(0, 0).exact_p is None


@given(flips, flips)
def test_mcnemar_does_not_care_which_side_is_called_base(gained, lost):
    assert mcnemar(gained, lost) == mcnemar(lost, gained)


@given(flips, flips)
def test_an_exact_p_is_a_probability_and_one_for_equal_flips(gained, lost):
    p = mcnemar_exact(gained, lost)
    assert p is None if gained == lost == 0 else 0 < p <= 1
    assert gained != lost or p in (None, 1.0)


@given(st.integers(1, 200), st.integers(0, 199))
def test_one_more_gain_makes_a_lead_less_likely_to_be_chance(gained, lost):
    if gained > lost:
        assert mcnemar_exact(gained + 1, lost) < mcnemar_exact(gained, lost)


@pytest.mark.slow
def test_exact_p_agrees_with_scipy_over_a_range():
    stats = pytest.importorskip("scipy.stats")
    for gained in range(0, 60, 7):
        for lost in range(1, 40, 6):
            assert mcnemar_exact(gained, lost) == approx(stats.binomtest(gained, gained + lost).pvalue, rel=1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # statsmodels and pandas warn about each other on import
def test_both_forms_agree_with_statsmodels_over_a_range():
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    for gained in range(0, 60, 7):
        for lost in range(1, 40, 6):
            counts = [[10, lost], [gained, 20]]
            theirs = tables.mcnemar(counts, exact=False, correction=False)
            assert mcnemar_chi2(gained, lost) == approx(theirs.statistic)
            assert mcnemar_exact(gained, lost) == approx(tables.mcnemar(counts, exact=True).pvalue, rel=1e-9)


def test_an_interval_contains_the_difference_and_has_a_level():
    found = interval(tasks(gained=20, lost=5, unchanged=75))
    assert found.low < 0.15 < found.high
    assert found.level == 0.95


def test_the_same_seed_gives_the_same_interval_and_swapped_sides_mirror_it():
    found = interval(tasks(20, 5, 75))
    mirrored = interval([TaskChange(-change, pairs) for change, pairs in tasks(20, 5, 75)])
    assert interval(tasks(20, 5, 75)) == found
    assert (mirrored.low, mirrored.high) == (-found.high, -found.low)


def test_more_tasks_make_the_interval_narrower():
    few, many = interval(tasks(4, 1, 15)), interval(tasks(40, 10, 150))
    assert many.high - many.low < few.high - few.low


@pytest.mark.parametrize(
    "strata",
    [
        pytest.param([], id="no-task"),
        pytest.param([tasks(gained=1)], id="one-task"),
        pytest.param([tasks(gained=4, lost=MIN_TASKS - 5)], id="too-few"),
        pytest.param([tasks(unchanged=100)], id="nothing-changed"),
        pytest.param([tasks(gained=100)], id="all-changed-alike"),
        pytest.param([tasks(10, 10, 10), tasks(gained=2, lost=1)], id="one-ability-too-small"),
    ],
)
def test_too_little_data_gives_no_interval_rather_than_a_narrow_one(strata):
    assert interval(*strata) is None


def test_trials_of_one_task_do_not_count_as_independent():
    # 20 tasks tried 10 times, each always the same, are 20 facts and not 200.
    trials = [TaskChange(10 * change, 10) for change, _ in tasks(8, 2, 10)]
    assert interval(trials) == interval(tasks(8, 2, 10))


def test_the_interval_of_a_macro_average_weighs_strata_equally():
    found = interval(tasks(gained=50, unchanged=50), tasks(lost=5, unchanged=5))
    assert found.low < 0 < found.high
    assert (found.low + found.high) / 2 == approx(0, abs=0.05)


def test_vectorized_draws_equal_single_draws():
    """Also with several strata; and the generator goes on where the loop would leave it."""
    strata = [tasks(9, 4, 7), [TaskChange(2, 3), TaskChange(-1, 2)] * 150]
    rng, plain = Random(5), Random(5)
    found = bootstrap_interval(strata, rng)
    drawn = sorted(
        sum(
            sum(change for change, _ in chosen) / sum(pairs for _, pairs in chosen)
            for chosen in [plain.choices(tasks, k=len(tasks)) for tasks in strata]
        )
        / 2
        for _ in range(5000)
    )
    assert (found.low, found.high) == (drawn[125], drawn[-126])
    assert rng.getstate() == plain.getstate()


@pytest.mark.slow  # importing scipy takes longer than the fast suite has for it
def test_the_interval_agrees_with_scipy():
    stats = pytest.importorskip("scipy.stats")
    numpy = pytest.importorskip("numpy")
    for gained, lost, unchanged in [(20, 5, 75), (6, 6, 28), (3, 30, 67)]:
        sample = ([task.change for task in tasks(gained, lost, unchanged)],)
        theirs = stats.bootstrap(sample, numpy.mean, method="percentile", rng=numpy.random.default_rng(7))
        ours = interval(tasks(gained, lost, unchanged))
        assert (ours.low, ours.high) == approx(tuple(theirs.confidence_interval), abs=0.021)


def test_the_interval_of_one_side_is_wilsons_when_every_task_was_tried_once():
    # 15 of 20: (0.75 + z²/40 ± z sqrt(0.75·0.25/20 + z²/1600)) / (1 + z²/20)
    found = success_interval([TaskPasses(number < 15, 1) for number in range(20)])
    assert (found.low, found.high) == (approx(0.5313, abs=1e-4), approx(0.8881, abs=1e-4))


def test_more_runs_of_the_same_tasks_narrow_the_interval_only_as_far_as_runs_differ():
    """Ten tries that always agree are worth one; ten that are coins of their own are worth ten."""
    once = success_interval([TaskPasses(number % 2, 1) for number in range(20)])
    alike = success_interval([TaskPasses(10 * (number % 2), 10) for number in range(20)])
    coins = success_interval([TaskPasses(5 + (number % 3 - 1), 10) for number in range(21)])
    assert (alike.low, alike.high) == (approx(once.low), approx(once.high))
    assert coins.high - coins.low < 0.5 * (once.high - once.low)


def test_too_few_tasks_have_no_interval_however_often_they_were_tried():
    assert success_interval([TaskPasses(50, 100)] * 9) is None


@given(
    st.lists(st.integers(1, 5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=10, max_size=40)
)
@pytest.mark.slow
def test_the_interval_of_one_side_contains_its_rate_and_is_never_a_point(tasks):
    passes = [TaskPasses(*task) for task in tasks]
    found = success_interval(passes)
    share = sum(task.passed for task in passes) / sum(task.runs for task in passes)
    assert 0 <= found.low <= share + 1e-9
    assert share - 1e-9 <= found.high <= 1
    assert found.high > found.low
