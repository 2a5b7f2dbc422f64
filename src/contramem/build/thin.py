"""Why a bank has few cards, and what would help: more runs, and of which tasks, or a model, and its cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from contramem.contrast.packet import Packet
from contramem.contrast.selection import Selection
from contramem.llm.client import price_of
from contramem.validate.validator import Validator

MIN_CARDS, MIN_CARDS_PER_TASK = 10, 0.1
"""A bank with fewer Skill Cards than either is thin."""
EXAMPLE_MODEL = "openai:gpt-5.5"
"""The model that the documentation uses."""
SAMPLED = 8
"""Number of packets whose requests are counted; the others are assumed to be as long."""
FEW_TASKS = 20
REFLECTIONS, CURATIONS = 1.28, 1.88
"""Calls for one task, those asked again included: means of 515 exchanges with a strong model about 163 tasks, as are
the tokens below."""
REFLECTION_TOKENS_OUT, CURATION_TOKENS_IN, CURATION_TOKENS_OUT = 790, 2_480, 210


@dataclass(frozen=True)
class ModelCost:
    """What a model would cost on the same runs: as much as usual, and at most."""

    model: str
    calls: int
    tokens: int
    cost_usd: float | None
    most_usd: float | None


@dataclass(frozen=True)
class ThinBank:
    """What runs there were, what happened to the lessons they suggested, and what else could be tried."""

    tasks: int
    without_outcome: int
    several_runs: int
    """Here and below, runs with a known outcome."""
    always_passed: int
    never_passed: int
    proposed: int
    in_service: int
    not_kept: dict[str, int]
    """By reason."""
    joined: int
    """Lessons that became part of another one, or that a check refused."""
    model: ModelCost | None
    """None if no outcome is known: a model needs them as well."""

    def advice(self, runs: str) -> list[str]:
        """Which runs would help, most helpful first. `runs`: where those that were learned from are."""
        single = self.tasks - self.several_runs - self.without_outcome
        advice = (
            (
                self.without_outcome,
                "without a known outcome: they teach what tools refuse and what all runs do alike, not which of two "
                f"permitted ways is right. `contramem doctor {runs}` says how to give outcomes.",
            ),
            (single, "with one run: a second model, or a second try, at them."),
            (self.never_passed, "that no run solved: a stronger model at them."),
            (self.always_passed, "that every run solved: a weaker model at them."),
        )
        helpful = [f"{count:,} {'task' if count == 1 else 'tasks'} {text}" for count, text in advice if count]
        few = [f"more tasks: a rule has to show in several, and {self.tasks:,} are few."]
        return helpful + (few if self.tasks < FEW_TASKS else [])


def explain_thin(
    selection: Selection, packets: Sequence[Packet], in_service: int, proposed: int, not_kept: Counter[str]
) -> ThinBank | None:
    """Why so few Skill Cards are in service. None: there are enough."""
    if not packets or in_service >= min(MIN_CARDS, MIN_CARDS_PER_TASK * len(packets)):
        return None
    return ThinBank(
        tasks=selection.tasks.total(),
        without_outcome=selection.without_outcome,
        several_runs=selection.several_runs,
        always_passed=selection.always_passed,
        never_passed=selection.never_passed,
        proposed=proposed,
        in_service=in_service,
        not_kept=dict(not_kept.most_common()),
        joined=max(0, proposed - in_service - not_kept.total()),
        model=estimate_model(packets) if selection.without_outcome < selection.tasks.total() else None,
    )


def estimate_model(packets: Sequence[Packet], model: str = EXAMPLE_MODEL) -> ModelCost:
    """The cost of Skill Cards by a model, estimated from some of the packets."""
    # Imported on use: most banks are not thin, and their builds do not wait for what only a model needs.
    from contramem.build.model.author import ModelChoice
    from contramem.build.model.estimate import estimate
    from contramem.build.model.rounds import BuildPlan

    step = max(1, len(packets) // SAMPLED)
    sampled = [packets[number] for number in range(0, len(packets), step)][:SAMPLED]
    price, share = price_of(model), len(packets) / len(sampled)
    stages = estimate(BuildPlan(sampled, only="skills"), ModelChoice(model), Validator(), price, None)
    asked = sum(stage.tokens_in.least for stage in stages if stage.stage == "reflector") * share
    tokens_in = REFLECTIONS * asked + len(packets) * CURATIONS * CURATION_TOKENS_IN
    tokens_out = len(packets) * (REFLECTIONS * REFLECTION_TOKENS_OUT + CURATIONS * CURATION_TOKENS_OUT)
    most = [stage.cost_usd.most for stage in stages if stage.cost_usd]
    return ModelCost(
        model,
        calls=round(len(packets) * (REFLECTIONS + CURATIONS)),
        tokens=round(tokens_in + tokens_out),
        cost_usd=price.of(tokens_in, tokens_out) if price is not None else None,
        most_usd=sum(most) * share if most else None,
    )
