"""Terms: what an index knows a word by, the digest of its stem.

Words of requests are searched and never shown, so a bank keeps them as terms: whoever writes into a request writes no
text into a bank. Cards and tasks are indexed by terms too, so that all of them meet.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache

from contramem.retrieve.stems import stem
from contramem.retrieve.tokens import tokenize

TERMS = "#"
"""Opens a list of terms. Banks of earlier versions have the words themselves."""
_DIGEST_BYTES = 3
"""Four characters. Of 5,000 words about one has the term of another."""


@lru_cache(maxsize=65_536)
def term(word: str) -> str:
    """The term of a lower-case, singular `word`."""
    digest = hashlib.blake2b(stem(word).encode(), digest_size=_DIGEST_BYTES).digest()
    return base64.urlsafe_b64encode(digest).decode()


def terms_of(kept: str) -> list[str]:
    """The terms of a request as a bank keeps it."""
    mark, *terms = kept.split() or [""]
    return terms if mark == TERMS else [term(word) for word in tokenize(kept)]
