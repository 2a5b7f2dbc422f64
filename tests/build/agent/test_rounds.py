"""`contramem build --author agent`: a model with tools, against a provider on this machine that follows a script."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.loopback import Answer, Loopback, loopback
from tests.study.office import NOTE_RULE, write_office

from contramem.bank.store import open_store
from contramem.cli import cli

pytest.importorskip("pydantic_ai", reason="the model author is an extra: pip install 'contramem[llm]'")
pytest.importorskip("duckdb", reason="the author's tables are an extra: pip install 'contramem[author]'")

CARD = {
    "title": "Assign large notes",
    "when": "A large note.",
    "rule": "Assign notes above 500.",
    "guards": [NOTE_RULE],
}
SCRIPT: list[list[tuple[str, dict[str, Any]]]] = [
    [("show_kinds", {}), ("query_runs", {"sql": "SELECT count(*) AS runs FROM runs"})],
    [("explain_runs", {"function": "Office.create_note"}), ("no_such_tool", {})],
    [("try_guard", {"guard": NOTE_RULE, "confirm": True}), ("try_guard", {"confirm": "perhaps"})],
    [("propose_card", CARD)],
]
CALLS = len(SCRIPT) + 1


def follow_script(body: dict[str, Any], before: int) -> Answer:
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    return Answer("Let me see.", calls=SCRIPT[turn]) if turn < len(SCRIPT) else Answer("One rule, all explained.")


def build(folder: Path, server: Loopback, *more: object) -> Result:
    return CliRunner().invoke(cli, command(folder, server, *more), catch_exceptions=True)


def command(folder: Path, server: Loopback, *more: object) -> list[str]:
    where = ["--bank", folder / "bank.db", "--trials", folder / "trials.jsonl"]
    model = ["--model", "openai:some", "--author", "agent", "--base-url", server.url, "--price", "1,10"]
    return [str(part) for part in ("build", folder / "office.jsonl", *where, *model, *more)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_office(tmp_path)
    return tmp_path


def answers(body: dict[str, Any]) -> list[str]:
    return [message["content"] for message in body["messages"] if message["role"] == "tool"]


def test_a_model_with_tools_looks_tries_confirms_and_proposes(folder: Path) -> None:
    with loopback(follow_script) as server:
        built = build(folder, server, "--json")
        assert built.exit_code == 0, built.output
        again = build(folder, server, "--json")
    assert len(server.bodies) == CALLS  # the second build asks nothing
    last = answers(server.bodies[-1])
    assert "careful" in last[0]
    assert last[1].splitlines()[1:-1] == ["runs", "60"]  # between data marks
    assert last[2].splitlines()[2].startswith("1. ")
    assert last[3] == "Not done: there is no tool no_such_tool. There are show_kinds, show_runs, explain_runs, " \
        "query_runs, try_guard, show_cards, propose_card."  # fmt: skip
    assert "supported, proven." in last[4]
    assert "Not done: guard: Field required; confirm: Input should be a valid boolean" in last[5]
    assert "accepted as decision 2 ADD" in last[6]
    report = json.loads(built.stdout)
    assert report["decisions"] == {"ADD": 1}
    assert report["model"]["stages"]["author"]["calls"] == CALLS
    assert report["model"]["finished"]
    assert report["functions"] > 0
    assert json.loads(again.stdout)["model"]["spent_usd"] == 0


def test_the_ledger_names_the_model_the_trials_and_the_cost(folder: Path) -> None:
    with loopback(follow_script) as server:
        assert build(folder, server, "--only", "skills").exit_code == 0
    with open_store(folder / "bank.db") as store:
        (entry,) = store.ledger()
        (card,) = store.bank().skills
        kept = store.calls()
        support = store.bank().combine_support((card.card_id,))
    assert entry.decision.by.kind == "model"
    assert entry.decision.by.name == "openai:some"
    assert "1 held against tasks kept back; 1 of 1 guards proven" in entry.decision.reason
    assert entry.decision.usage.model_calls == len(SCRIPT)
    assert entry.decision.usage.cost_usd == pytest.approx(len(SCRIPT) * 0.002)
    assert support.grade == "proven"
    assert support.request_words
    assert len(kept) == CALLS
    assert {call.stage for call in kept} == {"author"}


def test_the_tools_of_a_model_are_described_with_their_arguments(folder: Path) -> None:
    with loopback(follow_script) as server:
        build(folder, server)
    offered = {tool["function"]["name"]: tool["function"] for tool in server.bodies[0]["tools"]}
    assert offered["propose_card"]["parameters"]["required"] == ["title", "when", "rule"]
    assert "kept back" in offered["try_guard"]["description"]
    instructions = server.bodies[0]["messages"][0]["content"]
    assert "arguments(run_id, position, function, argument, value, number)" in instructions


def test_a_provider_that_refuses_a_call_loses_nothing_that_was_said(folder: Path) -> None:
    def refuse_once(body: dict[str, Any], before: int) -> Answer:
        return Answer(status=400) if len(server.bodies) == CALLS else follow_script(body, before)

    with loopback(refuse_once) as server:
        assert "Every paid reply is saved" in str(build(folder, server, "--only", "skills").exception)
        assert build(folder, server, "--only", "skills").exit_code == 0
    assert server.bodies[-1] == server.bodies[-2]
    with open_store(folder / "bank.db") as store:
        assert [entry.decision.operation for entry in store.ledger()] == ["ADD"]


@pytest.mark.slow
@pytest.mark.parametrize("killed_at", [1, 3, 4, 5])
def test_a_build_that_is_killed_goes_on_where_it_was(folder: Path, killed_at: int) -> None:
    """The provider kills the build instead of answering request number `killed_at`."""
    processes: list[subprocess.Popen[str]] = []

    def kill_once(body: dict[str, Any], before: int) -> Answer:
        if len(server.bodies) == killed_at:
            processes[0].kill()
            return Answer(hang_up=True)
        return follow_script(body, before)

    with loopback(kill_once) as server:
        arguments = [sys.executable, "-m", "contramem", *command(folder, server, "--only", "skills")]
        with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            processes.append(process)
            process.wait(120)
        assert process.returncode == -9
        assert build(folder, server, "--only", "skills").exit_code == 0
    assert len(server.bodies) == CALLS + 1  # only the request that had no answer is asked again
    with open_store(folder / "bank.db") as store:
        assert [entry.decision.operation for entry in store.ledger()] == ["ADD"]
        assert store.ledger()[0].decision.usage.model_calls == len(SCRIPT)


def test_a_budget_stops_between_two_calls_and_the_same_command_goes_on(folder: Path) -> None:
    with loopback(follow_script) as server:
        stopped = build(folder, server, "--budget", "0.17", "--max-reply-tokens", "16000")
        assert "Every paid reply is saved" in str(stopped.exception)
        asked = len(server.bodies)
        assert 0 < asked < CALLS
        assert build(folder, server, "--budget", "1").exit_code == 0
        assert len(server.bodies) == CALLS
        assert "Nothing new: these runs were already learned from." in build(folder, server).output
        assert len(server.bodies) == CALLS


def test_a_dry_run_asks_nothing_and_makes_no_store(folder: Path) -> None:
    with loopback(follow_script) as server:
        shown = build(folder, server, "--dry-run", "--json")
        assert server.bodies == []
    (stage,) = json.loads(shown.stdout)["stages"]
    assert stage["stage"] == "author"
    assert stage["calls"] == [2, 30]
    assert stage["cost_usd"][0] < stage["cost_usd"][1]
    assert not (folder / "bank.db").exists()


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        pytest.param(["--no-keep-replies"], "continues from the replies it keeps", id="no-keep"),
        pytest.param(["--export-requests", "x.jsonl"], "cannot be combined with --batch", id="by-file"),
        pytest.param(["--append-only"], "cannot be combined with --append-only", id="append-only"),
        pytest.param(["--only", "functions"], "--only functions", id="functions"),
    ],
)
def test_what_does_not_go_with_an_agent_is_said_before_anything_is_read(
    folder: Path, more: list[str], complaint: str
) -> None:
    with loopback(follow_script) as server:
        assert complaint in str(build(folder, server, *more).exception)
    assert not (folder / "bank.db").exists()


def test_an_agent_without_a_model_is_pointed_to_the_coding_agent(folder: Path) -> None:
    arguments = ["build", str(folder / "office.jsonl"), "--bank", str(folder / "bank.db"), "--author", "agent"]
    result = CliRunner().invoke(cli, arguments)
    assert "name it with --model" in str(result.exception)
    assert "contramem author install" in str(result.exception)


def test_a_model_that_never_stops_is_stopped_and_told_before(folder: Path) -> None:
    def look_forever(body: dict[str, Any], before: int) -> Answer:
        return Answer(calls=[("show_cards", {})])

    with loopback(look_forever) as server:
        built = build(folder, server, "--only", "skills", "--json")
    assert len(server.bodies) == 30
    assert json.loads(built.stdout)["model"]["finished"]
    assert answers(server.bodies[-1])[-1].endswith("(Turns left: 1.)")
