"""The table of a Skill Card's fields is complete, and what it says is shown is shown."""

from __future__ import annotations

import io
from typing import Any, get_origin

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from rich.console import Console

from contramem.bank.card import SKILL_FIELDS, Evidence, Skill, SkillCard, SkillDelta, SkillField
from contramem.bank.export import card_markdown
from contramem.bank.show import card_panel
from contramem.build.model.replies import card_shape
from contramem.inject.guidance import text_of
from contramem.validate.case import Case

GROUPS: dict[str, type[BaseModel]] = {"skill": Skill, "evidence": Evidence}
PATTERNS = {"functions_used": "App.{}", "guards": "existence(App.{})"}


def fill(model: type[BaseModel]) -> dict[str, Any]:
    """Words of its own for every field of the schema."""
    return {
        name: fill(GROUPS[name]) if name in GROUPS else _say(name, info) for name, info in model.model_fields.items()
    }


def _say(name: str, info: FieldInfo) -> str | list[str]:
    words = PATTERNS.get(name, "words-of-{}").format(name)
    return [words] if get_origin(info.annotation) is tuple else words


FULL = SkillCard.model_validate({**fill(SkillDelta), "card_id": "skill::0123456789ab", "ability": "general"})


def paths(model: type[BaseModel], prefix: str = "") -> list[str]:
    return [
        path
        for name in model.model_fields
        for path in (paths(GROUPS[name], f"{name}.") if name in GROUPS else [prefix + name])
    ]


def test_the_table_names_every_field_of_the_schema_once() -> None:
    assert sorted(field.path for field in SKILL_FIELDS) == sorted(paths(SkillDelta))


@pytest.mark.parametrize("field", SKILL_FIELDS, ids=lambda field: field.path)
def test_each_field_is_shown_where_the_table_says_and_nowhere_else(field: SkillField) -> None:
    console = Console(file=io.StringIO(), width=200)
    console.print(card_panel(FULL))
    words = field.texts(FULL)[0]
    to_people = field.path == "title" or bool(field.label and not field.explorer_only)
    assert (words in console.file.getvalue()) == to_people  # type: ignore[attr-defined]
    assert (words in card_markdown(FULL)) == to_people
    assert (words in "\n".join(text_of(FULL).lines)) == (field.path == "title" or bool(field.guidance))


@pytest.mark.parametrize("field", SKILL_FIELDS, ids=lambda field: field.path)
def test_each_field_is_validated_and_asked_for(field: SkillField) -> None:
    validated = {judged.name for judged in Case(FULL).fields}
    assert (field.name in validated) == (field.style != "functions")  # names of functions have a check of their own
    assert f'"{field.name}": ' in card_shape()
    assert f'"{field.name}": {field.ask}' in card_shape(hints=True)


def test_an_empty_field_has_no_texts() -> None:
    card = FULL.model_copy(update={"evidence": Evidence(), "tags": ()})
    assert {field.path for field in SKILL_FIELDS if not field.texts(card)} == {
        "evidence.feedback",
        "evidence.transition",
        "evidence.good_example",
        "evidence.bad_example",
        "tags",
    }
