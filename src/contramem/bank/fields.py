"""The fields of a Skill Card: their labels, who reads them, and what a model is asked to write.

All code that shows, checks or asks for a Skill Card iterates over this table: the terminal, Markdown, the explorer, the
guidance for agents, the validators and the prompts. A new field is a line in card.py and a line here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from contramem.bank.card import SkillDelta

Style: TypeAlias = Literal["text", "rule", "checklist", "passing", "failing", "functions", "tags"]


@dataclass(frozen=True)
class SkillField:
    """One field of a Skill Card."""

    path: str
    """Where it is in the schema: `skill.core_rule`."""
    label: str = ""
    """The label shown to people, in a terminal, in Markdown and in the explorer. Empty if they are not shown it."""
    guidance: str = ""
    """The label shown to agents. Empty if they are not shown it."""
    style: Style = "text"
    explorer_only: bool = False
    """Whether people see it only in the explorer."""
    ask: str = ""
    """What the Reflector is asked to write. Empty if the name says it."""
    dispensable: bool = False
    """Whether a short lesson can omit it."""

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def is_list(self) -> bool:
        return self.style in ("checklist", "functions", "tags")

    def texts(self, card: SkillDelta) -> tuple[str, ...]:
        """The texts of this field in a card, item by item; none if it is empty."""
        value: object = card
        for part in self.path.split("."):
            value = getattr(value, part)
        return tuple(
            text for text in (value if isinstance(value, tuple) else (value,)) if isinstance(text, str) and text
        )


SKILL_FIELDS: tuple[SkillField, ...] = (
    SkillField("title", ask="short and transferable"),  # the heading, wherever a card is shown
    SkillField("applies_when", "Applies when", "Applies when", ask="an observable trigger"),
    SkillField("solves", "Solves", explorer_only=True, ask="the failure it prevents"),
    SkillField(
        "skill.core_rule", "Core decision boundary", "Rule", "rule", ask="the decision boundary as an imperative"
    ),
    SkillField("skill.completion", "Completion ledger", "Done when", "checklist"),
    SkillField("skill.success_failure_contrast", "Contrastive evidence", "Contrast", dispensable=True),
    SkillField("evidence.good_example", "Observed passing pattern", "Passing runs", "passing", dispensable=True),
    SkillField(
        "evidence.bad_example", "Observed failing pattern", "Failing runs", "failing",
        ask="compact, in placeholders", dispensable=True,
    ),
    SkillField("skill.recovery", "Recovery", "If it goes wrong", dispensable=True),
    SkillField("skill.efficiency", "Efficiency", "Without detours", dispensable=True),
    SkillField("functions_used", "Functions used", "Functions", "functions", ask='["App.function"]'),
    SkillField("tags", "Tags", style="tags", explorer_only=True),
    SkillField("evidence.feedback", dispensable=True),
    SkillField("evidence.transition", ask="where the runs parted", dispensable=True),
    SkillField("guards", style="checklist", dispensable=True),
)  # fmt: skip
"""In display order. If an agent's budget is short, the last ones are dropped."""
