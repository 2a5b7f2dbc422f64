"""How many conditions fit by luck: two counts checked by hand."""

from __future__ import annotations

from math import comb

import pytest

from contramem.study.sharpen import share_at_least, share_in_front


def test_the_share_of_blind_draws_that_are_as_good() -> None:
    # 5 tasks, 2 of them wrong and 3 right: of the 10 ways to draw 3, one takes all right ones and no wrong one.
    share = share_at_least(tasks=5, chosen=3, wrong=2, most_wrong=0, right=3, least_right=3)
    assert share == pytest.approx(1 / 10)
    # One of the 2 wrong ones may be among 3 of 6 tasks, with at least one of the 2 right ones; 2 are neither.
    drawn = [(bad, good) for bad in (0, 1) for good in (1, 2) if 3 - bad - good <= 2]
    ways = sum(comb(2, bad) * comb(2, good) * comb(2, 3 - bad - good) for bad, good in drawn)
    share = share_at_least(tasks=6, chosen=3, wrong=2, most_wrong=1, right=2, least_right=1)
    assert share == pytest.approx(ways / comb(6, 3))


def test_the_share_of_rows_in_which_a_threshold_can_be_drawn() -> None:
    # 2 right, 1 wrong: in 1 of 3 rows the wrong one comes last, in 2 of 3 at least one right one comes before it.
    assert share_in_front(1, 2, 2) == pytest.approx(1 / 3)
    assert share_in_front(1, 2, 1) == pytest.approx(2 / 3)
