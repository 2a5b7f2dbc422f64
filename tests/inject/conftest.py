import json
from pathlib import Path

import pytest

from contramem.bank.bank import Bank, BankEntry, CardSupport
from contramem.bank.card import FunctionCard, SkillCard
from contramem.bank.frozen import write_frozen
from contramem.inject.run import Memory
from contramem.traces.trajectory import Event, Result, digest

CARDS = Path(__file__).parents[1] / "retrieve" / "sample_cards.json"


@pytest.fixture(scope="session")
def bank_path(tmp_path_factory):
    """The sample cards of tests/retrieve, frozen: eight functions and nine skills of four abilities."""
    holdings = {}
    for card in json.loads(CARDS.read_text(encoding="utf-8")):
        support = CardSupport(
            taught_by=[digest(key) for key in card.pop("taught_by", [])],
            scope=card.pop("scope", None),
        )
        kind = FunctionCard if "tool" in card else SkillCard
        holdings[card["card_id"]] = BankEntry(card=kind.model_validate(card), support=support)
    path = tmp_path_factory.mktemp("bank") / "bank.jsonl"
    write_frozen(path, Bank(holdings))
    return path


@pytest.fixture(scope="session")
def memory(bank_path):
    """A memory shared by the tests, as it is shared by the runs of a process."""
    return Memory.load(bank_path)


@pytest.fixture
def failure():
    """A call of a function that came back with an error."""

    def made(function, error="Email not found"):
        return Event(0, "agent", "call", function=function, result=Result(error=error))

    return made
