"""A build in rounds: nothing is paid twice, killed builds go on, and files give the bank that calls would."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.model_replies import Runs, build, new_store

from contramem.bank.frozen import freeze
from contramem.bank.store import open_store
from contramem.build.model.answering import AskNow, BatchQueue, FromFile
from contramem.build.model.author import ModelAuthor, ModelChoice
from contramem.build.model.estimate import estimate
from contramem.build.model.rounds import BuildPlan, Rounds
from contramem.errors import BudgetError, ModelError
from contramem.llm.batches import Ticket, as_line, read_replies
from contramem.llm.client import ModelFailure, ModelReply, Price, Request
from contramem.llm.exchange import Budget, Exchange, ModelCaller, ScriptedModel


@pytest.fixture(scope="module")
def runs() -> Runs:
    """The shipped runs of two abilities: enough for windows, merges and several rounds."""
    return Runs.some()


@pytest.fixture(scope="module")
def calm(runs: Runs, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Request]]:
    """The bank of a build that was left alone, and what was asked for it."""
    model = runs.scripted()
    with new_store(tmp_path_factory.mktemp("calm")) as store:
        rounds, _ = build(runs, store, model, window=3)
        assert rounds.finished
        return freeze(store.bank()), model.asked


def test_no_question_is_put_twice(calm: tuple[str, list[Request]]) -> None:
    asked = Counter(request.digest for request in calm[1])
    assert set(asked.values()) == {1}


def test_building_again_asks_nothing_and_changes_nothing(runs: Runs, tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        build(runs, store, runs.scripted(), window=3)
        before = freeze(store.bank()), len(store.ledger())
        rounds, exchange = build(runs, store, ScriptedModel(), window=3)  # a script with no line: any question fails
        assert (freeze(store.bank()), len(store.ledger())) == before
        assert not rounds.report.changed
        assert all(stage.calls == 0 for stage in exchange.stages.values())


def test_an_option_that_changes_no_question_pays_for_none(runs: Runs, tmp_path: Path) -> None:
    """Function Cards were built alone; then everything is: the Builder is not asked again."""
    with new_store(tmp_path) as store:
        build(runs, store, runs.scripted(), only="functions")
        model = runs.scripted()
        build(runs, store, model)
        assert {request.stage for request in model.asked} == {"reflector", "curator"}


class Killed(BaseException):
    """What a SIGKILL is to a process: nothing catches it."""


@pytest.mark.slow
def test_a_killed_build_goes_on_and_repeats_at_most_what_was_in_flight(
    runs: Runs, calm: tuple[str, list[Request]], tmp_path: Path
) -> None:
    rng = Random(20261115)
    asked: list[Request] = []
    kills = 0
    while True:
        left = rng.randint(1, 6)

        def reply(request: Request) -> dict[str, Any]:
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return runs.reply(request)

        model = ScriptedModel(by=reply)
        with new_store(tmp_path) as store:
            try:
                rounds, _ = build(runs, store, model, parallel=1, window=3)
            except Killed:
                kills += 1
                asked += model.asked[:-1]  # the last was in flight
                continue
            asked += model.asked
            break
    assert kills > 4
    assert rounds.finished
    assert set(Counter(request.digest for request in asked).values()) == {1}
    assert {request.digest for request in asked} == {request.digest for request in calm[1]}
    with open_store(tmp_path / "bank.db") as store:
        assert freeze(store.bank()) == calm[0]
        assert sum(entry.decision.usage.model_calls for entry in store.ledger()) <= len(store.calls())


WORKER = """
import sys, time
from pathlib import Path
from contramem.llm.exchange import ScriptedModel
from tests.model_replies import Runs, build, new_store
runs = Runs.some()
def reply(request):
    with open(sys.argv[2], "a") as log:
        log.write(request.digest + "\\n")
    time.sleep(0.02)
    return runs.reply(request)
print("ready", flush=True)
with new_store(Path(sys.argv[1])) as store:
    build(runs, store, ScriptedModel(by=reply), parallel=2, window=3)
"""


@pytest.mark.slow
def test_a_process_that_is_killed_repeats_only_what_was_in_flight(
    calm: tuple[str, list[Request]], tmp_path: Path
) -> None:
    log = tmp_path / "asked.txt"
    command = [sys.executable, "-c", WORKER, str(tmp_path), str(log)]
    kills = 0
    for delay_s in (0.3, 0.6, 0.9, 1.2, None):
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]) as worker:
            assert worker.stdout is not None
            assert worker.stdout.readline() == b"ready\n"
            try:
                worker.wait(delay_s)
            except subprocess.TimeoutExpired:
                worker.kill()
                kills += 1
    with open_store(tmp_path / "bank.db") as store:
        assert freeze(store.bank()) == calm[0]
    repeated = Counter(log.read_text().split())
    assert sum(count - 1 for count in repeated.values()) <= 2 * kills
    assert len(repeated) == len(calm[1])


def test_a_provider_that_goes_down_stops_the_build_with_everything_paid_for_kept(
    runs: Runs, calm: tuple[str, list[Request]], tmp_path: Path
) -> None:
    answered = 0

    def reply(request: Request) -> Any:
        nonlocal answered
        answered += 1
        return runs.reply(request) if answered <= 20 else ModelFailure("server error", "HTTP 503", again=True)

    with new_store(tmp_path) as store:
        with pytest.raises(ModelError, match="Every paid reply is saved"):
            build(runs, store, ScriptedModel(by=reply), parallel=1, window=3)
        assert len(store.calls()) == 20
        model = runs.scripted()
        build(runs, store, model, window=3)
        assert len(model.asked) == len(calm[1]) - 20
        assert freeze(store.bank()) == calm[0]


def test_a_budget_ends_a_build_that_another_one_finishes(
    runs: Runs, calm: tuple[str, list[Request]], tmp_path: Path
) -> None:
    price = Price(1, 10)
    with new_store(tmp_path) as store:
        model = runs.scripted(price=price)
        caller = ModelCaller(model, 4, Budget(0.2, price))
        with pytest.raises(BudgetError, match=r"of \$0.20"):
            build(runs, store, model, caller=caller, window=3)
        spent = sum(one.cost_usd or 0 for one in store.calls())
        assert 0 < spent <= 0.2
        build(runs, store, runs.scripted(), window=3)
        assert freeze(store.bank()) == calm[0]


def test_without_kept_replies_the_store_holds_costs_and_no_words(runs: Runs, tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        rounds, _ = build(runs, store, runs.scripted(), keep=False, window=3)
        assert rounds.finished
        assert all(one.request is None and one.reply is None and one.tokens_in for one in store.calls())


def by_file(runs: Runs, folder: Path, **plan: Any) -> tuple[str, int]:
    """Export, have a script answer, import, until nothing is open; the bank, and how many rounds it took."""
    rounds_made = 0
    replies: dict[str, ModelReply] = {}
    while True:
        with new_store(folder, "by_file.db") as store, store.writing("build"):
            exchange = Exchange(store)
            author = ModelAuthor(ModelChoice("scripted"), exchange, runs.checks, runs.packets)
            rounds = Rounds(BuildPlan(runs.packets, **plan), store, author, runs.checks)
            answer = FromFile(replies, exchange)
            rounds.run(answer)
            assert answer.unused == 0
            if rounds.finished:
                return freeze(store.bank()), rounds_made
        rounds_made += 1
        lines = []
        for request in answer.open:
            line = json.loads(json.dumps(as_line(request)))
            lines.append(json.dumps({"custom_id": line["custom_id"], "reply": runs.reply(request)}))
        (folder / "replies.jsonl").write_text("\n".join(lines))
        replies = read_replies(folder / "replies.jsonl")


@pytest.mark.parametrize("window", [pytest.param(1, marks=pytest.mark.slow), 100])
def test_a_build_by_file_is_the_build_by_calls(runs: Runs, tmp_path: Path, window: int) -> None:
    with new_store(tmp_path) as store:
        model = runs.scripted()
        build(runs, store, model, window=window)
        direct = freeze(store.bank())
    bank, rounds_made = by_file(runs, tmp_path, window=window)
    assert bank == direct
    assert rounds_made < len(model.asked) / 2


def test_round_one_holds_all_builders_and_the_first_window_of_each_ability(runs: Runs, tmp_path: Path) -> None:
    with new_store(tmp_path) as store, store.writing("build"):
        author = ModelAuthor(ModelChoice("scripted"), Exchange(store), runs.checks, runs.packets)
        ready = Rounds(BuildPlan(runs.packets, window=2), store, author, runs.checks).ready()
    stages = Counter(request.stage for request in ready)
    assert stages == {"builder": len(author._functions), "reflector": 4}


@pytest.mark.parametrize("window", [1, 4])
def test_a_dry_run_is_exact_for_what_is_known_and_its_ranges_hold(runs: Runs, tmp_path: Path, window: int) -> None:
    price = Price(1, 10)
    plan = BuildPlan(runs.packets, window=window)
    foreseen = estimate(plan, ModelChoice("scripted"), runs.checks, price, None)
    first_round: list[Request] = []
    model = runs.scripted(price=price)
    with new_store(tmp_path) as store, store.writing("build"):
        exchange = Exchange(store)
        author = ModelAuthor(ModelChoice("scripted"), exchange, runs.checks, runs.packets)
        rounds = Rounds(plan, store, author, runs.checks)
        first_round += rounds.ready()
        rounds.run(AskNow(ModelCaller(model), exchange))
    known = {one.stage: one for one in foreseen if one.part == "ready"}
    for stage in ("builder", "reflector"):
        asked = [request for request in first_round if request.stage == stage]
        assert known[stage].calls == (len(asked), len(asked))
        assert known[stage].tokens_in == (sum(r.tokens for r in asked),) * 2
    for stage in ("builder", "reflector", "curator"):
        cost, parts = exchange.stages[stage], [one for one in foreseen if one.stage == stage]
        for got, ranges in (
            (cost.calls, [one.calls for one in parts]),
            (cost.tokens_in, [one.tokens_in for one in parts]),
            (cost.tokens_out, [one.tokens_out for one in parts]),
            (cost.cost_usd, [one.cost_usd for one in parts if one.cost_usd]),
        ):
            assert sum(one.least for one in ranges) - 1e-9 <= got <= sum(one.most for one in ranges) + 1e-9


class OneBatch:
    """A batch service that takes everything and is never done."""

    name = "scripted"

    def submit(self, requests: Sequence[Request]) -> Iterator[tuple[Ticket, Sequence[Request]]]:
        yield Ticket("batch_1", "{}"), requests

    def look(self, ticket: Ticket) -> Ticket:
        return ticket

    def collect(self, ticket: Ticket, requests: Sequence[Request]) -> dict[str, ModelReply | ModelFailure]:
        raise AssertionError("it has not ended")


def test_a_dry_run_tells_what_is_in_a_batch_apart_from_what_is_still_to_be_asked(runs: Runs, tmp_path: Path) -> None:
    plan, choice = BuildPlan(runs.packets, window=4), ModelChoice("scripted")
    with new_store(tmp_path) as store:
        before = estimate(plan, choice, runs.checks, None, store)
        with store.writing("build"):
            author = ModelAuthor(choice, Exchange(store), runs.checks, runs.packets)
            ready = Rounds(plan, store, author, runs.checks).ready()
            builders = [request for request in ready if request.stage == "builder"]
            BatchQueue(OneBatch(), Exchange(store), store).hand_over(builders)
        after = estimate(plan, choice, runs.checks, None, store)
    assert [(one.stage, one.part) for one in before if one.calls.exact] == [
        ("builder", "ready"), ("reflector", "ready"),
    ]  # fmt: skip
    held = [replace(one, part="held") if one.stage == "builder" else one for one in before]
    assert after == held


def test_append_only_asks_no_curator_and_keeps_every_delta(runs: Runs, tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        model = runs.scripted()
        rounds, _ = build(runs, store, model, append_only=True)
        assert not any(request.stage == "curator" for request in model.asked)
        assert rounds.report.decisions["ADD"] == rounds.report.deltas
