"""Feedback: what a judge says about a run, without what the judge expected.

Judges that compare a run with a reference solution quote that solution. An author may learn what kind of mistake was
made, but never the calls, values or answer of the reference: a card made from them would give the solution away.
"""

from __future__ import annotations

import re

_REFERENCE = re.compile(
    r"\boracle\b|ground[\s_-]?truth|\bgold(?:en)?\b|\breference (?:answer|solution|call|run)|\bcorrect answer\b"
    r"|\bexpected (?:answer|output|result|value|call|action|state|response)\b|\bexpected\b\s*[:=]",
    re.IGNORECASE,
)
_WRONG = {
    r"did not perform|did not (?:make|call)|missing (?:tool )?call": "a call that was needed is missing",
    r"counters? do(?:es)? not match|too many|extra (?:tool )?call|unexpected (?:tool )?call": (
        "functions were called more or less often than needed"
    ),
    r"too (?:early|late)|time (?:check|window|judge)|deadline": "something was done at the wrong time",
    r"causality|wrong order|out of order": "something was done in the wrong order",
    r"tool judge reject|arguments? do(?:es)? not match|content": (
        "a call was made, but its contents or its time do not fit"
    ),
    r"message to (?:the )?user|final (?:answer|message)": "what was said to the user does not fit",
}
_KINDS = tuple((re.compile(pattern, re.IGNORECASE), kind) for pattern, kind in _WRONG.items())
_QUOTED = re.compile(r"^\s*(?:tool (?:name|args)\b|-\s*[\w.]+\s*:).*$", re.MULTILINE)
_REASON = re.compile(r"reason: ([^\n]+)")
UNKNOWN = "The judge quotes the solution, which is not shown."


def normalize_feedback(text: str) -> str:
    """The feedback as an author may read it. Feedback that does not mention a reference is unchanged."""
    if not _REFERENCE.search(text):
        return text
    head = _QUOTED.sub("", text.partition("List of matching attempts")[0])
    claims = [head, *_REASON.findall(text)]
    kinds = [next((kind for pattern, kind in _KINDS if pattern.search(claim)), "") for claim in claims]
    return "; ".join(dict.fromkeys(kind for kind in kinds if kind)) or UNKNOWN
