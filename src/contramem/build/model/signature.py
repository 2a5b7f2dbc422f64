"""The deterministic signature of a task: which of five kinds of work it asks for (paper, appendix B.9).

It chooses what the Reflector looks at first during a build. It is not an ability, and has no effect at run time.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal, TypeAlias

Signature: TypeAlias = Literal["answer_extraction", "bulk_or_multi_write", "cross_app", "state_write", "default"]

# Apps that every task uses don't show which apps a task is about.
HELPER_APPS = frozenset({"supervisor", "api_docs", "apidocs", "admin", "agentuserinterface", "system", "systemapp"})

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_WRITES = frozenset(
    """accept add answer append approve archive assign block book buy call cancel change clear close comment complete
    compose copy create decline deactivate delete deposit dislike download draft edit email enable disable exchange
    extend fill follow forward hide install invite label leave like lock make mark message modify move order pause pay
    place play post print purchase put rate reject remind remove rename reorder repeat replace reply report request
    reschedule reserve reset resume return review save schedule sell send set share shuffle sign split start stop
    submit subscribe switch sync text transfer turn unblock undo unfollow unlike unlock unsubscribe update upload
    withdraw write""".split()
)
_BULK = frozenset("all every each everyone everybody everything both any remaining rest multiple several".split())
_ASKS = frozenset("what which who whom whose when where why how".split())
_ASKS_FOR = re.compile(
    r"^(?:please |now |then )*(?:(?:could|can|would) you )?(?:please )?"
    r"(?:tell me|give me|find(?: out)?|list|name|count|calculate|compute|show|report|look up"
    r"|check (?:if|whether|how|what)"
    r"|let me know|summari[sz]e|is |are |was |were |do |does |did |has |have |how|what|which|who|when|where)\b"
)
_POLITE = frozenset(
    "please now then also and finally first next after that kindly just so can could would you i".split()
)


def signature(task: str, apps: Collection[str] = ()) -> Signature:
    """The kind of work that `task` asks for. `apps` are those that its runs called; helper apps don't count.

    The first that applies: a question without a write is answer_extraction; a write over a set (`all`, `each`, ...) or
    several different writes is bulk_or_multi_write; any other work over two or more apps is cross_app; one write is
    state_write; the rest is default.
    """
    sentences = [sentence for part in _SENTENCE_END.split(task.lower()) if (sentence := part.strip())]
    writes = [verb for sentence in sentences for verb in _commands(sentence)]
    if not writes and any(_is_question(sentence) for sentence in sentences):
        return "answer_extraction"
    if len(set(writes)) > 2 or (writes and not _BULK.isdisjoint(_WORD.findall(task.lower()))):
        return "bulk_or_multi_write"
    if len({app.lower() for app in apps} - HELPER_APPS) > 1:
        return "cross_app"
    return "state_write" if writes else "default"


def _is_question(sentence: str) -> bool:
    words = _WORD.findall(sentence)
    return sentence.endswith("?") or bool(_ASKS_FOR.match(sentence)) or bool(words and words[0] in _ASKS)


def _commands(sentence: str) -> list[str]:
    """Writing verbs used as commands: at the start of a sentence or clause, or after `to`, `please`, `and`."""
    commands = []
    for clause in re.split(r"[,;:]| - ", sentence):
        words = _WORD.findall(clause)
        for place, word in enumerate(words):
            opens = all(earlier in _POLITE for earlier in words[:place])
            follows = place > 0 and words[place - 1] in ("to", "please", "and", "then", "you", "must", "should")
            if word in _WRITES and (opens or follows):
                commands.append(word)
    return commands
