from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contramem.bank.card import Skill, SkillCard
from contramem.retrieve.hit import Query
from contramem.retrieve.profiles import PROFILES, AppPrior
from contramem.retrieve.retriever import Retriever

WORDS = ["record", "email", "ride", "event", "folder", "invoice"]
APPS = ["Mail", "Cab", "Calendar"]
card_words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)
card_apps = st.lists(st.sampled_from(APPS), max_size=3, unique=True)


def skill(number, words, apps):
    return SkillCard(
        card_id=f"skill::{number:03}",
        ability="general",
        title="A card about " + " ".join(words),
        applies_when="x",
        solves="x",
        skill=Skill(core_rule="x", completion=["x"]),
        functions_used=[f"{app}.do" for app in apps],
    )


@given(
    st.lists(st.tuples(card_words, card_apps), min_size=1, max_size=40),
    card_words,
    st.lists(st.sampled_from([*APPS, "Elsewhere"]), unique=True).map(frozenset),
    st.sampled_from([(0, 0, 0), (0.6, 1.2, 0.6), (1, 1, 0), (3, 6, 3)]),
    st.sampled_from([0.0, 0.3, 0.6]),
)
def test_the_best_cards_equal_those_of_scoring_every_card(cards, asked, apps, prior, floor):
    """Priors are computed only for cards that could still be among the best; that must not change the result."""
    skills = [skill(number, *card) for number, card in enumerate(cards)]
    retriever = Retriever(skills, [])
    # Without a limit relative to the best card: with it, the number of cards asked for changes which ones are left out.
    profile = replace(PROFILES["default"], skills=3, prior=AppPrior(*prior), floor=floor, share_of_best=0.0)
    query = Query(" ".join(asked), apps=apps)
    found = [hit.card.card_id for hit in retriever.retrieve(query, profile).skills]
    everyone = retriever.retrieve(query, replace(profile, skills=len(skills))).skills
    by_hand = sorted(
        everyone, key=lambda hit: (-round(hit.relevance + expected_prior(hit, apps, prior), 9), hit.card.card_id)
    )
    assert found == [hit.card.card_id for hit in by_hand[:3]]
    assert all(hit.prior == pytest.approx(expected_prior(hit, apps, prior)) for hit in everyone)


def expected_prior(hit, apps, prior):
    bonus, cap, penalty = prior
    own = set(hit.card.apps)
    if not apps or not own:
        return 0.0
    return min(len(own & apps) * bonus, cap) if own & apps else -penalty
