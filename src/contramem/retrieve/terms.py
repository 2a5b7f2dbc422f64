"""Terms: an index represents a word by a short digest of its stem.

Words of requests are searched but never shown, so a bank stores them as digests: text in a request cannot end up as
text in a bank. Cards and tasks are indexed by the same terms, so that they match.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache

from contramem.retrieve.stems import stem
from contramem.retrieve.tokens import tokenize

TERMS = "#"
"""Marks a list of terms. Banks of earlier versions contain the words themselves."""
_DIGEST_BYTES = 3
"""Gives four characters. Among 5,000 words, about one collides with another."""


@lru_cache(maxsize=65_536)
def term(word: str) -> str:
    """The term of a lower-case, singular `word`."""
    digest = hashlib.blake2b(stem(word).encode(), digest_size=_DIGEST_BYTES).digest()
    return base64.urlsafe_b64encode(digest).decode()


def terms_of(stored_request: str) -> list[str]:
    """The terms of a request as stored in a bank."""
    mark, *terms = stored_request.split() or [""]
    return terms if mark == TERMS else [term(word) for word in tokenize(stored_request)]
