"""Frozen bank: one `bank.jsonl` that the runtime loads without a database and that can be reviewed in a pull request.

The first line is a header; each further line is a served card, sorted. Identical content gives identical bytes,
and `tail -n +2 bank.jsonl | sha256sum` gives the hash in the header.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from pydantic import Field, TypeAdapter, ValidationError, model_validator

from contramem.bank.bank import (
    Bank,
    BankEntry,
    CardSupport,
    Grade,
    GuardCountsByText,
    Names,
    Scope,
    UnseenRuns,
    drop_call_lists,
)
from contramem.bank.card import Card, FunctionCard, SkillCard, Strict
from contramem.errors import BankFileError, UsageError
from contramem.whole_file import replacing

FORMAT = 1


class BankHeader(Strict):
    """The first line."""

    contramem_bank: int
    """Version of the format."""
    content_sha256: str
    """Hash of all lines after this one, as written."""
    profile: Annotated[str, Field(min_length=1)] = "default"
    """The retrieval profile that the bank is meant for."""
    ability_profiles: dict[str, str] = Field(default_factory=dict)
    """Other profiles for some abilities; for example, Time shows no cards before calls."""
    functions: int
    skills: dict[str, int]
    """By ability."""

    @property
    def cards(self) -> int:
        """The number of lines that follow."""
        return self.functions + sum(self.skills.values())

    def profile_of(self, ability: str | None) -> str:
        """The profile for tasks of an ability; case is ignored."""
        own = {name.casefold(): profile for name, profile in self.ability_profiles.items()}
        return own.get((ability or "").casefold(), self.profile)


class FrozenFunction(FunctionCard):
    """A Function Card as a line of the file."""

    kind: Literal["function"] = "function"
    request_words: Names = ()
    """Words of requests that were solved with the function. Used for retrieval, never shown to agents."""
    single_source: bool = False
    """Whether runs of only one source support the card. Agents are told so."""

    _drop_call_lists = model_validator(mode="before")(drop_call_lists)


class FrozenSkill(SkillCard):
    """A Skill Card as a line, with data for retrieval and monitoring that agents are not shown."""

    kind: Literal["skill"] = "skill"
    taught_by: Names = ()
    """Digests of task id, task text and scenario, so that a task does not get cards learned from it."""
    request_words: Names = ()
    """Words of the requests that taught the card. Used for retrieval."""
    scope: Scope | None = None
    grade: Grade | None = None
    single_source: bool = False
    """Whether runs of only one source support the rule. Agents are told so."""
    support: GuardCountsByText = Field(default_factory=dict)
    """By guard."""
    unseen: dict[str, UnseenRuns] = Field(default_factory=dict)
    """By guard: whom it would have stopped in runs that the card has not seen."""

    _drop_call_lists = model_validator(mode="before")(drop_call_lists)


FrozenCard = FrozenFunction | FrozenSkill
_LINE: TypeAdapter[FrozenCard] = TypeAdapter(Annotated[FrozenCard, Field(discriminator="kind")])


@dataclass(frozen=True)
class FrozenBank:
    """The content of a frozen file."""

    header: BankHeader
    cards: tuple[FrozenCard, ...]
    edited: bool = False
    """Whether the lines no longer match the hash in the header."""

    @property
    def missing(self) -> int:
        """The number of cards missing, compared with the header."""
        return max(0, self.header.cards - len(self.cards))

    @property
    def functions(self) -> tuple[FrozenFunction, ...]:
        return tuple(card for card in self.cards if isinstance(card, FrozenFunction))

    @property
    def skills(self) -> tuple[FrozenSkill, ...]:
        return tuple(card for card in self.cards if isinstance(card, FrozenSkill))

    def to_bank(self) -> Bank:
        """The cards as a bank, with as much support as the file contains."""
        return Bank({card.card_id: thaw(card) for card in self.cards})


def freeze(bank: Bank, profile: str = "default", ability_profiles: Mapping[str, str] | None = None) -> bytes:
    """The served cards of `bank` as the content of a file."""
    frozen = _settle([frozen_card(bank.entries[card.card_id]) for card in bank.cards], bank)
    body = b"".join(frozen_line(card) for card in frozen)
    header = BankHeader(
        contramem_bank=FORMAT,
        content_sha256=hashlib.sha256(body).hexdigest(),
        profile=profile,
        ability_profiles=dict(sorted((ability_profiles or {}).items())),
        functions=len(bank.functions),
        skills=dict(sorted(Counter(card.ability for card in bank.skills).items())),
    )
    # Left out if empty, so that older versions can read the file.
    unused = {"ability_profiles"} if not ability_profiles else set[str]()
    return header.model_dump_json(exclude=unused).encode() + b"\n" + body


def _settle(cards: Sequence[FrozenCard], bank: Bank) -> list[FrozenCard]:
    """The cards without contradictions between Function Cards and Skill Cards, in the same order."""
    from contramem.bank.settlement import settle_functions  # parsing guards takes time to import; agents only read

    functions = [
        (card, bank.entries[card.card_id].support.arguments) for card in cards if isinstance(card, FrozenFunction)
    ]
    skills = [card for card in cards if isinstance(card, FrozenSkill)]
    settled = {card.card_id: card for card in settle_functions(functions, skills)}
    return [settled.get(card.card_id, card) for card in cards]


def write_frozen(
    path: Path, bank: Bank, profile: str = "default", ability_profiles: Mapping[str, str] | None = None
) -> BankHeader:
    """Write `bank` to `path` atomically."""
    content = freeze(bank, profile, ability_profiles)
    try:
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise BankFileError(
            f"{path}: cannot be written ({error.strerror}). Choose another place with --out."
        ) from error
    return BankHeader.model_validate_json(content.partition(b"\n")[0])


def refresh_frozen(path: Path, bank: Bank) -> BankHeader:
    """Write `bank` to `path` with the profiles of the bank that is there. Raises BankFileError if that was edited."""
    header = load_frozen(path).header if path.exists() and path.stat().st_size else None
    return write_frozen(path, bank, header.profile, header.ability_profiles) if header else write_frozen(path, bank)


def load_frozen(path: Path, *, allow_edited: bool = False) -> FrozenBank:
    """Read a frozen bank and check every line. A file edited by hand is refused unless the caller allows it."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BankFileError(f"{path}: cannot be read ({error.strerror}).") from error
    bank = parse_frozen(content, str(path))
    if bank.missing and not allow_edited:
        raise BankFileError(
            f"{path}: holds {len(bank.cards)} of the {bank.header.cards} cards that line 1 counts: it was cut short, "
            f"or cards were removed. Get the whole file again, or freeze the store it came from. Importing it "
            f"(`contramem bank import STORE {path}`) would retire the other {bank.missing}, and asks before it does."
        )
    if bank.edited and not allow_edited:
        raise BankFileError(
            f"{path}: its cards were changed after it was frozen, so the hash in line 1 no longer fits. Bring the edit "
            f"into the store with `contramem bank import STORE {path}`, then freeze again."
        )
    return bank


def parse_frozen(content: bytes, where: str) -> FrozenBank:
    """Parse a frozen bank and check its hash. `where` is named in error messages."""
    first, _, body = content.replace(b"\r\n", b"\n").partition(b"\n")  # git may have changed the line ends
    header = _header(first, where)
    cards = tuple(_cards(body, where))
    edited = hashlib.sha256(body).hexdigest() != header.content_sha256
    return FrozenBank(header, cards, edited)


def frozen_card(entry: BankEntry) -> FrozenCard:
    """A card as a line of the file, with the support of only those guards that the card still has."""
    fields = {name: getattr(entry.card, name) for name in type(entry.card).model_fields}
    if isinstance(entry.card, FunctionCard):
        return FrozenFunction(
            **fields,
            request_words=entry.support.request_words,
            single_source=_is_single(entry),
        )
    support = entry.support
    guard_counts = {guard: counts for guard, counts in support.guard_counts.items() if guard in entry.card.guards}
    return FrozenSkill(
        **fields,
        taught_by=support.taught_by,
        request_words=support.request_words,
        scope=support.scope,
        grade=support.grade,
        single_source=_is_single(entry),
        support=guard_counts,
        unseen={guard: runs for guard, runs in sorted(support.unseen.items()) if guard in entry.card.guards},
    )


def _is_single(entry: BankEntry) -> bool:
    """Whether only one source supports the card, and no person has approved it."""
    return len(entry.support.sources) == 1 and not entry.reviewed


def frozen_line(card: FrozenCard) -> bytes:
    fields = card.model_dump(mode="json")
    first = {"card_id": fields.pop("card_id"), "kind": fields.pop("kind")}
    if isinstance(card, FrozenFunction) and not card.request_words:  # so that older versions can read the line
        del fields["request_words"]
    if isinstance(card, FrozenSkill) and not card.unseen:
        del fields["unseen"]
    if not card.single_source:
        del fields["single_source"]
    return msgspec.json.encode(first | fields) + b"\n"


UNNAMED_SOURCE = "unnamed"
"""Stands for the only source of a card: a frozen bank does not say which one it was."""


def thaw(card: FrozenCard) -> BankEntry:
    plain: type[FunctionCard] | type[SkillCard] = FunctionCard if isinstance(card, FrozenFunction) else SkillCard
    text: Card = plain.model_construct(**{name: getattr(card, name) for name in plain.model_fields})
    sources = (UNNAMED_SOURCE,) if card.single_source else ()
    if isinstance(card, FrozenFunction):
        support = CardSupport(sources=sources, request_words=card.request_words)
        return BankEntry(card=text, support=support)
    support = CardSupport(
        sources=sources,
        taught_by=card.taught_by,
        request_words=card.request_words,
        scope=card.scope,
        grade=card.grade,
        guard_counts=card.support,
        unseen=card.unseen,
    )
    return BankEntry(card=text, support=support)


def _header(line: bytes, where: str) -> BankHeader:
    try:
        header = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        header = None
    if not isinstance(header, dict) or not isinstance(header.get("contramem_bank"), int):
        raise BankFileError(
            f"{where}: is not a frozen bank: line 1 is not a header. `contramem cards freeze` writes one."
        )
    if header["contramem_bank"] > FORMAT:
        from importlib.metadata import version

        raise BankFileError(
            f"{where} has bank format {header['contramem_bank']}; this is contramem {version('contramem')} and reads "
            f"up to format {FORMAT}. Upgrade contramem."
        )
    try:
        return BankHeader.model_validate(header)
    except ValidationError as error:
        raise BankFileError(f"{where}:1: {complaint(error)}.") from error


def _cards(body: bytes, where: str) -> Iterator[FrozenCard]:
    seen: dict[str, int] = {}
    for number, line in enumerate(body.split(b"\n"), start=2):
        if not line.strip():
            continue
        try:
            card = _LINE.validate_json(line)
        except ValidationError as error:
            raise BankFileError(f"{where}:{number}: {complaint(error)}.") from error
        if card.card_id in seen:
            raise BankFileError(
                f"{where}:{number}: {card.card_id} is in line {seen[card.card_id]} already. Remove one of the two."
            )
        seen[card.card_id] = number
        yield card


def complaint(error: ValidationError) -> str:
    """The first validation error of pydantic, as one phrase."""
    problems: Iterable[Any] = error.errors(include_url=False, include_input=False, include_context=False)
    first, *others = problems
    field = ".".join(str(part) for part in first["loc"])
    more = f" (and {len(others)} more)" if others else ""
    return f"{field}: {first['msg']}{more}" if field else f"{first['msg']}{more}"


# A bank is at a store (SQLite path or PostgreSQL URL) or in a frozen file; the content says which it is.

SQLITE_BEGINS_WITH = b"SQLite format 3\x00"


def is_url(where: str) -> bool:
    return "://" in where


def without_password(where: str) -> str:
    """`where` without the password of a URL, for messages."""
    return re.sub(r"(://[^:/@]*):[^@/]*@|(?<=password=)[^&]*", lambda m: f"{m[1]}:***@" if m[1] else "***", where)


def kind_of(where: str) -> Literal["store", "frozen"]:
    """Whether `where` names a store or a frozen file. Raises UsageError if there is no file."""
    if is_url(where):
        return "store"
    path = Path(where)
    if not path.is_file():
        raise UsageError(f"{where}: there is no bank here. `contramem build TRACES --bank STORE` makes one.")
    with path.open("rb") as file:
        return "store" if file.read(16) in (SQLITE_BEGINS_WITH, b"") else "frozen"


def store_only(where: str) -> str:
    """Return `where` unless it is a frozen file, which has no history and cannot record decisions."""
    if kind_of(where) == "frozen":
        load_frozen(Path(where), allow_edited=True)  # raises a better error if it is not a bank at all
        raise UsageError(f"{where}: is a frozen bank; this needs the store that it came from.")
    return where


def load_bank(where: str) -> tuple[Bank, FrozenBank | None]:
    """The bank at `where` and, if it is a frozen file (edited or not), its content."""
    if kind_of(where) == "frozen":
        frozen = load_frozen(Path(where), allow_edited=True)
        return frozen.to_bank(), frozen
    from contramem.bank.store import open_store  # a frozen bank is read without a database library

    with open_store(where) as store:
        return store.bank(), None
