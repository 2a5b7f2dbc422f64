"""Profiles: the frozen settings of retrieval and injection, one for each way of running agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from contramem.errors import UsageError

BeforeCall: TypeAlias = Literal["never", "risky", "always"]


@dataclass(frozen=True)
class AppPrior:
    """What sharing apps with the task adds to a card's BM25 score. It ranks and never gates."""

    bonus: float
    """Per app that card and task share."""
    cap: float
    """The bonus of a card is at most this, however many apps it shares."""
    penalty: float
    """Taken from a card that names apps and shares none. A card without apps gets neither bonus nor penalty."""


SOFT = AppPrior(bonus=0.6, cap=1.2, penalty=0.6)
INDICATOR = AppPrior(bonus=1.0, cap=1.0, penalty=0.0)
"""Equation 1 of the paper: one weight for sharing any app, nothing otherwise."""


@dataclass(frozen=True)
class Profile:
    """How many cards an agent is shown, when, and how long they may be."""

    name: str
    skills: int
    """Skill Cards at task start, at most."""
    functions: int
    """Function Cards at task start, at most."""
    before_call: BeforeCall
    """Which functions bring their card before a call: `risky` means those that write or have known mistakes."""
    budget_tokens: int
    """Of the guidance at task start, policy included."""
    each_call: bool = False
    """The card comes before every call that the agent proposes, as in the paper. Otherwise once a run."""
    call_skills: int = 0
    """Skill Cards about the function that come before a call of it, at most, if the run has not been shown them: a
    request may use words that no card has."""
    call_budget_tokens: int = 350
    """Of the guidance before one call, policy included."""
    paper_search: bool = False
    """Skill Cards are searched as in the paper (A.8): title, trigger, tags and core rule as one text. Otherwise their
    functions and the requests that taught them count too."""
    prior: AppPrior = SOFT
    floor: float = 0.0
    """The least BM25 of a card, in units of the idf of a term that only one card has, so it holds for any bank size.
    In a card of mean length such a term gives 0.4 of the unit if it is there once and 0.67 if three times: 0.8 asks for
    two words that the card is about, rare ones or words of a small bank's subject. At 0 any shared word is enough."""
    share_of_best: float = 0.0
    """Skills that are less relevant than this share of the most relevant one are not shown."""
    companions: int = 0
    """Skills beyond `skills` that the same tasks taught as one that is shown: rules of one kind of task go together,
    whatever words each happens to have."""
    function_floor: float | None = None
    """The same for Function Cards, where they have a floor of their own."""
    apps_of_label: bool = False
    """A task whose words name no app is about those that skills of its ability name."""
    word_families: bool = False
    """Function Cards are found by families of words too (retrieve/families.py)."""
    function_share_of_best: float = 0.0
    """The same as `share_of_best`."""
    words_of_a_full_request: int = 0
    """A request with fewer different words can say less: Function Cards need that much less of their floor for it."""
    universal_skills: int = 0
    """Slots among `skills` that go first to cards of scope `universal`, whatever the task says."""
    verb_intent: bool = False
    """Function Cards at start only for what the task asks to do."""
    final_reminder: bool = False
    """One card of scope `finalization` is given again when the caller says that the end is near."""
    obligations: bool = False
    """Where cards have guards: a call that would break one is told so first, and what is open is told before the end,
    each once."""
    brief: bool = False
    """For small models: at the start a numbered list of calls that ends in the write that the task asks for, or
    nothing; before a call one line; after a failed call a command."""
    budget_words: int | None = None
    """A limit in words beside the one in tokens."""

    def floor_for_functions(self, words: Sequence[str]) -> float:
        """The least BM25 of a Function Card for a request of these words, in the unit of `floor`."""
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
            call_skills=2,
            budget_tokens=1100,
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
            budget_tokens=120,
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
