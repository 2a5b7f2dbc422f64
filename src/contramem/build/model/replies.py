"""Parses the replies of a construction model strictly: a Function Card, deltas with their events, or patches."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_origin

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, WithJsonSchema

from contramem.bank.bank import PATCH, Bank, Patch
from contramem.bank.card import SKILL_FIELDS, Argument, FunctionCard, Line, SkillCard, SkillDelta, Strict
from contramem.build.author import MAX_DELTAS, Candidate
from contramem.contrast.signal import Cite

MAX_COMPLAINTS = 8


class FunctionText(Strict):
    """A Function Card without what is known beforehand."""

    what_it_does: Line
    arguments: tuple[Argument, ...] = ()
    returns: Line
    usage_rules: tuple[Line, ...] = ()
    common_mistakes: tuple[Line, ...] = ()
    side_effects: str = ""


class BuilderReply(Strict):
    card: FunctionText | None


# [0-9] instead of \d, because the grammars that local servers derive from a schema don't know \d.
CITE = r"^[A-Z]+#[0-9]+$"
CiteText = Annotated[str, Field(pattern=CITE)]


def _one_by_one(cites: Any) -> Any:
    """Split `A#4 B#7` into two events: packets write them like this, and models copy it."""
    if not isinstance(cites, list) or not all(isinstance(cite, str) for cite in cites):
        return cites
    apart = [part for cite in cites for part in re.split(r"[\s,;]+", cite) if part]
    if strange := [part for part in apart if not re.match(CITE, part)]:
        raise ValueError(f"{strange[0]!r} is not an event; write each as RUN#EVENT, such as A#4")
    return apart


class CitedDelta(SkillDelta):
    cites: Annotated[tuple[CiteText, ...], Field(min_length=1), BeforeValidator(_one_by_one)]


class ReflectorReply(Strict):
    deltas: Annotated[tuple[CitedDelta, ...], Field(max_length=MAX_DELTAS)]


def _rewritten_schema() -> dict[str, Any]:
    """The schema of a rewritten card: any of its fields except evidence."""
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    for field in (field for field in SKILL_FIELDS if not field.path.startswith("evidence.")):
        group, _, _ = field.path.rpartition(".")
        inner = schema["properties"].setdefault(group, {"type": "object", "properties": {}}) if group else schema
        inner["properties"][field.name] = _LIST if field.is_list else {"type": "string"}
    return schema


_LIST = {"items": {"type": "string"}, "type": "array"}


class CuratorDecision(Strict):
    """On one delta (paper, appendix B.1)."""

    delta_index: int
    operation: Literal["ADD", "PATCH", "MERGE", "NARROW", "NOOP"]
    target_card_ids: tuple[str, ...] = ()
    retained_card_id: str | None = None
    new_or_updated_card: Annotated[
        dict[str, Any] | None, WithJsonSchema({"anyOf": [_rewritten_schema(), {"type": "null"}]})
    ] = None
    """Fields that change: those of the retained card, or with ADD those of the delta."""
    reason: Line


class CuratorReply(Strict):
    decisions: tuple[CuratorDecision, ...]


class UnparsedReply(Exception):
    """A reply does not parse. Each complaint is a sentence for the model."""

    def __init__(self, *complaints: str) -> None:
        super().__init__(" ".join(complaints))
        self.complaints = complaints


Parsed = TypeVar("Parsed", bound=BaseModel)


def function_card(reply: str, function: str) -> FunctionCard | None:
    text = parse_reply(reply, BuilderReply).card
    if text is None:
        return None
    app, _, name = function.partition(".")
    fields = {field: getattr(text, field) for field in FunctionText.model_fields}
    return FunctionCard(card_id=f"function::{function}", tool=function, app=app, function=name, **fields)


def candidates(reply: str) -> list[Candidate]:
    """The lessons without repetitions: small models often give the same one three times."""
    deltas = {
        (delta.title, delta.skill.core_rule): delta for delta in reversed(parse_reply(reply, ReflectorReply).deltas)
    }
    return [Candidate(_drop_cites(delta), _cites(delta)) for delta in reversed(deltas.values())]


def patches(reply: str, deltas: Mapping[int, SkillDelta], bank: Bank) -> dict[int, Patch]:
    """A patch for each of `deltas`. Fields that a rewritten card leaves out are copied from the retained card or, for
    ADD, from the delta, so that no tokens are spent on copying them."""
    decisions = parse_reply(reply, CuratorReply).decisions
    by_index = {decision.delta_index: decision for decision in decisions}
    if by_index.keys() != deltas.keys() or len(decisions) > len(deltas):
        wanted = ", ".join(map(str, deltas))
        raise UnparsedReply(f"decisions: give one decision for each delta_index: {wanted}.")
    return {index: _patch(by_index[index], deltas[index], bank) for index in deltas}


def _patch(decision: CuratorDecision, delta: SkillDelta, bank: Bank) -> Patch:
    fields = decision.model_dump(exclude={"new_or_updated_card"})
    changes = decision.new_or_updated_card
    entry = bank.entries.get(decision.retained_card_id or "")
    card = entry.card if entry is not None and isinstance(entry.card, SkillCard) else None
    if decision.operation == "ADD":
        fields["new_or_updated_card"] = _rewrite(delta, changes or {})
    elif changes and decision.operation != "NOOP":
        fields["new_or_updated_card"] = _rewrite(card or delta, changes)
    try:
        return PATCH.validate_python(fields)
    except ValidationError as error:
        where = f"decisions.{decision.delta_index}."
        raise UnparsedReply(*(where + complaint for complaint in _complaints(error))) from error


def _rewrite(text: SkillDelta, changes: Mapping[str, Any]) -> dict[str, Any]:
    """All fields of `text`, updated with `changes`."""
    fields = text.model_dump(mode="json", include=set(SkillDelta.model_fields))
    changed = {name: value for name, value in changes.items() if name not in ("skill", "evidence", "card_id")}
    skill = changes.get("skill") or {}
    return {**fields, **changed, "skill": {**fields["skill"], **skill} if isinstance(skill, dict) else skill}


def _drop_cites(delta: CitedDelta) -> SkillDelta:
    return SkillDelta(**{name: getattr(delta, name) for name in SkillDelta.model_fields})


def _cites(delta: CitedDelta) -> tuple[Cite, ...]:
    pairs = (cite.split("#") for cite in dict.fromkeys(delta.cites))
    return tuple(Cite(run, int(position)) for run, position in pairs)


_JSON_BLOCK = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)


def parse_reply(reply: str, kind: type[Parsed]) -> Parsed:
    """Parse a reply, with or without a code fence. Raises UnparsedReply."""
    block = _JSON_BLOCK.match(reply)
    try:
        return kind.model_validate_json(block[1] if block else reply)
    except ValidationError as error:
        raise UnparsedReply(*_complaints(error)) from error


def _complaints(error: ValidationError) -> list[str]:
    complaints = [
        f"{'.'.join(str(part) for part in problem['loc']) or 'The answer'}: {problem['msg']}."
        for problem in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return list(dict.fromkeys(complaints))[:MAX_COMPLAINTS]


_FIELDS = {field.path: field for field in SKILL_FIELDS}


def card_shape(kind: type[BaseModel] = SkillDelta, hints: bool = False, prefix: str = "") -> str:
    """The fields of a Skill Card as a prompt asks for them, with `hints` about what to write in each."""
    parts = []
    for name, info in kind.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            parts.append(f'\n"{name}": {{{card_shape(info.annotation, hints, f"{prefix}{name}.")}}}')
            continue
        ask = _FIELDS[prefix + name].ask if hints else ""
        parts.append(f'"{name}": {ask or ("[...]" if get_origin(info.annotation) is tuple else "...")}')
    return ", ".join(parts).replace(", \n", ",\n")


def _dispensable() -> frozenset[str]:
    """Fields that a short lesson can omit, and groups with only such fields."""
    needed = {field.path.partition(".")[0] for field in SKILL_FIELDS if not field.dispensable}
    paths = (field.path for field in SKILL_FIELDS if field.dispensable)
    return frozenset(name for path in paths for name in path.split(".") if name not in needed)


DISPENSABLE = _dispensable()


_SAID_ELSEWHERE = frozenset({"title", "description", "default", "minLength", "maxLength"})


@cache
def _schema_text(kind: type[BaseModel]) -> str:
    schema = kind.model_json_schema()
    return json.dumps(_bare(_inline(schema, schema.pop("$defs", {}))))


def _inline(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """Replace each reference by its definition; none is used twice."""
    if isinstance(schema, dict) and "$ref" in schema:
        return _inline(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if isinstance(schema, dict):
        return {key: _inline(value, definitions) for key, value in schema.items()}
    return [_inline(part, definitions) for part in schema] if isinstance(schema, list) else schema


def _bare(schema: Any) -> Any:
    """A schema without titles, descriptions and lengths, which the prompt gives and every reply is checked for. It
    requires more fields than a reply must have: if a server enforces the schema, small models omit what is optional."""
    if isinstance(schema, dict):
        named = "properties" in schema and schema.get("type") == "object"
        kept = {key: value for key, value in schema.items() if key not in _SAID_ELSEWHERE}
        if "[^" in str(kept.get("pattern", "")):
            del kept["pattern"]  # in a server's grammar it would also match the closing quote and all that follows
        bare = {key: _bare(value) for key, value in kept.items() if key != "properties"}
        if named:
            bare["properties"] = {name: _bare(value) for name, value in schema["properties"].items()}
            if "additionalProperties" in schema:  # a complete value; a rewritten card may omit any field
                bare["required"] = [name for name in bare["properties"] if name not in DISPENSABLE]
        return bare
    return [_bare(part) for part in schema] if isinstance(schema, list) else schema


def schema_of(kind: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a reply, compact; a fresh copy each time."""
    schema: dict[str, Any] = json.loads(_schema_text(kind))
    return schema
