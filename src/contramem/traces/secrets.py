"""Secrets in runs, told by the name of the field that holds them and by the marks that issuers put on them.

A password may look like any other word, so the form of a value decides nothing: what is called `password`, `api_key` or
`authorization` is a secret. Each is replaced by `<SECRET_1>`, wherever else in the run it stands, so that it is still
seen which call took the token that another one returned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from ahocorasick_rs import AhoCorasick, MatchKind

from contramem.traces.identifying import PAPER, may_hold_paper, papers_in
from contramem.traces.secret_names import IN_PROSE, is_secret_name, secrets_after_foreign_words
from contramem.traces.trajectory import Trajectory, digest

MIN_SEARCHED_CHARS = 4
"""A shorter secret (`1234` is long enough) is masked in its field only: it stands in other texts by chance."""
FAKE_NUMBER = 9_000_000_000
MAX_TEXTS_REMEMBERED = 1 << 16

_LOGIN_IN_LINK = r"[^\s/@:\"'<>]*:[^\s/@\"'<>]+(?=@)"
ISSUED = re.compile(
    r"(?<![A-Za-z])(?:(?:sk|pk|rk)[-_](?=[\w\-]*\d)(?:live|test|proj|ant)?[-_]?[A-Za-z0-9_\-]{16,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}"
    r"|xox[abeprs]-[A-Za-z0-9\-]{10,}|AIza[\w\-]{30,}|ya29\.[\w\-]{20,}|glpat-[\w\-]{16,}"
    r"|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[\w\-]{30,}|SG\.[\w\-]{16,}\.[\w\-]{16,}|whsec_[A-Za-z0-9+/=]{20,}"
    r"|d[opr]{2}_v1_[0-9a-f]{32,}|shp[a-z]{2}_[0-9a-fA-F]{24,}|dapi[0-9a-f]{32}|(?<=hooks\.slack\.com/services/)[\w/]{20,}"
    r"|eyJ[\w\-]{10,}\.[\w\-]{10,}(?:\.[\w\-]+)?|lin_api_\w{20,}|ntn_\w{20,}|hv[sb]\.[\w\-]{20,}|sq0[a-z]{3}-[\w\-]{20,}"
    r"|AGE-SECRET-KEY-1[A-Z0-9]{20,}|GOCSPX-[\w\-]{20,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?:[^-]*-----END [A-Z ]*-----)?)"
    r"|(?<![A-Z])(?:AKIA|ASIA)[A-Z0-9]{12,}|(?<!\d)\d{8,10}:AA[\w\-]{30,}|(?<=://)" + _LOGIN_IN_LINK
)
"""The marks that issuers put on their secrets, so that scanners find them, and the login in a link. Inside of longer
names too."""
_WORDS_IN_PROSE = AhoCorasick(IN_PROSE, matchkind=MatchKind.LeftmostLongest)
_AFTER_LINK = re.compile(_LOGIN_IN_LINK)
_SHORT_MARKS = ("sk-", "sk_", "pk-", "pk_", "rk-", "rk_")
_MARKS = (
    *_SHORT_MARKS,
    *"ghp_,gho_,ghu_,ghs_,ghr_,github_pat_,AKIA,ASIA,xox,AIza,ya29.,glpat-,hf_,npm_,pypi-,SG.,eyJ".split(","),
    *"PRIVATE KEY,whsec_,_v1_,shp,dapi,hooks.slack.com,:AA,://,lin_api_,ntn_,hvs.,hvb.,sq0,SECRET-KEY".split(","),
    "GOCSPX",
)
"""Every secret that an issuer has marked holds one of these."""
_MARKS_OF_ISSUERS = AhoCorasick(_MARKS)
_QUOTED = (
    r"\\+\"[^\"\\\n]{1,120}\\+\"|\"[^\"\n]{1,120}\"|'[^'\n]{1,120}'|`[^`\n]{1,120}`|“[^”\n]{1,120}”|«[^»\n]{1,120}»"
)
_BARE = r"[^\s,;<>\"']{1,200}"
_PHRASE = r"[a-z]{3,20}(?: [a-z]{3,20}){1,3}(?=[.,;\n\"'”]|$)"
"""A password of several words, up to where its sentence ends."""
_SYMBOLS = r"[^\s,;<>\"']*[\d!#$%&*+=@^~][^\s,;<>\"']*"
"""Straight after its name: what no word is."""
_WHAT_FOLLOWS = re.compile(
    rf"\\*[\"'`]?(?:(?:\sfor\s[\w.@-]{{1,40}})?\s{{0,3}}(?:[:=：]|=>|->)\s{{0,3}}({_QUOTED}|{_PHRASE}|(?:(?:basic|bearer)\s+)?{_BARE})"
    rf"|\s{{1,3}}(?:(?:is|was|are|of|es|ist|est|è|é|是)\s{{1,3}})?({_QUOTED})"
    rf"|\s{{1,3}}(?:is|was|es|ist|est)\s{{1,3}}({_PHRASE}|{_BARE})"
    rf"|\s{{1,3}}(?=[^\s,;<>\"']{{6,}})({_SYMBOLS})(?=[\s,;.\"'\\)}}\]]|$))",
    re.IGNORECASE,
)
_BEFORE_CODE = re.compile(r"(?<![\w.])(\d{4,8})\s(?:is|as)\syour\s[\w -]{0,30}?code\b", re.IGNORECASE)
"""`123456 is your login code`."""
_LOGIN = re.compile(
    r"\blogin\s+\S{1,60}\s+password\s+(\S{1,120})|\s(?:-u|--user)[\s=]?['\"]?[\w.@-]{1,40}:(?!\d+\b)([^\s'\"]{1,120})"
    r"|\bmysql\w*\s[^|;&\n]{0,80}?-(p[^\s=]{4,120})|\bsshpass\s+-p\s?(\S{1,120})"
    r"|\b(?:docker|podman)\s+login\s[^|;&\n]{0,80}?-p\s+(\S{1,120})|\b(?:unzip|7z)\s[^|;&\n]{0,80}?-[pP]\s?(\S{4,120})"
    r"|\bredis-cli\s[^|;&\n]{0,80}?-a\s+(\S{1,120})|-(?:store|key)pass\s+(\S{1,120})|-pass(?:in|out)?\s+pass:(\S{1,120})"
    r"|\becho\s+(\S{4,120})\s*\|\s*(?:sudo\s+-S|(?:docker|podman)\s+login)\b|\s-U\s?[\w.\\-]{1,40}%(\S{1,120})"
    r"|\b(?:creds|credentials|login(?=\s[\w.@-]+\s?/\s?\S*[\d!#$%&*+^~])):?\s+[\w.@-]{1,40}\s?/\s?([^\s,;\"']{6,120})"
    r"|(?<=[_-])pass\s?[:=]\s?['\"]?(?=[^\s'\"]*[^\W\d_])(?=[^\s'\"]*[\d!#$%&*+^~])([^\s'\",;]{4,120})"
)
"""As .netrc, curl, clients of databases and registries, archives and keystores take a login."""
_SEED = re.compile(r"\b(?:seed|phrase|mnemonic|words)\W{1,6}((?:[a-z]{3,8} ){11,23}[a-z]{3,8})", re.IGNORECASE)
"""The words that open a wallet: twelve to twenty-four in a row."""
_MARKS_OF_LOGIN = AhoCorasick(
    "login, -u,\t-u,\n-u,--user,mysql,sshpass,unzip,7z ,redis-cli,_pass,-pass,-storepass,-keypass,sudo,creds,"
    "credential, -U".split(",")
)
_REST_OF_NAME = re.compile(r"(?:[A-Z][a-z]+|[_-][A-Za-z]+){1,3}(?![A-Za-z_-])")
"""Of a name that begins like a secret: `secretAnswer`."""
_AFTER_FLAG = re.compile(rf"\s{{1,3}}({_QUOTED}|(?:(?:basic|bearer)\s+)?{_BARE})", re.IGNORECASE)
"""`--password VALUE`, as shells take it."""
_MARK = re.compile(r"<SECRET_\d+>")
_LATIN_LETTER = re.compile(r"[A-Za-z]")
# Words that follow `password is` without being one: required, missing, ...
_NOT_A_VALUE = re.compile(
    r"(?:required|missing|invalid|incorrect|wrong|expired|not|needed|empty|too|the|a|an|your|valid|correct|set|null|none|"
    r"true|false|string|str|text|integer|int|number|object|optional|being|now|no|only|sent|given|for|in|to|as|used|must|"
    r"should|cannot|can|may|field|value|input|does|has|have|was|were|is|are|enter|provide|please|denied|unknown|mismatch|"
    r"error|failed|or|and|with|from|by|of|on|at|this|that|it|we|you|generated|returned|stored|shared|issued|taken)[.!?)]*",
    re.IGNORECASE,
)


def mask_secrets(runs: Sequence[Trajectory]) -> list[Trajectory]:
    """The runs of one task with their secrets masked; what one run shows to be a secret is masked in all of them."""
    mask = SecretMask()
    mask.collect(runs)
    return [mask_run(run, mask) for run in runs] if mask else list(runs)


def mask_run(run: Trajectory, mask: SecretMask) -> Trajectory:
    masked: Trajectory = mask.apply(run)
    if masked.task == run.task:
        return masked
    return msgspec.structs.replace(masked, text_digest=run.text_digest or digest(run.task))


@cache
def searched_fields(kind: type[msgspec.Struct]) -> dict[str, str]:
    """The fields of a struct that can hold a secret, and where: "anywhere", or only "in texts". Those are all that can
    hold a text, but for the ones that their declaration marks otherwise."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: where for name in kind.__struct_fields__ if (where := _where_secrets_are(hints[name])) != "none"}


def _where_secrets_are(hint: Any) -> str:
    if get_origin(hint) is Annotated:
        marks = [meta.extra["secrets"] for meta in hint.__metadata__ if meta.extra]
        return str(marks[0]) if marks else _where_secrets_are(hint.__origin__)
    if hint in (int, float, bool, NoneType) or get_origin(hint) is Literal:
        return "none"
    parts = [part for part in get_args(hint) if part is not Ellipsis]
    return next(
        (where for part in parts if (where := _where_secrets_are(part)) != "none"), "none" if parts else "anywhere"
    )


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list, tuple)):
        for child in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(child)


@lru_cache(maxsize=8192)  # the same few names stand in every run
def mask_name(name: str) -> str:
    """A name of a function or field without an issued secret in it, and without the number of somebody's papers."""
    if _has_issued(name):
        name = ISSUED.sub("SECRET", name)
    return PAPER.sub("SECRET", name) if may_hold_paper(name) else name


def _field_of(key: str, around: str, value: object) -> str:
    """What decides about `value`: its own name, or that of the object around it (`credentials: {user: ...}`)."""
    return around if around and is_secret_name(around, value) and not is_secret_name(key, value) else key


_KEYS_OF_NAMES = ("name", "key", "field", "header", "label", "variable")


def _name_in_pair(pair: Mapping[str, Any], key: str) -> str:
    """`{"name": "api_key", "value": ...}`: what the value is called."""
    if key != "value":
        return ""
    return next((name for named in _KEYS_OF_NAMES if isinstance(name := pair.get(named), str)), "")


def _name_of_item(items: Sequence[Any], item: object) -> str:
    """`["api_key", ...]`: what the second of two is called."""
    is_pair = isinstance(items, list) and len(items) == 2 and item is items[1]
    return items[0] if is_pair and isinstance(items[0], str) else ""


def _cells_of(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """`{"columns": ["user", "api_key"], "rows": [["bob", ...]]}`: the cells of columns with the name of a secret."""
    lists = [child for child in table.values() if isinstance(child, list) and child]
    rows = next((each for each in lists if all(isinstance(row, list) for row in each)), []) if len(lists) > 1 else []
    for columns in (each for each in lists if rows and len(each) == len(rows[0])):
        for place, column in enumerate(columns):
            if isinstance(column, str) and is_secret_name(column, "any"):
                yield from ((column, row[place]) for row in rows if place < len(row))


_COLUMNS = (re.compile(r"\|"), re.compile(r"\t"), re.compile(r"[,;]"), re.compile(r" {2,}"))
_NAME_OF_COLUMN = re.compile(r"[\"'`*]*[^\W\d][\w.-]*(?: [\w.-]+)?[\"'`*]*")
_RULE = re.compile(r"[\s:=+-]*")
MAX_ROWS = 50
MAX_HEADING_CHARS = 400
MAX_TABLE_CHARS = 20_000


def _cells_below(text: str, start: int, end: int) -> Iterator[str]:
    """Where the word at `start` heads a column of a table in the text: what stands below it."""
    begins = text.rfind("\n", max(0, start - MAX_HEADING_CHARS), start) + 1
    ends = text.find("\n", end, end + MAX_HEADING_CHARS)
    if ends < 0 or start - begins > MAX_HEADING_CHARS:
        return
    heading = text[begins:ends]
    for divider in _COLUMNS:
        columns = [column.strip() for column in divider.split(heading)]
        if len(columns) < 2 or not all(_NAME_OF_COLUMN.fullmatch(column) for column in columns if column):
            continue
        place = len(divider.findall(text, begins, start))
        for row in text[ends + 1 : ends + MAX_TABLE_CHARS].split("\n", MAX_ROWS)[:MAX_ROWS]:
            cells = [cell.strip() for cell in divider.split(row)]
            if len(cells) != len(columns):
                return
            if not _RULE.fullmatch(row.replace("|", "")) and (cell := cells[place].strip("\"'`")):
                yield cell
        return


def secrets_in_prose(text: str) -> Iterator[str]:
    """What a text itself calls a password, or what an issuer has marked."""
    lowered = text.lower()
    lowered = (lowered if len(lowered) == len(text) else text).replace("_", " ").replace("-", " ")
    for _, start, end in _WORDS_IN_PROSE.find_matches_as_indexes(lowered):
        if start and text[start - 1].isalpha() and not text[start].isupper():
            continue
        if (rest := _REST_OF_NAME.match(text, end)) and is_secret_name(text[start : rest.end()], ""):
            end = rest.end()
        yield from _cells_below(text, start, end)
        flag = _AFTER_FLAG.match(text, end) if text.rfind("-", max(0, start - 24), start) >= 0 else None
        if match := _WHAT_FOLLOWS.match(text, end) or flag:
            value = next(group for group in match.groups() if group).strip("\\\"'`“”«»").rstrip(".!?)")
            if (words := value.split()) and not _NOT_A_VALUE.fullmatch(words[0]):
                yield value
    yield from secrets_after_foreign_words(text, lowered)
    if _MARKS_OF_LOGIN.find_matches_as_indexes(text):  # searching for the form itself takes long
        yield from (next(filter(None, match.groups())) for match in _LOGIN.finditer(text))
    if "seed" in lowered or "phrase" in lowered or "mnemonic" in lowered or "words" in lowered:
        yield from (match[1] for match in _SEED.finditer(text))
    if "your" in lowered:
        yield from (match[1] for match in _BEFORE_CODE.finditer(text))
    yield from papers_in(text)
    if _has_issued(text):
        yield from (match[0] for match in ISSUED.finditer(text))


_without_secrets: set[bytes] = set()
"""Digests of texts in which nothing was found: a build reads each run twice, and many runs hold the same texts."""


def _search_once(text: str) -> tuple[str, ...]:
    """What `secrets_in_prose` finds."""
    name = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    if name in _without_secrets:
        return ()
    found = tuple(secrets_in_prose(text))
    if not found and len(_without_secrets) < MAX_TEXTS_REMEMBERED:
        _without_secrets.add(name)
    return found


def _has_issued(text: str) -> bool:
    """A quick look: if it finds nothing, nor does the pattern, which takes far longer."""
    for number, start, end in _MARKS_OF_ISSUERS.find_matches_as_indexes(text):
        mark = _MARKS[number]
        if mark == "://":
            if _AFTER_LINK.match(text, end):
                return True
        elif mark not in _SHORT_MARKS or not _LATIN_LETTER.fullmatch(text, max(0, start - 1), start):
            return True  # `task_1` has a letter before what would be the mark
    return False


class SecretMask:
    """The secrets of one run and what stands for each."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}
        self._sorted: list[tuple[str, str]] = []
        self._searched: set[str] = set()
        self._masked: dict[str, str] = {}

    def collect(self, value: Any, name: str = "") -> None:
        """Take in every secret under `value`, whose own field is called `name`."""
        if isinstance(value, msgspec.Struct):
            for field, where in searched_fields(type(value)).items():
                child = getattr(value, field)
                for part in (child,) if where == "anywhere" else _texts_in(child):
                    self.collect(part)
        elif isinstance(value, dict):
            for key, child in value.items():
                self.collect(child, _field_of(str(key), _name_in_pair(value, str(key)) or name, child))
            for column, cell in _cells_of(value):
                self.collect(cell, column)
        elif isinstance(value, (list, tuple)):
            for child in value:
                self.collect(child, _name_of_item(value, child) or name)
        elif isinstance(value, str):
            if name and is_secret_name(name, value):
                self._take(value)
            if value not in self._searched:  # runs of one task read the same results
                self._searched.add(value)
                for secret in _search_once(value):
                    self._take(secret)
        elif isinstance(value, int) and value < FAKE_NUMBER and name and is_secret_name(name, value):
            self._take(str(value))

    def _take(self, value: str) -> None:
        value = value.strip()
        if value and not _MARK.fullmatch(value):
            self._marks.setdefault(value, f"<SECRET_{len(self._marks) + 1}>")
            self._masked.clear()

    def apply(self, value: Any, name: str = "") -> Any:
        """`value` with its secrets replaced, in names of fields too."""
        if isinstance(value, msgspec.Struct):
            fields = searched_fields(type(value))
            return msgspec.structs.replace(value, **{field: self.apply(getattr(value, field)) for field in fields})
        if isinstance(value, dict):
            return {
                mask_name(key): self.apply(child, _field_of(str(key), _name_in_pair(value, str(key)) or name, child))
                for key, child in value.items()
            }
        if isinstance(value, (list, tuple)):
            masked = [self.apply(child, _name_of_item(value, child) or name) for child in value]
            return tuple(masked) if isinstance(value, tuple) else masked
        if isinstance(value, str):
            if name and is_secret_name(name, value):
                return self._marks.get(value.strip()) or self.in_text(value)
            return self.in_text(value)
        if isinstance(value, int) and not isinstance(value, bool) and str(value) in self._marks:
            # A number stays a number: a card must not say that a PIN is a text.
            return FAKE_NUMBER + list(self._marks).index(str(value)) if name and is_secret_name(name, value) else value
        return value

    def in_text(self, text: str) -> str:
        masked = self._masked.get(text)
        if masked is None:  # runs of one task read the same results
            masked = self._masked[text] = self._mask_text(text)
        return masked

    def _mask_text(self, text: str) -> str:
        for secret, mark in self._longest_first():
            if len(secret) >= MIN_SEARCHED_CHARS and secret in text:
                text = re.sub(rf"(?<!{_edge(secret[0])}){re.escape(secret)}(?!{_edge(secret[-1])})", mark, text)
        return ISSUED.sub("<SECRET_0>", text) if _has_issued(text) else text

    def _longest_first(self) -> list[tuple[str, str]]:
        if len(self._sorted) < len(self._marks):
            self._sorted = sorted(self._marks.items(), key=lambda item: (-len(item[0]), item[0]))
        return self._sorted

    def __bool__(self) -> bool:
        return bool(self._marks)


def _edge(char: str) -> str:
    """What would make the secret part of a longer word. Around Latin letters, scripts without spaces do not."""
    return r"[A-Za-z\d]" if char.isascii() else r"[^\W_]"
