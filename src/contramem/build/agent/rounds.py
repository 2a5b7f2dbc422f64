"""Conversations in parallel: each round sends the next request of every open one, then answers their calls in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from contramem.bank.store import Store
from contramem.build.agent.conversation import MAX_TURNS, AuthorConversation, BuildDesk
from contramem.build.agent.topics import Topic, choose_topics
from contramem.build.model.author import ModelChoice
from contramem.build.model.prompts import in_messages
from contramem.build.model.rounds import Answer
from contramem.build.recorder import BuildReport
from contramem.llm.client import Request, ToolOffer
from contramem.llm.exchange import PARALLEL, Exchange
from contramem.progress import Progress, no_progress
from contramem.prompts import render
from contramem.study.instruments import TABLES, Instruments, read_instructions
from contramem.study.propose import Proposer, Reply
from contramem.study.run_set import RunSet
from contramem.study.tables import RunTables
from contramem.study.trial_log import TrialLog

_TEMPLATE = "build/agent/prompts/author.jinja"


@dataclass(frozen=True)
class AgentPlan:
    """The runs to learn from, and how."""

    run_set: RunSet
    tables: RunTables
    log: Path
    """Of trials."""
    side_by_side: int = PARALLEL
    """How many conversations are open at once."""


class AgentRounds:
    """One build by a model with tools. Create it inside `store.writing(...)`."""

    def __init__(self, plan: AgentPlan, store: Store, choice: ModelChoice, exchange: Exchange) -> None:
        self._plan, self._exchange, self._choice = plan, exchange, choice
        self._replies: list[Reply] = []
        self.conversations = [self._begin(topic, store) for topic in choose_topics(plan.run_set)]
        self._was_finished = bool(self.conversations) and self.finished

    @property
    def report(self) -> BuildReport:
        """The decisions on the cards proposed in this build."""
        unchanged = len(self._plan.run_set.by_task) if self._was_finished else 0
        report = BuildReport(deltas=len(self._replies), unchanged=unchanged)
        for reply in self._replies:
            if reply.fate == "accepted":
                report.decisions[reply.operation or ""] += 1
            else:
                report.refused["proposal" if reply.fate == "refused" else "an edit that nobody carried out"] += 1
        return report

    @property
    def finished(self) -> bool:
        return all(conversation.ended for conversation in self.conversations)

    def run(self, answer: Answer, tell: Progress = no_progress) -> bool:
        """Run rounds until all conversations have ended or requests stay unanswered. True: all have ended."""
        while waiting := [conversation for conversation in self.conversations if not conversation.ended]:
            tell("kinds of task", len(self.conversations) - len(waiting), len(self.conversations))
            open_now = waiting[: self._plan.side_by_side]
            requests = [conversation.request for conversation in open_now]
            missing = [request for request in requests if not self._exchange.has(request)]
            if missing and not answer(missing):
                return False
            self._advance(open_now)
        tell("kinds of task", len(self.conversations), len(self.conversations))
        return True

    def _advance(self, conversations: Sequence[AuthorConversation]) -> None:
        for conversation in conversations:
            call = self._exchange.reply(conversation.request)
            if call.finish != "stop":
                self._exchange.oddities[_ODDITIES[call.finish]] += 1
            conversation.take(call)

    def _begin(self, topic: Topic, store: Store) -> AuthorConversation:
        prompt = render(_TEMPLATE, instructions=read_instructions(), tables=TABLES, turns=MAX_TURNS, topic=topic.text)
        run_set, log = self._plan.run_set, self._plan.log
        trials, tables = TrialLog(log, run_set.digest), self._plan.tables
        proposer = Proposer(self._choice.name, run_set, trials, tables, kind="model", version=prompt.digest)
        desk = BuildDesk(store, proposer, self._replies)
        tools = Instruments(run_set, tables, desk, self._choice.name, log).tools
        opening = Request(
            model=self._choice.name,
            settings=self._choice.settings,
            messages=in_messages(prompt),
            schema={},
            stage="author",
            subject=topic.name,
            prompt=prompt.digest,
            tools=tuple(map(ToolOffer.of, tools)),
        )
        return AuthorConversation(opening, run_set.digest, desk, tools)


_ODDITIES = {"length": "truncated", "content_filter": "content filter", "refusal": "refusal"}
