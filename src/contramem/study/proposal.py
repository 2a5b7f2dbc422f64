"""Proposal: a card as its author writes it, in YAML, JSON or text (card_text.py). Omitted fields are filled in.

- title: Large credit notes go to the finance lead
  when: A credit note above 500 is to be written.
  rule: Assign a credit note above 500 to finance-lead after it was created; leave smaller ones alone.
  guards:
    - response(Office.create_note, Office.assign_owner) when Office.create_note[amount > 500]
  reason: 14 of 16 failures of this kind are notes that were not assigned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import msgspec
from pydantic import AliasChoices, Field, ValidationError, field_validator

from contramem.bank.card import Function, Line, Skill, SkillDelta, Strict
from contramem.errors import UsageError
from contramem.guards.guard import guards_of
from contramem.study.card_text import read_card_text

_NAME = re.compile(r"[\w.\-]*\w")


class Proposal(Strict):
    """A proposed card."""

    title: Annotated[str, Field(min_length=3, max_length=120)]
    when: Annotated[Line, Field(validation_alias=AliasChoices("when", "applies_when"))]
    """The situation in which it applies."""
    rule: Annotated[Line, Field(validation_alias=AliasChoices("rule", "core_rule"))]
    """What to do there."""
    guards: Annotated[tuple[str, ...], Field(validation_alias=AliasChoices("guards", "guard"))] = ()
    """The rule as guards, as far as guards can express it."""
    check: str = ""
    """If no guard can express it: a query that says for each run whether it follows the rule (sql_check.py)."""
    kinds: tuple[str, ...] = ()
    """Kinds of tasks it is for, if neither a guard nor a check tells: it is found by the words of their requests."""
    solves: str = ""
    """What goes wrong without it."""
    completion: tuple[Line, ...] = ()
    """What must hold at the end; by default the guards in words."""
    recovery: str = ""
    functions: tuple[Function, ...] = ()
    """By default the functions in the guards; without guards, those that its check and its rule name."""
    tags: tuple[str, ...] = ()
    ability: str | None = None
    """By default the ability of the runs."""
    reason: str = ""
    """Why, for the ledger."""
    replaces: tuple[str, ...] = ()
    """Ids of the cards that this one replaces."""

    @field_validator("guards", "kinds", "completion", "functions", "tags", "replaces", mode="before")
    @classmethod
    def _take_one(cls, value: Any) -> Any:
        """A single text becomes a list of its lines."""
        return tuple(filter(None, map(str.strip, value.splitlines()))) if isinstance(value, str) else value

    def find_functions(self, known: Iterable[str]) -> Proposal:
        """The proposal with the functions that it names, if neither `functions` nor guards tell them."""
        if self.functions or self.guards:
            return self
        named = set(_NAME.findall(f"{self.check} {self.rule}"))
        functions = sorted(name for name in known if {name, name.rpartition(".")[2]} & named)
        return self.model_copy(update={"functions": tuple(functions)})

    def as_delta(self) -> SkillDelta:
        """The card as a delta."""
        guards = guards_of(self.guards)
        completion = self.completion or tuple(guard.sentence for guard in guards) or (self.rule,)
        functions = self.functions or tuple(dict.fromkeys(name for guard in guards for name in guard.functions))
        return SkillDelta(
            title=self.title,
            applies_when=self.when,
            solves=self.solves or f"Runs that fail because they do otherwise: {self.title[0].lower()}{self.title[1:]}.",
            tags=self.tags,
            skill=Skill(core_rule=self.rule, completion=completion, recovery=self.recovery),
            functions_used=functions,
            guards=tuple(str(guard) for guard in guards),
        )


def read_proposals(path: Path) -> list[Proposal | UsageError]:
    """The cards of a file; for an unreadable one, an error that says where and what."""
    try:
        content = _load(path)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}.") from None
    listed = content.get("cards") if isinstance(content, dict) and "cards" in content else content
    listed = [listed] if isinstance(listed, dict) else listed
    if not isinstance(listed, list) or not listed:
        raise UsageError(f"{path}: there are no cards in it. Write a list of cards with title, when, rule and guards.")
    return [parse_proposal(card, f"{path}, card {number}") for number, card in enumerate(listed, 1)]


def parse_proposal(card: Any, where: str) -> Proposal | UsageError:
    try:
        return Proposal.model_validate(card)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "card"
        more = f" ({len(error.errors()) - 1} more)" if len(error.errors()) > 1 else ""
        needed = "title, when, rule, guards and reason"
        others = ", ".join(name for name in Proposal.model_fields if name not in needed)
        return UsageError(f"{where}: {place}: {first['msg']}{more}. A card has {needed}; it may have {others}.")


def _load(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".md", ".txt"):
        return read_card_text(text, str(path), frozenset(Proposal.model_fields))
    if path.suffix == ".json":
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError as error:
            raise UsageError(f"{path}: not valid JSON ({error}).") from None
    try:
        import yaml
    except ImportError as error:
        raise UsageError("YAML files need pyyaml: pip install 'contramem[author]', or write JSON.") from error
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        line = f":{mark.line + 1}" if mark else ""
        raise UsageError(
            f"{path}{line}: not valid YAML ({problem or 'it cannot be read'}). Put a text with a "
            "colon, a bracket or a quotation mark into quotes, and each guard on a line of its own after a dash. Or "
            "write the cards as text, in a file that ends in .md: `# title`, then lines such as `rule: ...`; nothing "
            "needs quotes there."
        ) from None
