"""A conversation: a model, its tools and what was said so far. Everything is recorded, so that a later build can
continue."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from contramem.bank.bank import Bank
from contramem.bank.ledger import DecisionCost
from contramem.bank.store import Store
from contramem.bank.tables import StoredExchange
from contramem.errors import UsageError
from contramem.llm.client import Request, RequestedCall, ToolTurn, parameters_of, read_tool_reply
from contramem.study.proposal import Proposal
from contramem.study.propose import Proposer, Reply, decide_proposal

MAX_TURNS = 30
"""The maximum number of turns of a conversation."""
MAX_TOKENS = 100_000
"""The maximum size of a request. Beyond it the conversation ends, because each turn pays for all before it."""
TURNS_TOLD = 3
"""When this many turns or fewer are left, each answer says so."""

Tool = Callable[..., str]


@dataclass
class BuildDesk:
    """The store of a build. What was spent since the last decision is charged to the next one."""

    store: Store
    author: Proposer
    replies: list[Reply]
    """The decisions on the proposals of all conversations of a build."""
    unpaid: list[StoredExchange] = field(default_factory=list)

    def bank(self) -> Bank:
        return self.store.bank()

    def propose(self, proposal: Proposal | UsageError, carry_out_edits: bool) -> Reply:
        author = replace(self.author, usage=self._spent(), charged=tuple(call.digest for call in self.unpaid))
        reply = decide_proposal(proposal, self.store, author, lambda question: carry_out_edits)
        if reply.decision is not None:
            self.unpaid.clear()
        self.replies.append(reply)
        return reply

    def _spent(self) -> DecisionCost:
        costs = [call.cost_usd for call in self.unpaid if call.cost_usd is not None]
        return DecisionCost(
            model_calls=len(self.unpaid),
            tokens_in=sum(call.tokens_in for call in self.unpaid),
            tokens_out=sum(call.tokens_out for call in self.unpaid),
            cost_usd=sum(costs) if costs else None,
        )


class AuthorConversation:
    """One conversation. Its turns are stored as progress, its replies among the stored calls."""

    def __init__(self, opening: Request, about: str, desk: BuildDesk, tools: Sequence[Tool]) -> None:
        """`about` names the runs: with other runs it is another conversation."""
        self.request = opening
        """What is asked next."""
        self.ended = False
        self._step = f"author {opening.digest}{about}"
        self._desk = desk
        self._tools = {tool.__name__: tool for tool in tools}
        self._go_on(desk.store.progress())

    @property
    def turns(self) -> int:
        """The number of answered turns."""
        return len(self.request.turns)

    def take(self, call: StoredExchange) -> None:
        """Process a reply of the model and answer its calls."""
        if not call.charged:
            self._desk.unpaid.append(call)
        self._answer(call, [])

    def _go_on(self, progress: Mapping[str, str]) -> None:
        """Replay what was said in an earlier build; only calls without an answer are executed."""
        while not self.ended and (state := progress.get(self._place())) is not None:
            turn = json.loads(state)
            call = self._desk.store.call(turn["call"])
            if call is None:
                return  # the reply was not stored: it is requested again
            if not call.charged:
                self._desk.unpaid.append(call)
            self._answer(call, turn["answers"])

    def _answer(self, call: StoredExchange, answers: list[str]) -> None:
        reply = call.reply or ""
        calls = read_tool_reply(reply).calls
        for tool_call in calls[len(answers) :]:
            answers.append(self._run(tool_call))
            self._record(call, answers)  # after each: a proposal is not made twice
        if not calls:
            self._record(call, answers)
        turns = (*self.request.turns, ToolTurn(reply, self._with_turns_left(answers)))
        self.request = replace(self.request, turns=turns)
        self.ended = not calls or len(turns) >= MAX_TURNS or self.request.tokens > MAX_TOKENS

    def _record(self, call: StoredExchange, answers: Sequence[str]) -> None:
        self._desk.store.record(progress={self._place(): json.dumps({"call": call.digest, "answers": answers})})

    def _place(self) -> str:
        return f"{self._step} {self.turns + 1}"

    def _with_turns_left(self, answers: Sequence[str]) -> tuple[str, ...]:
        left = MAX_TURNS - self.turns - 1
        if not answers or left > TURNS_TOLD:
            return tuple(answers)
        return (*answers[:-1], f"{answers[-1]}\n(Turns left: {left}.)")

    def _run(self, call: RequestedCall) -> str:
        if call.name not in self._tools:
            return f"Not done: there is no tool {call.name}. There are {', '.join(self._tools)}."
        try:
            given = parameters_of(self._tools[call.name]).model_validate_json(call.arguments or "{}")
        except ValidationError as error:
            complaints = (f"{'.'.join(map(str, part['loc'])) or 'arguments'}: {part['msg']}" for part in error.errors())
            return f"Not done: {'; '.join(complaints)}."
        return self._tools[call.name](**dict(given))
