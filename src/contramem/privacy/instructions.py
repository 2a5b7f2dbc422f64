"""Prompt injections: text in an observation that instructs its reader where it should only describe.

Tools constantly tell an agent what to do (`You must log in first`), and people ask each other for things in mail.
Planted text gives itself away by talking to an agent about its work: it overrides earlier instructions, talks about the
task, or imitates a system message. These phrasings are searched for, never the words of a particular attack.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick, MatchKind

from contramem.privacy.instruction_forms import FORMS, InstructionForm
from contramem.privacy.look_alikes import fold_look_alikes
from contramem.traces.characters import remove_hidden

MAX_GAP_CHARS = 400
"""Cues further apart do not support each other: by chance, a long document contains all of them."""
MAX_TAIL_CHARS = 600
"""How far a passage may continue after its last cue."""
MAX_SCANNED_CHARS = 200_000
MAX_KEPT_CHARS = 50_000
"""Longer texts are parsed again each time instead of being cached."""

_ANCHORED = [(anchor, form) for form in FORMS for anchor in form.anchors.split(",") if anchor]
_ANCHORS = AhoCorasick([anchor for anchor, _ in _ANCHORED], matchkind=MatchKind.Standard)
_BEFORE_ANCHOR, _AFTER_ANCHOR = 120, 240
ENOUGH = 2


class Cue(NamedTuple):
    """A place where a phrasing occurs."""

    start: int
    end: int
    weight: int
    name: str


class ParsedText(NamedTuple):
    """A text split into what instructs and what describes."""

    passages: tuple[str, ...]
    """The passages that instruct."""
    rest: str
    """The rest, which describes."""
    why: tuple[str, ...] = ()
    """The cues, in words."""


def instructs(text: str) -> bool:
    """Does any part of `text` tell an agent what to do, rather than describe something?"""
    return bool(read(text).passages)


def overrides(text: str) -> str | None:
    """How `text` tries to take over an agent, in words; None for any other text, imperative or not."""
    return _find_override_once(text) if len(text) <= MAX_KEPT_CHARS else _find_override(text)


def _find_override(text: str) -> str | None:
    folded = fold_case(plain_text(text[:MAX_SCANNED_CHARS]))
    near = _windows(folded)
    strong = [form for form in FORMS if form.weight == ENOUGH and form in near]
    return next((form.name for form in strong if form.pattern.search(folded)), None)


_find_override_once = lru_cache(maxsize=1024)(
    _find_override
)  # a card's text is checked with every task that teaches it


def read(text: str) -> ParsedText:
    """Split a text into what instructs and what describes. Escapes and folded lines are undone first, so nothing can
    hide."""
    return _read_once(text) if len(text) <= MAX_KEPT_CHARS else _read_any(text)


# Never needed to report what happened: links, images, markup, hosts spelled out, machines, home folders.
_NOT_A_MESSAGE = re.compile(
    r"!\[|\[[^\]\n]*\]\(|<\w+[^<>]*=|\{\{|\{%|\$\{|={4,}|#{4,}"
    r"|\w+ ?(?:\(at\)|\[at\]| at ) ?\w+ ?(?:\(dot\)|\[dot\]| dot ) ?\w+"
    r"|\b\w+ (?:dot|punto|point|punkt) (?:com|org|net|io)\b|hxxps?|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[A-Za-z]:\\|\\\\\w"
    r"|(?:^|[\s'\"(=:/])(?:/home/|/Users/|~/|/root/)|\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b",
    re.IGNORECASE,
)
# Orders to move things or disclose secrets: out of place in an error message, in any language.
_ORDERS = re.compile(
    r"\b(?:wire|transfer|send|forward|pay|remit|upload|e-?mail|share|reveal|disclose|exfiltrate|post|submit|grant|disable|"
    r"transfiere|env[ií]a|envie|paga|überweise|sende|schicke|virez|envoyez|versez|invia|trasferisci|bonifica|stuur|"
    r"przelej|wyślij|переведи\w*|отправь\w*|перешли\w*|gönder|aktar)\s+(?:\S+\s+){0,6}?(?:to|a|an|para|à|al|naar|na|на|"
    r"every|all|todo|todos|alle|tout|tutto|все|всё|your|the\s+(?:password|secret|token|key|balance|funds?|money))\b"
    r"|转账|汇款|发送到|轉帳|送金|転送|송금|보내|حوّ?ل|أرسل|भेज|ট্রান্সফার",
    re.IGNORECASE,
)


def is_plain_message(text: str) -> bool:
    """Could a program have said this about a call, or a manual about a function? Decided by structure: no links,
    markup, disguised hosts, or addresses of machines or people, and a single script."""
    if _NOT_A_MESSAGE.search(plain_text(text)):
        return False
    return text.isascii() or fold_look_alikes(text) == unicodedata.normalize("NFKC", text)


def orders(text: str) -> bool:
    """Does the text order its reader to move, send or disclose something? Manuals may do so honestly, errors may
    not."""
    return _ORDERS.search(plain_text(text)) is not None


LEFT_OUT = "<INSTRUCTION LEFT OUT>"
"""Replaces, in a prompt, a passage that talks to an agent about its work."""


def without_instructions(text: str) -> str:
    """`text` with its instructing passages replaced by a mark; `text` itself if there are none."""
    reading = read(text) if text else ParsedText((), "")
    if not reading.passages:
        return text
    rest = " ".join(piece for piece in reading.rest.split("\n") if piece.strip())
    return f"{rest} {LEFT_OUT}".strip()


def _read_any(text: str) -> ParsedText:
    plain = plain_text(text[:MAX_SCANNED_CHARS])
    passages, pieces, why, done = [], [], [], 0
    for start, end, cues in _passages(plain):
        start = max(start, done)
        passages.append(plain[start:end])
        pieces.append(plain[done:start])
        why += [cue.name for cue in cues]
        done = max(done, end)
    return ParsedText(tuple(passages), "\n".join([*pieces, plain[done:]]), tuple(dict.fromkeys(why)))


_read_once = lru_cache(maxsize=1024)(_read_any)  # runs of one task mostly see the same results


_FOLDED_LINE = re.compile(r"\\\n[ \t]*\\?")
_ESCAPED_BREAK = re.compile(r"(?:\\r)?\\n")


def plain_text(text: str) -> str:
    """`text` as a reader sees it: without YAML, JSON or repr escapes and without invisible characters."""
    if "\\" in text:  # which few texts have
        text = _ESCAPED_BREAK.sub("\n", _FOLDED_LINE.sub("", text)).replace('\\"', '"')
    text = text.replace("''", "'")
    if not text.isascii():
        text = fold_look_alikes(remove_hidden(text)).replace("\u2019", "'")
    return text


def fold_case(text: str) -> str:
    """Lower case of equal length, so that positions also apply to the original. Only the lower case of a dotted capital
    I is longer than the letter itself; without its dot, a small one is read as an i too."""
    return text.lower() if text.isascii() else text.replace("\u0130", "i").lower().replace("\u0131", "i")


def _passages(text: str) -> Iterator[tuple[int, int, list[Cue]]]:
    for cues in _clusters(text, _cues(text)):
        names = {cue.name for cue in cues}
        telling = {cue.name for cue in cues if cue.weight == 1}
        if any(cue.weight == ENOUGH for cue in cues) or (telling and len(names) >= 2):
            yield *_reach(text, cues), cues


def _cues(text: str) -> list[Cue]:
    folded = fold_case(text)
    telling = [
        cue
        for form, windows in _windows(folded).items()
        for cue in _matches(form, folded, [window for window in windows if form.may_match(folded[slice(*window)])])
    ]
    if not telling:
        return []
    around = _merge([(cue.start - MAX_GAP_CHARS, cue.end + MAX_GAP_CHARS) for cue in sorted(telling)])
    supporting = [cue for form in FORMS if form.weight == 0 for cue in _matches(form, folded, around)]
    return sorted(telling + supporting)


def _windows(folded: str) -> dict[InstructionForm, list[tuple[int, int]]]:
    """The stretches in which each phrasing could match, given its anchors."""
    near: dict[InstructionForm, list[tuple[int, int]]] = {}
    for index, start, end in _ANCHORS.find_matches_as_indexes(folded, overlapping=True):
        near.setdefault(_ANCHORED[index][1], []).append((start - _BEFORE_ANCHOR, end + _AFTER_ANCHOR))
    return {form: _merge(sorted(windows)) for form, windows in near.items()}


def _merge(windows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in windows:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((max(0, start), end))
    return merged


def _matches(form: InstructionForm, folded: str, windows: list[tuple[int, int]]) -> Iterator[Cue]:
    for start, end in windows:
        for match in form.pattern.finditer(folded, start, end):
            yield Cue(match.start(), match.end(), form.weight, form.name)


# The next field of a record, or the end of a quoted value: planted text fills a value and never extends beyond it.
_FIELD_EDGE = re.compile(r"\n[ \t]*(?:- )?[a-z_]\w{0,30}:(?:\s|$)|['\"]\s*[,}\]]\s*['\"{\n]")
_PARAGRAPH_EDGE = re.compile(r"\n[ \t]*\n")
_OPENING_TAG = re.compile(r"<\s*([A-Za-z_]+)[^<>/]{0,40}>")


def _clusters(text: str, cues: list[Cue]) -> Iterator[list[Cue]]:
    """Groups of cues that are near each other and in the same value."""
    cluster: list[Cue] = []
    end = 0
    for cue in cues:
        if cluster and (cue.start - end > MAX_GAP_CHARS or _FIELD_EDGE.search(text, end, cue.start)):
            yield cluster
            cluster, end = [], 0
        cluster.append(cue)
        end = max(end, cue.end)
    if cluster:
        yield cluster


def _reach(text: str, cues: list[Cue]) -> tuple[int, int]:
    """From the paragraph of the first strong cue to the closing tag, the end of the value, or a few lines further."""
    first, last = min(cue.start for cue in cues if cue.weight), max(cue.end for cue in cues)
    tag = _OPENING_TAG.search(text, max(0, first - 60), first + 60)
    closing = re.compile(rf"</\s*{tag.group(1)}\s*>", re.IGNORECASE).search(text, tag.end()) if tag else None
    if tag is not None and closing is not None:
        return min(tag.start(), first), max(closing.end(), last)
    edges = (*_FIELD_EDGE.finditer(text, 0, first), *_PARAGRAPH_EDGE.finditer(text, 0, first))
    start = max((edge.end() for edge in edges), default=0)
    edge = _FIELD_EDGE.search(text, last)
    return start, min(edge.start() if edge else len(text), last + MAX_TAIL_CHARS)
