"""Usual words of requests: those that requests of several tasks use, each in its own sentence.

They are words of the trade, even if they are in no list of English words, and cards have to use them to be found. A
text that was planted, in however many requests, has the same words around each of its words. Names that requests write
in small letters are told by addresses and fields of the runs that contain them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise

from contramem.study.run_set import RunSet
from contramem.study.run_values import values_of

MIN_TASKS = 3
_WORD = re.compile(r"[^\W_]+")


def find_usual_words(run_set: RunSet) -> frozenset[str]:
    """Words in small letters that requests of several tasks contain, after and before different words, and that are no
    part of a name or an address."""
    found = _find_shared_words(run_set)
    values = values_of(run_set)
    return frozenset(word for word in found if not values.is_in_name(word))


def _find_shared_words(run_set: RunSet) -> frozenset[str]:
    tasks, before, after = (defaultdict[str, set[str]](set) for _ in range(3))
    capitalized = set[str]()
    for profile in run_set.profiles:
        tokens = ["", *_WORD.findall(profile.text), ""]
        for left, right in pairwise(tokens):
            after[left].add(right.casefold())
            before[right].add(left.casefold())
            tasks[right].add(profile.task)
            if left and right != right.lower():
                capitalized.add(right.casefold())
    return frozenset(
        word
        for word, found_in in tasks.items()
        if len(found_in) >= MIN_TASKS
        and min(len(before[word]), len(after[word])) > 1
        and _is_small_word(word)
        and word not in capitalized
    )


def _is_small_word(word: str) -> bool:
    """Other scripts have no small letters that would tell a word from a name."""
    return word.isascii() and word.isalpha() and word.islower()
