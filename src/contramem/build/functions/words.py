"""English for Function Cards: names of functions and arguments in words, and small grammar."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from contramem.contrast.form import FormKind
from contramem.contrast.values import is_reference_form
from contramem.traces.effects import LEXICON, words

MAX_SPOKEN_WORDS = 4
"""Of the name of an argument or a field that a card says in words or lists."""
ID_WORDS = frozenset("id ids uuid guid number numbers code codes key token ref reference sku imei iccid serial".split())
_IDENTIFIES = frozenset({"id", "ids", "uuid", "guid"})
_KINDS_OF_NAME = frozenset("first last full middle display nick given family".split())
_TESTS = frozenset({"can", "is", "has", "are", "does", "should"})
_BARE = frozenset(
    "all any each every my your the a an to by for in on of from with at into up off out back me it as and or".split()
)
_TAKE_TO = frozenset("reply replies respond responds subscribe subscribes".split())
"""Verbs that are said of a thing with "to"; a function's name leaves it out."""
_VERBS = frozenset().union(*LEXICON.values())

# What cannot be undone: what is gone, and what has reached somebody else.
DESTROYS = frozenset(
    "delete remove cancel clear trash kill revoke drop wipe erase rm purge destroy uninstall overwrite reset".split()
)
REACHES_OUT = frozenset(
    """send transfer pay post publish share forward reply tweet retweet repost invite purchase buy order withdraw charge
    refund submit donate dispatch broadcast release deploy""".split()
)
ADDS = frozenset(
    """create add append insert schedule register book reserve place write draft save upload mkdir copy cp refuel
    recharge deposit""".split()
)
CHANGES = frozenset(
    """update set change modify edit rename move mv replace reschedule toggle enable disable lock unlock assign increase
    decrease resume suspend upgrade swap exchange return grant approve reject archive close reopen block unblock mute
    unmute follow unfollow subscribe unsubscribe mark start stop fill connect disconnect install reboot""".split()
)
_GENERIC = frozenset("make do perform run process execute issue initiate place".split())
_DEALINGS = frozenset("payment refund transfer purchase donation withdrawal deposit charge transaction".split())
"""Objects of verbs that say nothing by themselves."""
_PLURAL_KINDS: dict[FormKind, str] = {"list": "items", "map": "entries"}


def code(name: str) -> str:
    """A name as it is written in a program."""
    return f"`{name}`"


def join_list(items: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`; empty without items."""
    return f"{', '.join(items[:-1])} {last} {items[-1]}" if len(items) > 1 else "".join(items)


def share_of(part: int, whole: int, noun: str = "call") -> str:
    """3 of 7 calls."""
    return f"{part} of {whole} {plural(noun)}"


def plural(noun: str) -> str:
    """Plural of a regular noun; a noun ending in `s` is taken to be plural already."""
    if noun.endswith("s"):
        return noun
    if re.search(r"[^aeiou]y$", noun):
        return noun[:-1] + "ies"
    return noun + ("es" if re.search(r"(?:ch|sh|x|z)$", noun) else "s")


def third_person(verb: str) -> str:
    """deletes, applies, pushes."""
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    return verb + ("es" if re.search(r"(?:s|x|z|ch|sh|o)$", verb) else "s")


def verb_of(name: str) -> str:
    """The word of a function's name that says what it does: the first known verb, else the first word."""
    named = words(name)
    return next((word for word in named if word in _VERBS), named[0] if named else name.lower())


def effect_verbs(name: str) -> frozenset[str] | None:
    """Which of DESTROYS, REACHES_OUT, ADDS and CHANGES a function's name says it does. None: it does not say."""
    verb = verb_of(name)
    if verb in _GENERIC and not _DEALINGS.isdisjoint(words(name)):
        return REACHES_OUT
    return next((verbs for verbs in (DESTROYS, REACHES_OUT, ADDS, CHANGES) if verb in verbs), None)


def act(name: str) -> str:
    """What a function does, as an infinitive made of its name: `cancel the pending order`."""
    named = words(name) or [name.lower()]
    if named[0] in _TESTS:
        return f'answer "{" ".join(named)}?"'
    if named[0] in LEXICON["finalize"]:
        return "finish"
    return _with_article(named[0], named[1:]) if _opens_with_verb(named) else f"perform {code(name)}"


def does(name: str) -> str:
    """The same as a sentence in the third person: `Cancels the pending order`. Empty: the name is not a verb phrase."""
    named = words(name)
    if len(named) < 2 or named[0] not in _VERBS or named[0] in _TESTS:
        return ""
    return _with_article(third_person(named[0]), named[1:]).capitalize()


def _opens_with_verb(named: Sequence[str]) -> bool:
    # `message_login` opens with a noun and makes no sentence. `reserve_hotel` may open with a verb we do not know.
    return named[0] in _VERBS or not any(word in _VERBS for word in named[1:])


def _with_article(verb: str, rest: Sequence[str]) -> str:
    if not rest:
        return verb
    if rest[0] in _BARE:
        return " ".join([verb, *rest])
    return " ".join([verb, "to", "the", *rest] if verb in _TAKE_TO else [verb, "the", *rest])


def meaning_of_name(name: str, form: str) -> str:
    """What an argument is according to its name: `order_id` is the identifier of the order. A long name stays as it is:
    spoken, it could be a sentence."""
    named = words(name)
    if not 0 < len(named) <= MAX_SPOKEN_WORDS or (len(named) == 1 and len(named[0]) < 2):
        return name
    rest, last = named[:-1], named[-1]
    if last in _IDENTIFIES:
        many = last == "ids"
        if not rest:
            return "identifiers" if many else "identifier"
        of = [*rest[:-1], plural(rest[-1])] if many else rest
        return f"{'identifiers' if many else 'identifier'} of the {' '.join(of)}"
    if last == "names" and rest:
        return f"names of the {' '.join([*rest[:-1], plural(rest[-1])])}"
    if last == "name" and rest:
        kind = rest.pop() + " " if rest[-1] in _KINDS_OF_NAME else ""
        return f"{kind}name of the {' '.join(rest)}" if rest else f"{kind}name"
    return f"{' '.join(named)}, or not" if form == "boolean" else " ".join(named)


def is_identifying(name: str, forms: Iterable[str]) -> bool:
    """Does an argument with these forms refer to an existing thing, rather than describe or contain something?"""
    return any(map(is_reference_form, forms)) or not ID_WORDS.isdisjoint(words(name))


def points_at_things(name: str, forms: Iterable[str]) -> bool:
    """The same, also judging by the name: `hotel_names` must match a listing."""
    return is_identifying(name, forms) or words(name)[-1:] in (["name"], ["names"])


def confirm_form(name: str, form: str, instead: str = "text") -> str:
    """`identifier` is a guess from letters and digits; if the name does not confirm it, it is some text."""
    if ID_WORDS.isdisjoint(words(name)) and not name.lower().endswith("id"):
        return form.replace("identifier", instead)
    return form


def form_in_words(name: str, form: str) -> str:
    """A form as a card states it."""
    form = confirm_form(name, form, "code-like text")
    return form.replace("numbers as text", "numbers written as text").replace(
        "number as text", "number written as text"
    )


def size_in_words(kind: FormKind, sizes: Sequence[int]) -> str:
    """How many items lists usually contain; empty if there is nothing to say."""
    if not sizes:
        return ""
    noun = _PLURAL_KINDS.get(kind, "items")
    median = sorted(sizes)[len(sizes) // 2]
    singular = noun.removesuffix("s") if kind == "list" else "entry"
    if median <= 1:
        return f"usually one {singular}" if max(sizes) > 1 else f"one {singular} each time"
    return f"usually {'a few' if median <= 5 else 'many'} {noun}"
