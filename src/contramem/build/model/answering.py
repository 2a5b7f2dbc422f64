"""Two ways to answer a round of requests: asking a model now, or reading replies from a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from contramem.llm.client import ModelReply, Request
from contramem.llm.exchange import Exchange, ModelCaller

Watch = Callable[[int, int], None]
"""Called with (answered, total) of the current round."""


@dataclass
class AskNow:
    """Sends every request of a round to the model, and keeps each reply as soon as it arrives."""

    caller: ModelCaller
    exchange: Exchange
    watch: Watch | None = None

    def __call__(self, requests: Sequence[Request]) -> bool:
        report = self.watch or (lambda answered, total: None)
        report(0, len(requests))
        for answered, (request, reply) in enumerate(self.caller.ask_all(requests), 1):
            self.exchange.take(request, reply)
            report(answered, len(requests))
        return True


@dataclass
class FromFile:
    """Answers with the replies of a file. `open` are the requests of the last round without a reply."""

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
        """The number of replies that match no request."""
        return len(self.replies.keys() - self.used)
