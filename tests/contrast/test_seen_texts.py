"""SeenTexts finds a text wherever it was shown, first place first, as looking at each text in turn would."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contramem.contrast.seen_texts import BLOCK, SeenTexts


@given(st.lists(st.text("ab\0", max_size=4), max_size=3 * BLOCK), st.text("ab\0", min_size=1, max_size=3))
def test_matches_equal_those_of_searching_each_text(texts: list[str], wanted: str) -> None:
    seen = SeenTexts()
    for text in texts:
        seen.append(text)
    places = [place for place, text in enumerate(texts) if wanted in text]
    assert list(seen.places(wanted)) == places
    assert list(seen.holding(wanted)) == [texts[place] for place in places]


def test_nothing_is_found_across_the_border_of_two_texts() -> None:
    seen = SeenTexts()
    for text in ("ab", "cd") * BLOCK:
        seen.append(text)
    assert list(seen.places("bc")) == []
