"""What a construction model answers with, parsed strictly: a Function Card, deltas with their events, a patch."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_origin

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from contramem.bank.card import Argument, FunctionCard, Line, SkillDelta, Strict
from contramem.bank.fields import SKILL_FIELDS
from contramem.bank.patch import PATCH, Patch
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


# Patterns spell digits out: the grammars that local servers make of a schema do not know \d.
CITE = r"^[A-Z]+#[0-9]+$"
CiteText = Annotated[str, Field(pattern=CITE)]


def _one_by_one(cites: Any) -> Any:
    """`A#4 B#7` are two events: packets name them so, and models repeat it."""
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


class CuratorReply(Strict):
    operation: Literal["ADD", "PATCH", "MERGE", "NARROW", "NOOP"]
    target_card_ids: tuple[str, ...] = ()
    retained_card_id: str | None = None
    new_or_updated_card: SkillDelta | None = None
    guards: tuple[str, ...] | None = None
    """With ADD and no card: other guards than the delta's."""
    reason: Line


class UnparsedReply(Exception):
    """A reply that is not what was asked for; each complaint is a sentence for the model."""

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
    """The lessons, each once: small models say one three times."""
    deltas = {
        (delta.title, delta.skill.core_rule): delta for delta in reversed(parse_reply(reply, ReflectorReply).deltas)
    }
    return [Candidate(_drop_cites(delta), _cites(delta)) for delta in reversed(deltas.values())]


def patch(reply: str, index: int, delta: SkillDelta) -> Patch:
    """A decision on `delta`. ADD without a card means the delta as it stands: nobody pays for copying it."""
    decided = parse_reply(reply, CuratorReply)
    fields = {name: getattr(decided, name) for name in CuratorReply.model_fields if name != "guards"}
    if decided.operation == "ADD" and decided.new_or_updated_card is None:
        guards = delta.guards if decided.guards is None else decided.guards
        fields["new_or_updated_card"] = delta.model_copy(update={"guards": guards})
    try:
        return PATCH.validate_python({"delta_index": index, **fields})
    except ValidationError as error:
        raise UnparsedReply(*_complaints(error)) from error


def _drop_cites(delta: CitedDelta) -> SkillDelta:
    return SkillDelta(**{name: getattr(delta, name) for name in SkillDelta.model_fields})


def _cites(delta: CitedDelta) -> tuple[Cite, ...]:
    pairs = (cite.split("#") for cite in dict.fromkeys(delta.cites))
    return tuple(Cite(run, int(position)) for run, position in pairs)


_JSON_BLOCK = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?```\s*\Z", re.DOTALL)


def parse_reply(reply: str, kind: type[Parsed]) -> Parsed:
    """The reply as what was asked for, in a fence or not; raises Unparsed."""
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
    """The fields of a Skill Card as a prompt asks for them, with `hints` about what belongs into each."""
    parts = []
    for name, info in kind.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            parts.append(f'\n"{name}": {{{card_shape(info.annotation, hints, f"{prefix}{name}.")}}}')
            continue
        ask = _FIELDS[prefix + name].ask if hints else ""
        parts.append(f'"{name}": {ask or ("[...]" if get_origin(info.annotation) is tuple else "...")}')
    return ", ".join(parts).replace(", \n", ",\n")


def _dispensable() -> frozenset[str]:
    """Fields that a short lesson does without, and groups of nothing else."""
    needed = {field.path.partition(".")[0] for field in SKILL_FIELDS if not field.dispensable}
    paths = (field.path for field in SKILL_FIELDS if field.dispensable)
    return frozenset(name for path in paths for name in path.split(".") if name not in needed)


DISPENSABLE = _dispensable()


_SAID_ELSEWHERE = frozenset({"title", "description", "default", "minLength", "maxLength"})


@cache
def _schema_text(kind: type[BaseModel]) -> str:
    return json.dumps(_bare(kind.model_json_schema()))


def _bare(schema: Any) -> Any:
    """Without titles and descriptions, because the prompt says what the fields mean, and without lengths, which it says
    too and every reply is checked for. More is asked for than a reply must have: where a server enforces the schema,
    small models leave out what they may."""
    if isinstance(schema, dict):
        named = "properties" in schema and schema.get("type") == "object"
        kept = {key: value for key, value in schema.items() if key not in _SAID_ELSEWHERE}
        if "[^" in str(kept.get("pattern", "")):
            del kept["pattern"]  # in a server's grammar it takes the closing quote, and all that follows, for the value
        bare = {key: _bare(value) for key, value in kept.items() if key != "properties"}
        if named:
            bare["properties"] = {name: _bare(value) for name, value in schema["properties"].items()}
            bare["required"] = [name for name in bare["properties"] if name not in DISPENSABLE]
        return bare
    return [_bare(part) for part in schema] if isinstance(schema, list) else schema


def schema_of(kind: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a reply, compact; a fresh copy each time."""
    schema: dict[str, Any] = json.loads(_schema_text(kind))
    return schema
