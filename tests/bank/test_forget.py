"""What some runs taught, erased."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.made_runs import call, run

from contramem.bank.acts import person
from contramem.bank.check import check_store
from contramem.bank.forget import ForgetSelection, RebuiltBank, forget_calls, forget_runs, search_files
from contramem.bank.store import Store, open_store
from contramem.bank.tables import StoredExchange
from contramem.cli import cli
from contramem.errors import UsageError
from contramem.pipeline import learn


def _runs(*sources: str) -> Iterator[object]:
    for task in ("t1", "t2", "t3"):
        for source in sources:
            login = call("Desk.sign_in", {"user": "desk"}, {"session": "open"})
            refused = call("Desk.refund", {"order": f"W{task}"}, None, "PermissionError: session not authenticated")
            paid = call("Desk.refund", {"order": f"W{task}"}, {"refunded": True})
            asked = {"task": f"Refund order W{task}.", "task_id": task}
            yield run(source, True, refused, login, paid, "Done.", trial="0", **asked)
            yield run(source, False, refused, "Could not.", trial="1", **asked)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A bank that two agents have taught the same."""
    with open_store(tmp_path / "bank.db", create=True) as store:
        learn(_runs("agent-one", "agent-two"), store)  # type: ignore[arg-type]
        yield store


def test_the_file_contains_nothing_of_a_forgotten_source(store: Store) -> None:
    assert b"agent-one" in Path(store.where).read_bytes() + Path(f"{store.where}-wal").read_bytes()
    with store.writing("test"):
        erased = forget_runs(store, ForgetSelection(source="agent-one"), person("ann"))
    assert erased.cards and erased.left == () and len(erased.searched_for) > 1
    assert b"agent-one" not in Path(store.where).read_bytes()
    assert check_store(Path(store.where)).is_whole


def test_cards_that_other_runs_support_are_rebuilt_in_the_same_transaction(store: Store, tmp_path: Path) -> None:
    before = {card.card_id for card in store.bank().cards}

    def rebuild() -> RebuiltBank:
        with open_store(tmp_path / "rest.db", create=True) as rest:
            learn(_runs("agent-two"), rest)  # type: ignore[arg-type]
            return RebuiltBank(rest.bank(), rest.ledger())

    with store.writing("test"):
        erased = forget_runs(store, ForgetSelection(source="agent-one"), person("ann"), rebuild)
    assert set(erased.rebuilt) & before
    assert erased.left == () and '"agent-one"' not in erased.searched_for
    assert all("agent-one" not in entry.support.sources for entry in store.bank().entries.values())
    assert check_store(Path(store.where)).is_whole


def test_a_failed_rebuild_changes_nothing(store: Store) -> None:
    before = store.bank(), store.ledger()

    def fail() -> RebuiltBank:
        raise RuntimeError("killed")

    with store.writing("test"), pytest.raises(RuntimeError):
        forget_runs(store, ForgetSelection(source="agent-one"), person("ann"), fail)
    assert (store.bank(), store.ledger()) == before


def test_files_are_searched_for_a_name_in_any_json_escaping(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "a.jsonl").write_text('{"by": "J\\u00fcrgen \\"J\\" K"}', encoding="utf-8")
    assert search_files([tmp_path], ['Jürgen "J" K', "nobody"])[1] == (
        f"""{tmp_path / "log" / "a.jsonl"} holds 'Jürgen "J" K'""",
    )


def test_the_question_says_how_many_cards_are_erased(store: Store) -> None:
    cards = len(store.bank().entries)
    words = ["bank", "forget", store.where, "--source", "agent-one"]
    asked = CliRunner().invoke(cli, words, input="n\n")
    assert asked.exit_code == 1 and "none is built again without --runs" in asked.output
    assert f" of {cards} cards in " in asked.output and "0 of" not in asked.output
    assert len(store.bank().entries) == cards


def test_forgetting_unknown_runs_is_an_error(store: Store) -> None:
    with store.writing("test"), pytest.raises(UsageError, match="no decision"):
        forget_runs(store, ForgetSelection(source="nobody"), person("ann"))
    with pytest.raises(UsageError, match="say which runs"):
        ForgetSelection()


def test_prompts_and_replies_can_be_erased_while_their_costs_stay(store: Store) -> None:
    exchange = StoredExchange("d", "reflect", "t1", "m", "p", "the request", "the reply", "stop", 10, 5, 0.25)
    with store.writing("test"):
        store.keep(exchange)
        assert forget_calls(store) == 1
    (left,) = store.calls()
    assert (left.request, left.reply, left.cost_usd) == (None, None, 0.25)
    assert b"the reply" not in Path(store.where).read_bytes()
