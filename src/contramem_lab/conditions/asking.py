"""Asks a model for memories other than banks: several conversations in parallel, with replies kept in a store."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from pydantic import BaseModel

from contramem.bank.model_calls import StoredExchange
from contramem.bank.store import Store, open_store
from contramem.build.model.answering import AskNow
from contramem.build.model.author import MAX_ASKED, MAX_REPEATED_CHARS, ModelChoice
from contramem.build.model.prompts import in_messages
from contramem.build.model.replies import UnparsedReply, schema_of
from contramem.llm.client import PromptMessage, Request, Stage
from contramem.llm.exchange import Exchange
from contramem.prompts import render
from contramem_lab.conditions.condition import ByModel, ConditionInputs

Returned = TypeVar("Returned")
Work = Generator[Request, StoredExchange, Returned]
"""A conversation: yields requests, is sent the replies, and returns its outcome."""


@dataclass(frozen=True)
class Asking:
    """A model and the store for its replies, so that work that was stopped resumes without paying twice."""

    choice: ModelChoice
    store: Store
    exchange: Exchange
    answer: AskNow

    def request(self, template: str, stage: Stage, subject: str, kind: type[BaseModel], **values: object) -> Request:
        prompt = render(f"conditions/prompts/{template}.jinja", "contramem_lab", **values)
        return Request(
            model=self.choice.name,
            settings=self.choice.settings,
            messages=in_messages(prompt),
            schema=schema_of(kind),
            stage=stage,
            subject=subject,
            prompt=prompt.digest,
        )

    def side_by_side(self, works: Sequence[Work[Returned]]) -> list[Returned]:
        """Run all conversations in rounds: each round sends the next request of every one."""
        outcomes: dict[int, Returned] = {}
        requests: dict[int, Request] = {}
        for number, work in enumerate(works):
            self._advance(number, work, None, requests, outcomes)
        while requests:
            unanswered = {request.digest: request for request in requests.values() if not self.exchange.has(request)}
            self.answer(list(unanswered.values()))
            for number, request in list(requests.items()):
                self._advance(number, works[number], self.exchange.reply(request), requests, outcomes)
        return [outcomes[number] for number in range(len(works))]

    @staticmethod
    def _advance(
        number: int,
        work: Work[Returned],
        reply: StoredExchange | None,
        requests: dict[int, Request],
        outcomes: dict[int, Returned],
    ) -> None:
        try:
            requests[number] = next(work) if reply is None else work.send(reply)
        except StopIteration as end:
            requests.pop(number, None)
            outcomes[number] = end.value

    def calls(self) -> tuple[StoredExchange, ...]:
        """All calls that were paid for, now or earlier."""
        return self.store.calls()


@contextmanager
def asking(inputs: ConditionInputs, model: ByModel, name: str) -> Iterator[Asking]:
    with open_store(inputs.store(name, inputs.reference), create=True) as store, store.writing(name):
        yield Asking(model.choice, store, *model.asking(store))


def converse(request: Request, parse: Callable[[str], Returned]) -> Work[Returned | None]:
    """Ask, and ask again with the error if the reply does not parse. None if the model declines or keeps failing."""
    for attempt in range(2, MAX_ASKED + 2):
        call = yield request
        if call.finish in ("refusal", "content_filter"):
            return None
        try:
            return parse(call.reply or "")
        except UnparsedReply as unparsed:
            text = render(
                "build/model/prompts/again.jinja", complaints=unparsed.complaints, attempt=attempt, attempts=MAX_ASKED
            ).text
            excerpt = (call.reply or "")[:MAX_REPEATED_CHARS] or "(nothing)"
            request = replace(
                request,
                messages=(
                    *request.messages[:2],
                    PromptMessage("assistant", excerpt),
                    PromptMessage("user", text.strip()),
                ),
            )
    return None
