"""Rules as values: what is kept beside a card, what its words are made from, and what happens without it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.build.rules.kinds.test_precedence import refusing
from tests.build.skill_builds import build_skills
from tests.shipped import shipped

import contramem
from contramem.bank import acts
from contramem.bank.bank import BankEntry, StoredRule
from contramem.bank.card import Evidence, SkillCard
from contramem.bank.frozen import freeze
from contramem.build.rules.kinds.precedence import Precedence
from contramem.build.rules.rule import MAX_TITLE_CHARS, kind_of, kinds, load_rule, write
from contramem.guards.guard import parse_guard


def entries_of_shipped_runs(folder: Path) -> list[BankEntry]:
    with contramem.open_store(folder / "bank.db", create=True) as store:
        contramem.learn(shipped("drive", "travel", "tickets"), store, only="skills")
        return [entry for entry in store.bank().entries.values() if isinstance(entry.card, SkillCard)]


def as_an_earlier_version_left_it(path: Path) -> None:
    """Take every rule out of the store, and the step that introduced them."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for table, column in (("cards", "holding"), ("changes", "change"), ("decisions", "decision")):
            for row, text in connection.execute(f"SELECT rowid, {column} FROM contramem_{table}").fetchall():
                values = (json.dumps(_without_rules(json.loads(text))), row)
                connection.execute(f"UPDATE contramem_{table} SET {column} = ? WHERE rowid = ?", values)
        connection.execute("DELETE FROM contramem_migrations WHERE name LIKE '0003%'")


def _without_rules(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_rules(inner) for name, inner in value.items() if name != "rule"}
    return [_without_rules(inner) for inner in value] if isinstance(value, list) else value


def test_cards_of_an_earlier_version_go_on_learning_by_what_their_guards_say(tmp_path: Path) -> None:
    build_skills(tmp_path, refusing("push_tag", 1))
    as_an_earlier_version_left_it(tmp_path / "bank.db")
    built = build_skills(tmp_path, refusing("push_tag", 1), refusing("push_tag", 2))
    (entry,) = built.entries
    assert isinstance(entry.card, SkillCard)
    assert entry.card.guards == ("precedence(Pipeline.unlock_branch, Pipeline.push_tag)",)
    assert len(entry.support.tasks) == 2


def test_words_of_a_person_are_not_taken_for_the_rule(tmp_path: Path) -> None:
    build_skills(tmp_path, refusing("push_tag", 1))
    with contramem.open_store(tmp_path / "bank.db") as store:
        (entry,) = store.bank().entries.values()
        assert isinstance(entry.card, SkillCard)
        text = entry.card.model_copy(update={"solves": "Pushing to a locked branch."})
        decision = acts.edit(store.bank(), entry.card.card_id, text, acts.person("ada"))
    assert decision.changes[0].after.rule is None


def test_a_rule_that_this_version_cannot_read_is_ignored() -> None:
    assert load_rule(StoredRule(kind="of a later version", facts={})) is None
    assert load_rule(StoredRule(kind="precedence", facts={"steps": 7})) is None


def test_every_kind_has_its_own_name_and_template() -> None:
    named = {kind: rule_class.KIND for kind, rule_class in kinds().items()}
    assert all(kind == name for kind, name in named.items())
    assert kind_of(parse_guard("precedence(A.x, A.y)")) is Precedence
    assert kind_of(parse_guard("last(A.x)")) is None


def test_no_rule_is_in_the_file_that_agents_are_served_from(tmp_path: Path) -> None:
    build_skills(tmp_path, refusing("push_tag", 1))
    with contramem.open_store(tmp_path / "bank.db") as store:
        lines = freeze(store.bank()).splitlines()
    assert len(lines) == 2
    assert all("rule" not in json.loads(line) for line in lines)


def test_a_long_title_ends_between_two_words() -> None:
    calls = tuple(f"Warehouse.{verb}_all_remaining_inventory_entries" for verb in ("reserve", "move", "count"))
    rule = Precedence(steps=calls[:2], calls=calls[2:], functions=calls)
    title = write(rule, (), Evidence()).title
    assert len(title) <= MAX_TITLE_CHARS
    assert title == "reserve_all_remaining_inventory_entries and move_all_remaining_inventory_entries before …"
