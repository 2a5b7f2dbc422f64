"""What of the words in a trace a card may repeat. This is the one place that decides.

A card names functions, arguments and fields, uses words of closed vocabularies, and says the rest in sentences of ours.
Two kinds of text are repeated: the message of a program and the first sentence of a manual. Both were written by
whatever the agent talked to, so both must describe and not instruct, in words that are English, of programs or of the
interface. Any other word may be somebody's name, place or password: in a message it becomes `<VALUE>`, and a manual
that contains one is not repeated.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from contramem.contrast.english import FUNCTION_WORDS, stem
from contramem.contrast.instructions import instructs, is_plain_message, orders
from contramem.contrast.placeholder_types import BY_NAME, ROLES
from contramem.contrast.program_message import (
    MAX_STRANGE_WORDS,
    count_strange_words,
    has_foreign_word,
    is_program_message,
    is_written_in_words,
    mask_foreign_words,
)
from contramem.traces.effects import LEXICON, words

MAX_QUOTED_CHARS = 120
MIN_LITERAL_WORDS = 2
"""A template with fewer words of its own says nothing and would match everything."""
MAX_OTHER_WORDS = 1
MIN_TASKS = 2
"""That show a message: fewer may be one person's words."""
MAX_RARE_WORDS = 8
"""Of a message that one task alone shows, or that does not say what is wrong: a complaint takes few words, and nothing
bears out what more of them say."""

MAX_STATED_WORDS = 8
"""After the name of an error, where only a word such as `closed` says that something is wrong. More of them may say
anything besides."""
MAX_DEMAND_WORDS = 14
"""After the name of an error: `payment method should be either the original payment method or a gift card`."""
MAX_BARE_WORDS = 4
"""After the name of an error, as many words are a complaint whatever they are: `math domain error`."""
MAX_LISTED_WORDS = 4
"""In what follows a complaint after a comma: more of them are another statement."""
MAX_MASKED_WORDS = 1
"""Of a message that refuses nothing: where more words are neither English nor of the interface, it tells a story."""

_BROKEN_OFF = re.compile(
    r"\b(?:a|an|the|of|and|or|with|from|by|your|its|be|been|must|that|is|are|was|were|when|if|which|than|as|for|to|at)\W*$",
    re.IGNORECASE,
)
"""The first half of what somebody divided over several fields. `not logged in` is whole."""
KINDS = "|".join((*BY_NAME, "DATE", "VALUE"))
"""What a placeholder in a template may be called."""
PLACEHOLDER = re.compile(rf"<(?:(?:{KINDS})(?:_\d+)?\|?)+>")
_PROGRAM = re.compile(
    r"(?:[\w.]*(?:Error|Exception|Warning|Failure|Fault)\b[^:]{0,30}|(?:HTTP |status )?[45]\d\d\b.{0,30}): ?\S"
)
_FAILURE = re.compile(
    r"\b(?:not (?:found|authenticated|authorized|logged in|allowed|available|supported|exist)|no such|no \w+ is|cannot|"
    r"can't|could not|invalid|failed|missing|required|already|denied|unable|unauthorized|forbidden|expired|exceeds?|"
    r"insufficient|unknown|unsupported|unexpected|out of range|timed out|does not|must be|input should be)\b",
    re.IGNORECASE,
)
"""What programs say when they refuse."""
_PROBLEM = re.compile(
    r"\b(?:no|not|n't|never|only|without|error|wrong|bad|too|expected|got|exists?|conflict|limit|must|should|illegal|broken|"
    r"outside|empty|duplicate|mismatch|unable|refused|rejected|object|argument|value|type|out of|closed|locked)\b",
    re.IGNORECASE,
)
"""What else says that something is wrong, after the name of an error."""
_DEMAND = re.compile(
    r"\b(?:(?:must|should) (?:be|not|match|equal|have|contain)|(?:has|have|needs?) to be)\b", re.IGNORECASE
)
"""How programs say what they would have taken."""
_DIVIDER = re.compile(r"[,;]\s|\s(?:[-–—]+|and|but|so|while)\s|\s\(|$")
_PREFIX = re.compile(r"^(?:[\w.]*(?:Error|Exception|Warning|Failure|Fault)\b[^:]{0,30}|[\w.]+): ")
_ADDRESSED = re.compile(
    r"https?:|www\.|(?:^|[/.:] )(?:human|user|assistant|system): |<(?!(?:"
    + KINDS
    + r")\b)|\b(?:ignore|disregard|important|urgent|urgently|instructions?|assistant|"
    r"please|prompt|(?:would|could|will|can) you|you (?:must|should|need|have to|will|can|are(?! not))|"
    r"your (?:task|goal|job)|make sure|first,)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"(?<![\w'\"=-])I(?:['’](?:m|ve|ll|d))? (?=[a-z])")
"""Programs have no `I`. Small, it is an index."""
_CODE = re.compile(r"(?<!Error)(?<!Exception)(?<!Warning)(?<=\w)\(\s*['\"]|;\s*[A-Za-z_]\w*\(")
"""A call with a text, or one statement after another: `notify('all'); wipe(logs)`. Only errors are written so."""
_SHOUTED = re.compile(r"(?:\b[A-Z]{2,}\b[^\w<]+){3}[A-Z]{2,}\b")
"""A sentence in capitals, as in a telegram: what it orders cannot be told from what it says."""
_COMMANDS = "|".join(sorted(LEXICON["write"] | {"visit", "click", "go", "call", "email", "tell", "give", "say"}))
_IMPERATIVE = re.compile(
    rf"^(?:{_COMMANDS}) (?:a|an|the|all|any|this|that|these|your|my|our|to|it|me|us|money|<)", re.IGNORECASE
)
_SENTENCE = re.compile(r"(.+?[.!?])(?:\s|$)", re.DOTALL)
_VERBS = frozenset(stem(verb) for verbs in LEXICON.values() for verb in verbs)


def quote_refusal(template: str, seen_in_tasks: int, interface: Iterable[str] = ()) -> str:
    """What a card may repeat of an error: as of any message, if it says in some word that something is wrong, what has
    to be done first, or how it stands with something that the interface knows."""
    interface = tuple(interface)
    said = PLACEHOLDER.sub(" ", template)
    is_complaint = any(form.search(said) for form in (_FAILURE, _PROBLEM, _DEMAND))
    is_complaint = is_complaint or _is_complaint(template, count_own_words(template))
    is_complaint = is_complaint or _asks_for_step(said, interface) or _states_of(said, interface)
    if not is_complaint or (seen_in_tasks < MIN_TASKS and not _is_about_call(said, interface)):
        return ""
    return quote_message(template, seen_in_tasks, interface)


def _is_about_call(said: str, interface: Iterable[str]) -> bool:
    """Does it refuse in words of the interface and of refusals, as `Email not found` does, with one other at most, as
    in `quota exceeded`? Whatever else a single task brings (`deposits must be returned in cash`) may be anybody's."""
    if _STATEMENT_BEFORE.match(_PREFIX.sub("", said)):
        return False
    known = _OF_REFUSALS.union(stem(part) for name in interface for part in words(name))
    found = _STEP_WORD.findall(_PREFIX.sub("", said).lower())
    others = [word for word in found if word not in FUNCTION_WORDS and stem(word) not in known]
    return len(others) <= MAX_OTHER_WORDS


def _asks_for_step(said: str, interface: Iterable[str]) -> bool:
    """Does it ask for something first, in words of the interface alone: `Read the mail first.` of `Mail.read`?"""
    found = _STEP_WORD.findall(said.lower())
    asked = [word for word in found if word not in FUNCTION_WORDS and word not in _ORDER]
    if not asked or _ORDER.isdisjoint(found):
        return False
    named = {part for name in interface for part in words(name)}
    return all(any(part.startswith(word) or stem(part) == stem(word) for part in named) for word in asked)


def _states_of(said: str, interface: Iterable[str]) -> bool:
    """Does it say in a few words how it stands with something of the interface: `crate <VALUE> is reserved`?"""
    match = _STATE.fullmatch(_PREFIX.sub("", said).strip())
    named = {stem(part) for name in interface for part in words(name)}
    return match is not None and stem(match[1].lower()) in named


_STATE = re.compile(
    r"(?:the |this )?([^\W\d_]+)(?: [^\W\d_]+)?\s+(?:is|are|was|has)(?:\s+[^\W\d_]+){1,4}\s*\.?", re.IGNORECASE
)
_STATEMENT_BEFORE = re.compile(r"\s*\w+(?: \w+){2,}: .*?[a-z]{2,} [a-z]{2,}")
"""`never charge guests: record is locked`: a complaint comes after the name of an argument, not after a sentence."""
_OF_REFUSALS = frozenset(
    map(
        stem,
        """account allowed already argument array authenticated authorized available bad boolean broken cannot channel
        closed conflict convert data date denied dictionary duplicate email empty enough error exceed exist
        expected expired failed field float forbidden found full got illegal input insufficient integer
        invalid item limit list locked logged login message mismatch missing not null number object outside
        page parameter parse password product range record refused rejected remain request required same
        session string such supported t text time timed too unable unauthorized unconverted unexpected
        unknown unsupported valid workspace wrong""".split(),
    )
).union(map(stem, frozenset().union(*ROLES.values())))
"""With which programs refuse: what is wrong, and what things have: an id, a name, an owner."""
_STEP_WORD = re.compile(r"[^\W\d_]+")
_ORDER = frozenset("first before please".split())


def quote_message(template: str, seen_in_tasks: int, interface: Iterable[str] = ()) -> str:
    """What a card may repeat of a message, values left out; empty if it is none of a program, or only one task shows a
    long one. `interface`: names of functions, arguments and fields."""
    own_words = count_own_words(template)
    if len(template) > MAX_QUOTED_CHARS or "`" in re.sub(r"`[\w.]+`", "", template) or not _describes(template):
        return ""
    interface = frozenset(interface)
    if not is_program_message(template, interface):
        return ""
    is_complaint = _is_complaint(template, own_words)
    is_rare = seen_in_tasks < MIN_TASKS
    says_what_is_wrong = is_complaint or _DEMAND.search(template)
    if own_words > (MAX_DEMAND_WORDS if says_what_is_wrong and not is_rare else MAX_RARE_WORDS):
        return ""
    if (is_rare or _PROGRAM.match(template)) and not is_complaint:
        return ""
    quoted = mask_foreign_words(template, interface)
    masked = len(PLACEHOLDER.findall(quoted)) - len(PLACEHOLDER.findall(template))
    if masked > MAX_MASKED_WORDS and not is_complaint:
        return ""
    quoted = _quote_one_statement(quoted)
    is_whole = not _BROKEN_OFF.search(PLACEHOLDER.sub("0", quoted))
    return quoted if is_whole and count_own_words(quoted) >= MIN_LITERAL_WORDS else ""


def _quote_one_statement(message: str) -> str:
    """The message up to where it goes on with something else than its complaint: `Input should be <VALUE>, unsold seats
    go to <EMAIL>`. Empty if it says something else first. What it lists belongs to the complaint."""
    complaints = [match.end() for form in (_FAILURE, _PROBLEM, _DEMAND) if (match := form.search(message))]
    end = start = 0
    for divider in _DIVIDER.finditer(message):
        if complaints and count_own_words(message[start : divider.start()]) > MAX_LISTED_WORDS:
            if divider.start() < min(complaints):
                return ""
            if start > min(complaints):
                return message[:end]
        end, start = divider.span()
    return message


def _is_complaint(template: str, own_words: int) -> bool:
    """Does a message say what is wrong? The name of an error before a statement is not enough: anybody can write it."""
    said = PLACEHOLDER.sub(" ", template)
    is_stated = own_words <= MAX_STATED_WORDS and _PROBLEM.search(said)
    is_demanded = own_words <= MAX_DEMAND_WORDS and _DEMAND.search(said)
    is_error = _PROGRAM.match(template) and (own_words <= MAX_BARE_WORDS or is_stated or is_demanded)
    return bool(_FAILURE.search(said) or is_error)


def quote_manual(description: str, function: str, arguments: Collection[str]) -> str:
    """The first sentence of a function's documentation, if it speaks of the function: it shares a word with its name or
    arguments, or opens with a verb. Empty for any other text."""
    text = " ".join(description.split())
    match = _SENTENCE.match(text)
    first = match[1] if match else text
    names = (function, *arguments)
    own = {stem(word.lower()) for name in names for word in words(name)}
    stems = [stem(word.lower()) for word in words(first)]
    is_about_it = not own.isdisjoint(stems) or (bool(stems) and stems[0] in _VERBS)
    is_strange = count_strange_words(first, names) > max(MAX_STRANGE_WORDS, len(stems) // 3)
    if (
        not is_written_in_words(first)
        or is_strange
        or not is_about_it
        or is_addressed(first)
        or has_foreign_word(first, names)
        or _LONG_NUMBER.search(first)
    ):
        return ""
    return first


_LONG_NUMBER = re.compile(r"\d{5,}|\d{3}[- ]\d{3}")
"""What a function does takes none; `ISO 8601` and `port 8080` are shorter."""


def count_own_words(template: str) -> int:
    """Words of a message beside its values and the name of its error."""
    return len(re.findall(r"[A-Za-z]{2,}", PLACEHOLDER.sub("", _PREFIX.sub("", template))))


def is_addressed(text: str) -> bool:
    """Does the text address its reader, speak of its writer or point somewhere, instead of describing something?"""
    return _ADDRESSED.search(text) is not None or _FIRST_PERSON.search(text) is not None


def _describes(template: str) -> bool:
    if not is_plain_message(template) or orders(template) or instructs(template) or is_addressed(template):
        return False
    if _CODE.search(template) or _SHOUTED.search(template):
        return False
    return not (_IMPERATIVE.match(template) or _IMPERATIVE.match(_PREFIX.sub("", template)))
