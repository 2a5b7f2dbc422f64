"""Names and labels of a run as they may stand beside our own words: whatever says more than a name becomes a digest."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from contramem.traces.characters import has_hidden, remove_hidden
from contramem.traces.effects import LEXICON, words
from contramem.traces.identifying import identifies, is_birthday
from contramem.traces.secret_names import is_secret_name, names_a_password
from contramem.traces.secrets import mask_name, secrets_in_prose
from contramem.traces.trajectory import digest

MAX_LABEL_CHARS = 60
MAX_LABEL_PARTS = 3
"""Between spaces. `gpt-4 (all tools)` is a label, a sentence is none."""
MAX_JOINED_PARTS = 5
"""Between spaces or the signs that stand for them: `base+search+notes`."""
MAX_LABEL_WORDS = 10
"""Words of letters inside the parts: `ft-gpt-mini-sierra-full-BzrYd`."""
MAX_ABILITY_WORDS = 5
"""An ability, a scenario or a choice is a noun with little around it, and stands beside our own words."""
MAX_CHOICE_WORDS = 4
MAX_KEY_CHARS = 120
MAX_KEY_PARTS = 4
MAX_KEY_WORDS = 8
MAX_PART_WORDS = 5
"""Of one identifier in a key that lists several: `user_abroad_roaming_enabled_off`."""
MAX_NAME_CHARS = 80
MAX_NAME_WORDS = 8
MAX_APP_WORDS = 5
MAX_FIELD_CHARS = 60
MAX_FIELD_PARTS = 3
MAX_FIELD_WORDS = 6
MAX_FILE_PARTS = 8
MAX_FILE_WORDS = 16
MAX_UNSPACED_LETTERS = 20
"""In a path: of scripts without spaces, whatever stands between them."""
_NO_COMMAND = r"(?!.*[\s_.+,&]--?\w)"
"""A command with its options is no name: `mysql_-uroot_-phazel`, `moor+--report-to+hazel`."""
_LABEL = re.compile(_NO_COMMAND + r"(?!.*[:=][-_.])[^\W_][\w .:/+#&()@,=~-]*")
_KEY = re.compile(_NO_COMMAND + r"[\w .:/+#&()@,=~%*|'-]+")
_LISTED = re.compile(_NO_COMMAND + r"[\w.:/@~%=|\[\]-]+")
_BETWEEN = re.compile(r"[|\[\]]+")
_FIELD = re.compile(_NO_COMMAND + r"(?!.*:\s)[\w .:/+#&()@,~%*?|'-]+")
_CHOICE = re.compile(r"(?!(?:.*\d){5})(?!.*:\s)[\w .:/#&()@,-]+")
"""A pair of a name and a value (`first pet: newt`) is none."""
_NAME = re.compile(_NO_COMMAND + r"(?!.*[^:]:[-_.])[\w.:/@$-]+")
_ARGUMENT = re.compile(r"[\w.:/@$-]+(?: [^\W\d_]+)?")
_FILE_PARTS = re.compile(r"([/\\!])")
_LETTERS = re.compile(r"[A-Z][^\W\d_A-Z]+|[^\W\d_A-Z]{2,}|[A-Z]{3,}")
"""Words, also where capitals alone part them."""
_DIGEST = re.compile(r"(?<![^\W_])(?=[a-f]*\d)[0-9a-f]{8,}(?![^\W_])")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{9,}|[^\W\d_A-Z]{25,}")
"""Sentences without spaces: of scripts that have none, and of words that were joined."""
_BEFORE_NUMBER = re.compile(r"(.*?)[\W_]{0,3}\d{3}")
_NUMBER_OF_SOMETHING = re.compile(
    r"([^\W\d_]+)(?:[\s.:=#]+(?:id|no|nr|number))?[\s.:=#]+(?!(?:19|20)\d\d(?!\d))\d{4}", re.IGNORECASE
)
"""`locker 78968`, `locker no. 8235`: what the words before a long number say it is the number of. Models and versions
have theirs after a hyphen, or shorter ones."""
_COUNTED = frozenset(
    "case episode example id instance issue item job line no number pr problem query question request row run sample "
    "scenario seed session step task test ticket trial".split()
)
"""What traces count."""
_CODE_IN_GROUPS = re.compile(r"(?=(?:.*\d){2})(?!.*\b(?:19|20)\d\d\b)[A-Z\d]+(?: [A-Z\d]+)+")
"""`BH82 BFF`: a plate, a postcode, a ticket. It may be a model, but no ability, choice or field."""
_PAPER_ALONE = re.compile(r"[A-Z]{1,3} ?\d{6,}[A-Z]{0,2}")
"""`QQ123456C`: the number of a paper, of a person or a thing, and nothing else."""
_MADE_UP = re.compile(r"[A-Za-z]{3,}(?:[+&~]\d{2,}|\d{2,}[+#&~])(?![A-Za-z\d])")
"""A word, a number and a sign, as passwords are made: `usher:Newt+28`."""
_MADE_UP_IN_FIELD = re.compile(r"[A-Za-z]{3,}(?:[+&~#%*?]\d{2,}|\d{2,}[+#&~%*?])(?![A-Za-z\d])")
"""In the name of a field or an ability and in a choice, other signs before a number count nothing either."""
_TWO_JOINTS = re.compile(r"(?=.*[^\W_]_[^\W_])(?=.*[^\W_][ -]+[^\W_])")
_NAMES_APART = re.compile(r"__|[./:]")
_BETWEEN_PARTS = re.compile(r"[\s+,=&~#]+")
_LATIN = r"A-Za-z\u00aa-\u024f\u1e00-\u1eff"
_BESIDE_LATIN = r"\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7afΓΔΘΛΞΠΣΦΨΩαβγδζηθλμξπσςφψω"
"""Scripts without spaces, and Greek letters that are signs and look like no Latin one: `Δt`, `GPT模型`."""
_OF_OTHER_SCRIPT = rf"[^\W\d_{_LATIN}{_BESIDE_LATIN}]"
_IMITATED = re.compile(rf"[{_LATIN}](?={_OF_OTHER_SCRIPT})|{_OF_OTHER_SCRIPT}(?=[{_LATIN}])")
"""A word in two scripts: letters that only look Latin, or two words that were joined."""
_APART = re.compile(r"[|\[\]/,;()]+")
_ABOUT_SECRETS = frozenset(
    """a access account accounts admin agent algorithm all an and any api app at attack audit auth authentication
    authorization banner bucket budget bug by cache card cards case changed checker classification classifier
    cleanup client code codes confirm confirmation confirmed consent count cracker cracking current customer
    database date days decode decoding decryption default detection device dialog easy email embedding employee
    enabled encode encoding encryption end entry error errors exchange expiration expired expires expiry
    exposure failure field file files flow for form format from game generation generator group handler handling
    hard hash hasher hashes hashing header headers hint history host id ids in info injection invalid issue jar
    key keys last leak leaked leaks length level limit limits link list login logout mail management manager max
    medium member message messages middleware min mismatch missing name names new no not number numbers of old
    on option or owner page parser parsing path per phone policies policy popup present pricing prompt
    protection provider question recovery ref refresh renewal request requests required response result review
    role rotation rules sanitizer scanner scanning secret server service session sessions set settings sharing
    sign signing size sms source start state status storage store strength string system task tasks temporary
    test tests the time to type types update url usage user users using valid validation validator validators
    value vault verification version via when with without word words wrong""".split()
).union(*LEXICON.values())
"""What follows the name of a secret in the id of a task that is about secrets: `password-reset-2`."""
_LINKS = frozenset("is are was equals ist lautet est es".split())
"""`my_password_is_hazelibex`."""
_OPENING = frozenset("code codes phrase word answer".split())
_TELEPHONES = frozenset("phone telephone tel mobile fax".split())
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
MAX_SECRET_WORDS = 3
"""`mot de passe`."""
MAX_COUNT_DIGITS = 3
"""Of a number that counts tasks."""
_TOKEN = re.compile(r"[^\W_]+")
_WORD = re.compile(r"[^\W\d_]+")
_MIXED = re.compile(r"(?=.*[^\W\d_])(?=.*\d.*\d)[^\W_]{6,}|(?!20\d\d\Z)\d{4,}|[A-Z]{12,}")
_UNSPACED_LETTER = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
MAX_LABEL_DIGITS = 6
"""In a row, besides dates: more are somebody's number. Versions and sizes of models are shorter."""
MAX_NAME_DIGITS = 8
MAX_FUNCTION_DIGITS = 4
MAX_FUNCTION_GROUPED_DIGITS = 5
"""Fields may be ids that somebody uses as keys. A function is called by a name, which may have a version."""
_NUMBER_IN_NAME = re.compile(r"(?<![A-Za-z\d])(?<!iso[_-])(?<!rfc[_-])(?!(?:19|20)\d\d(?:[01]\d[0-3]\d)?(?!\d))\d{4}")
"""`pair_with_9087`: a long number that is no part of a word, no standard, no year and no day."""
_BOOKING = re.compile(r"(?<![A-Za-z\d])(?=[A-Z\d]{5,8}(?![A-Za-z\d]))(?:[A-Z]+\d+[A-Z]+\d|\d+[A-Z]+\d+[A-Z])")
"""`CM6PQ6`: the code of a booking, a ticket or a voucher."""
_LAST_CENTURY = re.compile(r"(?<!\d)(?:19\d\d([-_.])[01]?\d\1[0-3]?\d|[0-3]?\d([-_.])[01]?\d\2(?:19\d\d))(?!\d)")
"""A day on which somebody was born. Later ones may be versions: `describe_db_instances_2014_10_31`."""
MAX_KEY_DIGITS = 10
"""Tickets have long numbers."""


@lru_cache(maxsize=8192)  # the same few labels stand in every run
def plain_label(text: str, max_words: int = MAX_ABILITY_WORDS) -> str:
    """A label as it may stand beside our own words: a few plain words. Any other text is named by a digest, so that
    runs of one label stay together though nobody reads it."""
    label = " ".join(_normalize(remove_hidden(text)).split())
    is_short = len(label) <= MAX_LABEL_CHARS and len(label.split()) <= MAX_LABEL_PARTS and not has_hidden(text)
    is_short = is_short and len(_BETWEEN_PARTS.split(label)) <= MAX_JOINED_PARTS
    is_number = _is_number_of_something(label) or identifies(label, MAX_LABEL_DIGITS, MAX_LABEL_DIGITS)
    is_number = is_number or is_birthday(label) or _MADE_UP.search(label) is not None
    is_number = is_number or _PAPER_ALONE.fullmatch(label) is not None
    is_value = _is_pair(label) if max_words > MAX_ABILITY_WORDS else _CODE_IN_GROUPS.fullmatch(label)
    is_value = is_value or _gives_a_secret(label, any_secret=True)
    if is_short and not is_number and not is_value and _is_plain(label, _LABEL, max_words):
        return label
    return f"label-{digest(text)[:6]}"


@lru_cache(maxsize=8192)
def plain_ability(text: str) -> str:
    """The name of an ability or an app, which stands on cards: no long number, no word with a number as passwords are
    made, no pair (`first pet: newt`), and words joined in one way."""
    is_value = _has_long_number(text) or _MADE_UP_IN_FIELD.search(text) or _is_joined_in_two_ways(text) or ": " in text
    return f"label-{digest(text)[:6]}" if is_value else plain_label(text)


def plain_source(text: str) -> str:
    """The name of a model, an agent or a trial."""
    return plain_label(text, MAX_LABEL_WORDS)


def is_choice(value: str) -> bool:
    """Could `value` be a choice of an interface: a few plain words, and no number of anybody's?"""
    is_made_up = _CHOICE.fullmatch(value) is None or _MADE_UP_IN_FIELD.search(value) is not None
    return not is_made_up and plain_label(value, MAX_CHOICE_WORDS) == value


@lru_cache(maxsize=8192)
def plain_key(text: str) -> str:
    """The id of a task: longer than a label, and no sentence either."""
    key = " ".join(_normalize(remove_hidden(text)).split())
    is_short = len(key) <= MAX_KEY_CHARS and len(key.split()) <= MAX_KEY_PARTS and "\n" not in text.strip()
    is_short = is_short and not has_hidden(text)
    is_number = _is_number_of_something(key) or identifies(key, MAX_KEY_DIGITS, MAX_NAME_DIGITS)
    is_number = is_number or is_birthday(key) or _MADE_UP.search(key) is not None or "@" in key
    if is_short and not is_number and _is_plain(key, _KEY, MAX_KEY_WORDS):
        return key
    return _shorten_key(text) or f"key-{digest(text)[:12]}"


def plain_environment(text: str) -> str:
    """The name of an environment: a key of which no part is longer than an ability."""
    max_words = MAX_PART_WORDS - 1 if text.isascii() else MAX_PART_WORDS // 2
    is_short = all(_count_words(part) <= max_words for part in text.split("/"))
    return plain_key(text) if is_short else f"key-{digest(text)[:12]}"


def _shorten_key(text: str) -> str:
    """A key that lists identifiers (`[login]wrong_pin|locked_card[PERSONA:Hard]`): the first of them, no more words
    than any key may have, and a digest of the whole. Empty if it is no such list: one word after the other is a
    sentence."""
    kept: list[str] = []
    for part in filter(None, _BETWEEN.split(text) if _LISTED.fullmatch(text) else ()):
        is_identifier = (1 if not kept else 2) <= _count_words(part) <= MAX_PART_WORDS
        if not is_identifier or _count_words("/".join([*kept, part])) > MAX_KEY_WORDS:
            break
        kept.append(part)
    key = f"{'/'.join(kept)}~{digest(text)[:8]}"
    is_plain = len(kept) > 1 and len(key) <= MAX_KEY_CHARS and _is_plain(key, _KEY, MAX_KEY_WORDS)
    return key if is_plain and not identifies(key, MAX_KEY_DIGITS, MAX_NAME_DIGITS) else ""


@lru_cache(maxsize=8192)
def plain_field(name: str) -> str:
    """The name of an argument or of a field of a result. A sentence, a path or an address is named by a digest."""
    field = mask_name(_normalize(name))
    is_short = len(field) <= MAX_FIELD_CHARS and len(field.split()) <= MAX_FIELD_PARTS
    is_code = _CODE_IN_GROUPS.fullmatch(field) or _is_number_of_something(field)
    is_code = is_code or _MADE_UP_IN_FIELD.search(field) or identifies(field, MAX_NAME_DIGITS, MAX_NAME_DIGITS)
    if not field or (is_short and not is_code and _is_plain(field, _FIELD, MAX_FIELD_WORDS)):
        return field
    return digest_field(name)


@lru_cache(maxsize=8192)
def plain_argument(name: str) -> str:
    """The name of an argument: an identifier without a number of anything, or two words at most."""
    is_name = not name or (_ARGUMENT.fullmatch(name) and not _has_long_number(name))
    return plain_field(name) if is_name else digest_field(name)


def digest_field(name: str) -> str:
    """A digest that still says whether the field holds a secret."""
    return f"{'secret' if is_secret_name(name, 'any') else 'field'}_{digest(name)[:6]}"


def _normalize(text: str) -> str:
    """Letters in their usual form: wide, bold and other mathematical ones are the same letters."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _is_plain(text: str, form: re.Pattern[str], max_words: int) -> bool:
    return (
        form.fullmatch(text) is not None
        and _count_words(text) <= max_words
        and not _UNSPACED.search(text)
        and (text.isascii() or not _IMITATED.search(text))
        and not _tells_a_secret(text)
    )


def _tells_a_secret(text: str) -> bool:
    return next(secrets_in_prose(text), None) is not None or _is_numbered_secret(text) or _gives_a_secret(text)


def _is_number_of_something(text: str) -> bool:
    return any(word.lower() not in _COUNTED for word in _NUMBER_OF_SOMETHING.findall(text))


def _is_joined_in_two_ways(text: str) -> bool:
    """`desk_4 signature kestrel-pumice`: underscores join an identifier, spaces and hyphens words. Both together join
    a name to something else. `server__tool-set` and `suite_1/hard-tasks` have two names."""
    return any(map(_TWO_JOINTS.search, _NAMES_APART.split(text)))


def _is_pair(label: str) -> bool:
    """`locker_code hazel`, `first pet: newt`: no model and no run is called so. An ability may be: `password reset`."""
    return ": " in label or ("_" in label and " " in label)


@lru_cache(maxsize=8192)
def _gives_a_secret(text: str, any_secret: bool = False) -> bool:
    """`shop-4-passwd-hazelibex`: is the name of a secret joined to what may be its value? After a password and
    after a code that opens something, that is whatever is no word about secrets; after another secret, what mixes
    letters and digits, or a long number. With `any_secret`, all of them are like passwords."""
    for part in _APART.split(text):
        tokens = [token for token in _TOKEN.findall(_HUMP.sub(" ", part)) if token.lower() not in _LINKS]
        for place, after in enumerate(tokens[1:], 1):
            if _is_about_secrets(after):
                continue
            named = [token.rstrip("0123456789") for token in tokens[max(0, place - MAX_SECRET_WORDS) : place]]
            names = ["_".join(named[start:]) for start in range(len(named)) if named[start]]
            if any(names_a_password(name) for name in names) or _opens_something(names) or _is_issued(names):
                return True
            if (any_secret or _MIXED.fullmatch(after)) and any(is_secret_name(name, "any") for name in names):
                return True
            if named[-1].lower() in _TELEPHONES and _MIXED.fullmatch(after):
                return True
    return False


def _opens_something(names: list[str]) -> bool:
    """`door_code`, and not `code` or `reason_code`."""
    return any(name.rpartition("_")[2].lower() in _OPENING and is_secret_name(name, "any") for name in names)


def _is_issued(names: list[str]) -> bool:
    """`bot_token`, `api_key`: what else is called a token or a key is no secret by itself."""
    parts = (name.lower().rsplit("_", 1) for name in names if "_" in name)
    return any(last in ("token", "key", "secret") and is_secret_name(f"{first}_{last}", "any") for first, last in parts)


def _is_about_secrets(word: str) -> bool:
    is_count = word.isdigit() and len(word) <= MAX_COUNT_DIGITS
    return is_count or word.lower() in _ABOUT_SECRETS or is_secret_name(word, "any")


def _is_numbered_secret(text: str) -> bool:
    """`PIN 78968`: in a sentence it may be something else, in a name it is not."""
    match = _BEFORE_NUMBER.match(text)
    return match is not None and is_secret_name(match[1], "any")


@lru_cache(maxsize=8192)  # the same folders stand in the path of every run
def _count_words(text: str) -> int:
    return len(_LETTERS.findall(_DIGEST.sub(" ", text)))


@lru_cache(maxsize=1024)
def plain_file(path: str) -> str:
    """Where a run was read. A trace may name its own origin, so a sentence is no path. A part of a path that identifies
    somebody is named by a digest."""
    is_path = len(path.split()) <= MAX_FILE_PARTS and not re.search(r"[<>{}\[\]|\n?&]|%[0-9A-Fa-f]{2}", path)
    is_named = is_path and all(_count_words(part) <= MAX_FILE_WORDS for part in _FILE_PARTS.split(path))
    is_sentence = _UNSPACED.search(path) or len(_UNSPACED_LETTER.findall(path)) > MAX_UNSPACED_LETTERS
    if not is_named or is_sentence or mask_name(path) != path:
        return f"file-{digest(path)[:6]}"
    return "".join(f"file-{digest(part)[:6]}" if _is_private_file(part) else part for part in _FILE_PARTS.split(path))


@lru_cache(maxsize=8192)  # the same folders stand in the path of every run
def _is_private_file(part: str) -> bool:
    name = part.rpartition(".")[0] or part
    return bool(name) and (identifies(name, MAX_KEY_DIGITS, MAX_NAME_DIGITS) or _tells_a_secret(name))


@lru_cache(maxsize=8192)
def plain_name(name: str) -> str:
    """The name of a function: what a program could call. One that is a sentence is named by a digest, and so is what
    follows an app that is one: a sentence with dots is cut somewhere."""
    app, dot, function = _normalize(name).partition(".")
    if dot and not (app and function):  # hidden characters were all of one half
        app, function = app or f"unnamed_{digest(name)[:6]}", function or f"unnamed_{digest(name)[:6]}"
    words_of_app = _count_words(app)
    is_app = words_of_app <= MAX_APP_WORDS and not (words_of_app > MAX_LABEL_PARTS and _is_joined_in_two_ways(app))
    plain = _plain_part(app) if is_app else f"unnamed_{digest(app)[:6]}"
    if plain != app and plain.startswith("unnamed_"):
        return f"{plain}{dot}{f'unnamed_{digest(function)[:6]}' if function else ''}"
    return f"{plain}{dot}{_plain_part(function)}"


def _plain_part(part: str) -> str:
    part = mask_name(part)
    is_short = len(part) <= MAX_NAME_CHARS and len(words(part)) <= MAX_NAME_WORDS
    max_words = MAX_NAME_WORDS if part.isascii() else MAX_NAME_WORDS // 2
    is_short = is_short and (part.isascii() or len(_WORD.findall(part)) <= max_words)
    if not part or (is_short and not _has_long_number(part) and _is_plain(part, _NAME, max_words)):
        return part
    return f"unnamed_{digest(part)[:6]}"


def _has_long_number(name: str) -> bool:
    """What is called by name may have a version in it, but no number of anybody's."""
    forms = _NUMBER_IN_NAME, _BOOKING, _LAST_CENTURY
    is_number = identifies(name, MAX_FUNCTION_DIGITS, MAX_FUNCTION_GROUPED_DIGITS)
    return is_number or any(form.search(name) for form in forms)
