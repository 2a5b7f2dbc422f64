"""Review in the browser: recorded as `cards review` records it, and two reviewers lose nothing."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

from starlette.testclient import TestClient
from tests.server.conftest import RUNS

from contramem.bank.acts import to_review
from contramem.bank.card import FunctionCard, SkillCard
from contramem.bank.store import open_store
from contramem.pipeline import learn
from contramem.server.app import Server, make_app
from contramem.server.options import ProjectOptions, ServerOptions
from contramem.traces.read import read_traces


def form_of(client: TestClient, path: str = "/default/review") -> dict[str, str]:
    text = client.get(path).text
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', text.partition('id="review"')[2]))
    fields |= dict(re.findall(r'<textarea name="(field[^"]+)"[^>]*>(.*?)</textarea>', text, re.DOTALL))
    chosen = re.findall(r'<select name="(field[^"]+)">.*?<option selected>(\w+)', text, re.DOTALL)
    return {**{name: unescape(value) for name, value in [*fields.items(), *chosen]}, "by": "Ada"}


FUNCTION = "/default/review?id=function::TicketAPI.close_ticket"


def test_an_answer_is_a_decision_in_the_ledger_and_the_next_card_comes(client: TestClient, bank: Path) -> None:
    form = form_of(client)
    answer = client.post("/default/decide", data={**form, "answer": "pin", "reason": "we rely on it"})
    assert answer.status_code == 200 and "pin" in answer.text and form_of(client)["card"] != form["card"]
    with open_store(bank) as store:
        entry = store.ledger(form["card"])[-1]
        assert (entry.decision.operation, str(entry.decision.by), entry.decision.reason) == (
            "PIN",
            "Ada",
            "we rely on it",
        )
        assert store.bank().entries[form["card"]].status == "pinned"


def test_a_function_card_is_edited_in_fields_and_checked_as_the_command_line_checks_it(
    client: TestClient, bank: Path
) -> None:
    form = {**form_of(client, FUNCTION), "answer": "edit"}
    spoiled = client.post("/default/decide", data={**form, "field.returns": ""})
    assert spoiled.status_code == 422 and "Not saved: returns" in spoiled.text
    words = {"field.what_it_does": "Ends a ticket.", "field.arguments.0.required": "no",
             "field.usage_rules": "Look first.\r\n\r\nThen close."}  # fmt: skip
    assert client.post("/default/decide", data={**form, **words}).status_code == 200
    with open_store(bank) as store:
        card = store.bank().entries[form["card"]].card
    assert isinstance(card, FunctionCard) and card.what_it_does == "Ends a ticket."
    assert (card.arguments[0].required, card.usage_rules) == (False, ("Look first.", "Then close."))


def test_a_skill_card_is_edited_in_fields_too(client: TestClient, bank: Path) -> None:
    form = {**form_of(client), "answer": "edit", "field.skill.core_rule": "Look before you close."}
    assert form["card"].startswith("skill::")
    assert client.post("/default/decide", data={**form, "field.guards": "precedense(a, b)"}).status_code == 422
    assert client.post("/default/decide", data=form).status_code == 200
    with open_store(bank) as store:
        card = store.bank().entries[form["card"]].card
    assert isinstance(card, SkillCard) and card.skill.core_rule == "Look before you close."


def test_of_two_reviewers_the_second_sees_what_the_first_did_and_keeps_their_text(client: TestClient) -> None:
    first, second = form_of(client, FUNCTION), form_of(client, FUNCTION)
    client.post("/default/decide", data={**first, "answer": "mute"})
    words = {"answer": "edit", "field.what_it_does": "Reveals a ticket."}
    late = client.post("/default/decide", data={**second, **words})
    assert late.status_code == 409 and "Somebody else decided" in late.text and "Reveals a ticket." in late.text
    again = form_of(client, FUNCTION)
    assert client.post("/default/decide", data={**again, **words}).status_code == 200


def test_review_begins_with_skill_cards_the_least_certain_first(client: TestClient, bank: Path) -> None:
    with open_store(bank) as store:
        waiting = to_review(store.bank())
    kinds = [entry.card.card_id.partition("::")[0] for entry in waiting]
    assert kinds == sorted(kinds, reverse=True) and form_of(client)["card"] == waiting[0].card.card_id
    grades = [entry.support.grade or "" for entry in waiting if isinstance(entry.card, SkillCard)]
    assert grades == sorted(grades, key=["", "open", "observed", "proven", "enforced"].index)


def test_a_rejected_card_teaches_a_later_build(client: TestClient, bank: Path) -> None:
    form = form_of(client)
    client.post("/default/decide", data={**form, "answer": "reject", "reason": "true of our test data only"})
    with open_store(bank) as store:
        learn(read_traces([RUNS]), store)
        entry = store.bank().entries[form["card"]]
        reasons = [made.decision.reason for made in store.ledger(form["card"])]
    assert entry.status == "retired" and "true of our test data only" in reasons


def test_a_decision_can_be_undone_only_where_nothing_was_decided_since(client: TestClient) -> None:
    def undoable() -> list[str]:
        text = client.get("/default/ledger", params={"cards": "function::TicketAPI.close_ticket"}).text
        rows = re.findall(r'id="d(\d+)">(.*?)</li>', text, re.DOTALL)
        return [number for number, row in rows if "Undo" in row]

    (added,) = undoable()
    client.post("/default/decide", data={**form_of(client, FUNCTION), "answer": "mute"})
    (muted,) = undoable()
    assert int(muted) > int(added)


def test_merging_retires_the_other_card_and_undo_brings_it_back(client: TestClient, bank: Path) -> None:
    with open_store(bank) as store:
        first, second = store.bank().skills_of("search")[:2]
    form = form_of(client, f"/default/review?id={first.card_id}")
    client.post("/default/decide", data={**form, "answer": "merge", "with": second.card_id})
    with open_store(bank) as store:
        assert store.bank().entries[second.card_id].status == "retired"
        number = store.last_decision()
    client.post("/default/undo", data={"form_token": form["form_token"], "decision": str(number), "by": "Ada"})
    with open_store(bank) as store:
        assert store.bank().entries[second.card_id].status == "active"


def test_a_notice_says_what_the_ledger_says_and_never_what_the_address_says(client: TestClient, bank: Path) -> None:
    form = form_of(client)
    page = client.post("/default/decide", data={**form, "answer": "mute", "reason": "too wordy"})
    with open_store(bank) as store:
        number = store.last_decision()
    assert f"Decision {number}: mute {form['card']}." in unescape(page.text)
    undone = client.post("/default/undo", data={"form_token": form["form_token"], "decision": str(number)})
    assert f"Decision {number + 1} undoes decision {number}." in undone.text and undone.url.path == "/default/ledger"
    twice = client.post("/default/undo", data={"form_token": form["form_token"], "decision": "999999"})
    assert twice.status_code == 422 and "Not undone: there is no decision 999999" in twice.text
    for path in ("ledger", "review"):
        assert "Your token has expired" not in client.get(f"/default/{path}?note=Your+token+has+expired").text
        assert "Decision 999999" not in client.get(f"/default/{path}?decided=999999").text


def test_a_form_from_another_site_is_refused(reader: TestClient) -> None:
    form = {**form_of(reader), "answer": "reject"}
    assert reader.post("/default/decide", data=form, headers={"origin": "https://evil.example"}).status_code == 403
    assert reader.post("/default/decide", data={**form, "form_token": "guess"}).status_code == 403


def test_the_audit_names_who_changed_what_and_the_decision(bank: Path, tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    server = Server(ServerOptions({"default": ProjectOptions(str(bank))}, audit=audit))
    server.open()
    card_id = min(server.projects["default"].current().bank.entries)
    with TestClient(make_app(server), base_url="http://127.0.0.1") as client:
        path = f"/api/v1/default/cards/{card_id}/review"
        number = client.post(path, json={"answer": "pin", "by": "Ada"}).json()["number"]
        assert client.post(path, json={"answer": "pin", "by": "Ada", "reason": 5}).status_code == 422
    server.close()
    (line,) = map(json.loads, audit.read_text().splitlines())
    del line["time"]
    assert line == {"by": "Ada", "project": "default", "what": "review", "decision": number}
