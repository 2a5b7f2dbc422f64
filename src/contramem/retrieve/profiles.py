"""Profiles: the fixed settings of retrieval and injection, one for each way of running agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from contramem.errors import UsageError

BeforeCall: TypeAlias = Literal["never", "risky", "always"]


@dataclass(frozen=True)
class AppPrior:
    """What shared apps add to a card's BM25 score. It affects the ranking and never excludes a card."""

    bonus: float
    """Added for each app that card and task share."""
    cap: float
    """The largest total bonus of a card."""
    penalty: float
    """Subtracted if a card names apps and shares none. A card without apps gets neither bonus nor penalty."""


SOFT = AppPrior(bonus=0.6, cap=1.2, penalty=0.6)
INDICATOR = AppPrior(bonus=1.0, cap=1.0, penalty=0.0)
"""Equation 1 of the paper: a fixed bonus for sharing any app, and no penalty."""


@dataclass(frozen=True)
class Profile:
    """How many cards an agent is shown, when, and how long they may be."""

    name: str
    skills: int
    """Skill Cards at task start, at most."""
    functions: int
    """Function Cards at task start, at most."""
    before_call: BeforeCall
    """For which functions the card is shown before a call: `risky` means those that write or have known mistakes."""
    budget_tokens: int
    """For the cards at task start, including the policy."""
    each_call: bool = False
    """Whether the card is shown before every call of the function, as in the paper; otherwise once per run."""
    shows_all: bool = False
    """Whether all other skills about functions that the agent has are shown too, one sentence each, while they fit into
    the budget. If they don't, those that the request may need are, and later those about a function that is called."""
    call_budget_tokens: int = 350
    """For the guidance before or beside one call, including the policy."""
    paper_search: bool = False
    """Whether Skill Cards are searched as in the paper (A.8): title, trigger, tags and core rule as one text. Otherwise
    their functions and the requests that taught them are searched too."""
    prior: AppPrior = SOFT
    floor: float = 0.0
    """The lowest BM25 score of a card, in units of the idf of a term that only one card has, so it suits any bank size.
    In a card of mean length, such a term scores 0.4 units if it occurs once and 0.67 if it occurs three times: 0.8
    requires two words that the card is about. At 0, any shared word is enough."""
    share_of_best: float = 0.0
    """Skills below this share of the best skill's relevance are not shown."""
    companions: int = 0
    """How many more skills to show that were taught by the same tasks as a shown one: the rules of one kind of task
    belong together, whatever words each happens to use. Only those whose guards tell when they apply."""
    function_floor: float | None = None
    """`floor` for Function Cards. None means the same floor."""
    apps_of_label: bool = False
    """Whether a task that names no app is taken to be about the apps that skills of its ability name."""
    word_families: bool = False
    """Whether Function Cards are also found by word families (retrieve/intent.py)."""
    function_share_of_best: float = 0.0
    """`share_of_best` for Function Cards."""
    words_of_a_full_request: int = 0
    """The floor of Function Cards is lowered in proportion for requests with fewer distinct words than this."""
    universal_skills: int = 0
    """How many of the `skills` are reserved for cards of scope `universal`, whatever the task says."""
    verb_intent: bool = False
    """Whether Function Cards at task start are limited to the intents of the task."""
    final_reminder: bool = False
    """Whether one card of scope `finalization` is repeated when the caller says that the end is near."""
    obligations: bool = False
    """Whether guards are monitored: the agent is warned before a call that would break one, and reminded before the end
    of what is still owed, each once."""
    brief: bool = False
    """For small models: one sentence for each card, and a policy of one line."""
    budget_words: int | None = None
    """An additional limit, in words."""

    def floor_for_functions(self, words: Sequence[str]) -> float:
        """The lowest BM25 score of a Function Card for a request with these words, in the unit of `floor`."""
        floor = self.floor if self.function_floor is None else self.function_floor
        if not self.words_of_a_full_request:
            return floor
        return floor * min(1.0, max(2, len(set(words))) / self.words_of_a_full_request)


PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            "gaia2",
            skills=3,
            functions=5,
            before_call="always",
            each_call=True,
            budget_tokens=2400,
            paper_search=True,
        ),
        Profile(
            "time",
            skills=3,
            functions=5,
            before_call="never",
            budget_tokens=2400,
            paper_search=True,
            universal_skills=2,
            verb_intent=True,
            final_reminder=True,
        ),
        Profile(
            "appworld",
            skills=3,
            functions=2,
            before_call="never",
            budget_tokens=1800,
            paper_search=True,
            prior=INDICATOR,
        ),
        Profile(
            "default",
            skills=3,
            functions=2,
            before_call="risky",
            shows_all=True,
            budget_tokens=1800,
            floor=0.8,
            function_floor=0.6,
            function_share_of_best=0.6,
            apps_of_label=True,
            word_families=True,
            words_of_a_full_request=8,
            share_of_best=0.5,
            companions=3,
            obligations=True,
        ),
        Profile(
            "small",
            skills=1,
            functions=0,
            before_call="never",
            shows_all=True,
            budget_tokens=220,
            budget_words=150,
            call_budget_tokens=120,
            floor=1.0,
            brief=True,
        ),
    )
}


def profile_named(name: str) -> Profile:
    """The profile called `name`."""
    if name not in PROFILES:
        raise UsageError(f"there is no profile {name!r} (profiles: {', '.join(PROFILES)}).")
    return PROFILES[name]
