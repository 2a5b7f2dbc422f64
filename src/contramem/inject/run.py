"""Memory and Run: how an agent gets its guidance, in three lines and in any framework.

memory = Memory.load("bank.jsonl")
run = memory.start(task, ability="search")
prompt = f"{run.guidance.text}\\n\\n{task}"        # and run.before_call(function, arguments) at each call
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import msgspec

from contramem.bank.card import FunctionCard
from contramem.bank.frozen import FrozenBank
from contramem.counting import ENCODING, count_tokens
from contramem.errors import UsageError
from contramem.inject.enforcement import Enforcement, Level, Stop, level_named
from contramem.inject.guidance import Guidance, Moment, Writer, nothing, together
from contramem.inject.loaded_bank import BankFile, LoadedBank, index_folder
from contramem.inject.log import FORMAT, InjectLog, Line, Where, Withheld
from contramem.inject.recording import RunRecording
from contramem.inject.shown import CardTurns, ShownSkills, find_missing, make_call, name_fully, shows_before_call
from contramem.inject.switch import OFF, is_switched_off
from contramem.retrieve.hit import Query
from contramem.retrieve.profiles import Profile, profile_named
from contramem.retrieve.retriever import Retrieval, Retriever
from contramem.traces.effects import effect_of
from contramem.traces.shell import function_called
from contramem.traces.trajectory import Event, Outcome, Tool, digest

if TYPE_CHECKING:
    from contramem.guards.watch import Obligation
    from contramem.inject.remote import RemoteMemory


MAX_OBJECTING = 2
"""So many skills are shown in full before or beside a call that goes against them."""
MAX_DESCRIBED = 2
"""So many skills about a function are in the description of its tool that were not shown at the start."""
MAX_RULES = 5
"""So many skills about a function are shown beside a call that were not shown at the start."""


class Memory:
    """A frozen bank that guides any number of runs at once. Thread-safe."""

    def __init__(
        self,
        bank: FrozenBank,
        *,
        log: str | Path | InjectLog | None = None,
        holdout: float = 0.0,
        record: str | Path | RunRecording | None = None,
        index: Path | None = None,
        enforce: Level = "remind",
        approve: Callable[[str], bool] | None = None,
    ) -> None:
        """`log` is a file for what was shown and how runs ended. `holdout` is the share of runs that get nothing, as a
        control group; a run id is always on the same side. `record` is a file for recording whole runs, which
        `contramem build` and `contramem watch` read; it contains what agents do, so it is off by default. `index` is
        the folder for the index of a large bank; None keeps it in memory. `enforce` says what happens to calls that go
        against a guard (`inject.enforcement`); with "ask", `approve` is asked before such a call, with the reason."""
        if not 0 <= holdout < 1:
            raise UsageError(f"holdout is a share of the runs, from 0 up to but not including 1; it is {holdout}.")
        self.log = InjectLog(log) if isinstance(log, str | Path) else log
        self.holdout = holdout
        self.recording = RunRecording(record) if isinstance(record, str | Path) else record
        self._index, self._enforce, self._approve = index, level_named(enforce), approve
        self._served = LoadedBank.of(bank, index)
        self._file: BankFile | None = None

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        log: str | Path | InjectLog | None = None,
        reload: bool = False,
        holdout: float = 0.0,
        record: str | Path | RunRecording | None = None,
        enforce: Level = "remind",
        approve: Callable[[str], bool] | None = None,
    ) -> Memory:
        """Load the frozen bank at `path`. The index is built by the first `start`.

        With `reload`, each `start` checks whether the file has changed, and loads it if so. Runs keep the bank they
        started with. The index of a bank with 10,000 or more cards is stored beside it (`bank.jsonl.index/`), and
        shared by all processes that load the bank.
        """
        file = BankFile(Path(path))
        memory = cls(
            file.read(), log=log, holdout=holdout, record=record, index=index_folder(Path(path)), enforce=enforce,
            approve=approve,
        )  # fmt: skip
        if reload:
            memory._file = file
        return memory

    @classmethod
    def connect(cls, url: str, *, token: str | None = None, project: str = "default") -> RemoteMemory:
        """The bank behind `contramem serve` at `url`, with the same interface. The server keeps the runs."""
        from contramem.inject.remote import RemoteMemory

        return RemoteMemory(url, token=token, project=project)

    @property
    def bank(self) -> FrozenBank:
        return self._served.bank

    @property
    def retriever(self) -> Retriever:
        return self._served.retriever

    @property
    def writer(self) -> Writer:
        return self._served.writer

    def start(
        self,
        task: str,
        *,
        ability: str | None = None,
        apps: Iterable[str] | None = None,
        tools: Iterable[str | Tool] | None = None,
        task_id: str | None = None,
        scenario_id: str | None = None,
        run_id: str | None = None,
        profile: str | Profile | None = None,
    ) -> Run:
        """Start a run for `task`.

        `apps` are those the task is about; by default they are inferred from its words. `tools` are the functions that
        the agent has; it is shown cards of no others. With `task_id` or `scenario_id`, cards learned from that task,
        its text or that scenario are left out. The profile defaults to the bank's own. A run without `run_id` gets one.
        """
        functions = None if tools is None else [tool if isinstance(tool, str) else tool.function for tool in tools]
        query = Query(
            task,
            ability=ability,
            apps=None if apps is None else frozenset(apps),
            functions=None if functions is None else frozenset(functions),
            task_id=task_id,
            scenario_id=scenario_id,
        )
        return self.begin(query, run_id=run_id, profile=profile)

    def begin(self, query: Query, *, run_id: str | None = None, profile: str | Profile | None = None) -> Run:
        """Like `start`, with a query."""
        if self._file and (changed := self._file.read_change()):
            self._served = LoadedBank.of(changed, self._index)
        served = self._served
        named = profile or served.bank.header.profile_of(query.ability)
        chosen = named if isinstance(named, Profile) else profile_named(named)
        run_id = run_id or os.urandom(8).hex()
        withheld = self._withheld(run_id)
        retrieval = None if withheld else served.retriever.retrieve(query, chosen)
        enforcement = Enforcement(self._enforce, self._approve)
        return Run(served, query, chosen, run_id, retrieval, withheld, self.log, self.recording, enforcement)

    def without_log(self) -> Memory:
        """The same bank and index, with runs that are neither logged nor recorded."""
        silent = copy(self)
        silent.log = silent.recording = None
        return silent

    def _withheld(self, run_id: str) -> Withheld:
        if is_switched_off():
            return "off"
        return "holdout" if is_held_out(run_id, self.holdout) else ""


class Run:
    """One run of an agent at one task. Thread-safe."""

    def __init__(
        self,
        served: LoadedBank,
        query: Query,
        profile: Profile,
        run_id: str,
        retrieval: Retrieval | None,
        withheld: Withheld = "",
        log: InjectLog | None = None,
        recording: RunRecording | None = None,
        enforcement: Enforcement | None = None,
    ) -> None:
        """`withheld` says why a run without `retrieval` gets nothing."""
        self.task, self.profile, self.run_id, self.retrieval = query.task, profile, run_id, retrieval
        self.withheld = withheld
        self._query, self._retriever = query, served.retriever
        self._writer, self._find = served.writer, served.retriever.names.find
        bank, task = served.bank.header.content_sha256[:12], (query.task_id or digest(query.task)) if log else ""
        self._log, self._line = (
            log,
            Line(FORMAT, "", run_id, task, "start", {}, 0, withheld, bank=bank, profile=profile.name),
        )
        self._turns = CardTurns()
        self._described: dict[str, str] = {}
        self._reminded = False
        self._called: set[str] = set()
        self._enforcement = enforcement or Enforcement("remind")
        self._lock = Lock()
        self.guidance: Guidance = (
            nothing("this run is held out" if withheld == "holdout" else f"{OFF} is set")
            if retrieval is None
            else self._writer.at_start(retrieval, profile)
        )
        """What to show before the first step."""
        self._recording = recording
        if recording is not None:
            guided = retrieval is not None
            recording.start(run_id, query.task, task_id=query.task_id, ability=query.ability, bank=bank, guided=guided)
        self._shown = ShownSkills(served.retriever, query, self._enforcement)
        self._shown.add(self.guidance, self.guidance.skills)
        self._turns.shown.update(self.guidance.whole_card_ids)
        self._note("start", self.guidance)

    def more(self, task: str) -> Guidance:
        """Guidance for a later request of the user in the same run. No card is shown in full a second time, and no
        skill is listed that was shown before."""
        if self.retrieval is None:
            return nothing(self.guidance.note)
        retrieval = self._retriever.retrieve(replace(self._query, task=task), self.profile)
        with self._lock:
            seen = self._shown.in_full | self._turns.shown
            skills = tuple(hit for hit in retrieval.skills if hit.card.card_id not in seen)
            functions = tuple(hit for hit in retrieval.functions if hit.card.card_id not in seen)
            unseen = replace(retrieval, skills=skills, functions=functions)
            new = self._writer.at_start(unseen, self.profile, self._shown.ids)
            self._turns.shown.update(new.whole_card_ids)
            self._shown.add(new, new.skills)
        self._note("start", new)
        return new

    def describe(self, function: str) -> str:
        """For the description of a tool: in one line what earlier calls of it showed; and for one that changes
        something the rules about it that fit the request best, if the start had no room for them. Empty if there is
        nothing to add."""
        if self.retrieval is None:
            return ""
        if function not in self._described:  # computed once, so that it stays the same in every request
            card, lines = self._find(function), list[Guidance]()
            if card and card.card_id not in self._turns.shown and shows_before_call(card, self.profile):
                lines.append(self._writer.tool_description(card))
            name = self._retriever.names.full_name(function)
            if effect_of(name) != "read" and (rules := self._rules_about(name, MAX_DESCRIBED)):
                lines.append(rules)
            for line in filter(None, lines):
                self._note("describe", line)
            self._described[function] = "\n".join(line.text for line in lines if line)
        return self._described[function]

    def before_call(self, function: str, arguments: Mapping[str, Any] | None = None) -> Guidance | None:
        """What to show before this call; None if there is nothing, or it was already shown.

        A function brings its card once a run, unless it was shown whole at the start, and once more after it failed; or
        before each call, where the profile says so. Skills about the function come with it that were not shown yet, and
        in profiles with obligations a warning of each guard of a shown card that the call goes against. `function` may
        be spelled in any usual way. Arguments are looked through for required ones that are missing; a shell command
        tells its program.
        """
        card = self._find(function_called(function, arguments))
        call = make_call(function, arguments, self._retriever.names)
        rules = self._rules_of(call.function or function)
        guidance = together(together(self._card_before(card, arguments), rules), self._warning(call))
        if guidance is not None:
            self._note("before_call", guidance, function=function)
        return guidance

    def look_up(self, function: str) -> Guidance | None:
        """The card of a function, on request; None if there is none, or this run gets no guidance."""
        card = self._find(function)
        if card is None or self.retrieval is None:
            return None
        guidance = self._writer.before_call(card, self.profile)
        self._turns.shown.add(card.card_id)
        self._note("before_call", guidance)
        return guidance or None

    def stop(self, function: str, arguments: Mapping[str, Any] | None = None) -> Stop | None:
        """Whether this call has to wait for a person, or is not to be made; None if it can be made. Asked again, the
        answer is the same, until the guard has what it wants or `allow` was called."""
        if self.retrieval is None or not self._enforcement.stops:
            return None
        call = make_call(function, arguments, self._retriever.names)
        with self._lock:
            stop = self._shown.find_stop(call)
        if stop is not None and stop.level == "deny":  # who is asked may allow it
            refusal = Guidance(stop.text, count_tokens(stop.text), ENCODING, stop.card_ids, (0,) * len(stop.card_ids))
            self._note("before_call", refusal, function=function)
        return stop

    def allow(self, card_id: str) -> None:
        """A person allows calls that go against this card, until the run ends."""
        with self._lock:
            self._enforcement.allowed.add(card_id)

    def before_harm(
        self, function: str, arguments: Mapping[str, Any] | None = None, *, repeats: bool = False
    ) -> Guidance | None:
        """What to say before this call if it would do harm, else None: it goes against a guard of a card, or it
        `repeats` a call that failed, unchanged. A call goes against a guard that it would break for good, or that
        demands this call in another way (another amount). Each guard is said once; a card that was not shown in full
        comes with it."""
        card = self._find(function_called(function, arguments))
        again = self._writer.describe_repeated_call(card) if repeats and card is not None and self.retrieval else None
        call = make_call(function, arguments, self._retriever.names)
        skills = self._show_objecting(call, "before")
        guidance = together(together(skills, self._warning(call)), again)
        if guidance is not None:
            self._note("before_call", guidance)
        return guidance

    def after_call(self, event: Event) -> Guidance | None:
        """Report a call with its result. Returns what to show beside the result: after a failure the card of the
        function, once; the guards of shown cards that the call went against, unless the agent was warned before it; and
        skills about the function that were not shown: in full those that the call went against."""
        failed = event.result is not None and event.result.error is not None
        call = make_call(event.function or "", event.arguments, self._retriever.names)
        skills = None if failed else self._show_objecting(call, "after")
        rules = None if failed else self._rules_of(call.function or "")
        with self._lock:
            objections = self._shown.monitor.find_objections(call) if self._reminds and not failed else ()
        broken = self.observe(event)
        card = self._find(function_called(event.function, event.arguments)) if event.function else None
        error_card = self._card_before(card, None) if failed else None
        with self._lock:
            unsaid = self._shown.monitor.reminders_after((*objections, *broken)) if self._reminds else []
        warning = self._writer.obligations(unsaid, self.profile, moment="after") if unsaid else None
        guidance = together(together(error_card, together(skills, rules)), warning)
        if guidance is not None:
            self._note("after_call", guidance)
        return guidance

    def _card_before(self, card: FunctionCard | None, arguments: Mapping[str, Any] | None) -> Guidance | None:
        if card is None or self.retrieval is None or not shows_before_call(card, self.profile):
            return None
        with self._lock:
            failed = self._turns.has_failed(card.card_id)
            if not self._turns.take(card.card_id, before_each=self.profile.each_call):
                return None
        return self._writer.before_call(card, self.profile, failed=failed, missing=find_missing(card, arguments))

    def _show_objecting(self, call: Event, moment: Moment) -> Guidance | None:
        """The skills, in full, that the call goes against and that were not shown in full."""
        if self.retrieval is None or self.retrieval.usable is None or self._enforcement.level == "off":
            return None
        with self._lock:
            cards = self._shown.find_objecting(call)[:MAX_OBJECTING]
            if not cards:
                return None
            guidance = self._writer.skills_at_call(cards, self.profile, moment=moment)
            self._shown.add(guidance, [card for card in cards if card.card_id in guidance.card_ids])
        return guidance or None

    def _rules_of(self, function: str) -> Guidance | None:
        """With the first call of a function: the skills about it that were not shown yet."""
        with self._lock:
            first = function not in self._called
            self._called.add(function)
        return self._rules_about(function, MAX_RULES) if first else None

    def _rules_about(self, function: str, most: int) -> Guidance | None:
        """The skills about a function that were not shown yet, as one sentence each, the best for the request first."""
        if self.retrieval is None or self.retrieval.usable is None or self.profile.before_call == "never":
            return None
        with self._lock:
            cards = self.retrieval.usable.about(function, self._shown.ids, most)
            if not cards:
                return None
            guidance = self._writer.rules_about(cards, function, self.profile.call_budget_tokens)
            self._shown.add(guidance, guidance.skills)
        return guidance or None

    def _warning(self, call: Event) -> Guidance | None:
        with self._lock:
            obligations = self._shown.monitor.reminders_before(call) if self._reminds else []
        return self._writer.obligations(obligations, self.profile, moment="before") if obligations else None

    def before_final(self) -> Guidance | None:
        """What to show before the run ends, each thing once: what the shown cards still require, as far as `observe`
        knows, and the finalization card, if the profile has one. Call this before the final answer, or when the last
        timer is about to end."""
        final = self.retrieval.final if self.retrieval else None
        with self._lock:
            due, self._reminded = final is not None and not self._reminded, True
            obligations = self._shown.monitor.reminders_at_end() if self._reminds else []
        card = self._writer.before_final(final.card, self.profile) if final is not None and due else None
        owed = self._writer.obligations(obligations, self.profile, moment="end") if obligations else None
        guidance = together(card, owed)
        if guidance is not None:
            self._note("final", guidance)
        return guidance

    def observe(self, event: Event) -> tuple[Obligation, ...]:
        """Report an event. After an error, the card of the function is shown again. Returns the guards of shown cards
        that the event broke for good, each once. Don't report a call that was held: it did not happen."""
        card = self._find(function_called(event.function, event.arguments)) if event.function else None
        event = name_fully(event, self._retriever.names)
        if self._recording is not None:
            self._recording.event(self.run_id, event)
        with self._lock:
            if card is not None:
                failed = event.result is not None and event.result.error is not None
                self._turns.note_call(card.card_id, failed=failed)
            return self._shown.monitor.observe(event)

    def pending(self) -> tuple[Obligation, ...]:
        """What the shown cards still require. Call this before the final answer."""
        with self._lock:
            return self._shown.monitor.pending()

    def would_break(self, function: str, arguments: Mapping[str, Any] | None = None) -> tuple[Obligation, ...]:
        """The guards that this call would break for good if it succeeded. A warning, not a veto."""
        call = make_call(function, arguments, self._retriever.names)
        with self._lock:
            return self._shown.monitor.would_break(call)

    @property
    def _reminds(self) -> bool:
        return self.profile.obligations and self._enforcement.level != "off" and self._shown.have_guards

    def finish(self, outcome: bool | Outcome | None = None) -> None:
        """Tell how the run ended; None when nobody knows yet. It may be told again: the last that is known counts."""
        ended = outcome if isinstance(outcome, Outcome) else Outcome(passed=outcome)
        self._note("finish", None, ended)
        if self._recording is not None:
            self._recording.finish(self.run_id, ended)

    def _note(
        self, where: Where, guidance: Guidance | None, outcome: Outcome | None = None, function: str = ""
    ) -> None:
        if self._recording is not None and guidance:
            self._recording.record_shown(self.run_id, guidance.text, function, guidance.card_ids, guidance.tokens)
        if self._log is not None:
            cards = dict(zip(guidance.card_ids, guidance.card_tokens, strict=True)) if guidance else {}
            tokens, ended = guidance.tokens if guidance else 0, outcome or Outcome()
            line = msgspec.structs.replace(self._line, time=self._log.now(), where=where, cards=cards, tokens=tokens)
            self._log.append(msgspec.structs.replace(line, passed=ended.passed, reward=ended.reward))


def is_held_out(run_id: str, share: float) -> bool:
    """Whether this run belongs to the `share` of runs without guidance. Depends on the id alone, in every process."""
    if not share:
        return False
    drawn = hashlib.sha256(b"holdout\0" + run_id.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(drawn[:8], "big") / 2**64 < share
