import pytest
from hypothesis import given
from hypothesis import strategies as st

from contramem.retrieve.tokens import stem


@pytest.mark.parametrize(
    "family",
    [
        "pay paid paying payment payable",
        "cancel cancelled canceled cancelling cancellation",
        "transfer transferred transferring",
        "reserve reserved reservation",
        "create created creating creation",
        "notify notified notifying notification",
        "reply replied replying",
        "send sent sending",
        "deliver delivered delivery",
    ],
)
def test_the_forms_of_a_word_have_one_stem(family):
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize(
    "words", ["order other", "note notice", "string strong", "bed bid", "ship shop", "add address"]
)
def test_different_words_keep_different_stems(words):
    first, second = words.split()
    assert stem(first) != stem(second)


@pytest.mark.parametrize("word", ["b2", "überweisung", "注文", "id", ""])
def test_words_that_match_no_english_rule_are_unchanged(word):
    assert stem(word) == word


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=3))
def test_a_stem_is_never_empty(word):
    assert stem(word)
