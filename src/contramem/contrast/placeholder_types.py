"""All placeholder types in one table: what `<EMAIL_1>` or `<AMOUNT_2>` stands for, and how each type behaves.

To add a type, add a row here and its name to ValueKind. A type recognised by the form of its values, such as an e-mail
address, also needs a pattern in values.py and spans.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

ValueKind: TypeAlias = Literal[
    "EMAIL", "URL", "PHONE", "ACCOUNT", "PERSON", "ADDRESS", "FILE", "ID", "NAME", "AMOUNT", "NUMBER", "TEXT"
]


_PLAIN_TEXT = ("text", "texts")


@dataclass(frozen=True, kw_only=True, slots=True)
class PlaceholderType:
    """A placeholder type, and how its values behave."""

    name: ValueKind
    form: tuple[str, str] = _PLAIN_TEXT
    """Its form in words, singular and plural."""
    roles: str = ""
    """Words in the name of an argument or field that mark its values as this type."""
    vague_nouns: tuple[str, ...] = ()
    """Vague nouns, such as `name`, that become this type after a role of this type."""
    is_written_in_words: bool = False
    """Values may be plain phrases in lower case."""
    can_be_number: bool = False
    """A bare number in one of the roles has this type."""
    differs_by_role: bool = False
    """42 the amount is not 42 the id: equal numbers of two such types are different values."""
    is_read_as_number: bool = False
    """In prose, a number of this type is looked up by its digits."""
    ignores_punctuation: bool = False
    """`555-0101` and `5550101` are the same value."""
    points_at_thing: bool = False
    """A value refers to one thing, which another call can refer to as well."""
    names_item: bool = False
    """One call per value means one call per item."""
    is_shared_by_chance: bool = False
    """Two calls may share a value without being about the same thing."""
    belongs_to_somebody: bool = False
    """Values recognised by their form are never conventions."""
    identifies: bool = False
    """Values reveal something about a person, even when they are plain words."""
    is_certain: bool = False
    """This type's name is always right in a message. For other types it depends on where the value was first seen."""

    @property
    def has_own_form(self) -> bool:
        """Do its values look different from any text?"""
        return self.form != _PLAIN_TEXT


TYPES: tuple[PlaceholderType, ...] = (
    PlaceholderType(
        name="EMAIL", form=("e-mail address", "e-mail addresses"),
        points_at_thing=True, names_item=True, belongs_to_somebody=True, identifies=True, is_certain=True,
    ),
    PlaceholderType(
        name="URL", form=("URL", "URLs"),
        points_at_thing=True, belongs_to_somebody=True, identifies=True, is_certain=True,
    ),
    PlaceholderType(
        name="PHONE", form=("telephone number", "telephone numbers"),
        roles="phone telephone tel mobile fax", vague_nouns=("number",),
        can_be_number=True, is_read_as_number=True, ignores_punctuation=True,
        points_at_thing=True, belongs_to_somebody=True, identifies=True,
    ),
    PlaceholderType(
        name="ACCOUNT", form=("account number", "account numbers"),
        is_read_as_number=True, ignores_punctuation=True,
        points_at_thing=True, names_item=True, belongs_to_somebody=True, identifies=True,
    ),
    PlaceholderType(
        name="PERSON",
        roles="""person people user users username firstname lastname fullname first last full recipient recipients
        sender participant participants attendee attendees author contact contacts assignee assigned customer owner
        friend friends from to cc bcc member members passenger passengers traveler host guest receiver client
        employee""",
        vague_nouns=("name", "names"), points_at_thing=True, names_item=True, identifies=True,
    ),
    PlaceholderType(
        name="ADDRESS", roles="address street city town country state county region location place destination",
        vague_nouns=("name", "names"), is_written_in_words=True, belongs_to_somebody=True,
    ),
    PlaceholderType(
        name="FILE", form=("file name or path", "file names or paths"),
        roles="file files filename path directory dir folder attachment attachments document",
        vague_nouns=("name", "names"), is_written_in_words=True,
        points_at_thing=True, names_item=True, belongs_to_somebody=True, is_certain=True,
    ),
    PlaceholderType(
        name="ID", form=("identifier", "identifiers"),
        roles="id ids uuid guid number code key token ref reference sku imei iccid serial zip pin isbn",
        can_be_number=True, differs_by_role=True, is_read_as_number=True,
        points_at_thing=True, names_item=True, identifies=True,
    ),
    PlaceholderType(name="NAME", roles="name names", is_written_in_words=True, points_at_thing=True, names_item=True),
    PlaceholderType(
        name="AMOUNT", form=("amount", "amounts"),
        roles="""amount price cost total balance fee salary budget payment refund fare rate value money usd eur gbp
        subtotal tax income revenue""",
        can_be_number=True, differs_by_role=True, is_read_as_number=True,
        is_shared_by_chance=True, identifies=True, is_certain=True,
    ),
    PlaceholderType(
        name="NUMBER", differs_by_role=True, is_read_as_number=True, is_shared_by_chance=True, identifies=True
    ),
    PlaceholderType(name="TEXT", is_written_in_words=True),
)  # fmt: skip
"""If a value was seen in several roles, the first of these types wins: the most specific one is the most useful."""

BY_NAME: dict[ValueKind, PlaceholderType] = {type_.name: type_ for type_ in TYPES}
ROLES: dict[ValueKind, frozenset[str]] = {type_.name: frozenset(type_.roles.split()) for type_ in TYPES if type_.roles}


def names_where(test: Callable[[PlaceholderType], bool]) -> frozenset[ValueKind]:
    """The names of the types that pass a test."""
    return frozenset(type_.name for type_ in TYPES if test(type_))


def any_of(names: frozenset[ValueKind]) -> str:
    """A pattern for one of these names."""
    return "|".join(sorted(names))
