"""Asking a model for a memory that is no bank: work that says what it needs next, side by side, kept in a store."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from pydantic import BaseModel

from contramem.bank.calls import StoredExchange
from contramem.bank.store import Store, open_store
from contramem.build.model.answering import AskNow
from contramem.build.model.author import MAX_ASKED, MAX_REPEATED_CHARS, ModelChoice
from contramem.build.model.prompts import in_messages
from contramem.build.model.replies import UnparsedReply, schema_of
from contramem.evaluate.conditions.condition import ByModel, ConditionInputs
from contramem.llm.exchange import Exchange
from contramem.llm.request import PromptMessage, Request, Stage
from contramem.prompts import render

Made = TypeVar("Made")
Work = Generator[Request, StoredExchange, Made]
"""Yields what it asks, is sent the reply, and returns what it made."""


@dataclass(frozen=True)
class Asking:
    """A model and the store that its replies are kept in: work that was stopped goes on without paying twice."""

    choice: ModelChoice
    store: Store
    exchange: Exchange
    answer: AskNow

    def request(self, template: str, stage: Stage, subject: str, kind: type[BaseModel], **values: object) -> Request:
        prompt = render(f"evaluate/conditions/prompts/{template}.jinja", **values)
        return Request(
            model=self.choice.name,
            settings=self.choice.settings,
            messages=in_messages(prompt),
            schema=schema_of(kind),
            stage=stage,
            subject=subject,
            prompt=prompt.digest,
        )

    def side_by_side(self, works: Sequence[Work[Made]]) -> list[Made]:
        """Do them all, round by round: each round asks what every work needs next."""
        made: dict[int, Made] = {}
        wanted: dict[int, Request] = {}
        for number, work in enumerate(works):
            self._go_on(number, work, None, wanted, made)
        while wanted:
            asked = {request.digest: request for request in wanted.values() if not self.exchange.has(request)}
            self.answer(list(asked.values()))
            for number, request in list(wanted.items()):
                self._go_on(number, works[number], self.exchange.reply(request), wanted, made)
        return [made[number] for number in range(len(works))]

    @staticmethod
    def _go_on(
        number: int, work: Work[Made], reply: StoredExchange | None, wanted: dict[int, Request], made: dict[int, Made]
    ) -> None:
        try:
            wanted[number] = next(work) if reply is None else work.send(reply)
        except StopIteration as end:
            wanted.pop(number, None)
            made[number] = end.value

    def calls(self) -> tuple[StoredExchange, ...]:
        """All that were paid for, now or before."""
        return self.store.calls()


@contextmanager
def asking(inputs: ConditionInputs, model: ByModel, name: str) -> Iterator[Asking]:
    with open_store(inputs.store(name, inputs.reference), create=True) as store, store.writing(name):
        yield Asking(model.choice, store, *model.asking(store))


def converse(request: Request, parse: Callable[[str], Made]) -> Work[Made | None]:
    """Ask, and ask again with the complaint. None: the model declined, or gave nothing that can be read."""
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
