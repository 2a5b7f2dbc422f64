"""`contramem build --model` and its companions, as a user types them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.loopback import Answer, loopback
from tests.made_runs import call, run
from tests.shipped import shipped, written

from contramem.bank.store import open_store
from contramem.cli import cli
from contramem.errors import ContramemError

PATIENCE_S = 120
"""Until a hung process fails a test; nothing here takes as long."""
KEY = "sk-live-0123456789abcdef0123456789abcdef"


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run searches and deletes; the other only searches. Two trials each."""
    from contramem.traces.write import write_traces

    search = call("Mail.search", {"query": "news"}, [{"id": 17}])
    path = tmp_path_factory.mktemp("traces") / "runs.jsonl"
    made = [
        made
        for trial in ("0", "1")
        for made in (
            run("a", True, search, call("Mail.delete", {"id": 17}), "done", trial=trial),
            run("b", False, search, "I found nothing.", trial=trial),
        )
    ]
    write_traces(made, path)
    return path


def contramem(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], catch_exceptions=True)


def ok(*arguments: object) -> Any:
    result = contramem(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def complaint(*arguments: object) -> str:
    result = contramem(*arguments)
    assert isinstance(result.exception, ContramemError), result.output
    return str(result.exception)


def reply(body: dict[str, Any]) -> dict[str, Any]:
    """From a request as the provider sees it to a good reply."""
    stage = body["response_format"]["json_schema"]["name"]
    text = body["messages"][1]["content"]
    if stage == "builder":
        return {"card": {"what_it_does": "Works on mails.", "returns": "ok"}}
    delta = {
        "title": "Delete before reporting",
        "applies_when": "A task asks to delete what a search has found.",
        "solves": "Runs that report without the delete.",
        "skill": {"core_rule": "Call delete before the final answer.", "completion": ["delete has worked"]},
        "functions_used": ["Mail.delete"],
    }
    if stage == "reflector":
        return {"deltas": [{**delta, "cites": ["A#2"]}]}
    assert "Delete before reporting" in text
    return {"operation": "ADD", "new_or_updated_card": delta, "reason": "New."}


def test_a_dry_run_says_what_it_will_cost_and_makes_nothing(traces: Path, tmp_path: Path) -> None:
    store = tmp_path / "bank.db"
    found = ok("build", traces, "--bank", store, "--model", "openai:some", "--price", "1,10", "--dry-run")
    assert [(one["stage"], one["part"], one["calls"]) for one in found["stages"]] == [
        ("builder", "ready", [2, 2]), ("reflector", "ready", [1, 1]), ("curator", "later", [0, 3]),
    ]  # fmt: skip
    assert not store.exists()
    shown = contramem("build", traces, "--bank", store, "--model", "openai:some", "--price", "1,10", "--dry-run")
    assert "Nothing was called, nothing changed" in " ".join(shown.output.split())


def test_a_build_through_a_server_and_its_account(
    traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pydantic_ai")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    store = tmp_path / "bank.db"
    with loopback(lambda body, before: Answer(json.dumps(reply(body)))) as server:
        how = ("--model", "openai:some", "--base-url", server.url, "--price", "1,10", "--budget", "5")
        found = ok("build", traces, "--bank", store, *how)
        again = ok("build", traces, "--bank", store, *how)
        assert len(server.bodies) == 3
    assert found["model"]["finished"]
    assert {stage: cost["calls"] for stage, cost in found["model"]["stages"].items()} == {
        "builder": 2, "reflector": 1, "curator": 0,
    }  # fmt: skip
    assert found["model"]["spent_usd"] == pytest.approx(3 * 0.002)
    assert found["skills"] == {"execution": 1}
    assert again["model"]["spent_usd"] == 0
    assert again["decisions"] == {}
    cost = ok("bank", "cost", store)
    assert cost["stages"]["builder"] == {
        "calls": 2, "tokens_in": 2000, "tokens_out": 200, "cost_usd": 0.004, "unpriced": 0,
    }  # fmt: skip
    assert {one["tokens"] for one in cost["paper"]} == {142_000, 15_720_000, 1_440_000, 1_940_000}
    assert "15,720,000 in all" in contramem("bank", "cost", store).output
    with open_store(store) as opened:
        digest = opened.calls()[0].digest
    assert "[reply, stop]" in contramem("bank", "cost", store, "--call", digest[:12]).output
    assert KEY.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_a_refusing_provider_ends_in_one_line_and_the_cost_is_kept(
    traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pydantic_ai")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with loopback(lambda body, before: Answer(status=401)) as server:
        how = ("--model", "openai:some", "--base-url", server.url, "--parallel", "1", "--json")
        result = contramem("build", traces, "--bank", tmp_path / "bank.db", *how)
    assert "HTTP 401" in str(result.exception)
    told = json.loads(result.stdout)["model"]
    assert not told["finished"]
    assert told["tried_again"] == {"rejected": 1}


def test_the_round_trip_by_file_needs_no_key(traces: Path, tmp_path: Path) -> None:
    store, requests, replies = tmp_path / "bank.db", tmp_path / "requests.jsonl", tmp_path / "replies.jsonl"
    how = ("--bank", store, "--model", "openai:some", "--export-requests", requests)
    told = ok("build", traces, *how)["model"]
    rounds = 0
    while told["open_requests"]:
        rounds += 1
        lines = [json.loads(line) for line in requests.read_text().splitlines()]
        assert len(lines) == told["open_requests"]
        answered = [{"custom_id": line["custom_id"], "reply": reply(line["body"])} for line in lines]
        replies.write_text("\n".join(map(json.dumps, answered)))
        found = ok("build", traces, *how, "--import-replies", replies)
        told = found["model"]
    assert rounds == 1
    assert told["finished"]
    assert found["skills"] == {"execution": 1}
    assert requests.read_text() == ""


def test_a_build_that_waits_for_replies_does_not_say_that_nothing_was_learned(traces: Path, tmp_path: Path) -> None:
    how = ("--bank", tmp_path / "bank.db", "--model", "openai:some", "--export-requests", tmp_path / "requests.jsonl")
    told = CliRunner().invoke(cli, [str(part) for part in ("build", traces, *how)]).stdout
    assert "Nothing decided yet" in told and "Nothing learned" not in told


def test_rollouts_take_the_first_runs_of_each_source(traces: Path, tmp_path: Path) -> None:
    told = []
    for number, options in enumerate([["--rollouts", "1"], []]):
        requests = tmp_path / f"{number}.jsonl"
        ok(
            "build",
            traces,
            "--bank",
            tmp_path / f"{number}.db",
            "--model",
            "x",
            "--export-requests",
            requests,
            *options,
        )
        told += re.findall(r"runs: ([^\\]+)", requests.read_text())
    assert told == ["A passed, B failed", "A passed, B passed, C failed, D failed"]


def test_identical_deltas_make_an_append_only_bank(traces: Path, tmp_path: Path) -> None:
    runs = Path(__file__).parents[2] / "examples" / "runs"
    curated = ok("build", runs, "--bank", tmp_path / "curated.db", "--only", "skills")
    appended = ok(
        "build", runs, "--bank", tmp_path / "appended.db", "--only", "skills",
        "--append-only", "--deltas-from", tmp_path / "curated.db",
    )  # fmt: skip
    assert appended["deltas"] == curated["deltas"]
    assert 0 < appended["decisions"]["ADD"] <= appended["deltas"]

    def deltas(name: str) -> list[str]:
        """Sorted: lessons of several tasks are reused in the order of their tasks."""
        with open_store(tmp_path / name) as store:
            decisions = [entry.decision for entry in store.ledger() if entry.decision.packet]
        return sorted(decision.candidate.model_dump_json() for decision in decisions if decision.candidate)

    assert deltas("appended.db") == deltas("curated.db")
    said = complaint("build", traces, "--bank", tmp_path / "x.db", "--deltas-from", tmp_path / "curated.db")
    assert "has no delta for any of these 1 tasks" in said
    assert not (tmp_path / "x.db").exists()
    said = complaint("build", runs, "--bank", tmp_path / "curated.db", "--deltas-from", tmp_path / "." / "curated.db")
    assert "is the bank itself" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--budget", "5"], "--budget needs --model"),
        (["--dry-run"], "--dry-run needs --model"),
        (["--model", "nobody:nothing", "--budget", "5"], "the price of nobody:nothing is not known"),
        (["--model", "openai:x", "--price", "cheap", "--dry-run"], "--price takes two numbers"),
        (["--model", "openai:x", "--author", "rules"], "cannot be combined with --author or --deltas-from"),
        (["--model", "openai:x", "--dry-run", "--export-requests", "r"], "--dry-run changes nothing"),
        (["--only", "functions", "--append-only"], "--append-only, --no-reassess and --deltas-from are about skills"),
        (["--model", "recorded:nothing.jsonl"], "no recorded exchanges"),
    ],
)
def test_options_that_do_not_go_together_say_so(traces: Path, tmp_path: Path, options: list[str], said: str) -> None:
    assert said in complaint("build", traces, "--bank", tmp_path / "bank.db", *options)
    assert not (tmp_path / "bank.db").exists()


def test_recorded_exchanges_stand_in_for_a_model(traces: Path, tmp_path: Path) -> None:
    """Export gives the requests; a file of exchanges with their replies is a model of its own."""
    from contramem.llm.exchange import RecordedModel, ScriptedModel

    recorded = tmp_path / "exchanges.jsonl"
    RecordedModel(recorded, ScriptedModel(name="openai:some"))
    store = tmp_path / "bank.db"
    said = complaint("build", traces, "--bank", store, "--model", f"recorded:{recorded}")
    assert "has no reply to this request" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param(
            ("--model", "openai:some", "--base-url", "http://127.0.0.1:9/v1"), "no batch service here", id="url"
        ),
        pytest.param(("--model", "google:gemini-3-pro"), "with --export-requests FILE", id="another-provider"),
        pytest.param(("--model", "google:gemini-3-pro", "--dry-run"), "openai: and anthropic: have", id="dry-run"),
        pytest.param(("--model", "openai:gpt-5.5", "--no-keep-replies"), "continues from the replies", id="not-kept"),
        pytest.param(("--model", "openai:gpt-5.5", "--export-requests", "f.jsonl"), "Choose one", id="by-file"),
        pytest.param((), "--batch needs --model", id="no-model"),
    ],
)
def test_batch_refuses_conflicting_options_before_a_store_is_created(
    traces: Path, tmp_path: Path, options: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pydantic_ai")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert said in complaint("build", traces, "--bank", tmp_path / "bank.db", *options, "--batch")
    assert not (tmp_path / "bank.db").exists()


def test_a_dry_run_in_batches_costs_half(traces: Path, tmp_path: Path) -> None:
    how = ("build", traces, "--bank", tmp_path / "bank.db", "--model", "openai:some", "--price", "1,10", "--dry-run")
    by_calls, in_batches = ok(*how), ok(*how, "--batch")
    for one, other in zip(by_calls["stages"], in_batches["stages"], strict=True):
        assert one["tokens_in"] == other["tokens_in"]
        assert other["cost_usd"] == pytest.approx([bound / 2 for bound in one["cost_usd"]], abs=2e-6)
    assert "at batch prices" in contramem(*how, "--batch").output


def test_a_model_that_cannot_be_opened_is_reported_before_a_store_is_created(
    traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pydantic_ai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "OPENAI_API_KEY" in complaint("build", traces, "--bank", tmp_path / "bank.db", "--model", "openai:gpt-5.5")
    monkeypatch.setitem(sys.modules, "pydantic_ai.models", None)  # as if the extra had not been installed
    assert "pip install 'contramem[llm]'" in complaint(
        "build", traces, "--bank", tmp_path / "bank.db", "--model", "openai:gpt-5.5"
    )
    assert not (tmp_path / "bank.db").exists()


def test_a_store_that_cannot_be_written_is_reported_before_the_runs_are_read(traces: Path, tmp_path: Path) -> None:
    with open_store(tmp_path / "bank.db", create=True) as store, store.writing("build"):
        said = complaint("build", tmp_path, "--bank", tmp_path / "bank.db")  # there are no runs in this folder
    assert "is in use by `contramem build`" in said
    assert "does not exist. Create it first" in complaint("build", tmp_path, "--bank", tmp_path / "nowhere" / "bank.db")


def test_ctrl_c_keeps_calls_in_progress_and_says_how_to_resume(
    traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pydantic_ai")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    store = tmp_path / "bank.db"

    def behave(body: dict[str, Any], before: int) -> Answer:
        if len(server.bodies) == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return Answer(json.dumps(reply(body)), delay_s=0.3)

    with loopback(behave) as server:
        how = ("--model", "openai:some", "--base-url", server.url, "--parallel", "1")
        first = contramem("build", traces, "--bank", store, *how)
        assert "run the same command again to continue" in str(first.exception)
        assert "Press Ctrl-C again to stop immediately" in " ".join(first.output.split())
        with open_store(store) as opened:
            assert len(opened.calls()) == len(server.bodies) == 1
        assert ok("build", traces, "--bank", store, *how)["model"]["finished"]
        assert len(server.bodies) == 3


def test_a_slow_server_is_given_the_timeout_of_the_option(
    traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pydantic_ai")
    monkeypatch.setattr("contramem.llm.exchange.FIRST_WAIT_S", 0.0)
    release = Event()

    def behave(body: dict[str, Any], before: int) -> Answer:
        release.wait()
        return Answer(json.dumps(reply(body)))

    with loopback(behave) as server:
        how = ("--model", "openai:some", "--base-url", server.url, "--parallel", "1")
        said = complaint("build", traces, "--bank", tmp_path / "bank.db", *how, "--timeout", "1")
        release.set()
    assert "no answer within 1 s; --timeout gives it longer; tried 3 times" in said


def test_prompts_stay_within_the_token_limit_of_the_option(tmp_path: Path) -> None:
    runs = written(tmp_path / "runs.jsonl", shipped("drive"))
    how = ("build", runs, "--bank", tmp_path / "bank.db", "--model", "x", "--dry-run")
    usual, short = (ok(*how, *more)["stages"] for more in ((), ("--prompt-tokens", "200")))
    for stage, one, other in zip(("builder", "reflector"), usual, short, strict=False):
        assert one["stage"] == other["stage"] == stage
        assert other["tokens_in"] < one["tokens_in"]


def test_a_second_ctrl_c_exits_at_once_and_the_build_resumes_later(traces: Path, tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai")
    store = tmp_path / "bank.db"
    asked, release = Event(), Event()

    def behave(body: dict[str, Any], before: int) -> Answer:
        asked.set()
        release.wait()  # nobody answers while the command is there
        return Answer(json.dumps(reply(body)))

    with loopback(behave) as server:
        how = ("--bank", str(store), "--model", "openai:some", "--base-url", server.url, "--parallel", "1")
        command = [sys.executable, "-m", "contramem", "build", str(traces), *how]
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as building:
            assert building.stderr is not None
            assert asked.wait(PATIENCE_S)
            building.send_signal(signal.SIGINT)
            assert any("Press Ctrl-C again to stop immediately" in line for line in building.stderr)
            building.send_signal(signal.SIGINT)
            assert building.wait(PATIENCE_S) == 1
            assert building.stderr.read().startswith(
                "contramem: stopped immediately. Replies that had arrived are kept."
            )
        with open_store(store) as opened:
            assert opened.calls() == ()
        release.set()
        assert ok("build", traces, *how)["model"]["finished"]


def test_deltas_from_a_missing_store_creates_no_store(traces: Path, tmp_path: Path) -> None:
    said = complaint("build", traces, "--bank", tmp_path / "x.db", "--deltas-from", tmp_path / "none.db")
    assert "none.db: there is no store here" in said
    assert not (tmp_path / "x.db").exists()
