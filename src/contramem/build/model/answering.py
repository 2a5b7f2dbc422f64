"""Who answers a round: a model that is asked now, or a file of replies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from contramem.llm.calls import ModelCaller
from contramem.llm.exchange import Exchange
from contramem.llm.request import ModelReply, Request

Watch = Callable[[int, int], None]
"""Told (answered, asked) of the round under way."""


@dataclass
class AskNow:
    """Every request of a round is put to the model; each reply is kept the moment it comes."""

    caller: ModelCaller
    exchange: Exchange
    watch: Watch | None = None

    def __call__(self, requests: Sequence[Request]) -> bool:
        tell = self.watch or (lambda answered, asked: None)
        tell(0, len(requests))
        for answered, (request, reply) in enumerate(self.caller.ask_all(requests), 1):
            self.exchange.take(request, reply)
            tell(answered, len(requests))
        return True


@dataclass
class FromFile:
    """Takes what replies there are. `open` holds what is left to ask when none fits any more."""

    replies: dict[str, ModelReply]
    exchange: Exchange
    open: list[Request] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def __call__(self, requests: Sequence[Request]) -> bool:
        answered = [request for request in requests if request.digest in self.replies]
        for request in answered:
            self.exchange.take(request, self.replies[request.digest])
            self.used.add(request.digest)
        self.open = [request for request in requests if request.digest not in self.replies]
        return bool(answered)

    @property
    def unused(self) -> int:
        """Replies that answer nothing that was asked."""
        return len(self.replies.keys() - self.used)
