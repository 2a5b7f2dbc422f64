"""A bounded set counts alike in whatever order and in whatever parts its members come."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contramem.contrast.bounded_set import add_up_to


@given(st.integers(0, 4), st.lists(st.sets(st.sampled_from("abcdef"))))
def test_it_has_as_many_members_as_were_seen_and_no_more_than_it_may(most: int, parts: list[set[str]]) -> None:
    kept = set[str]()
    for part in parts:
        add_up_to(most, kept, part)
    seen = set[str]().union(*parts)
    assert len(kept) == min(most, len(seen))
    assert kept <= seen
