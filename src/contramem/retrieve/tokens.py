"""Words of a task or a card, the same for both: `EmailClient.delete_emails`, "deletes e-mail" and "Delete emails".

Chosen by measurement: from the words of a task, how many of the functions that its passing runs called are among the
five best by name (70 AgentDojo tasks, 277 WorkBench tasks)? Plain words: 0.39 and 0.58. Without stop words: 0.45 and
0.58. With plurals folded as well: 0.62 and 0.66. Cutting -ing and -ed on top: 0.59 and 0.66, so it is not done.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain

MAX_CHARACTERS = 50_000
"""Of a longer text the opening counts: a task that pastes a whole document still says first what it wants."""

_RUN = re.compile(r"[^\W_]+")
# A capital after a lower-case letter, or before one, opens a word, and so does a number: sendEmail, HTTPServer, step2.
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")

# Words that say nothing about a procedure. Words that do are kept: not, all, every, each, only, once, before, after.
_STOP = frozenset(
    """a an the of to in on at for from by with as and or is are was were be been am do does did i me my you your we us
    our it its he she his her they them their this that these those there here please can could would will shall should
    may might have has had so if then than into about up out any some one""".split()
)


def tokenize(text: str) -> list[str]:
    """The words of `text` in order, lower case, singular, without stop words. Repetitions stay: BM25 counts them."""
    return list(chain.from_iterable(map(_terms, _RUN.findall(text[:MAX_CHARACTERS]))))


@lru_cache(maxsize=65_536)
def _terms(run: str) -> tuple[str, ...]:
    """The index forms of a run of letters and digits. Only ASCII names are taken apart; other scripts stay whole."""
    words = _PART.findall(run) if run.isascii() else [run]
    return tuple(singular(word) for part in words if (word := part.lower()) not in _STOP)


def singular(word: str) -> str:
    """`word` without its plural or third-person ending (the S-stemmer of Harman 1991)."""
    if word.endswith("ies") and len(word) > 4 and word[-4] not in "ea":
        return word[:-3] + "y"
    if word.endswith("es") and len(word) > 3 and word[-3] not in "aeo":
        return word[:-1]
    if word.endswith("s") and len(word) > 3 and word[-2] not in "us":
        return word[:-1]
    return word
