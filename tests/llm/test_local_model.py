"""A real small model behind an OpenAI-compatible server: `CONTRAMEM_LOCAL_MODEL_URL=http://127.0.0.1:8080/v1`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.model_replies import Runs, build, new_store

from contramem.llm.calls import Caller
from contramem.llm.client import ProviderModel

URL = os.environ.get("CONTRAMEM_LOCAL_MODEL_URL")
pytestmark = [
    pytest.mark.local_model,
    pytest.mark.skipif(not URL, reason="set CONTRAMEM_LOCAL_MODEL_URL to an OpenAI-compatible server to run it"),
]


def test_a_small_model_writes_valid_function_cards(tmp_path: Path) -> None:
    shipped = Runs.shipped()
    packet = next(packet for packet in shipped.packets if packet.passing and packet.failing)
    runs = Runs([packet], shipped.vocabulary)
    model = ProviderModel("openai:local", base_url=URL, timeout_s=900)
    try:
        with new_store(tmp_path) as store:
            rounds, exchange = build(runs, store, model, caller=Caller(model, parallel=1), only="functions")
            cards = store.bank().functions
    finally:
        model.close()
    print(f"{len(cards)} cards, {rounds.report.refused} refused, {exchange.oddities} asked again")
    assert rounds.finished
    assert cards
    assert all(card.what_it_does for card in cards)
