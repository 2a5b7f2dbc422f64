"""Text that instructs whoever reads it, where it should only describe: a prompt injection in an observation.

Tools tell an agent what to do all the time (`You must log in first`), and people ask each other for things in mails.
What gives planted text away is that it speaks to an agent about its work: it sets aside what the agent was told, talks
about the task, imitates a system message. Such forms are looked for, never the words of a particular attack.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick, MatchKind

from contramem.contrast.look_alikes import fold_look_alikes
from contramem.contrast.values import EMAIL_PATTERN, IBAN_PATTERN, URL_PATTERN
from contramem.traces.characters import remove_hidden

MAX_GAP_CHARS = 400
"""Cues further apart than this do not support each other: a long document has room for all of them by chance."""
MAX_TAIL_CHARS = 600
"""How far past its last cue a passage may go on."""
MAX_SCANNED_CHARS = 200_000
MAX_KEPT_CHARS = 50_000
"""Readings of longer texts are not kept for the next run that shows the same."""

_AI = (
    r"(?:ai(?:\s+(?:models?|agents?|assistants?|systems?|bots?))?|artificial\s+intelligence|llms?"
    r"|(?:large\s+)?language\s+models?|chat\s?bots?)"
)
_WORKER = rf"(?:{_AI}|assistants?|agents?|gpt[\w.\-]*|claude|gemini|llama|copilot)"
_GIVEN = r"(?:instructions?|prompts?|rules?|directions?|directives?|guidelines?|commands?|programming|training)"
_TASK = r"(?:tasks?|requests?|questions?|quer(?:y|ies)|instructions?|goals?|objectives?|conversation)"


class InstructionForm(NamedTuple):
    """A form of words that instructions have."""

    name: str
    anchors: str
    """Words, parted by commas, one of which stands in every match: the pattern is tried only near them."""
    pattern: re.Pattern[str]
    weight: int
    """2: enough alone. 1: about an agent's work, enough with one more near it. 0: in honest mails and errors too."""


def _form(name: str, weight: int, anchors: str, pattern: str) -> InstructionForm:
    return InstructionForm(name, anchors, re.compile(pattern, re.IGNORECASE | re.MULTILINE), weight)


# Setting aside what was told, in other languages: a verb and a noun of one pair in one sentence, in whatever order.
_SET_ASIDE = (
    ("ignor olvid descart desatiend", "instruccion órdenes ordenes reglas indicaciones"),
    ("ignor esqueç esquec desconsider descart", "instruç instrucoes ordens regras orientaç"),
    ("ignor oubli néglig", "les+instructions vos+instructions tes+instructions instructions+précédentes consignes"),
    ("ignorier vergiss vergessen missachte verwirf", "anweisung instruktion vorgaben befehle regeln aufgabe"),
    ("ignora dimentica trascura", "istruzion ordini regole comandi"),
    ("negeer vergeet", "instructie opdracht aanwijzing regels"),
    ("ignoruj zignoruj zapomnij pomiń", "instrukcj poleceni wytyczn"),
    ("ignorera glöm ignorer glem bortse", "instruktion instruks anvisning regler"),
    ("ignoruj zapomeň ignorujte", "pokyn instrukc příkaz"),
    ("ignoră ignora uită", "instrucțiuni instructiuni"),
    ("игнорир проигнорир забуд", "инструкци указани команд правил"),
    ("ігнор проігнор забуд", "інструкці вказівк команд"),
    ("αγνόησε αγνοήστε ξέχασε", "οδηγίες εντολές"),
    ("yoksay görmezden unut dikkate", "talimat komut yönerge"),
    ("abaikan lupakan", "instruksi perintah"),
    ("bỏ+qua phớt+lờ quên", "hướng+dẫn chỉ+dẫn lệnh"),
    ("忽略 无视 忽视 忘记 無視 忘記 忽視 不要理会", "指令 指示 说明 說明 命令 规则 規則 提示"),
    ("無視 忘れ", "指示 命令 指令 ルール"),
    ("무시 잊", "지시 명령 지침"),
    ("تجاهل انس اهمل", "تعليمات التعليمات أوامر الأوامر"),
    ("نادیده فراموش", "دستور دستورات"),
    ("התעלם תתעלם", "הוראות ההוראות"),
    ("अनदेखा नज़रअंदाज़ नजरअंदाज भूल", "निर्देश आदेश"),
    ("উপেক্ষা ভুলে", "নির্দেশ"),
    ("ละเว้น เพิกเฉย", "คำสั่ง คำแนะนำ"),
    ("puuza sahau", "maagizo"),
)


def _set_aside_pattern() -> str:
    pairs = []
    for verbs, nouns in _SET_ASIDE:
        verb, noun = (
            "|".join(re.escape(stem).replace(r"\+", r"\s+") for stem in stems.split()) for stems in (verbs, nouns)
        )
        pairs += [rf"(?:{verb})[^.!?。！？\n]{{0,60}}?(?:{noun})", rf"(?:{noun})[^.!?。！？\n]{{0,40}}?(?:{verb})"]
    return "(?:^|(?<=[^A-Za-z]))(?:" + "|".join(pairs) + ")"


_SET_ASIDE_ANCHORS = ",".join(sorted({verb.partition("+")[0] for verbs, _ in _SET_ASIDE for verb in verbs.split()}))


_FORMS = (
    _form(
        "sets aside what was told",
        2,
        "ignore,disregard,forget,override,bypass,discard,follow",
        r"\b(?:ignore|disregard|forget|override|bypass|discard|do\s+not\s+follow|don't\s+follow)\s+(?:\w+\s+){0,3}?"
        r"(?:(?:previous|prior|above|earlier|preceding|former|original|other|existing|initial|system|all|any|your|"
        rf"everything|anything)\s+)+(?:\w+\s+){{0,2}}?(?:{_GIVEN}|tasks?\b|you\s+(?:were|have\s+been|know))",
    ),
    _form("sets aside what was told in another language", 2, _SET_ASIDE_ANCHORS, _set_aside_pattern()),
    _form(
        "imitates a chat template",
        2,
        "inst],<|,sys>>,override,=====,#####,{{,{%,<%,im_start,begin",
        r"\[/?INST\]|<\|[a-z_]{2,20}\|>|<</?SYS>>|\bsystem\s+override\b"
        r"|^[ \t]*([=#*~-])\1{3,}\s*(?:end of |begin |new )?"
        r"(?:data|system|instructions?|prompt|user|assistant|context)\b.{0,20}$"
        r"|\{\{[^{}\n]{1,200}\}\}|\{%[^\n]{1,200}%\}|<%[^\n]{1,200}%>",
    ),
    _form(
        "speaks to a model",
        2,
        " ai,intelligence,llm,language model,language\nmodel,chatbot,chat bot,to you,if you,are now,assistant",
        r"\b(?:dear|hey|hi|hello|attention|note|instructions?|messages?|notice|important|directive)(?:\s+(?:to|for))?[,:]?"
        rf"\s+(?:the\s+|any\s+|all\s+|every\s+|you,?\s+)*{_AI}\b"
        rf"|\bto\s+you,\s+(?:the\s+|an?\s+)?(?:\w+\s+)?(?:{_WORKER}|model)\b"
        rf"|\bif\s+you(?:'re|\s+are)\s+(?:an?\s+|the\s+)?{_WORKER}\b"
        rf"|\byou\s+are\s+now\s+(?:an?\s+|the\s+|in\s+)?(?:\w+\s+){{0,2}}(?:{_WORKER}|dan|mode)\b"
        rf"|\b{_AI}\s+(?:reading|processing|parsing|handling|summari[sz]ing)\s+(?:this|the)\b",
    ),
    _form(
        "imitates a system message",
        1,
        "<,system,admin,developer,assistant,human",
        r"</?\s*(?:information|important|system|instructions?|admin(?:istrator)?|assistant|developer|prompt|override|"
        r"urgent)\b[^<>]{0,40}>|<!--\s*(?:system|assistant|agent|ai|llm)\b"
        r"|^\W{0,6}(?:system|admin(?:istrator)?|developer|assistant|human)\b"
        r"(?:\s+(?:message|prompt|note|notice|override|instructions?)){0,2}\s*[:\]]",
    ),
    _form(
        "talks about the task",
        1,
        "gave,given,asked,assigned,your,user",
        rf"\b{_TASK}\s+(?:that\s+|which\s+)?(?:i|we|the\s+user)\s+(?:have\s+|had\s+)?(?:gave|given|asked|assigned)\b"
        rf"|\byour\s+(?:current|original|initial|main|actual)\s+{_TASK}\b"
        rf"|\bthe\s+user(?:'s|s')\s+(?:\w+\s+)?{_TASK}\b|\bthe\s+user\s+(?:has|wants|also|now|originally)\b",
    ),
    _form(
        "comes before the task",
        1,
        "before",
        r"\bbefore\s+(?:you\s+(?:can\s+|may\s+)?)?(?:solv|answer|continu|proceed|complet|finish|respond|resum|summari[sz]|"
        r"do|us)\w*\s+(?:with\s+|to\s+|on\s+)?(?:the|this|that|your|my|any|anything)\b"
        rf"|\bbefore\s+(?:any|every|all)\s+other\s+{_TASK}",
    ),
    _form(
        "gives a new task",
        1,
        "your,new",
        r"\byour\s+(?:new|real|true|only|updated)\s+(?:task|goal|objective|instructions?|mission|directive)s?\b"
        r"|\bnew\s+(?:instructions?|task|directive)s?\s*:",
    ),
    _form(
        "keeps it from the user",
        1,
        "not,n't,never,without",
        r"\b(?:do\s+not|don't|never|without)\s+(?:\w+\s+)?(?:tell|mention|inform|reveal|notif|alert|ask|disclos|report)\w*\b"
        r"[^.\n]{0,40}\b(?:user|human|owner|operator)\b",
    ),
    _form(
        "obliges",
        0,
        "",
        rf"\b(?:you|{_WORKER})\s+(?:must|should|have\s+to|need\s+to|shall|can\s+do\s+so\s+by|to\s+act"
        r"|are\s+(?:required|instructed|ordered|expected|authori[sz]ed)\s+to)\b",
    ),
    _form(
        "insists",
        0,
        "",
        r"\bimportant\b|!!!|\b(?:urgent|paramount|immediately|at\s+once|strictly)\b",
    ),
    _form(
        "announces orders",
        0,
        "",
        r"\b(?:do|execute|perform|complete|follow|carry\s+out|obey|run|adhere\s+to|comply\s+with)\s+"
        r"(?:(?:only|exactly|all|the|strictly|also)\s+)*(?:this|these|following|below)\b|\b(?:now\s+also|instead)\s*[:,]",
    ),
    _form(
        "names a tool",
        0,
        "",
        r"\b(?:use|using|call|calling|invoke|execute|run|trigger)\s+(?:(?:the|your|a|these)\s+)?"
        r"(?:[`'\"]?\w+[`'\"]?\s+){0,2}(?:tools?|functions?)\b|\b(?:call|invoke|use)\s+[`'\"]?\w+_\w+",
    ),
    _form(
        "sends somewhere",
        0,
        "",
        r"\b(?:send|forward|e-?mail|transfer|wire|post|upload|share|copy|pay|submit|invite|visit|open|go\s+to)\b[^\n]{0,160}?"
        rf"(?:{EMAIL_PATTERN}|{URL_PATTERN}|{IBAN_PATTERN})",
    ),
    _form("speaks of assistants", 0, "", rf"\b{_AI}\b|\bassistant\b"),
)
_ANCHORED = [(anchor, form) for form in _FORMS for anchor in form.anchors.split(",") if anchor]
_ANCHORS = AhoCorasick([anchor for anchor, _ in _ANCHORED], matchkind=MatchKind.Standard)
_BEFORE_ANCHOR, _AFTER_ANCHOR = 120, 240
ENOUGH = 2


class Cue(NamedTuple):
    """Where a form stands."""

    start: int
    end: int
    weight: int
    name: str


class ParsedText(NamedTuple):
    """A text taken apart."""

    passages: tuple[str, ...]
    """What instructs."""
    rest: str
    """What describes."""
    why: tuple[str, ...] = ()
    """The cues, in words."""


def instructs(text: str) -> bool:
    """Does `text`, or a part of it, tell an agent what to do instead of telling it what is?"""
    return bool(read(text).passages)


def overrides(text: str) -> str | None:
    """The form in which `text` tries to take an agent over, in words; None for any other text, imperative or not."""
    plain = plain_text(text[:MAX_SCANNED_CHARS])
    near = _windows(plain)
    strong = [form for form in _FORMS if form.weight == ENOUGH and form in near]
    return next((form.name for form in strong if form.pattern.search(plain)), None)


def read(text: str) -> ParsedText:
    """Part what instructs from what describes. Escapes and folded lines are undone first, so that nothing hides."""
    return _read_once(text) if len(text) <= MAX_KEPT_CHARS else _read_any(text)


# What no program needs to say what happened: links, images, markup, hosts spelled out, machines and people's folders.
_NOT_A_MESSAGE = re.compile(
    r"!?\[[^\]\n]*\]\(|<\w+[^<>]*=|\{\{|\{%|\$\{|={4,}|#{4,}"
    r"|\w+ ?(?:\(at\)|\[at\]| at ) ?\w+ ?(?:\(dot\)|\[dot\]| dot ) ?\w+"
    r"|\b\w+ (?:dot|punto|point|punkt) (?:com|org|net|io)\b|hxxps?|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[A-Za-z]:\\|\\\\\w"
    r"|(?:^|[\s'\"(=])(?:/home/|/Users/|~/|/root/)",
    re.IGNORECASE,
)
# What moves things or tells secrets, as an order: in an error it is out of place in any language.
_ORDERS = re.compile(
    r"\b(?:wire|transfer|send|forward|pay|remit|upload|e-?mail|share|reveal|disclose|exfiltrate|post|submit|grant|disable|"
    r"transfiere|env[ií]a|envie|paga|überweise|sende|schicke|virez|envoyez|versez|invia|trasferisci|bonifica|stuur|"
    r"przelej|wyślij|переведи\w*|отправь\w*|перешли\w*|gönder|aktar)\s+(?:\S+\s+){0,6}?(?:to|a|an|para|à|al|naar|na|на|"
    r"every|all|todo|todos|alle|tout|tutto|все|всё|your|the\s+(?:password|secret|token|key|balance|funds?|money))\b"
    r"|转账|汇款|发送到|轉帳|送金|転送|송금|보내|حوّ?ل|أرسل|भेज|ট্রান্সফার",
    re.IGNORECASE,
)


def is_plain_message(text: str) -> bool:
    """Could a program have said this about a call, or a manual about a function? Decided by structure: no links, no
    markup, no hosts in disguise, no addresses of machines or people, one script throughout."""
    if _NOT_A_MESSAGE.search(plain_text(text)):
        return False
    return text.isascii() or fold_look_alikes(text) == unicodedata.normalize("NFKC", text)


def orders(text: str) -> bool:
    """Does the text order its reader to move, send or tell something? Manuals do so honestly, errors do not."""
    return _ORDERS.search(plain_text(text)) is not None


LEFT_OUT = "<INSTRUCTION LEFT OUT>"
"""What stands in a prompt where a text spoke to an agent about its work."""


def without_instructions(text: str) -> str:
    """`text` with the passages that instruct replaced by a mark. The text itself where it has none."""
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
    """`text` as a reader sees it: without the escapes of YAML, JSON or repr, and without invisible characters."""
    text = _ESCAPED_BREAK.sub("\n", _FOLDED_LINE.sub("", text)).replace("''", "'").replace('\\"', '"')
    if not text.isascii():
        text = fold_look_alikes(remove_hidden(text)).replace("\u2019", "'")
    return text


_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def fold_case(text: str) -> str:
    """Lower case, without changing the length: positions found in it must hold in the original."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_ASCII_LOWER)


def _passages(text: str) -> Iterator[tuple[int, int, list[Cue]]]:
    for cues in _clusters(text, _cues(text)):
        names = {cue.name for cue in cues}
        telling = {cue.name for cue in cues if cue.weight == 1}
        if any(cue.weight == ENOUGH for cue in cues) or (telling and len(names) >= 2):
            yield *_reach(text, cues), cues


def _cues(text: str) -> list[Cue]:
    telling = [cue for form, windows in _windows(text).items() for cue in _matches(form, text, windows)]
    around = _merge([(cue.start - MAX_GAP_CHARS, cue.end + MAX_GAP_CHARS) for cue in sorted(telling)])
    supporting = [cue for form in _FORMS if form.weight == 0 for cue in _matches(form, text, around)]
    return sorted(telling + supporting)


def _windows(text: str) -> dict[InstructionForm, list[tuple[int, int]]]:
    """Where each form may stand, by its anchors."""
    near: dict[InstructionForm, list[tuple[int, int]]] = {}
    for index, start, end in _ANCHORS.find_matches_as_indexes(fold_case(text), overlapping=True):
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


def _matches(form: InstructionForm, text: str, windows: list[tuple[int, int]]) -> Iterator[Cue]:
    for start, end in windows:
        for match in form.pattern.finditer(text, start, end):
            yield Cue(match.start(), match.end(), form.weight, form.name)


# The next field of a record, or the end of a quoted value: planted text fills a value, it does not leave it.
_FIELD_EDGE = re.compile(r"\n[ \t]*(?:- )?[a-z_]\w{0,30}:(?:\s|$)|['\"]\s*[,}\]]\s*['\"{\n]")
_PARAGRAPH_EDGE = re.compile(r"\n[ \t]*\n")
_OPENING_TAG = re.compile(r"<\s*([A-Za-z_]+)[^<>/]{0,40}>")


def _clusters(text: str, cues: list[Cue]) -> Iterator[list[Cue]]:
    """Cues that stand together: near each other, and in one value."""
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
    """From the paragraph of the first telling cue to the closing tag, the end of the value, or a few lines more."""
    first, last = min(cue.start for cue in cues if cue.weight), max(cue.end for cue in cues)
    tag = _OPENING_TAG.search(text, max(0, first - 60), first + 60)
    closing = re.compile(rf"</\s*{tag.group(1)}\s*>", re.IGNORECASE).search(text, tag.end()) if tag else None
    if tag is not None and closing is not None:
        return min(tag.start(), first), max(closing.end(), last)
    edges = (*_FIELD_EDGE.finditer(text, 0, first), *_PARAGRAPH_EDGE.finditer(text, 0, first))
    start = max((edge.end() for edge in edges), default=0)
    edge = _FIELD_EDGE.search(text, last)
    return start, min(edge.start() if edge else len(text), last + MAX_TAIL_CHARS)
