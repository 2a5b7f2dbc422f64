"""The kind of a value: first by its form, then by the name of the argument or field that it fills.

Only kinds are decided here; placeholders.py assigns the placeholders.
"""

from __future__ import annotations

import re
from functools import lru_cache

import phonenumbers

from contramem.contrast.placeholder_types import BY_NAME, ROLES, TYPES, ValueKind, names_where
from contramem.traces.effects import words

# Roles whose values are words of the interface even when capitalised.
CATEGORY_ROLES = frozenset(
    """status state type kind category mode priority level class folder unit currency format order sort stage label
    method option direction action cabin gender role visibility permission reason""".split()
)

# Numbers in these roles are dates, times or spans of time.
TIME_ROLES = frozenset(
    """date time datetime timestamp year month day hour minute second week weekday duration timeout days hours minutes
    seconds weeks months years ms""".split()
)

# Answers, switches and pronouns: they belong to no task.
PLAIN_ANSWERS = frozenset("yes no on off true false none null n/a na ok okay unknown me you all any self".split())

# Repetitions are bounded: these run over untrusted text, at every position where a value could start.
MONTH_PATTERN = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]{0,6}\.?"
_FULL_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAY = r"(?:mon|tues?|wed(?:nes)?|thurs?|fri|sat(?:ur)?|sun)day"
_TH = r"(?:st|nd|rd|th)"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:\s?[ap]\.?m\b\.?)?|\b\d{1,2}\s?[ap]\.?m\b"
_DURATION = (
    r"\b\d+(?:\.\d+)?(?:\s?-?\s?)(?:milli)?(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?)\b"
)
_DATE = (
    r"\d{4}-\d{2}(?:-\d{2})?(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?(?:Z|[+-]\d{2}:?\d{2})?(?![\d\-])"
    r"(?:[T ](?:[01]\d|2[0-3])(?=[.)'\"›]?$))?"
    r"|\d{1,2}[/.]\d{1,2}[/.](?:\d{4}|\d{2})\b(?!\.\d)|\d{4}/\d{1,2}/\d{1,2}\b|\b\d{1,2}/\d{4}\b"
    rf"|\b{MONTH_PATTERN}\s\d{{1,2}}{_TH}?(?:,?\s\d{{4}})?\b|\b\d{{1,2}}{_TH}?\s(?:of\s)?{MONTH_PATTERN}(?:,?\s\d{{4}}\b)?"
    rf"|\b{MONTH_PATTERN}\s\d{{4}}\b|\b{_DAY}s?\b|\b(?:{_FULL_MONTHS})\b|\b\d{{1,2}}{_TH}\b"
)
TIME_PATTERN = rf"(?:{_DATE}|{_CLOCK}|{_DURATION})"
"""Dates, times of day, spans of time and ordinals (`the 15th`)."""

_EXTENSIONS = (
    r"(?:pdf|docx?|xlsx?|csv|tsv|txt|md|png|jpe?g|gif|svg|json|jsonl|xml|ya?ml|toml|ini|cfg|log|py|js|ts|sh|sql|html?"
    r"|pptx?|zip|gz|tar|mp[34]|wav|eml|ics)"
)
_DOMAINS = r"(?:com|org|net|edu|gov|io|ai|app|dev|info|biz|co|eu|uk|de|fr|ch|at|nl|es|it|pl|ru|cn|jp|in|br|au|ca|us)"
_URL_END = r"[^\s<>\"'`)\]]*[^\s<>\"'`)\].,;:!?*_]"
EMAIL_PATTERN = r"[\w.%+\-]{1,64}+(?:'[\w.%+\-]{1,64}+)?@[\w\-]{1,63}(?:\.[\w\-]{1,63}){1,8}"
URL_PATTERN = (
    rf"(?:https?|ftp)://{_URL_END}|\bwww\.[\w\-]+(?:\.[\w\-]+)+(?:[/?#]{_URL_END})?"
    rf"|\b[\w\-]{{1,63}}(?:\.[\w\-]{{1,63}}){{0,4}}\.{_DOMAINS}\b(?![\w@\-]|\.\w)(?:/{_URL_END})?"
)
PHONE_PATTERN = (
    r"(?<![\w.])(?:\+\d{7,15}|(?:\+\d{1,3}[ .\-]?)?(?:\(\d{1,5}\)[ .\-]?)?\d{2,5}(?:[ .\-]\d{2,8}){1,4})(?!\w)"
)
IBAN_PATTERN = r"\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,3})?\b"
ID_PATTERN = (
    r"#?\b(?=[A-Za-z_\-]{0,64}\d)(?=[\d_\-]{0,64}[A-Za-z])[A-Za-z0-9][A-Za-z0-9_\-]{3,}\b"
    r"|#(?=[A-Za-z\-]{0,64}\d)[A-Za-z0-9\-]{2,}\b|\b\d+(?:\.\d+){2,}\b"
)
FILE_PATTERN = (
    rf"(?<![\w/])(?:(?:~|\.{{1,2}})?/)?(?:[\w\-.]{{1,80}}/){{0,12}}[\w\-.]{{0,80}}[\w\-]\.{_EXTENSIONS}\b(?![\w@\-])"
    r"|(?<![\w/.])(?:~|\.{1,2})/[\w\-./]*\w|(?<![\w/.<])/[\w\-.]+(?:/[\w\-.]+)+"
    r"|(?<![\w\\])(?:[A-Z]:|\\\\[\w\-.]{1,80})\\{1,4}[\w\-.]{1,80}\\{1,4}(?:[\w\-. ]{1,80}\\{1,4}){0,12}[\w\-.]+"
    r"|\bfile:/{2,3}[\w\-./]+"
)
_NUMERAL = r"\d+(?:,\d{3})*(?:\.\d+)?"
AMOUNT_PATTERN = (
    rf"[$€£¥₹]\s?{_NUMERAL}|\b{_NUMERAL}\s?(?:[€£¥₹]|(?:dollars?|euros?|pounds?|USD|EUR|GBP|CHF|JPY|INR)\b)"
)
MEASURE_PATTERN = rf"\b(?=[\w.,\-]{{4}}){_NUMERAL}-?[A-Za-zµ°]{{1,8}}\b(?!-)"
"""`64GB`, `8-inch`: a quantity, not an identifier."""
NUMBER_PATTERN = rf"(?<![\w.])-?{_NUMERAL}(?!\w)"
_STREETS = (
    r"(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|place|pl|way|square|sq|terrace|highway"
    r"|hwy|parkway|pkwy|circle|alley)"
)
ADDRESS_PATTERN = (
    rf"\b\d+[A-Za-z]?\s(?:[^\W\d_][\w'’.]{{0,30}}\s){{1,4}}?(?i:{_STREETS})\b\.?"
    r"(?:,?\s(?i:suite|apt|apartment|unit|floor)\.?\s#?\w+)?"
)

_TIME = re.compile(rf"\s*{TIME_PATTERN}(?:\s*(?:,|-|–|to|at|\s)\s*{TIME_PATTERN})*\s*", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_CALENDAR = frozenset("mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec".split())
_EMAIL = re.compile(EMAIL_PATTERN)
_URL = re.compile(URL_PATTERN)
_PHONE = re.compile(PHONE_PATTERN)
_IBAN = re.compile(IBAN_PATTERN)
_ID = re.compile(ID_PATTERN)
_FILE = re.compile(FILE_PATTERN)
_MEASURE = re.compile(MEASURE_PATTERN)
_AMOUNT = re.compile(AMOUNT_PATTERN)
_ADDRESS = re.compile(ADDRESS_PATTERN)
_NUMBER = re.compile(rf"-?(?:\d+|{_NUMERAL})(?:e[+-]?\d+)?")
_CAPITALS = re.compile(r"(?:[A-ZÀ-Þ][\w'’.\-]*)(?:\s(?:[A-ZÀ-Þ][\w'’.\-]*|of|the|de|la|le|van|von|and|&))*")


def is_time(text: str) -> bool:
    """Dates, times and ranges of them. They stay readable because procedures depend on them."""
    if len(text) > 60 or not (_DIGIT.search(text) or text[:3].lower() in _CALENDAR):
        return False
    return _TIME.fullmatch(text) is not None


def kind_of_number(role: str) -> ValueKind | None:
    """The kind of a number, which only its role tells; None for dates and times."""
    named = words(role)
    if named and named[-1] in TIME_ROLES:
        return None
    return _kind_by_role(role, numeric=True) or "NUMBER"


def kind_of_text(text: str, role: str) -> ValueKind | None:
    """The kind of a text value; None for values that stay readable: dates, times, a plain yes or no."""
    value = text.strip()
    if not value or value.lower() in PLAIN_ANSWERS or is_time(value):
        return None
    if not any(map(str.isalnum, value)):  # `...` belongs to nobody
        return None
    if _NUMBER.fullmatch(value):
        kind = kind_of_number(role)
        return "ACCOUNT" if kind == "NUMBER" and is_card_number(value) else kind
    by_form, by_role = kind_by_form(value), _kind_by_role(role, numeric=False)
    if by_form == "AMOUNT" and by_role == "ID":  # `8CK4E` in `reservation_id` is not a quantity
        return "ID"
    return by_form or by_role or _kind_of_words(value)


def kind_by_form(value: str) -> ValueKind | None:
    """The kind that a value's form reveals, whatever its role."""
    if len(value) > 300:
        return None
    if _EMAIL.fullmatch(value):
        return "EMAIL"
    if _URL.fullmatch(value):
        return "URL"
    if _IBAN.fullmatch(value) and is_iban(value):
        return "ACCOUNT"
    if _PHONE.fullmatch(value):
        return "ACCOUNT" if is_card_number(value) else "PHONE" if is_phone(value) else None
    for pattern, kind in _FORMS:
        if pattern.fullmatch(value):
            return kind
    return None


_FORMS: tuple[tuple[re.Pattern[str], ValueKind], ...] = (
    (_FILE, "FILE"), (_AMOUNT, "AMOUNT"), (_MEASURE, "AMOUNT"), (_ID, "ID"), (_ADDRESS, "ADDRESS"),
)  # fmt: skip


# The last word of a name is its noun: `user_id` is an id, `id_of_user` is rare. These nouns say little: a name may be a
# person's, a file's or a thing's, which the words before it decide.
_VAGUE: dict[str, frozenset[ValueKind]] = {
    noun: frozenset(type_.name for type_ in TYPES if noun in type_.vague_nouns)
    for noun in {noun for type_ in TYPES for noun in type_.vague_nouns}
}
_OF_NUMBERS = names_where(lambda type_: type_.can_be_number)


_PREPOSITIONS = frozenset({"from", "to"})


def without_preposition(named: list[str]) -> list[str]:
    """`to_warehouse` is a warehouse and `value_to_plot` a plot; a `to` at the end, or alone, is a person."""
    return [word for word in named[:-1] if word not in _PREPOSITIONS] + named[-1:]


@lru_cache(maxsize=4096)
def _kind_by_role(role: str, numeric: bool) -> ValueKind | None:
    named = without_preposition(words(role))
    kinds = [
        kind
        for word in reversed(named)
        for kind, roles in ROLES.items()
        if word in roles and (kind in _OF_NUMBERS if numeric else kind != "AMOUNT")
    ]
    if not kinds:
        return None
    sharper = _VAGUE.get(named[-1], frozenset())
    return next((kind for kind in kinds if kind in sharper), kinds[0])


def _kind_of_words(value: str) -> ValueKind:
    return "NAME" if len(value) <= 60 and _CAPITALS.fullmatch(value) else "TEXT"


@lru_cache(maxsize=4096)
def is_phone(text: str) -> bool:
    """A telephone number valid in some country's numbering plan, according to Google's library."""
    try:
        parsed = phonenumbers.parse(text, None if text.lstrip().startswith("+") else "US")
    except phonenumbers.NumberParseException:
        return False
    return phonenumbers.is_possible_number(parsed)


def is_iban(text: str) -> bool:
    """An account number with valid check digits (ISO 13616, mod 97)."""
    text = text.replace(" ", "")
    moved = text[4:] + text[:4]
    return int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def is_card_number(text: str) -> bool:
    """A payment card number whose check digit holds (ISO/IEC 7812, Luhn)."""
    digits = [int(char) for char in text if char.isdecimal()]
    if not 13 <= len(digits) <= 19 or any(char.isalpha() for char in text):
        return False
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


_DATE_PARTS = (
    (re.compile(r"\d{4}-\d{2}-\d{2}"), "YYYY-MM-DD"),
    (re.compile(r"\d{4}/\d{1,2}/\d{1,2}"), "YYYY/MM/DD"),
    (re.compile(r"\d{1,2}/\d{1,2}/\d{4}"), "DD/MM/YYYY or MM/DD/YYYY"),
    (re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}"), "DD.MM.YYYY"),
    (re.compile(r"\d{2}:\d{2}:\d{2}(?:\.\d+)?"), "HH:MM:SS"),
    (re.compile(r"\d{1,2}:\d{2}"), "HH:MM"),
)


_LIST, _DATE, _DATES = "list of ", "date ", "dates "
_REFERENCES = tuple(word for type_ in TYPES if type_.points_at_thing and type_.has_own_form for word in type_.form)


def form_of_value(value: object, role: str) -> str:
    """The form of an argument's value in words, without the value. The four functions below read such a form."""
    if isinstance(value, (list, tuple)):
        forms = sorted({_form_words(item, role)[1] for item in value})
        return f"{_LIST}{' or '.join(forms)}" if forms else "empty list"
    return _form_words(value, role)[0]


def is_list_form(form: str) -> bool:
    """Is it the form of a list with items?"""
    return form.startswith(_LIST)


def is_date_form(form: str) -> bool:
    """Is it the form of a date or time, or of a list of them?"""
    return _DATE in form or _DATES in form


def date_pattern(form: str) -> str:
    """How values of a date form are written: `YYYY-MM-DD`. Empty for other forms and for lists."""
    return form.removeprefix(_DATE) if form.startswith(_DATE) else ""


def is_reference_form(form: str) -> bool:
    """Is it the form of a value that refers to a thing, such as an e-mail address, or of a list of them?"""
    return any(word in form for word in _REFERENCES)


def _form_words(value: object, role: str) -> tuple[str, str]:
    """Singular and plural."""
    if value is None:
        return "null", "nulls"
    if isinstance(value, bool):
        return "boolean", "booleans"
    if isinstance(value, int):
        return "integer", "integers"
    if isinstance(value, float):
        return "number", "numbers"
    if not isinstance(value, str):
        return ("list", "lists") if isinstance(value, (list, tuple)) else ("object", "objects")
    return _form_of_text(value, role) if len(value) <= 200 else ("text", "texts")


@lru_cache(maxsize=1 << 14)
def _form_of_text(value: str, role: str) -> tuple[str, str]:
    if value and is_time(value):
        pattern = value.strip()
        for part, letters in _DATE_PARTS:
            pattern = part.sub(letters, pattern)
        pattern = pattern if not _DIGIT.search(pattern) else "in words"
        return f"{_DATE}{pattern}", f"{_DATES}{pattern}"
    kind = kind_of_text(value, role)
    if kind is None:  # empty, or a plain answer: `on`, `yes`
        return ("text", "texts") if value.strip() else ("empty text", "empty texts")
    if _NUMBER.fullmatch(value.strip()):
        return "number as text", "numbers as text"
    return BY_NAME[kind].form
