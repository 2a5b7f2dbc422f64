"""Exchange: replies by request, kept in a store. What has no reply yet is raised, gathered, and asked in rounds."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field

from contramem.bank.calls import StoredExchange
from contramem.bank.store import Store
from contramem.llm.request import STAGES, ModelReply, Request


class NotYet(Exception):
    """The reply to this request is not there. Not an error: whoever runs the round asks, or waits for a file."""

    def __init__(self, request: Request) -> None:
        super().__init__(f"no reply yet about {request.subject}")
        self.request = request


@dataclass
class StageCost:
    """What one stage used in this build."""

    calls: int = 0
    """Made, and paid for, now."""
    cached: int = 0
    """Replies that an earlier build, or the same one before it was stopped, had paid for."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    """Calls whose price is not known."""


@dataclass
class Exchange:
    """All replies that a build may use. Everything here happens in one thread."""

    store: Store | None
    """None: nothing is kept; for a dry run on a bank that is not there."""
    keep: bool = True
    """Keep prompts and replies in the store. Without, only counts and costs are kept."""
    stages: dict[str, StageCost] = field(default_factory=lambda: {stage: StageCost() for stage in STAGES})
    oddities: Counter[str] = field(default_factory=Counter)
    """Replies that could not be used as they were: `truncated`, `invalid`, `refusal`, `content filter`."""
    _replies: dict[str, StoredExchange] = field(default_factory=dict)

    def reply(self, request: Request) -> StoredExchange:
        """The reply to `request`, or NotYet."""
        if request.digest not in self._replies:
            kept = self.store.call(request.digest) if self.store is not None else None
            if kept is None:
                raise NotYet(request)
            self._replies[request.digest] = kept
            self.stages[request.stage].cached += 1
        return self._replies[request.digest]

    def has(self, request: Request) -> bool:
        try:
            self.reply(request)
        except NotYet:
            return False
        return True

    def take(self, request: Request, reply: ModelReply) -> None:
        """Keep a reply that has just come."""
        call = StoredExchange(
            digest=request.digest,
            stage=request.stage,
            subject=request.subject,
            model=request.model,
            prompt=request.prompt,
            request=json.dumps(request.news, ensure_ascii=False) if self.keep else None,
            reply=reply.text if self.keep else None,
            finish=reply.finish,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            cost_usd=reply.cost_usd,
        )
        if self.store is not None:
            self.store.keep(call)
        self._replies[request.digest] = call._replace(reply=reply.text)
        stage = self.stages[request.stage]
        stage.calls += 1
        stage.tokens_in += reply.tokens_in
        stage.tokens_out += reply.tokens_out
        stage.cost_usd += reply.cost_usd or 0.0
        stage.unpriced += reply.cost_usd is None

    @property
    def spent_usd(self) -> float:
        return sum(stage.cost_usd for stage in self.stages.values())
