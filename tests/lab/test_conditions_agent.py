"""The condition `agent`: cards by a model that looks at all runs, here one that follows a script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.study.office import NOTE_RULE, note_office

from contramem.build.model.author import ModelChoice
from contramem.llm.client import Request
from contramem.llm.exchange import ModelCaller, ScriptedModel
from contramem.retrieve.hit import Query
from contramem_lab.condition import ByModel, ConditionInputs, NotApplicable, Reference
from contramem_lab.conditions import CONDITIONS

pytest.importorskip("duckdb", reason="the author's tables are an extra: pip install 'contramem[author]'")

CARD = {"title": "Assign large notes", "when": "A credit note.", "rule": "Assign it above 500.", "guards": [NOTE_RULE]}


def propose_then_stop(request: Request) -> dict[str, Any]:
    if request.turns:
        return {"text": "One rule."}
    return {"calls": [{"id": "1", "name": "propose_card", "arguments": json.dumps(CARD)}]}


def test_the_cards_of_an_agent_are_a_memory_like_the_others(tmp_path: Path) -> None:
    model = ScriptedModel(by=propose_then_stop)
    inputs = ConditionInputs(
        Reference(note_office()), tmp_path, model=ByModel(ModelChoice(model.name), ModelCaller(model))
    )
    memory = CONDITIONS["agent"].build(inputs)
    assert memory.construction.calls == 2
    assert memory.construction.by == "scripted"
    query = Query("Write a credit note over 900 for invoice INV-1, please.", ability="execution")
    assert "Assign it above 500." in memory.provider.begin(query).guidance.text
    CONDITIONS["agent"].build(inputs)
    assert len(model.asked) == 2  # replies are kept: nothing is paid for twice


def test_an_agent_needs_a_model(tmp_path: Path) -> None:
    with pytest.raises(NotApplicable, match="give --model"):
        CONDITIONS["agent"].build(ConditionInputs(Reference(note_office()), tmp_path))
