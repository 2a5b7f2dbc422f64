"""The pages in a real browser: Debian's Chromium. The screenshots in docs/ are made here."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from tests.server.conftest import RUNS
from tests.server.live import LiveServer, serving

from contramem import Memory
from contramem.bank.bank import BankEntry, Change
from contramem.bank.card import Skill, SkillCard
from contramem.bank.ledger import Attribution, Decision
from contramem.bank.store import open_store
from contramem.cli import cli
from contramem.inject.loaded_bank import bank_at
from contramem.traces.outcomes import read_outcomes
from contramem.traces.read import read_traces
from contramem.traces.reader import ReadOptions
from contramem.traces.trajectory import Trajectory

pytestmark = pytest.mark.slow
HOSTILE = "<script>alert(1)</script>\"'><img src=//x.example onerror=alert(1)>javascript:alert(1){{7*7}}\u202e\x1b[31m"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where screenshots go. `CONTRAMEM_PICTURES=docs` makes those of the documentation anew."""
    return Path(os.environ.get("CONTRAMEM_PICTURES") or tmp_path)


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


def test_a_newcomer_finds_where_runs_diverge_and_why_a_card_exists(
    chromium: Any, live: LiveServer, pictures: Path
) -> None:
    visitor = Visitor(chromium, live.url)
    page = visitor.go("/")
    page.screenshot(path=pictures / "serve-home.png")
    page.locator(".steps a").nth(1).click()  # the story: the call where two runs part, beside the card
    page.wait_for_selector("#event h3")
    page.locator("a.cell.chosen.diverges").wait_for()
    visitor.go("/default/tasks?q=printer").locator("td.key a").first.click()
    page.locator("a.cell.diverges").first.click()
    page.wait_for_selector("#event h3")
    page.screenshot(path=pictures / "serve-task.png")
    page.get_by_role("link", name="ticket_login before").first.click()
    page.get_by_text("Runs that taught it").first.wait_for()
    page.screenshot(path=pictures / "serve-card.png")
    for path in ("tasks", "runs", "cards", "ledger", "injections"):
        visitor.go(f"/default/{path}")
    assert visitor.trouble == []


def test_a_count_of_a_card_opens_the_runs_behind_it(chromium: Any, live: LiveServer) -> None:
    visitor = Visitor(chromium, live.url)
    visitor.go("/default/cards?kind=skill&order=guards").locator("td.key a").first.click()
    counted = visitor.page.locator("p.guard a", has_text="broken").first
    number = int(counted.locator("b").inner_text())
    counted.click()
    rows = visitor.page.locator("table[data-list] tbody tr")
    rows.first.wait_for()
    assert rows.count() == number > 0
    rows.first.locator("a").click()
    visitor.page.get_by_text("Cards it went against").first.wait_for()
    assert visitor.trouble == []


def test_the_cells_that_separate_best_are_marked_and_a_signal_links_its_card(chromium: Any, live: LiveServer) -> None:
    visitor = Visitor(chromium, live.url)
    page = visitor.go("/default/tasks?q=printer")
    page.locator("td.key a").first.click()
    page.locator("a.cell.marked").first.wait_for()
    page.get_by_text("passing and").first.wait_for()
    page.locator(".signals li", has_text="taught").first.locator("a[href*='/card?']").first.click()
    page.get_by_text("Runs that taught it").first.wait_for()
    assert visitor.trouble == []


def test_a_comparison_says_what_the_command_says_and_opens_either_run(
    chromium: Any, live: LiveServer, pictures: Path
) -> None:
    visitor = Visitor(chromium, live.url)
    page = visitor.go("/default/compare?base=scripted-hasty&memory=scripted-careful")
    page.screenshot(path=pictures / "serve-compare.png")
    said = page.locator("p.note").inner_text()
    command = ["evaluate", "compare", str(RUNS), "--with", str(RUNS), "--sources", "scripted-hasty", "--with-sources",
               "scripted-careful", "--drop-unpaired"]  # fmt: skip
    printed = CliRunner().invoke(cli, command, env={"COLUMNS": "2000"})
    assert printed.exit_code == 0 and said in printed.output
    row = page.locator("table[data-list] tbody tr").first
    sides = [row.locator("td").nth(column).locator("a") for column in (2, 3)]
    for address, source in zip([side.get_attribute("href") for side in sides], ("hasty", "careful"), strict=True):
        assert source in visitor.go(address).locator("h1").inner_text()
    assert visitor.trouble == []


def test_runs_are_labelled_with_the_keyboard_as_outcomes_reads_it(
    chromium: Any, live: LiveServer, tmp_path: Path, pictures: Path
) -> None:
    visitor = Visitor(chromium, live.url)
    page = visitor.go("/default/runs?q=printer&outcome=failed")
    page.locator("td.key a").first.click()
    page.wait_for_selector("section.event")
    page.screenshot(path=pictures / "serve-run.png")
    for key in "pf":
        before = page.url
        page.keyboard.press(key)
        page.wait_for_url(lambda url, before=before: url != before)
    visitor.go("/default/runs")
    assert "2 labels" in page.locator("main").inner_text() and "say the same" in page.locator("main").inner_text()
    labels = next(tmp_path.glob("*-labels.csv"))
    outcomes = read_outcomes(labels)
    judged = list(read_traces([RUNS], ReadOptions(outcomes=outcomes)))
    assert not list(outcomes.unused()) and len(judged) == 156  # every label found its run
    assert visitor.trouble == []


def test_a_preview_shows_what_an_agent_gets_and_why(chromium: Any, live: LiveServer, pictures: Path) -> None:
    visitor = Visitor(chromium, live.url)
    page = visitor.go("/default/preview")
    page.locator("textarea[name=task]").fill("Close my printer ticket, it works again.")
    page.locator("input[name=function]").fill("TicketAPI.close_ticket")
    page.locator("input[name=arguments]").fill('{"ticket_id": 7}')
    page.get_by_role("button", name="Show", exact=True).click()
    page.wait_for_selector("#guidance")
    page.screenshot(path=pictures / "serve-preview.png")
    printed = CliRunner().invoke(cli, ["guide", "Close my printer ticket, it works again.", "--bank", live.bank])
    assert page.locator("#guidance").inner_text().strip() == printed.stdout.strip()
    assert page.locator("tbody .tag.good", has_text="shown").count() > 0
    assert visitor.trouble == []


def test_an_address_that_is_nowhere_is_a_page(chromium: Any, live: LiveServer) -> None:
    for path in ("/default/nowhere", "/default/task?key=none", "/other/tasks"):
        page = Visitor(chromium, live.url).go(path)
        page.get_by_role("link", name="Start page").wait_for()


def test_a_card_is_reviewed_with_the_keyboard_alone(chromium: Any, live: LiveServer, bank: Path) -> None:
    visitor = Visitor(chromium, live.url, color_scheme="dark")
    page = visitor.go("/default/review?id=function::TicketAPI.close_ticket")
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
    pages[1].get_by_label("what it does").fill("Ends a ticket.")
    pages[0].keyboard.press("m")
    pages[0].wait_for_selector(".note")
    pages[1].get_by_role("button", name="Save this text").click()
    pages[1].wait_for_selector(".note.bad")
    assert pages[1].get_by_label("what it does").input_value() == "Ends a ticket."
    pages[1].get_by_role("button", name="Save this text").click()
    pages[1].wait_for_selector(".note:not(.bad)")
    with open_store(bank) as store:
        entry = store.bank().entries["function::TicketAPI.close_ticket"]
        assert (entry.status, entry.card.what_it_does) == ("muted", "Ends a ticket.")


def test_nothing_is_wider_than_a_phone(chromium: Any, live: LiveServer) -> None:
    visitor = Visitor(chromium, live.url, color_scheme="dark")
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    for path in ("", "tasks", "runs", "cards", "ledger", "review", "preview?task=ticket",
                 "compare?base=scripted-careful&memory=scripted-hasty"):  # fmt: skip
        page = visitor.go(f"/default/{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
    visitor.go("/default/tasks").locator("td.key a").first.click()
    first = page.locator("table.picture tbody td").first
    assert page.locator("table.picture").evaluate("table => { table.parentElement.scrollLeft = 200; return 1; }")
    assert first.bounding_box()["x"] < 60  # the names of the rows stay
    page.locator("a.cell.diverges").first.click()  # not hidden below the names of the rows
    page.wait_for_selector("#event h3")
    assert visitor.trouble == []


def test_a_task_is_looked_at_with_the_keyboard_alone(chromium: Any, live: LiveServer) -> None:
    visitor = Visitor(chromium, live.url)
    page = visitor.go("/default/tasks")
    for key in ("j", "j", "k", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector("a.cell")
    page.locator("a.cell").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#event h3")
    chosen = page.locator("a.cell.chosen").get_attribute("data-cell")
    assert page.evaluate("location.hash") == f"#{chosen}"
    page.reload()
    page.wait_for_selector("#event h3")  # the address is of the cell
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    assert visitor.trouble == []


def test_a_decision_is_undone_where_it_was_made(chromium: Any, live: LiveServer, bank: Path) -> None:
    page = Visitor(chromium, live.url).go("/default/review?id=function::TicketAPI.close_ticket")
    page.keyboard.press("r")
    page.wait_for_selector(".note")
    page.keyboard.press("u")
    page.wait_for_selector(".note:has-text('undoes')")
    with open_store(bank) as store:
        assert store.bank().entries["function::TicketAPI.close_ticket"].status == "active"


def test_text_from_traces_and_cards_stays_text_on_every_page(chromium: Any, bank: Path, tmp_path: Path) -> None:
    runs, log = tmp_path / "runs.jsonl", tmp_path / "log.jsonl"
    runs.write_text("".join(json.dumps(hostile_run(passed)) + "\n" for passed in (True, False)))
    add_hostile_card(bank)
    Memory(bank_at(str(bank)), log=log).start(HOSTILE, task_id=HOSTILE, run_id=HOSTILE).finish(True)
    with serving(str(bank), "--runs", str(runs), "--log", str(log), "--show-values", cwd=tmp_path) as server:
        visit_every_page(Visitor(chromium, server.url), read_one(runs))


def visit_every_page(visitor: Visitor, run: Trajectory) -> None:
    key, source = quote(run.task_key), quote(run.source)
    visitor.page.on("dialog", lambda dialog: visitor.trouble.append(dialog.message))
    paths = [
        "", "tasks", f"task?key={key}", f"run?task={key}&source={source}&run={run.run}", "cards", "ledger",
        "card?id=skill::0123456789ab", "review?id=skill::0123456789ab", "injections", f"search?q={quote(HOSTILE[:20])}",
        f"compare?base={quote(HOSTILE + 'a')}&memory={quote(HOSTILE + 'b')}", f"runs?q={quote(HOSTILE[:20])}",
        f"preview?task={quote(HOSTILE)}&function=x&arguments={quote(HOSTILE)}",
    ]  # fmt: skip
    for path in paths:
        page = visitor.go(f"/default/{path}")
        assert page.locator("main script, main img").count() == 0, path
        assert "\x1b" not in page.content() and "\u202e" not in page.content(), path
    assert visitor.trouble == []


def hostile_run(passed: bool) -> dict[str, Any]:
    """A run in our own format with hostile text in every field."""
    call = {"id": "c", "type": "function", "function": {"name": "x", "arguments": json.dumps({HOSTILE: HOSTILE})}}
    result = {"role": "tool", "tool_call_id": "c", "name": "x", "content": HOSTILE}
    messages = [{"role": "user", "content": HOSTILE}, {"role": "assistant", "content": HOSTILE, "tool_calls": [call]},
                result, {"role": "assistant", "content": HOSTILE}]  # fmt: skip
    source = HOSTILE + ("a" if passed else "b")
    return {"messages": messages, "task_id": HOSTILE, "source": source, "ability": HOSTILE, "passed": passed}


def read_one(path: Path) -> Trajectory:
    return next(iter(read_traces([path])))


def add_hostile_card(bank: Path) -> None:
    card = SkillCard(
        card_id="skill::0123456789ab", ability=HOSTILE, title=HOSTILE, applies_when=HOSTILE, solves=HOSTILE,
        tags=(HOSTILE,), skill=Skill(core_rule=HOSTILE, completion=(HOSTILE,), recovery=HOSTILE),
    )  # fmt: skip
    decision = Decision(
        operation="ADD", reason=HOSTILE, by=Attribution(kind="person", name=HOSTILE), ability=HOSTILE,
        changes=(Change(before=None, after=BankEntry(card=card)),),
    )  # fmt: skip
    with open_store(bank) as store, store.writing("test"):
        store.record(decision)
