"""A real small model behind an OpenAI-compatible server: `CONTRAMEM_LOCAL_MODEL_URL=http://127.0.0.1:8080/v1`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.shipped import shipped, written

from contramem.bank.store import open_store
from contramem.cli import cli

URL = os.environ.get("CONTRAMEM_LOCAL_MODEL_URL")
pytestmark = [
    pytest.mark.local_model,
    pytest.mark.skipif(not URL, reason="set CONTRAMEM_LOCAL_MODEL_URL to an OpenAI-compatible server to run it"),
]


@pytest.fixture
def two_runs(tmp_path: Path) -> Path:
    """One task, passed once and failed once: two functions, and a packet of a few hundred tokens."""
    runs = [run for run in shipped("posts") if run.task_id == "posts_cleanup"]
    chosen = [next(run for run in runs if run.outcome.passed is passed) for passed in (True, False)]
    return written(tmp_path / "runs.jsonl", chosen)


def build(runs: Path, store: Path, *more: str) -> dict[str, Any]:
    how = ("--model", "openai:local", "--base-url", str(URL), "--parallel", "1", "--temperature", "0")
    patience = ("--timeout", "1800", "--max-reply-tokens", "1500")
    arguments = ["build", str(runs), "--bank", str(store), *how, *patience, *more, "--json"]
    result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    print(result.stdout)
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_small_model_writes_valid_function_cards(two_runs: Path, tmp_path: Path) -> None:
    found = build(two_runs, tmp_path / "bank.db", "--only", "functions")
    assert found["model"]["finished"]
    with open_store(tmp_path / "bank.db") as store:
        cards = store.bank().functions
    assert cards
    assert all(card.what_it_does and card.arguments for card in cards)


def test_any_reply_of_a_small_model_becomes_a_card_or_is_refused_with_a_reason(two_runs: Path, tmp_path: Path) -> None:
    found = build(two_runs, tmp_path / "bank.db", "--only", "skills")
    assert found["model"]["finished"]
    with open_store(tmp_path / "bank.db") as store:
        refused = [entry.decision for entry in store.ledger() if not entry.decision.accepted]
    assert all(decision.reason for decision in refused)
    assert sum(found["refused"].values()) == len(refused)
