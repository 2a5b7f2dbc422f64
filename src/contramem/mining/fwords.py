"""The words of Function Cards: a sentence for each fact about a function, and what may be quoted of its errors."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from contramem.bank.card import MAX_LINE_CHARS
from contramem.contrast.form import FormKind
from contramem.contrast.observation import Observation
from contramem.contrast.permitted import find_allowed_values
from contramem.contrast.placeholder_types import names_where
from contramem.contrast.repeatable import MIN_LITERAL_WORDS, PLACEHOLDER, count_own_words
from contramem.contrast.values import TIME_PATTERN, date_pattern, is_reference_form
from contramem.contrast.vocabulary import scalars
from contramem.traces.effects import LEXICON, words

SENTENCES = {
    # Usage rules.
    "works once": "It works once per {argument}: after one that worked, another was refused in {refused} calls{quote}, "
    "against {against} otherwise.",
    "refused after": "After {other} on the same {argument} it was refused in {refused} calls{quote}, against {against} "
    "otherwise{turned}.",
    "turned fine": "; the other way round, {other} worked in {count}: call this one first",
    "turned bad": "; the other way round, {other} was refused in all {count}: choose one of the two",
    "closes": "After it, {other} on the same {argument} was refused in {refused} calls{turned}.",
    "before it": "; before it, it worked in {count}: call that one first",
    "needs": "Call {other} first: until it had worked in the run, this was refused in {refused} calls{quote}, after "
    "it, in {after}.",
    "preview": "Call it without {argument} first and read what it would do: {count} calls with {argument} came after "
    "such a call.",
    "form": "Give {argument} as {form}: it worked in {count} calls; {bad}.",
    "bad form": "{form} failed in {count}",
    "several": "{argument} takes several values in one call: {count} calls that worked gave two or more.",
    "unknown empty": "When {argument} had not been seen in the task or an earlier result, it came back empty in "
    "{count} calls, against {against} otherwise: take that for a wrong {argument}, not for an answer.",
    # Common mistakes.
    "error": "{error} in {count} calls{helped}.",
    "guessed": "{argument} values seen nowhere before failed in {count} calls, against {against} for values seen "
    "earlier.",
    # What helped after an error.
    "changing": "; changing {argument} worked in {count} retries",
    "adding": "; adding {argument} worked in {count} retries",
    "leaving out": "; leaving out {argument} worked in {count} retries",
    "after another": "; the same call worked after {other} in {count} retries",
    "instead": "; {other}, which also gives the {argument}, then worked in {count}",
    "in vain": "; repeating it unchanged failed again in {count} retries",
    # What it changes.
    "destroys": "Destructive: verify the selection before the call.",
    "reaches out": "Irreversible: verify target and content before the call.",
    "toggles": "By its name it flips a state: a second call may undo the first.",
    "refused twice": "The same call a second time was refused in {count}{quote}.",
    "accepted twice": "A repeat is not refused: the same call was accepted again in {count}.",
    # What its results are for.
    "used": "the {argument} for {other} (in {count} runs)",
}
"""By kind of fact. Two numbers are a share, names of arguments and functions are quoted."""
ID_WORDS = frozenset("id ids uuid guid number numbers code codes key token ref reference sku imei iccid serial".split())
# What cannot be undone: what is gone, and what has reached somebody else.
DESTROYS = frozenset(
    "delete remove cancel clear trash kill revoke drop wipe erase rm purge destroy uninstall overwrite reset".split()
)
REACHES_OUT = frozenset(
    """send transfer pay post publish share forward reply tweet retweet repost invite purchase buy order withdraw charge
    refund submit donate dispatch broadcast release deploy""".split()
)
ADDS = frozenset("create add append insert schedule register book reserve place write draft upload refuel".split())
_GENERIC = frozenset("make do perform run process execute issue initiate place".split())
"""Verbs that say nothing by themselves: their object does."""
_VERBS = frozenset().union(*LEXICON.values())

_TELLING = frozenset({"<DATE>", *(f"<{name}>" for name in names_where(lambda type_: type_.is_certain))})
"""Types whose name in a message is always right; for others it depends on where the value was first seen."""
_TIME = re.compile(TIME_PATTERN, re.IGNORECASE)
_QUOTE = re.compile(r"(['\"])([^'\"]{1,40})\1")
_NUMBER = re.compile(r"(?<![\w<%.])-?\d(?:[\d,.]*\d)?(?![\w>])(?! (?:validation|required|positional|missing)\b)")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+(?=\S)|(?<=[。！？])|\s*[;\n]|\s/\s")
_QUOTED_WORDS = re.compile(
    r"(?<![\w>)])(['\"`])[^\s'\"`]+(?:\s+[^\s'\"`]+){2,}\1(?!\w)|«[^«»]*»|“[^“”]*\s[^“”]*\s[^“”]*”"
)
"""Several words that a message quotes are somebody's, and no name of an argument or a class."""
# Pydantic's format: a title, then field, complaint and value, one per line.
_VALIDATOR = re.compile(r"^.*?\d+ validation errors? for .*? / ([\w.]+) / ([^\[\]/]+?)\s*(?:\[type=.*)?$")
_VALIDATED = re.compile(r"(?<=: )<\w+>(?= should be)")
_SAY_NOTHING = frozenset("id ids uuid name names value values number numbers argument to of by for in at on".split())
"""Words that complaints use about any argument, and that argument names contain besides their own."""


class Fact(NamedTuple):
    """One thing that calls show about a function."""

    kind: str
    """A key of SENTENCES."""
    weight: int
    """The calls or runs that show it."""
    values: Mapping[str, Any]

    def __str__(self) -> str:
        return line(SENTENCES[self.kind].format(**{name: _in_words(value) for name, value in self.values.items()}))


@cache
def read_sentences(file: str) -> dict[str, dict[str, str]]:
    """The sentences of cards, by what they are about: `file`.toml has them."""
    return tomllib.loads(files("contramem.mining").joinpath(f"{file}.toml").read_text(encoding="utf-8"))


def fact(kind: str, weight: int, **values: Any) -> Fact:
    return Fact(kind, weight, values)


def line(text: str) -> str:
    """The text, cut to what a line of a card may hold."""
    return text if len(text) <= MAX_LINE_CHARS else text[: MAX_LINE_CHARS - 1].rstrip() + "…"


def _in_words(value: Any) -> str:
    if isinstance(value, tuple):
        return f"{value[0]} of {value[1]}"
    return join_list(sorted(value)) if isinstance(value, frozenset) else str(value)


def runs(count: int) -> str:
    return f"{count} run{'' if count == 1 else 's'}"


def code(name: str) -> str:
    """A name as it is written in a program."""
    return f"`{name}`"


def join_list(items: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`; empty without items."""
    return f"{', '.join(items[:-1])} {last} {items[-1]}" if len(items) > 1 else "".join(items)


def verb_of(name: str) -> str:
    """The word of a function's name that says what it does: the first known verb, else the first word."""
    named = words(name)
    return next((word for word in named if word in _VERBS), named[0] if named else name.lower())


def effect_of_name(name: str) -> str:
    """`destroys` or `reaches out`, if the name says so; empty otherwise."""
    verb, named = verb_of(name), set(words(name))
    if verb in DESTROYS:
        return "destroys"
    is_dealing = verb in _GENERIC and not REACHES_OUT.isdisjoint(named | {_stem_of_noun(word) for word in named})
    return "reaches out" if verb in REACHES_OUT or is_dealing else ""


def does_more_each_time(name: str) -> bool:
    """Does a function, by its name, add something or reach somebody again whenever it is repeated?"""
    return verb_of(name) in ADDS or effect_of_name(name) == "reaches out"


def _stem_of_noun(word: str) -> str:
    """`payment`: pay."""
    return word.removesuffix("ment")


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
    return re.sub(r"\b(numbers?) as text", r"\1 written as text", confirm_form(name, form, "code-like text"))


def pattern_in_words(name: str, form: str, best: str = "") -> str:
    """A form beside the `best` one. Mixed letters and digits are not called "identifier" if numbers are the right
    form."""
    if form in ("identifier", "text") and best == "number as text":
        return "other text"
    return date_pattern(form) or form_in_words(name, form)


def size_in_words(kind: FormKind, sizes: Sequence[int]) -> str:
    """How many items lists usually contain; empty if there is nothing to say."""
    if not sizes or kind not in ("list", "map"):
        return ""
    one, many = ("item", "items") if kind == "list" else ("entry", "entries")
    median = sorted(sizes)[len(sizes) // 2]
    if median <= 1:
        return f"; usually one {one}" if max(sizes) > 1 else f"; one {one} each time"
    return f"; usually {'a few' if median <= 5 else 'many'} {many}"


# Errors. Their text was written by whatever the agent talked to: contrast/repeatable.py decides what may be quoted.


def complaints_of(failed: Sequence[Observation]) -> dict[str, list[Observation]]:
    """Failed calls by complaint. `<VALUE> not found` and `Channel <ID> not found` are the same: what is a value in one
    task may be part of the wording in another."""
    groups: dict[str, list[Observation]] = {}
    for call in failed:
        groups.setdefault(generalize(mask_given(call.arguments, call.error)), []).append(call)
    # Most general first, so that it absorbs the others.
    for general in sorted(groups, key=lambda text: (count_own_words(text), text)):
        if general not in groups or count_own_words(general) <= MIN_LITERAL_WORDS or not PLACEHOLDER.search(general):
            continue
        parts = [re.escape(part.strip()) for part in PLACEHOLDER.split(general)]
        pattern = re.compile(r"\s*.{0,40}?\s*".join(parts))
        members = {text: groups.pop(text) for text in list(groups) if pattern.fullmatch(text)}
        # A wording without a placeholder contains a value where the others have one.
        shared = [text for text in members if _count_tasks(members[text]) > 1 and PLACEHOLDER.search(text)]
        best = min(shared, key=lambda text: (-count_own_words(text), -text.count("<VALUE>"), text), default=general)
        groups[best] = [call for made in members.values() for call in made]
    return groups


def _count_tasks(calls: Iterable[Observation]) -> int:
    return len({call.task_key for call in calls})


def mask_given(arguments: Mapping[str, Any], error: str) -> str:
    """The complaint of a call without words from its own arguments: words of closed vocabularies stay readable in
    arguments, but they are values here."""
    given = {value for _, value in scalars(arguments) if isinstance(value, str) and len(value) > 1}
    for value in sorted(given, key=lambda value: (-len(value), value)):
        if value in error and not PLACEHOLDER.fullmatch(value):
            error = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "<VALUE>", error)
    return error


@lru_cache(maxsize=4096)  # tools say the same again and again
def generalize(template: str) -> str:
    """The first sentence of a message, without dates, numbers and placeholder types that may be wrong."""
    template = _VALIDATOR.sub(r"\1: \2", template)
    if permitted := find_allowed_values(template):  # the card lists them with the argument
        template = f"{template[: permitted.start]}<VALUE>{template[permitted.end :]}"
    template = _QUOTED_WORDS.sub("<VALUE>", _VALIDATED.sub("Input", template))
    first = _SENTENCE_END.split(template.strip(), maxsplit=1)[0].strip()
    # `may` is a month and a verb: outside quotes, a date must contain digits.
    dated = _QUOTE.sub(lambda match: f"{match[1]}<DATE>{match[1]}" if _TIME.search(match[2]) else match[0], first)
    dated = _TIME.sub(lambda match: "<DATE>" if re.search(r"\d", match[0]) else match[0], dated)
    typed = PLACEHOLDER.sub(
        lambda match: match[0] if match[0] in _TELLING else "<VALUE>", _NUMBER.sub("<VALUE>", dated)
    )
    return re.sub(r"<VALUE>(?:[ ,]*<VALUE>)+", "<VALUE>", typed)


@lru_cache(maxsize=1 << 12)  # one error is compared with the names of many functions
def stems(text: str) -> frozenset[str]:
    """The beginnings of the words of a text or name: `locked` and `lockDoors` share one."""
    return frozenset(word[:4] for word in words(re.sub(r"<[^<>]*>", " ", text)))


@lru_cache(maxsize=1 << 12)
def named_arguments(error: str, arguments: tuple[str, ...]) -> frozenset[str]:
    """The arguments that a complaint mentions: `Assignee email not valid` mentions `assigned_to_email`."""
    spoken = stems(error)
    own = {name: {word[:4] for word in words(name) if word not in _SAY_NOTHING and len(word) > 1} for name in arguments}
    return frozenset(
        name
        for name in arguments
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", error) or (own[name] and spoken.issuperset(own[name]))
    )


def asks_for(error: str, function: str) -> bool:
    """Does a complaint mention what another function does? `has not been verified` mentions `verify_insurance`."""
    return verb_of(function.partition(".")[2])[:4] in stems(error)
