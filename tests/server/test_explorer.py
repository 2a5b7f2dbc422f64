"""Pages: what a newcomer sees, and that text from outside stays text."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from contramem.bank.bank import BankEntry, Change
from contramem.bank.card import Skill, SkillCard
from contramem.bank.ledger import Attribution, Decision
from contramem.bank.store import open_store
from contramem.server.app import PAGES

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{7*7}}"
PLAIN = [page.path.replace("{project}", "default") for page in PAGES if page.method == "GET"]


def links(text: str, part: str) -> list[str]:
    return [unescape(link) for link in re.findall(r'href="([^"]+)"', text) if part in link]


@pytest.mark.parametrize("path", PLAIN)
def test_every_page_answers_loads_nothing_from_elsewhere_and_is_light(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == (404 if path.rpartition("/")[2] in ("task", "event", "run", "card") else 200)
    assert not re.search(r'(src|href|action)="(https?:)?//', answer.text)
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert len(answer.content) < 150_000


def test_a_newcomer_gets_from_the_start_page_to_the_event_that_taught_a_card(client: TestClient) -> None:
    home = client.get("/", follow_redirects=True)
    task = client.get(links(home.text, "/task?")[0])
    assert "Runs side by side" in task.text and "What separates them" in task.text
    cell = links(task.text, "at=")[0]
    assert f'id="e{cell.partition("#e")[2]}"' in client.get(cell).text
    cards = client.get("/default/cards?kind=skill")
    card = client.get(links(cards.text, "/card?")[0])
    assert "Runs that taught it" in card.text
    event = client.get(links(card.text, "at=")[0])
    assert event.status_code == 200 and 'class="event at' in event.text


def test_values_are_masked(client: TestClient) -> None:
    home = client.get("/default/")
    task = client.get(next(link for link in links(home.text, "/task?") if "printer" in link))
    assert "&lt;PERSON_1&gt;" in task.text


def test_text_from_outside_stays_text_in_every_field(client: TestClient, bank: Path) -> None:
    card = SkillCard(
        card_id="skill::0123456789ab", ability=HOSTILE, title=HOSTILE, applies_when=HOSTILE, solves=HOSTILE,
        tags=(HOSTILE,), skill=Skill(core_rule=HOSTILE, completion=(HOSTILE,), recovery=HOSTILE),
    )  # fmt: skip
    change = Change(before=None, after=BankEntry(card=card))
    by = Attribution(kind="person", name=HOSTILE)
    with open_store(bank) as store, store.writing("test"):
        store.record(Decision(operation="ADD", reason=HOSTILE, by=by, ability=HOSTILE, changes=(change,)))
    paths = ["/default/", "/default/cards", "/default/card?id=skill::0123456789ab", "/default/ledger", "/default/map",
             "/default/review?id=skill::0123456789ab", f"/default/search?q={HOSTILE}", f"/default/tasks?q={HOSTILE}",
             f"/default/map?ability={HOSTILE}", f"/default/injections?card={HOSTILE}", f"/{HOSTILE}/"]  # fmt: skip
    for path in paths:
        text = client.get(path, headers={"accept": "text/html"}).text
        assert "<script>alert" not in text and "<img src=x" not in text and "{{7*7}}49" not in text


def test_search_finds_cards_tasks_functions_and_decisions(client: TestClient) -> None:
    page = client.get("/default/search?q=close_ticket").text
    assert all(f"<h2>{name}" in page for name in ("Cards", "Tasks", "Functions", "Decisions"))
    assert "<code>TicketAPI.close_ticket</code>" in page and "calls in" in page
    assert "<h2>Functions" not in client.get("/default/search?q=100%25_").text


def test_comparing_two_sources_names_the_harmed_tasks_with_a_link(client: TestClient) -> None:
    page = client.get("/default/compare?base=scripted-careful&memory=scripted-hasty")
    assert "tasks harmed" in page.text and links(page.text, "/task?")
