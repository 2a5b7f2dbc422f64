"""The HTTP API: the same answers as `Memory` gives, runs that survive a restart, and who may do what."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from contramem.bank.bank import Bank, BankEntry, CardSupport, UnseenRuns
from contramem.bank.card import Skill, SkillCard
from contramem.bank.frozen import write_frozen
from contramem.bank.store import open_store
from contramem.errors import StoreError
from contramem.inject.loaded_bank import bank_at
from contramem.inject.run import Memory
from contramem.server import api
from contramem.server.app import PAGES, Server, make_app
from contramem.server.options import ProjectOptions, ServerOptions
from contramem.server.tokens import SCOPES, add_token, read_tokens

TASK = "Close my printer ticket, it works again."
BASE = "/api/v1/default"


def test_guidance_over_http_is_that_of_the_library(client: TestClient, bank: Path) -> None:
    ours = Memory(bank_at(str(bank))).start(TASK)
    answer = client.post(f"{BASE}/runs", json={"task": TASK})
    assert answer.status_code == 201 and answer.json()["guidance"]["text"] == ours.guidance.text
    run = f"{BASE}/runs/{answer.json()['run_id']}"
    call = {"function": "TicketAPI.get_user_tickets", "arguments": {}}
    card, expected = client.post(f"{run}/before-call", json=call).json()["guidance"], ours.before_call(**call)
    assert (card or {}).get("text") == (expected.text if expected else None)
    assert [item["text"] for item in client.get(f"{run}/pending").json()["obligations"]] == [
        obligation.text for obligation in ours.pending()
    ]
    assert client.post(f"{run}/finish", json={"passed": True}).status_code == 200


def test_a_run_goes_on_after_a_restart_where_it_was(server: Server, tmp_path: Path) -> None:
    with TestClient(make_app(server), base_url="http://127.0.0.1") as client:
        run = f"{BASE}/runs/{client.post(f'{BASE}/runs', json={'task': TASK, 'run_id': 'r1'}).json()['run_id']}"
        event = {"position": 1, "function": "TicketAPI.ticket_login", "result": {"content": True}}
        client.post(f"{run}/events", json=event)
        call = {"function": "TicketAPI.close_ticket", "arguments": {"ticket_id": 1}}
        client.post(f"{run}/before-call", json=call)
        before = client.get(f"{run}/pending").json(), client.post(f"{run}/before-call", json=call).json()
    other = Server(server.options)
    other.open()
    with TestClient(make_app(other), base_url="http://127.0.0.1") as client:
        assert (client.get(f"{run}/pending").json(), client.post(f"{run}/before-call", json=call).json()) == before
    other.close()


def test_a_call_is_stopped_over_http_until_a_person_allows_it(tmp_path: Path) -> None:
    guard = "precedence(desk.lookup_code, desk.open_ticket)"
    card = SkillCard(
        card_id="skill::ticket", ability="general", title="Look up the reason code first", applies_when="A ticket.",
        solves="Made-up reasons.", functions_used=("desk.lookup_code", "desk.open_ticket"), guards=(guard,),
        skill=Skill(core_rule="Call lookup_code before open_ticket.", completion=("there is a code",)),
    )  # fmt: skip
    support = CardSupport(grade="proven", unseen={guard: UnseenRuns(passing=100)})
    write_frozen(tmp_path / "bank.jsonl", Bank({card.card_id: BankEntry(card=card, support=support)}))
    server = Server(ServerOptions({"default": ProjectOptions(str(tmp_path / "bank.jsonl"), enforce="deny")}))
    server.open()
    with TestClient(make_app(server), base_url="http://127.0.0.1") as client:
        run = f"{BASE}/runs/{client.post(f'{BASE}/runs', json={'task': 'Open a ticket.'}).json()['run_id']}"
        call = {"function": "desk.open_ticket", "arguments": {}}
        stop = client.post(f"{run}/stop", json=call).json()["stop"]
        assert (stop["level"], stop["card_ids"]) == ("deny", [card.card_id])
        client.post(f"{run}/allow", json={"card_id": card.card_id})
        assert client.post(f"{run}/stop", json=call).json() == {"stop": None}
    server.close()


def test_a_run_id_that_another_task_has_is_refused(client: TestClient) -> None:
    first = client.post(f"{BASE}/runs", json={"task": TASK, "run_id": "r"}).json()
    assert client.post(f"{BASE}/runs", json={"task": TASK, "run_id": "r"}).json() == first
    refused = client.post(f"{BASE}/runs", json={"task": "Book a flight.", "run_id": "r"})
    assert refused.status_code == 409 and "is at another task" in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        pytest.param("POST", f"{BASE}/runs", {"task": 1}, 422, id="wrong-type"),
        pytest.param("POST", f"{BASE}/runs", {"task": "t", "abilty": "x"}, 422, id="misspelled"),
        pytest.param("POST", f"{BASE}/runs", {"task": "t", "profile": "none"}, 422, id="unknown-profile"),
        pytest.param("POST", f"{BASE}/runs", {"task": "t", "run_id": ".."}, 422, id="folder-above"),
        pytest.param("POST", f"{BASE}/runs", {"task": "t", "run_id": "a\\..\\b"}, 422, id="folder-above-in-windows"),
        pytest.param("GET", f"{BASE}/runs/nobody", None, 404, id="no-run"),
        pytest.param("GET", "/api/v1/other/cards", None, 404, id="no-project"),
        pytest.param("GET", f"{BASE}/cards?limit=many", None, 422, id="no-number"),
        pytest.param("GET", f"{BASE}/cards/skill::none", None, 404, id="no-card"),
    ],
)
def test_an_invalid_request_gets_a_client_error_with_a_message(
    reader: TestClient, method: str, path: str, body: Any, status: int
) -> None:
    answer = reader.request(method, path, json=body) if body else reader.request(method, path)
    assert answer.status_code == status and answer.json()["error"]["message"]


def test_cards_search_freeze_and_history(client: TestClient, bank: Path) -> None:
    cards = client.get(f"{BASE}/cards?limit=5").json()
    with open_store(bank) as store:
        assert cards["total"] == len(store.bank().cards) and len(cards["cards"]) == 5
    card = client.get(f"{BASE}/cards/{cards['cards'][0]['card_id']}").json()
    assert card["card_id"] == cards["cards"][0]["card_id"]
    assert client.get(f"{BASE}/search", params={"q": TASK}).json()["hits"]
    frozen = client.post(f"{BASE}/freeze").json()
    assert frozen["content_sha256"] == bank_at(str(bank)).header.content_sha256
    assert client.get(f"{BASE}/history?limit=3").json()["decisions"][0]["number"] == frozen["decision"]


ROUTES = [
    *((route.method, route.path, route.scope, route.body is not None) for route in api.ROUTES),
    *((page.method, page.path, page.scope, False) for page in PAGES),
    ("GET", "/metrics", "admin", False),
    ("POST", "/mcp/{project}/", "guide", True),
]
"""Every route that needs a scope."""


@pytest.fixture
def guarded(bank: Path, tmp_path: Path) -> Any:
    """Two projects, and a token for each scope and project."""
    other = tmp_path / "other.db"
    other.write_bytes(bank.read_bytes())
    file = tmp_path / "tokens"
    tokens = {
        (scope, project): add_token(file, f"{scope}-{project}", (scope,), project)
        for scope, project in itertools.product(SCOPES, ("default", "other"))
    }
    projects = {"default": ProjectOptions(str(bank)), "other": ProjectOptions(str(other))}
    server = Server(ServerOptions(projects, tokens=file, audit=tmp_path / "audit.jsonl"))
    server.open()
    with TestClient(make_app(server), base_url="http://127.0.0.1") as client:
        yield client, tokens, file
    server.close()


@pytest.mark.slow
def test_every_route_lets_in_its_own_scope_and_project_and_nobody_else(guarded: Any) -> None:
    client, tokens, _ = guarded
    for method, path, needed, has_body in ROUTES:
        address = path.format(project="default", run_id="r", card_id="c")
        asked = {"method": method, "url": address, **({"json": {}} if has_body else {})}
        assert client.request(**asked).status_code == 401, address
        assert client.request(**asked, headers={"authorization": "Bearer wrong"}).status_code == 401, address
        for (scope, project), secret in tokens.items():
            status = client.request(**asked, headers={"authorization": f"Bearer {secret}"}).status_code
            allowed = scope == needed and (project == "default" or path == "/metrics")
            is_form = method == "POST" and not path.startswith(("/api", "/mcp"))  # refused later: it has no form token
            assert (status not in (401, 403)) == (allowed and not is_form), (address, scope, project, status)


def test_tokens_are_kept_hashed_and_a_browser_logs_in_with_one(guarded: Any) -> None:
    client, tokens, file = guarded
    secret = tokens["read", "default"]
    assert secret not in file.read_text() and len(read_tokens(file)) == 10
    assert client.post("/login", data={"token": "wrong"}).status_code == 401
    page = client.post("/login", data={"token": secret})
    assert page.status_code == 200 and "What your agents" in page.text
    cookie = client.cookies.get("contramem_session")
    assert cookie and cookie != secret


def test_another_host_name_a_long_body_and_a_flood_are_refused(bank: Path) -> None:
    options = ServerOptions({"default": ProjectOptions(str(bank))}, max_body_bytes=500, requests_per_minute=60)
    server = Server(options)
    server.open()
    with TestClient(make_app(server), base_url="http://127.0.0.1") as client:
        assert client.get("/health", headers={"host": "evil.example"}).status_code == 421
        assert client.post(f"{BASE}/runs", json={"task": "x" * 600}).status_code == 413
        assert {client.get("/health").status_code for _ in range(30)} == {200, 429}
    server.close()


def test_mcp_over_http_gives_guidance(reader: TestClient) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "get_guidance", "arguments": {"task": TASK}}}  # fmt: skip
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
    answer = reader.post("/mcp/default/", json=call, headers=headers)
    assert answer.status_code == 200 and "ticket_login" in answer.text


def test_metrics_and_health(client: TestClient) -> None:
    client.get("/default/cards")
    text = client.get("/metrics").text
    assert 'contramem_requests_total{route="cards",method="GET",status="200"} 1' in text
    assert 'contramem_cards{project="default",kind="function"} 28' in text
    assert client.get("/health").json() == {"status": "ok"} and client.get("/ready").status_code == 200


def test_a_finished_run_leaves_memory_and_can_still_be_asked_for(server: Server, client: TestClient) -> None:
    runs = "/api/v1/default/runs"
    started = client.post(runs, json={"task": "Close my printer ticket.", "run_id": "r"}).json()
    client.post(f"{runs}/r/finish", json={"passed": None})
    assert "r" not in server.projects["default"].live._runs
    assert client.get(f"{runs}/r").json() == started
    assert client.post(f"{runs}/r/finish", json={"passed": True}).status_code == 200


def test_a_journal_that_is_no_database_is_an_error_that_names_it(bank: Path) -> None:
    journal = bank.with_name("cards.db-live")
    journal.write_bytes(b"not a database" * 1_000)
    with pytest.raises(StoreError, match=r"cards\.db-live: not a journal of live runs"):
        Server(ServerOptions({"default": ProjectOptions(str(bank))})).open()
