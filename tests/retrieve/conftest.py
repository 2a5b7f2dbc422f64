import json
from pathlib import Path

import pytest

from contramem.bank.card import FunctionCard, SkillCard
from contramem.retrieve.retriever import Retriever
from contramem.traces.trajectory import digest


@pytest.fixture(scope="session")
def retriever():
    """Eight functions of four apps; skills of four abilities, of which time has a universal and a finalization one."""
    cards = json.loads(Path(__file__).with_name("sample_cards.json").read_text(encoding="utf-8"))
    taught_by = {card["card_id"]: [digest(key) for key in card.pop("taught_by", [])] for card in cards}
    scopes = {card["card_id"]: scope for card in cards if (scope := card.pop("scope", None))}
    functions = [FunctionCard.model_validate(card) for card in cards if "tool" in card]
    skills = [SkillCard.model_validate(card) for card in cards if "ability" in card]
    return Retriever(skills, functions, taught_by, scopes)
