"""Cards: the bank's unit of memory, with the schemas of the paper's appendix B.1.

A SkillDelta is a candidate lesson; a SkillCard is one that a Curator accepted into the bank. Cards contain only what an
agent may read at run time; provenance, reasons and counts are in the ledger.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from contramem.traces.effects import words

MAX_LINE_CHARS = 600
Line = Annotated[str, Field(min_length=1, max_length=MAX_LINE_CHARS)]
Function = Annotated[str, Field(pattern=r"^[^.\s]+\.[^.\s]+$", max_length=170)]
Version = Annotated[int, Field(ge=1)]
"""Grows by one whenever the text of a card changes. Set by the bank, never by an author."""


class Strict(BaseModel):
    """A value that comes from outside: unknown fields are refused, and once made it stays as it is."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Argument(Strict):
    """One argument of a function, as it was seen in calls."""

    name: Line
    meaning: Line
    """What it is, and where its value comes from."""
    form: Line
    """Type and value form: `text`, `integer`, `date YYYY-MM-DD`, `one of INBOX, SENT`."""
    required: bool | None = None
    """None if the calls do not show it."""

    @property
    def says_only_its_name(self) -> bool:
        """Whether the meaning only repeats the name (`subject: subject`), so that it is not worth showing."""
        return words(self.meaning) == words(self.name)


class FunctionCard(Strict):
    """The contract of one callable function. Tool-level only: no plan, no verdict, no model."""

    card_id: Annotated[str, Field(pattern=r"^function::")]
    tool: Function
    app: Line
    function: Line
    what_it_does: Line
    arguments: tuple[Argument, ...] = ()
    returns: Line
    usage_rules: tuple[Line, ...] = ()
    common_mistakes: tuple[Line, ...] = ()
    side_effects: str = ""
    """Empty if none was observed."""
    version: Version = 1

    @model_validator(mode="after")
    def _names_one_function(self) -> FunctionCard:
        if self.tool != f"{self.app}.{self.function}":
            raise ValueError(f"tool is {self.tool!r}, but app and function say {f'{self.app}.{self.function}'!r}")
        if self.card_id != f"function::{self.tool}":
            raise ValueError(f"card_id of {self.tool!r} has to be {f'function::{self.tool}'!r}, not {self.card_id!r}")
        return self


class Skill(Strict):
    """The rule of a Skill Card and when it is done."""

    core_rule: Line
    """The decision boundary, imperative, one level above any scenario."""
    completion: Annotated[tuple[Line, ...], Field(min_length=1)]
    """Ledger items that must hold before the agent finalizes."""
    success_failure_contrast: str = ""
    recovery: str = ""
    efficiency: str = ""


class Evidence(Strict):
    """What the runs showed, in placeholders."""

    feedback: str = ""
    transition: str = ""
    """Where the runs diverged."""
    good_example: str = ""
    bad_example: str = ""


class SkillDelta(Strict):
    """A candidate lesson from one packet."""

    title: Annotated[str, Field(min_length=3, max_length=120)]
    applies_when: Line
    solves: Line
    tags: tuple[str, ...] = ()
    skill: Skill
    evidence: Evidence = Evidence()
    functions_used: tuple[Function, ...] = ()
    guards: tuple[str, ...] = ()
    """The completion condition in the guard language, as text."""


class SkillCard(SkillDelta):
    """A lesson in the bank."""

    card_id: Annotated[str, Field(pattern=r"^skill::")]
    ability: Line
    version: Version = 1

    @classmethod
    def of(cls, text: SkillDelta, card_id: str, ability: str, version: int = 1) -> SkillCard:
        """A card with this text."""
        fields = {name: getattr(text, name) for name in SkillDelta.model_fields}
        return cls(card_id=card_id, ability=ability, version=version, **fields)

    @property
    def apps(self) -> tuple[str, ...]:
        """The apps of the functions it names, sorted. Empty for a rule about no app in particular."""
        return tuple(sorted({function.partition(".")[0] for function in self.functions_used}))


def _kind(card: Any) -> str:
    card_id = card.get("card_id", "") if isinstance(card, dict) else getattr(card, "card_id", "")
    return str(card_id).partition("::")[0]


Card: TypeAlias = FunctionCard | SkillCard
AnyCard = Annotated[Annotated[FunctionCard, Tag("function")] | Annotated[SkillCard, Tag("skill")], Discriminator(_kind)]
"""A `Card` as a field of a pydantic model; the id says which of the two it is."""


def skill_id(ability: str, title: str, core_rule: str, copy: int = 1) -> str:
    """The id of a new Skill Card. `copy` distinguishes cards that were added with the same text."""
    key = f"{ability}\n{title}\n{core_rule}" + (f"\n{copy}" if copy > 1 else "")
    # sha256, not hash(): hash() of a string differs from one process to the next.
    return "skill::" + hashlib.sha256(key.encode()).hexdigest()[:12]


def same_text(card: Card, other: Card) -> bool:
    """Whether two cards have the same text, whatever their versions."""
    return card.model_copy(update={"version": other.version}) == other


# All code that shows, checks or asks for a Skill Card iterates over one table of its fields: the terminal, Markdown,
# the explorer, the guidance for agents, the validators and the prompts. A new field is a line above and a line there.

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
