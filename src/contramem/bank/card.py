"""Cards: the bank's unit of memory. The schemas of the paper's appendix B.1, field by field.

A SkillDelta is a candidate lesson; a SkillCard is one that a Curator let into the bank. Cards hold what an agent may
read at run time and nothing else: provenance, reasons and counts live in the ledger.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Line = Annotated[str, Field(min_length=1, max_length=600)]
Function = Annotated[str, Field(pattern=r"^[^.\s]+\.[^.\s]+$", max_length=170)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Argument(_Strict):
    """One argument of a function, as it was seen in calls."""

    name: Line
    meaning: Line
    """What it is, and where its value comes from."""
    form: Line
    """Type and value form: `text`, `integer`, `date YYYY-MM-DD`, `one of INBOX, SENT`."""
    required: bool | None = None
    """None: the calls do not tell."""


class FunctionCard(_Strict):
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
    """Empty: none was observed."""


class Skill(_Strict):
    """The rule of a Skill Card and when it is done."""

    core_rule: Line
    """The decision boundary, imperative, one level above any scenario."""
    completion: Annotated[tuple[Line, ...], Field(min_length=1)]
    """Ledger items that must hold before the agent finalizes."""
    success_failure_contrast: str = ""
    recovery: str = ""
    efficiency: str = ""


class Evidence(_Strict):
    """What the runs showed, in placeholders."""

    feedback: str = ""
    transition: str = ""
    """Where the runs parted."""
    good_example: str = ""
    bad_example: str = ""


class SkillDelta(_Strict):
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
    version: Annotated[int, Field(ge=1)] = 1

    @property
    def apps(self) -> tuple[str, ...]:
        """The apps of the functions it names, sorted. Empty for a rule about no app in particular."""
        return tuple(sorted({function.partition(".")[0] for function in self.functions_used}))
