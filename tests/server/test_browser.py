"""The pages in a real browser: Debian's Chromium. The screenshots in docs/ are made here."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.server.conftest import RUNS
from tests.server.live import LiveServer

from contramem import Memory
from contramem.bank.store import open_store
from contramem.inject.loaded_bank import bank_at

pytestmark = pytest.mark.slow
DOCS = Path(__file__).parents[2] / "docs"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("there is no chromium; apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def live(bank: Path, tmp_path: Path) -> Iterator[LiveServer]:
    log = tmp_path / "log.jsonl"
    memory = Memory(bank_at(str(bank)), log=log, holdout=0.4)
    for number in range(40):
        memory.start("Close my printer ticket.", run_id=f"r{number}").finish(number % 3 != 0)
    server = LiveServer(str(bank), "--runs", str(RUNS), "--log", str(log), cwd=tmp_path)
    yield server
    server.stop()


class Visitor:
    """A page that notes every console error and every request to another host."""

    def __init__(self, browser: Any, url: str, **options: Any) -> None:
        self.url, self.trouble = url, list[str]()
        self.page = browser.new_context(viewport={"width": 1200, "height": 860}, **options).new_page()
        self.page.on("console", lambda line: self.trouble.append(line.text) if line.type == "error" else None)
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("request", lambda asked: None if asked.url.startswith(url) else self.trouble.append(asked.url))

    def go(self, path: str) -> Any:
        self.page.goto(self.url + path)
        return self.page


def test_a_newcomer_finds_where_runs_diverge_and_why_a_card_exists(chromium: Any, live: LiveServer) -> None:
    visitor = Visitor(chromium, live.url)
    page = visitor.go("/")
    page.screenshot(path=DOCS / "serve-home.png")
    page.get_by_role("link", name="desk_printer").first.click()
    page.locator("a.cell.diverges").first.click()
    page.wait_for_selector("#event h3")
    page.screenshot(path=DOCS / "serve-task.png")
    page.get_by_role("link", name="ticket_login before").first.click()
    assert page.get_by_text("Runs that taught it").is_visible()
    page.screenshot(path=DOCS / "serve-card.png")
    for path in (
        "tasks",
        "cards",
        "ledger",
        "map",
        "injections",
        "compare?base=scripted-careful&memory=scripted-hasty",
    ):
        visitor.go(f"/default/{path}")
    assert visitor.trouble == []


def test_a_card_is_reviewed_with_the_keyboard_alone(chromium: Any, live: LiveServer, bank: Path) -> None:
    visitor = Visitor(chromium, live.url, color_scheme="dark")
    page = visitor.go("/default/review?id=function::TicketAPI.close_ticket")
    page.screenshot(path=DOCS / "serve-review.png")
    page.keyboard.press("p")
    page.wait_for_selector(".note")
    assert "pin function::TicketAPI.close_ticket" in page.locator(".note").inner_text()
    with open_store(bank) as store:
        assert store.bank().entries["function::TicketAPI.close_ticket"].status == "pinned"
    assert visitor.trouble == []


def test_two_reviewers_at_once_lose_nothing(chromium: Any, live: LiveServer, bank: Path) -> None:
    first, second = Visitor(chromium, live.url), Visitor(chromium, live.url)
    pages = [visitor.go("/default/review?id=function::TicketAPI.close_ticket") for visitor in (first, second)]
    pages[1].keyboard.press("e")
    editor = pages[1].locator("textarea")
    card = json.loads(editor.input_value()) | {"what_it_does": "Ends a ticket."}
    editor.fill(json.dumps(card))
    pages[0].keyboard.press("m")
    pages[0].wait_for_selector(".note")
    pages[1].get_by_role("button", name="Save this text").click()
    pages[1].wait_for_selector(".note.bad")
    assert "Ends a ticket." in pages[1].locator("textarea").input_value()
    pages[1].get_by_role("button", name="Save this text").click()
    pages[1].wait_for_selector(".note:not(.bad)")
    with open_store(bank) as store:
        entry = store.bank().entries["function::TicketAPI.close_ticket"]
        assert (entry.status, entry.card.what_it_does) == ("muted", "Ends a ticket.")


def test_nothing_is_wider_than_a_phone(chromium: Any, live: LiveServer) -> None:
    visitor = Visitor(chromium, live.url, color_scheme="dark")
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    for path in ("", "tasks", "cards", "ledger", "review", "map"):
        page = visitor.go(f"/default/{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
    assert visitor.trouble == []
