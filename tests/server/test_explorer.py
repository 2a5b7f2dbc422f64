"""Pages: what a newcomer sees, and that text from outside stays text."""

from __future__ import annotations

import re
from collections import Counter
from html import unescape
from pathlib import Path

import pytest
from msgspec import structs
from starlette.testclient import TestClient
from tests.server.conftest import RUNS

from contramem.bank.bank import BankEntry, Change
from contramem.bank.card import Skill, SkillCard
from contramem.bank.ledger import Attribution, Decision
from contramem.bank.store import open_store
from contramem.collection.browse import RunGroup
from contramem.server.app import PAGES, Server, make_app
from contramem.server.listing import export_rows
from contramem.server.options import ProjectOptions, ServerOptions
from contramem.traces.read import read_traces
from contramem.traces.write import write_traces

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{7*7}}"
PLAIN = [page.path.replace("{project}", "default") for page in PAGES if page.method == "GET"]


def links(text: str, part: str) -> list[str]:
    return [unescape(link) for link in re.findall(r'href="([^"]+)"', text) if part in link]


@pytest.mark.parametrize("path", PLAIN)
def test_every_page_answers_loads_nothing_from_elsewhere_and_is_light(reader: TestClient, path: str) -> None:
    answer = reader.get(path)
    assert answer.status_code == (404 if path.rpartition("/")[2] in ("task", "event", "run", "card", "guard") else 200)
    assert not re.search(r'(src|href|action)="(https?:)?//', answer.text)
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert len(answer.content) < 150_000


def test_a_newcomer_gets_from_the_start_page_to_the_event_that_taught_a_card(reader: TestClient) -> None:
    home = reader.get("/", follow_redirects=True)
    task = reader.get(links(home.text, "/task?")[0])
    assert "Runs side by side" in task.text and "What separates them" in task.text
    cell = links(task.text, "at=")[0]
    assert f'id="e{cell.partition("#e")[2]}"' in reader.get(cell).text
    cards = reader.get("/default/cards?kind=skill")
    shown = [reader.get(link).text for link in links(cards.text, "/card?")]
    card = next(text for text in shown if links(text, "at="))
    assert "Runs that taught it" in card
    assert "Where each sentence comes from" in card
    event = reader.get(links(card, "at=")[0])
    assert event.status_code == 200 and 'class="event at' in event.text


def test_many_sources_are_squares_the_best_first(bank: Path, tmp_path: Path) -> None:
    (first,) = list(read_traces([RUNS]))[:1]
    runs = [structs.replace(first, source=f"source-{number}", outcome=structs.replace(first.outcome, passed=number > 2))
            for number in range(7)]  # fmt: skip
    write_traces(runs, tmp_path / "runs.jsonl")
    server = Server(ServerOptions({"default": ProjectOptions(str(bank), (tmp_path / "runs.jsonl",))}))
    server.open()
    server.projects["default"].index_runs()
    assert all(verdict.run and not verdict.grave for verdict in server.projects["default"].readings.values())
    with TestClient(make_app(server), base_url="http://127.0.0.1") as client:
        squares = re.findall(r'class="square (\w+)" role="img" title="([^"]+)"', client.get("/default/tasks").text)
    server.close()
    assert len(squares) == 7
    assert squares[0] == ("all", "source-3: 1 of 1 passed") and squares[-1] == ("no", "source-2: 0 of 1 passed")


def test_a_function_card_links_the_tasks_whose_calls_it_is_made_from(reader: TestClient) -> None:
    card = reader.get("/default/card?id=function::TicketAPI.close_ticket").text
    assert "made from every recorded call" in card and links(card, "/task?")


def test_values_are_masked(reader: TestClient) -> None:
    home = reader.get("/default/")
    task = reader.get(next(link for link in links(home.text, "/task?") if "printer" in link))
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
    paths = ["/default/", "/default/cards", "/default/card?id=skill::0123456789ab", "/default/ledger",
             "/default/review?id=skill::0123456789ab", f"/default/search?q={HOSTILE}", f"/default/tasks?q={HOSTILE}",
             f"/default/injections?card={HOSTILE}", f"/{HOSTILE}/"]  # fmt: skip
    for path in paths:
        text = client.get(path, headers={"accept": "text/html"}).text
        assert "<script>alert" not in text and "<img src=x" not in text and "{{7*7}}49" not in text


def test_search_finds_cards_tasks_functions_and_decisions(reader: TestClient) -> None:
    page = reader.get("/default/search?q=close_ticket").text
    assert all(f"<h2>{name}" in page for name in ("Cards", "Tasks", "Functions", "Decisions"))
    assert "<code>TicketAPI.close_ticket</code>" in page and "calls in" in page
    assert "<h2>Functions" not in reader.get("/default/search?q=100%25_").text


def test_comparing_two_sources_names_the_harmed_tasks_with_a_link(reader: TestClient) -> None:
    page = reader.get("/default/compare?base=scripted-careful&memory=scripted-hasty")
    assert "harmed" in page.text and links(page.text, "/task?")


def test_lists_are_filtered_by_facet_ordered_and_taken_away_as_files(reader: TestClient) -> None:
    page = reader.get("/default/cards?kind=skill&order=title").text
    assert "Show all" not in page and "function</span>" not in page
    rows = reader.get("/default/cards?kind=skill&order=title&format=json").json()
    assert rows and {row["kind"] for row in rows} == {"skill"}
    assert [row["title"].lower() for row in rows] == sorted(row["title"].lower() for row in rows)
    lines = reader.get("/default/tasks?outcome=diverges&format=csv").text.splitlines()
    assert lines[0] == "task,ability,outcome,runs,passed,failed"  # no text: it holds values
    assert lines[1:] and all(",diverges," in line for line in lines[1:])


def test_a_cell_of_a_file_is_never_a_formula() -> None:
    file = export_rows("csv", "sources", [RunGroup("=cmd()", 1, 1, 0)])
    assert bytes(file.body).decode().splitlines() == ["name,runs,passed,failed", "'=cmd(),1,1,0"]


def test_two_files_of_runs_can_be_compared(bank: Path, tmp_path: Path) -> None:
    runs = list(read_traces([RUNS]))
    paths = tmp_path / "without.jsonl", tmp_path / "with.jsonl"
    for path, source in zip(paths, ("scripted-hasty", "scripted-careful"), strict=True):
        chosen = [structs.replace(run, source="agent") for run in runs if run.source == source]
        write_traces(chosen, path)
    server = Server(ServerOptions({"default": ProjectOptions(str(bank), paths)}))
    server.open()
    server.projects["default"].index_runs()
    with TestClient(make_app(server), base_url="http://127.0.0.1") as client:
        page = client.get("/default/compare", params={"base": f"runs:{paths[0]}", "memory": f"runs:{paths[1]}"}).text
    server.close()
    assert "With memory" in page and "No memory" in page  # runs of one source: the difference is memory


def test_the_runs_behind_a_guard_are_as_many_as_its_card_says(reader: TestClient, shipped_bank: Path) -> None:
    with open_store(shipped_bank) as store:
        entries = [entry for entry in store.bank().entries.values() if entry.served and entry.support.guard_counts]
    for entry in entries:
        guards = entry.card.guards if isinstance(entry.card, SkillCard) else ()
        for number, text in enumerate(guards):
            asked = {"id": entry.card.card_id, "guard": number, "format": "json"}
            found = Counter(run["verdict"] for run in reader.get("/default/guard", params=asked).json())
            assert {name: found[name] for name in ("kept", "broken", "contradicted")} == entry.support.guard_counts[
                text
            ].by_name()
    assert entries


def test_the_ledger_is_filtered_by_operation_words_and_card(reader: TestClient) -> None:
    added = reader.get("/default/ledger?operation=ADD&format=json").json()
    assert added and {row["operation"] for row in added} == {"ADD"}
    card = added[0]["cards"].split()[0]
    about = reader.get("/default/ledger", params={"q": card, "format": "json"}).json()
    assert about and all(card in row["cards"] or card in row["reason"] for row in about)
    page = reader.get("/default/ledger?operation=ADD").text
    assert f'id="d{added[0]["number"]}"' in page and ">PATCH</span>" not in page


def test_a_run_has_its_neighbours_its_json_and_what_it_did_otherwise(reader: TestClient) -> None:
    rows = reader.get("/default/runs?outcome=failed&q=printer&format=json").json()
    first, second = (reader.get("/default/run", params={"id": row["id"], "outcome": "failed"}).text for row in rows[:2])
    assert any(rows[1]["id"] in link for link in links(first, "/run?"))
    assert any(rows[0]["id"] in link for link in links(second, "/run?"))
    assert "the passing run most like it" in first and "Cards it went against" in first
    events = reader.get("/default/run", params={"id": rows[0]["id"], "format": "json"}).json()
    assert events[0]["position"] == 0 and "tomas" not in str(events)  # values are masked in files too
