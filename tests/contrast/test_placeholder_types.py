"""The types of placeholders stand in one table, and everything else about them follows from it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import contramem
from contramem.contrast.placeholder_types import BY_NAME, ROLES, TYPES, ValueKind, any_of, names_where
from contramem.contrast.value_keys import classify_value
from contramem.contrast.values import form_of_value

SOURCE = Path(contramem.__file__).parent
HOME = SOURCE / "contrast" / "placeholder_types.py"
MAX_NAMED_TOGETHER = 2
"""More names than this in one expression are a table of types."""


def test_every_name_has_one_row() -> None:
    assert [type_.name for type_ in TYPES] == list(get_args(ValueKind))
    assert len(BY_NAME) == len(TYPES)


def test_no_role_belongs_to_two_types() -> None:
    words = [word for roles in ROLES.values() for word in roles]
    assert len(words) == len(set(words))


def test_a_type_with_roles_is_recognised_and_worded_by_its_row_alone() -> None:
    for type_ in TYPES:
        for role in type_.roles.split():
            text = "some Words in it, which no form gives away"
            kind = classify_value(text, role)[1]
            assert kind == (type_.name if type_.name != "AMOUNT" else "TEXT")
            assert form_of_value(text, role) == BY_NAME[kind].form[0]


def test_names_are_chosen_by_what_a_type_says_of_itself() -> None:
    chance = names_where(lambda type_: type_.is_shared_by_chance)
    assert chance == {"AMOUNT", "NUMBER"}
    assert re.fullmatch(any_of(chance), "AMOUNT")
    assert not re.fullmatch(any_of(chance), "ID")


@pytest.mark.slow
def test_no_other_file_keeps_a_table_of_types() -> None:
    tables = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path != HOME and path.parts[-2:] not in (("privacy", "personal.py"), ("validate", "privacy.py"))
        for line in _tables(path)
    ]
    assert not tables, f"read placeholder_types.py instead: {tables}"


def _tables(path: Path) -> Iterator[int]:
    """Sets, tuples, lists and keys of types, and patterns with a choice of them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.Set, ast.Tuple, ast.List, ast.Dict)):
            parts = node.keys if isinstance(node, ast.Dict) else node.elts
            texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "|" in node.value:
            texts = re.split(r"[^A-Z]+", node.value)
        else:
            continue
        if len({text.strip("<>_") for text in texts} & BY_NAME.keys()) > MAX_NAMED_TOGETHER:
            yield node.lineno
