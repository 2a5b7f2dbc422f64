"""Tokens: who has access to which projects, with which scopes. Only their hashes are stored."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from contramem.errors import UsageError
from contramem.whole_file import replacing

_logger = logging.getLogger("contramem.server")
Scope: TypeAlias = Literal["read", "guide", "record", "review", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)


@dataclass(frozen=True)
class Token:
    """A token as stored."""

    name: str
    scopes: tuple[Scope, ...]
    sha256: str
    project: str | None = None
    """None: every project."""

    def allows(self, scope: Scope, project: str | None) -> bool:
        return scope in self.scopes and (project is None or self.project in (None, project))


ANYONE = Token("local", SCOPES, "")
"""The user of a server without tokens, which listens on the loopback address only."""


def digest_of(secret: str) -> str:
    # A token has 256 random bits, so a plain hash is enough: there is nothing to guess.
    return hashlib.sha256(secret.encode()).hexdigest()


def find(tokens: tuple[Token, ...], secret: str) -> Token | None:
    """The token with this secret. All are compared, in constant time."""
    digest = digest_of(secret)
    matches = [token for token in tokens if hmac.compare_digest(token.sha256, digest)]
    return matches[0] if matches else None


class TokenFile:
    """The tokens in a file, read again whenever it changes: a revoked token is refused at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._version = _version_of(path)
        self._tokens = read_tokens(path)

    def tokens(self) -> tuple[Token, ...]:
        """The tokens as the file has them now; none while it cannot be read."""
        version = _version_of(self._path)
        if version != self._version:
            self._version = version
            try:
                self._tokens = read_tokens(self._path)
            except UsageError as error:
                self._tokens = ()
                _logger.warning("nobody is let in: %s", error)
        return self._tokens


def _version_of(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def read_tokens(path: Path) -> tuple[Token, ...]:
    """The tokens in a file; none if there is no file yet."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        tokens = [json.loads(line) for line in lines if line.strip()]
        return tuple(Token(**{**token, "scopes": tuple(token["scopes"])}) for token in tokens)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UsageError(f"{path}: not a file of tokens ({error}). `contramem serve token add` writes one.") from error


def add_token(path: Path, name: str, scopes: tuple[Scope, ...], project: str | None = None) -> str:
    """Create a token and return its secret, which is stored nowhere. A token of the same name is replaced."""
    secret = f"ctm_{secrets.token_urlsafe(32)}"
    others = (token for token in read_tokens(path) if token.name != name)
    _write(path, [*others, Token(name, scopes, digest_of(secret), project)])
    return secret


def revoke_token(path: Path, name: str) -> None:
    """Delete a token. Servers that use this file refuse it from then on."""
    tokens = read_tokens(path)
    others = [token for token in tokens if token.name != name]
    if len(others) == len(tokens):
        known = ", ".join(token.name for token in tokens) or "none"
        raise UsageError(f"{path} has no token {name!r}. It has: {known}.")
    _write(path, others)


def _write(path: Path, tokens: Iterable[Token]) -> None:
    with replacing(path, private=True) as file:
        file.writelines(json.dumps(asdict(token)).encode() + b"\n" for token in tokens)
    path.chmod(0o600)
