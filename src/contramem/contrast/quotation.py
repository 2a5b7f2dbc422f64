"""Quotes other people's words between marks that they cannot contain, so that a model sees where the quotation ends."""

from __future__ import annotations

import re

OPENING, CLOSING = "‹", "›"
"""Rare in texts, and one token each in common encodings."""
MIN_QUOTED_WORDS = 3
"""One or two words are a value; more may be a sentence."""
MAX_REPEATED_CHARS = 60
"""Maximum length of words that are quoted a second time."""
_WITHOUT_MARKS = str.maketrans("", "", OPENING + CLOSING)


def quote_words(text: str) -> str:
    """`text` on one line, between quotation marks."""
    return f"{OPENING}{' '.join(text.split()).translate(_WITHOUT_MARKS)}{CLOSING}"


def shorten_quotations(text: str) -> str:
    """Keep only the beginning of each long quotation, for lines about words that are quoted in full elsewhere."""
    return _LONG_QUOTATION.sub(lambda match: f"{match[0][:MAX_REPEATED_CHARS].rstrip()}…{CLOSING}", text)


_LONG_QUOTATION = re.compile(f"{OPENING}[^{CLOSING}]{{{MAX_REPEATED_CHARS + 1},}}{CLOSING}")


def quote_if_long(text: str) -> str:
    """Quote a text of several words, or in a script without spaces; return a shorter one as it is."""
    is_short = len(text.split()) < MIN_QUOTED_WORDS and text.isascii()
    return text.translate(_WITHOUT_MARKS) if is_short else quote_words(text)
