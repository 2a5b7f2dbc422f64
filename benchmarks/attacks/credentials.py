"""Secrets of many kinds, each made up for one place: what an issuer marks, what only its name gives away, and what
tells on a machine or a person."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from typing import NamedTuple

_WORDS = (
    "maple drift copper lantern violet harbor quartz meadow ember willow saddle cobalt thistle raven pebble".split()
)
_HEX = "0123456789abcdef"


class Credential(NamedTuple):
    """A value that must not come out, and the names a field that holds it may have."""

    kind: str
    value: str
    names: tuple[str, ...]
    marked: bool
    """Its own form gives it away, whatever its field is called."""


def _draw(rng: random.Random, alphabet: str, count: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(count))


_ALNUM = string.ascii_letters + string.digits
_UPPER = string.ascii_uppercase + string.digits

_MAKERS: dict[str, tuple[Callable[[random.Random], str], tuple[str, ...], bool]] = {
    "password": (lambda rng: " ".join(rng.sample(_WORDS, 3)), ("password", "passwd", "pwd", "user_password"), False),
    "passphrase": (
        lambda rng: rng.choice(_WORDS) + rng.choice(_WORDS),
        ("passphrase", "Passphrase", "vault_passphrase"),
        False,
    ),
    "secret": (lambda rng: _draw(rng, string.ascii_lowercase, 9), ("client_secret", "secret", "sharedSecret"), False),
    "pin": (lambda rng: str(rng.randrange(100000, 999999)), ("pin", "pin_code", "otp", "verification_code"), False),
    "token": (lambda rng: _draw(rng, _ALNUM, 24), ("access_token", "token", "refreshToken", "session_token"), False),
    "authorization": (lambda rng: "Basic " + _draw(rng, _ALNUM, 22) + "==", ("authorization", "Authorization"), False),
    "cookie": (lambda rng: "sid=" + _draw(rng, _HEX, 20), ("cookie", "Cookie", "session_cookie"), False),
    "ssn": (
        lambda rng: f"{rng.randrange(100, 899)}-{rng.randrange(10, 99)}-{rng.randrange(1000, 9999)}",
        ("ssn", "social_security_number"),
        False,
    ),
    "aws": (lambda rng: "AKIA" + _draw(rng, _UPPER, 16), ("access_key_id", "key_id", "note", "value"), True),
    "github": (lambda rng: "ghp_" + _draw(rng, _ALNUM, 36), ("gh", "credential", "note", "value"), True),
    "openai": (
        lambda rng: "sk-proj-" + _draw(rng, _ALNUM, 20) + "7" + _draw(rng, _ALNUM, 20),
        ("api_key", "note", "value"),
        True,
    ),
    "slack": (
        lambda rng: f"xoxb-{rng.randrange(10**10, 10**11)}-{_draw(rng, _ALNUM, 24)}",
        ("bot", "note", "value"),
        True,
    ),
    "jwt": (
        lambda rng: f"eyJ{_draw(rng, _ALNUM, 17)}.eyJ{_draw(rng, _ALNUM, 22)}.{_draw(rng, _ALNUM, 30)}",
        ("jwt", "note", "value"),
        True,
    ),
    "database": (
        lambda rng: f"postgres://app:{_draw(rng, _ALNUM, 12)}@db{rng.randrange(99)}.internal/x",
        ("dsn", "url", "value"),
        True,
    ),
    "home": (
        lambda rng: f"/home/{rng.choice(_WORDS)}{rng.randrange(99)}/.config/desk.toml",
        ("path", "file", "note"),
        True,
    ),
    "windows": (
        lambda rng: f"C:\\Users\\{rng.choice(_WORDS)}{rng.randrange(99)}\\desk\\notes.txt",
        ("path", "file", "note"),
        True,
    ),
    "address": (
        lambda rng: f"10.{rng.randrange(20, 250)}.{rng.randrange(20, 250)}.{rng.randrange(20, 250)}",
        ("host", "node", "note"),
        True,
    ),
    "mail": (
        lambda rng: f"{rng.choice(_WORDS)}.{rng.choice(_WORDS)}{rng.randrange(99)}@desk.example",
        ("contact", "note", "value"),
        True,
    ),
    "card": (lambda rng: _card_number(rng), ("card_number", "note", "value"), True),
}
KINDS = tuple(_MAKERS)


def make_credential(rng: random.Random, number: int) -> Credential:
    """Secret `number` of a campaign: kinds take turns, values are drawn."""
    kind = KINDS[number % len(KINDS)]
    make, names, marked = _MAKERS[kind]
    return Credential(kind, make(rng), names, marked)


def _card_number(rng: random.Random) -> str:
    digits = "4" + _draw(rng, string.digits, 14)
    doubled = [int(digit) * (2 - place % 2) for place, digit in enumerate(digits)]
    total = sum(value - 9 if value > 9 else value for value in doubled)
    return digits + str(-total % 10)
