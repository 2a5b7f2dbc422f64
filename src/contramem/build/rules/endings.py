"""Endings: how a run took leave. With a question, with a call that it wrote into its answer, or with an answer.

What a run left out says little about why. Its last words say more: a question that nobody answers, or a call that
stands in the text and was never made.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal, TypeAlias

from contramem.traces.trajectory import Trajectory

RunEnding: TypeAlias = Literal["question", "written call", "answer", "silence"]

_CLOSING_CHARS = 300
"""How much of the last text is read for a question."""
_SENTENCE = re.compile(r"[^.!?？\n]+[.!?？]?")
_ASKING = re.compile(r"[?？]|\bplease (?:provide|confirm|specify|clarify|share|tell|give|send) ", re.IGNORECASE)
_COURTESY = re.compile(
    r"\b(?:anything|something) else\b|\b(?:further|more) (?:assistance|help)\b|\bassist you\b|\bhelp you\b",
    re.IGNORECASE,
)
"""A question that needs no answer."""


def ending_of(run: Trajectory, functions: Collection[str]) -> RunEnding:
    """How the run ended. `functions`: those that exist."""
    own = [event for event in run.events if event.actor == "agent"]
    text = own[-1].text.strip() if own else ""
    if not text:
        return "silence"
    if writes_call(text, functions):
        return "written call"
    return "question" if _asks(text) else "answer"


def writes_call(text: str, functions: Collection[str]) -> bool:
    """Does the text contain a call of one of the functions, as code or as JSON?"""
    return any(_writes(text, function.rpartition(".")[2]) for function in functions)


def _writes(text: str, name: str) -> bool:
    if name not in text:
        return False
    called = re.escape(name)
    as_code = rf"(?<!\w){called}\(\s*(?:[\w.]+\s*[=:]|[\"'\[{{\d])"
    as_value = rf"\w[\"']?\s*[:=]\s*[\"']?(?:[\w]+\.)?{called}[\"'>]"
    return re.search(f"{as_code}|{as_value}", text) is not None


def _asks(text: str) -> bool:
    sentences = _SENTENCE.findall(text[-_CLOSING_CHARS:])
    return any(_ASKING.search(sentence) and not _COURTESY.search(sentence) for sentence in sentences)
