"""ScriptedModel: replies written by a test or a user. No network, no key."""

from __future__ import annotations

import json
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeAlias

from contramem.counting import count_tokens
from contramem.llm.price import Price
from contramem.llm.request import ModelFailure, ModelReply, Request

Scripted: TypeAlias = str | dict[str, Any] | ModelReply | ModelFailure
"""The text of a reply, its JSON, a whole reply, or a failure to raise."""


class ScriptedModel:
    """Answers from a list, in order, or with a function of the request. `asked` collects every request."""

    def __init__(
        self, *replies: Scripted, by: Callable[[Request], Scripted] | None = None, name: str = "scripted",
        price: Price | None = None,
    ) -> None:  # fmt: skip
        self.name = name
        self.asked: list[Request] = []
        self._replies = list(replies)
        self._by = by
        self._price = price
        self._lock = Lock()

    def ask(self, request: Request) -> ModelReply:
        with self._lock:
            self.asked.append(request)
            if self._by is not None:
                scripted = self._by(request)
            elif self._replies:
                scripted = self._replies.pop(0)
            else:
                raise AssertionError(f"the script is at its end, and was asked about {request.subject}")
        if isinstance(scripted, ModelFailure):
            raise scripted
        return scripted if isinstance(scripted, ModelReply) else self._reply_of(request, scripted)

    def _reply_of(self, request: Request, scripted: str | dict[str, Any]) -> ModelReply:
        text = scripted if isinstance(scripted, str) else json.dumps(scripted, ensure_ascii=False)
        tokens_out = count_tokens(text)
        cost = self._price.of(request.tokens, tokens_out) if self._price else None
        return ModelReply(text, "stop", request.tokens, tokens_out, cost)
