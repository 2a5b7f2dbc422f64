"""Authorization: a bearer token for programs, a session cookie for browsers, nothing on your own machine."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

from starlette.requests import HTTPConnection

from contramem.server.tokens import ANYONE, Scope, Token, TokenFile, find

COOKIE = "contramem_session"


class Denied(Exception):
    """The request is refused. `status` is 401 for an unknown client, 403 for one without the permission."""

    def __init__(self, status: int, what: str) -> None:
        super().__init__(what)
        self.status = status


@dataclass
class Access:
    """The tokens of a server and the sessions opened with them. Sessions end with the server."""

    tokens: TokenFile | None
    """None: no token is needed."""
    _sessions: dict[str, str] = field(default_factory=dict)
    """The hash of the token that opened each session: a session has no more rights than its token has now."""
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    def who(self, request: HTTPConnection) -> Token | None:
        """The token behind a request; None if it has none."""
        if self.tokens is None:
            return ANYONE
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        tokens = self.tokens.tokens()
        if kind.lower() == "bearer":
            return find(tokens, secret.strip())
        opened_with = self._sessions.get(request.cookies.get(COOKIE, ""))
        return next((token for token in tokens if token.sha256 == opened_with), None)

    def require(self, request: HTTPConnection, scope: Scope, project: str | None = None) -> Token:
        token = self.who(request)
        if token is None:
            raise Denied(401, "this server needs a token: send `Authorization: Bearer TOKEN`, or log in.")
        if not token.allows(scope, project):
            where = f" in project {project}" if project else ""
            raise Denied(403, f"the token {token.name!r} has no scope {scope!r}{where}.")
        request.scope["contramem.who"] = token.name
        return token

    def log_in(self, secret: str) -> str | None:
        """Open a session for the owner of this secret."""
        token = find(self.tokens.tokens() if self.tokens else (), secret)
        if token is None:
            return None
        session = secrets.token_urlsafe(32)
        self._sessions[session] = token.sha256
        return session

    def log_out(self, session: str) -> None:
        self._sessions.pop(session, None)

    def form_token(self, request: HTTPConnection) -> str:
        """The token in our forms, so that no other site can submit one in a visitor's name."""
        session = request.cookies.get(COOKIE, "local")
        return hmac.new(self._secret, session.encode(), hashlib.sha256).hexdigest()[:32]

    def check_form(self, request: HTTPConnection, sent: str) -> None:
        if not hmac.compare_digest(sent, self.form_token(request)):
            raise Denied(403, "this form is out of date. Load the page again and repeat what you did.")
