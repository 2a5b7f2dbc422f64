"""Exchange: replies by request, kept in a store. Requests without a reply raise NotYet and are asked in rounds."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field

from contramem.bank.model_calls import StoredExchange
from contramem.bank.store import Store
from contramem.llm.request import STAGES, ModelReply, Request


class NotYet(Exception):
    """There is no reply to this request yet. Not an error: whoever runs the round asks for it, or waits for a file."""

    def __init__(self, request: Request) -> None:
        super().__init__(f"no reply yet about {request.subject}")
        self.request = request


@dataclass
class StageCost:
    """What one stage of this build used."""

    calls: int = 0
    """Calls that were made and paid for in this build."""
    cached: int = 0
    """Replies that were paid for earlier: by another build, or by this one before it was stopped."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    """Calls whose price is unknown."""


@dataclass
class Exchange:
    """All replies that a build may use. Not thread-safe."""

    store: Store | None
    """None means that nothing is kept, as in a dry run without a bank."""
    keep: bool = True
    """Whether prompts and replies are kept in the store. Counts and costs always are."""
    stages: dict[str, StageCost] = field(default_factory=lambda: {stage: StageCost() for stage in STAGES})
    oddities: Counter[str] = field(default_factory=Counter)
    """Unusable replies, by kind: `truncated`, `invalid`, `refusal`, `content filter`."""
    _replies: dict[str, StoredExchange] = field(default_factory=dict)

    def reply(self, request: Request) -> StoredExchange:
        """The reply to `request`. Raises NotYet if there is none."""
        if request.digest not in self._replies:
            stored = self.store.call(request.digest) if self.store is not None else None
            if stored is None:
                raise NotYet(request)
            self._replies[request.digest] = stored
            self.stages[request.stage].cached += 1
        return self._replies[request.digest]

    def has(self, request: Request) -> bool:
        try:
            self.reply(request)
        except NotYet:
            return False
        return True

    def take(self, request: Request, reply: ModelReply) -> None:
        """Store a new reply and count its cost."""
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
