import pytest

from contramem.inject.adapters.wrapper import has_room, is_hardly_used


@pytest.mark.parametrize(("left", "expected"), [(None, True), (3, True), (2, False), (0, False), (-1, False)])
def test_a_held_call_needs_three_more_replies(left, expected):
    assert has_room(left) == expected


@pytest.mark.parametrize(("used", "limit", "expected"), [(99, None, True), (1, 10, True), (2, 10, False), (0, 0, True)])
def test_at_most_a_tenth_of_a_limit_on_tokens_or_time_may_be_used(used, limit, expected):
    assert is_hardly_used(used, limit) == expected
