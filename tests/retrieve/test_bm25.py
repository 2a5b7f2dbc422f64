from math import log

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from rank_bm25 import BM25Okapi

from contramem.retrieve.bm25 import K1, B, Bm25

words = st.sampled_from("email delete ride order calendar event search reply wait cart".split())
documents = st.lists(st.lists(words, min_size=1, max_size=12), min_size=1, max_size=12)


def test_bm25_by_hand():
    # Three documents of 2, 1 and 3 words: mean length 2. "email" is in two of them, "delete" in one.
    index = Bm25([["delete", "email"], ["ride"], ["email", "email", "reply"]])
    email, delete = log(1 + (3 - 2 + 0.5) / 2.5), log(1 + (3 - 1 + 0.5) / 1.5)
    first = delete * 1 / (1 + 1.5) + email * 1 / (1 + 1.5)
    third = email * 2 / (2 + 1.5 * (0.25 + 0.75 * 3 / 2))
    assert index.scores(["delete", "email"]).tolist() == approx([first, 0, third])
    assert index.explain(["delete", "email"], 0) == approx({"delete": delete / 2.5, "email": email / 2.5})
    assert index.unit == approx(delete)


def test_background_documents_give_weight_to_a_word_that_all_cards_share():
    docs = [["ticket", "close"], ["ticket", "assign"], ["ticket", "reply"]]
    alone, among_others = Bm25(docs), Bm25(docs, background=30)
    assert among_others.scores(["ticket"])[0] == approx(log(1 + (33 - 3 + 0.5) / 3.5) / 2.5)
    assert alone.scores(["ticket"])[0] / alone.unit < 0.1 < among_others.scores(["ticket"])[0] / among_others.unit
    assert among_others.explain(["ticket"], 0)["ticket"] == approx(among_others.scores(["ticket"])[0])


class Lucene(BM25Okapi):
    """rank_bm25 with Lucene's idf, which has no negative values. Its scores carry the constant factor k1 + 1."""

    def _calc_idf(self, frequencies):
        self.idf = {term: log(1 + (self.corpus_size - n + 0.5) / (n + 0.5)) for term, n in frequencies.items()}


@given(documents, st.lists(words, min_size=1, max_size=20))
def test_scores_equal_those_of_rank_bm25(docs, query):
    reference = Lucene(docs, k1=K1, b=B).get_scores(query) / (K1 + 1)
    assert Bm25(docs).scores(query).tolist() == approx(reference.tolist())


@given(documents, st.lists(words, min_size=1, max_size=20))
def test_scores_equal_those_of_bm25s(docs, query):
    import bm25s

    engine = bm25s.BM25(k1=K1, b=B, method="lucene", dtype="float64")
    engine.index(docs, show_progress=False)
    assert Bm25(docs).scores(query).tolist() == approx(engine.get_scores(query).tolist())


@given(documents, st.lists(words, max_size=20))
def test_the_explanation_adds_up_to_the_score(docs, query):
    index = Bm25(docs)
    for number, score in enumerate(index.scores(query)):
        parts = index.explain(query, number)
        assert sum(parts.values()) == approx(score)
        assert list(parts.values()) == sorted(parts.values(), reverse=True)


@pytest.mark.parametrize("docs", [[], [[]], [[], []]], ids=["no-card", "wordless-card", "two-wordless-cards"])
def test_a_query_without_matches_scores_zero(docs):
    index = Bm25(docs)
    assert numpy.array_equal(index.scores(["email"]), [0.0] * len(docs))
    assert all(index.explain(["email"], number) == {} for number in range(len(docs)))


def test_an_unknown_word_changes_nothing():
    index = Bm25([["delete", "email"], ["ride"]])
    assert index.scores(["email", "zeppelin"]).tolist() == index.scores(["email"]).tolist()
    assert index.scores([]).tolist() == [0, 0]
