"""The report of a comparison: what it says first, whom it names, what it does not know, and whether it shows."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from tests.evaluate.comparison_runs import CALL, FINAL, run, runs, sides

from contramem.bank.bank import Bank, BankEntry
from contramem.bank.card import FunctionCard
from contramem.bank.frozen import write_frozen
from contramem.cli import cli
from contramem.evaluate.cards import card_effects
from contramem.evaluate.compare import compare_pairs
from contramem.evaluate.pairs import pair_runs
from contramem.evaluate.report import Manifest, as_html, write_html, write_tables
from contramem.evaluate.report.comparison import Extras, comparison_page
from contramem.evaluate.report.tables import paper_tables, verdict
from contramem.inject.log import FORMAT, Line

GOLDEN = Path(__file__).parent / "golden"
MANIFEST = Manifest("contramem evaluate compare base --with memory", seed=0, version="0.1.0")


def compared(base, memory, **more):
    pairing = pair_runs(base, memory, **more)
    return compare_pairs(pairing, rng=Random(0)), pairing


def page_of(base, memory, extras=None):
    return comparison_page(*compared(base, memory), MANIFEST, extras)


def story():
    """Search gains eight of twelve tasks and loses one, and knows its cost; time has three tasks, all as before."""
    usage = {"model_calls": 4, "tokens_in": 9_000, "tokens_out": 1_000, "cost_usd": 0.05}
    base, memory = sides(gained=8, lost=1, passed=3, ability="search", usage=usage)
    more_base, more_memory = sides(passed=2, failed=1, ability="time", environment="clock", events=(CALL, CALL, FINAL))
    return base + more_base, memory + more_memory


def log():
    return [
        Line(FORMAT, "", f"run-{n}", f"env/gained-{n}", "start", {"skill::search::a": 40}, tokens=60) for n in range(5)
    ] + [
        Line(FORMAT, "", "run-l", "env/lost-0", "start", {"skill::search::a": 40, "function::Mail.send": 30}, tokens=90)
    ]


def same_as_golden(name, text):
    """CONTRAMEM_GOLDEN=write makes it anew: look at the difference before you commit."""
    path = GOLDEN / name
    if os.environ.get("CONTRAMEM_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_the_papers_tables_in_every_form(tmp_path):
    comparison, pairing = compared(*story())
    write_tables(paper_tables(comparison, card_effects(pairing, log())), tmp_path, verdict(comparison))
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == [
        "cards.csv", "events.csv", "flips.csv", "runtime.csv", "success.csv", "tables.md", "tables.tex", "tasks.csv",
    ]  # fmt: skip
    for name in ("tables.md", "tables.tex", "flips.csv", "runtime.csv"):
        same_as_golden(name, (tmp_path / name).read_text(encoding="utf-8"))


def test_every_row_of_a_latex_table_has_as_many_cells_as_columns(tmp_path):
    base, memory = sides(gained=3, lost=2, ability="a & b_{c}")
    comparison, _ = compared(base, memory)
    for table in paper_tables(comparison):
        latex = table.as_latex()
        [columns] = re.findall(r"\\begin\{tabular\}\{(\w+)\}", latex)
        rows = [line for line in latex.splitlines() if line.endswith(r"\\")]
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(columns) - 1}
        assert latex.count(r"\begin{") == latex.count(r"\end{")
        assert [latex.count(rule) for rule in (r"\toprule", r"\bottomrule")] == [1, 1]


def test_many_abilities_are_rows_and_not_columns():
    base, memory = [], []
    for number in range(12):
        more = sides(gained=1, passed=1, ability=f"ability-{number}", environment=f"env-{number}")
        base, memory = base + more[0], memory + more[1]
    table = paper_tables(compared(base, memory)[0])[0]
    assert len(table.header) == 8
    assert len(table.rows) == 14


def test_a_long_list_of_tasks_is_csv_only(tmp_path):
    comparison, _ = compared(*sides(gained=60))
    write_tables(paper_tables(comparison), tmp_path)
    assert "60 rows, in tasks.csv" in (tmp_path / "tables.md").read_text()
    assert "gained-1 " not in (tmp_path / "tables.tex").read_text()
    assert len((tmp_path / "tasks.csv").read_text().splitlines()) == 61


def test_scenarios_bring_the_table_of_goal_completion():
    base, memory = runs("base", {"a": "fail"}, scenario_id="s"), runs("memory", {"a": "pass"}, scenario_id="s")
    assert "completion" in [table.label for table in paper_tables(compared(base, memory)[0])]


def test_the_page_says_the_verdict_first_and_names_the_harmed_task_with_both_runs():
    html = as_html(page_of(*story()))
    places = [html.index(text) for text in ('class="verdict', "<h3>Harmed", "lost-0", "<h2>How this")]
    assert places == sorted(places)
    assert "With memory 13 of 15 tasks pass" in html
    assert "base/model/lost-0-0.json" in html
    assert "memory/model/lost-0-0.json" in html


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: story(), "How sure it is for time: fewer than 10 tasks of an ability"),
        (lambda: sides(gained=2, passed=1), "How sure the difference is: fewer than 10 tasks"),
        (lambda: sides(passed=12), "Whether chance did it: no outcome changed"),
        (lambda: sides(passed=12), "Model calls, tokens and cost: no pair of runs has it on both sides"),
        (lambda: sides(passed=12), "no inject log was given"),
    ],
)
def test_the_page_lists_what_is_not_known(made, said):
    assert any(line.startswith(said) or said in line for line in page_of(*made()).not_known)


def test_cards_have_their_own_section_with_titles():
    comparison, pairing = compared(*story())
    extras = Extras(card_effects(pairing, log()), {"skill::search::a": "Look before you send"})
    page = comparison_page(comparison, pairing, MANIFEST, extras)
    [section] = [section for section in page.sections if section.title == "Cards"]
    [table] = section.tables
    names = ["Look before you send (skill::search::a)", "function::Mail.send"]
    assert [row[0].text for row in table.cells()] == names, "both lost a run; the one that was shown more comes first"


def test_one_task_is_enough_for_a_page():
    html = as_html(page_of(runs("base", {"t": "pass"}), runs("memory", {"t": "fail"})))
    assert "treat it as an anecdote" in html


def thousand():
    """A thousand tasks of twelve abilities: half gained, a tenth lost, with names of every kind of script."""
    rng, base, memory = Random(3), [], []
    for number in range(1000):
        before, after = rng.random() < 0.3, rng.random() < 0.6
        more = {"ability": f"ability-{number % 12}", "usage": {"tokens_in": rng.randrange(9_000), "tokens_out": 100}}
        events = (*[CALL] * rng.randrange(1, 30), FINAL)
        base.append(run(f"任务-{number}-ünïcode", before, events=events, **more))
        memory.append(
            run(f"任务-{number}-ünïcode", after, side="memory", events=events[rng.randrange(len(events)) :], **more)
        )
    return base, memory


@pytest.mark.slow
def test_a_page_of_a_thousand_tasks_stays_small():
    html = as_html(page_of(*thousand()))
    assert len(html) < 600_000
    assert html.count("<rect") < 1000


def chromium():
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium on this machine")
    return found


ATTACK = "<script>document.title='owned'</script><img src=http://127.0.0.1:9/x.png onerror=\"console.error('owned')\">"


@pytest.mark.slow
@pytest.mark.parametrize("width", [1366, 420])
def test_a_browser_shows_the_page_without_an_error_or_a_request(tmp_path, width):
    """Hostile task ids and model names included. The log of the network would name every address that was asked for."""
    browser = chromium()
    base, memory = sides(gained=6, lost=3, passed=5, ability=ATTACK, source=ATTACK, environment=ATTACK)
    write_html(page_of(base, memory), tmp_path / "report.html")
    finished = subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--enable-logging=stderr",
            "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={tmp_path / 'profile'}",
            f"--log-net-log={tmp_path / 'net.json'}", f"--window-size={width},900", "--dump-dom",
            (tmp_path / "report.html").as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert "CONSOLE" not in finished.stderr
    assert "<title>What memory changed</title>" in finished.stdout, "no script ran"
    assert finished.stdout.count("<svg") == 2
    asked = set(re.findall(r'"url":"(https?://[^"]+)"', (tmp_path / "net.json").read_text(errors="replace")))
    of_the_browser = re.compile(r"https?://[\w.-]+\.google(apis)?\.com/")
    assert not {url for url in asked if not of_the_browser.match(url)}


def test_a_page_about_two_agents_never_says_with_memory():
    base = runs("base", {"a": "fail", "b": "pass"}, source="small", scenario_id="s")
    second = runs("memory", {"a": "pass", "b": "fail"}, source="large", scenario_id="s")
    page = as_html(page_of(base, second))
    tables = "\n".join(str(table) for table in paper_tables(compared(base, second)[0]))
    for text in (page, tables):
        assert "with memory" not in text.lower().replace("--with memory", "")
        assert "Second side" in text
    assert "<title>Two agents compared</title>" in page


# What a pull request is told: tasks gained and harmed, cards added, changed and retired


BANK = Path(__file__).parents[1] / "retrieve" / "sample_cards.json"


def write_runs(path: Path, verdicts: list[bool]) -> Path:
    lines = [
        {
            "task_id": f"t{number}",
            "model": "m",
            "passed": passed,
            "messages": [{"role": "user", "content": f"Do {number}"}],
        }
        for number, passed in enumerate(verdicts)
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_gained_and_harmed_tasks_are_named(tmp_path: Path) -> None:
    before = write_runs(tmp_path / "before.jsonl", [False, True, True])
    after = write_runs(tmp_path / "after.jsonl", [True, False, True])
    text = tmp_path / "pr.md"
    result = CliRunner().invoke(
        cli, ["evaluate", "compare", str(before), "--with", str(after), "--markdown", str(text)]
    )
    assert result.exit_code == 0, result.output
    written = text.read_text()
    assert "**Tasks gained: 1**" in written and "t0`" in written
    assert "**Tasks harmed: 1**" in written and "t1`" in written
    assert "Cards added" not in written


def test_banks_without_markdown_are_refused(tmp_path: Path) -> None:
    runs = write_runs(tmp_path / "a.jsonl", [True])
    words = ["evaluate", "compare", str(runs), "--banks", "a", "b", "--with", str(runs)]
    assert CliRunner().invoke(cli, words).exit_code == 1


def test_cards_that_differ_between_two_banks_are_named(tmp_path: Path) -> None:
    runs = write_runs(tmp_path / "a.jsonl", [True])
    cards = [card for card in json.loads(BANK.read_text()) if "tool" in card][:3]
    fields = [{name: card[name] for name in FunctionCard.model_fields if name in card} for card in cards]
    first, second, third = map(FunctionCard.model_validate, fields)
    changed = second.model_copy(update={"what_it_does": "Does something else."})
    for name, kept in (("before.jsonl", [first, second]), ("after.jsonl", [changed, third])):
        write_frozen(tmp_path / name, Bank({card.card_id: BankEntry(card=card) for card in kept}))
    text = tmp_path / "pr.md"
    banks = [str(tmp_path / "before.jsonl"), str(tmp_path / "after.jsonl")]
    words = ["evaluate", "compare", str(runs), "--with", str(runs), "--markdown", str(text), "--banks", *banks]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    added, altered, retired = (part for part in text.read_text().split("**Cards ")[1:])
    assert third.tool in added and second.tool in altered and first.tool in retired
