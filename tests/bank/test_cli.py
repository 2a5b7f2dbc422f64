"""`contramem bank` from the outside: results on stdout, one clear line for what a user can fix."""

from __future__ import annotations

import json
import stat
from inspect import signature
from pathlib import Path

import pytest
from bank_examples import DELETE_EMAIL, KEEP_EXCEPTION, SUPPORT, add, amend, build_function, decide, delta, refuse
from click.testing import CliRunner, Result

from contramem.bank.frozen import load_frozen
from contramem.bank.store import open_store
from contramem.cli import cli, main
from contramem.errors import BankFileError

# Until click 8.2 a runner mixed stderr into stdout unless told not to.
APART = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
RUNNER = CliRunner(**APART)


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A build added two skill cards and a function card, reworded one skill card and refused a delta."""
    where = str(tmp_path / "bank.db")
    with open_store(where, create=True) as store, store.writing("build"):
        store.record(decide(store.bank(), add(), support=SUPPORT))
        store.record(decide(store.bank(), add(delta())))
        second = store.bank().first_made_from("email", delta()).card.card_id
        store.record(decide(store.bank(), amend(second, delta("Log in once more"))))
        store.record(build_function(store.bank()), refuse(store.bank()))
    return where


OF_CARDS = {"card": "show", "cards": "list"} | {
    name: name for name in ("history", "revert", "freeze", "export", "review")
}


def words(command: str, *arguments: str) -> list[str]:
    """What people type: `cards list` for cards."""
    return ["cards", OF_CARDS[command], *arguments] if command in OF_CARDS else ["bank", command, *arguments]


def run(*arguments: str, input: str | None = None) -> Result:
    result = RUNNER.invoke(cli, words(*arguments), input=input, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def in_json(*arguments: str, input: str | None = None):
    return json.loads(run(*arguments, "--json", input=input).stdout)


def complaint(capsys, *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(words(*arguments))
    assert ended.value.code == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("contramem: ")
    assert captured.out == ""
    return captured.err


def test_show_counts_cards_decisions_and_refusals(store):
    shown = in_json("show", store)
    assert (shown["functions"], shown["skills"], shown["unreviewed"]) == (1, {"email": 2}, 3)
    assert shown["operations"] == {"ADD": 3, "PATCH": 1}
    assert shown["refused"] == {"cites an event that is not there": 1}
    assert "skill cards: 2 (email: 2)\n" in run("show", store).stdout


def test_cards_lists_the_same_for_a_store_and_a_frozen_file(store, tmp_path):
    frozen = str(tmp_path / "bank.jsonl")
    assert in_json("freeze", store, "--out", frozen)["skills"] == {"email": 2}
    assert [card["card"] for card in in_json("cards", store)] == [card["card"] for card in in_json("cards", frozen)]
    assert "Log in once more" in run("cards", frozen).stdout
    assert len(in_json("cards", store, "--ability", "email")) == 2


def test_a_list_of_cards_counts_the_tasks_and_sources_that_a_single_card_names(store):
    listed = in_json("cards", store)
    named = [in_json("card", store, card["card"]["card_id"])["footing"] for card in listed]
    assert [card["tasks"] for card in listed] == [len(support["tasks"]) for support in named]
    assert [card["sources"] for card in listed] == [len(support["sources"]) for support in named]
    names = {name for support in named for name in (*support["tasks"], *support["sources"])}
    assert names and not any(f'"{name}"' in json.dumps(listed) for name in names)


def test_card_tells_the_whole_story(store):
    told = run("card", store, "e6c2").stdout
    for part in (
        "Core decision boundary",
        "Rests on 2 tasks, 2 sources",
        "runs/b.jsonl:7",
        "failed",
        "ADD",
        "rules (1)",
    ):
        assert part in told
    story = in_json("card", store, "e6c2")
    assert story["card"]["title"] == KEEP_EXCEPTION.title
    assert story["decisions"][0]["runs"][0]["events"] == [3, 4]
    assert run("card", store, "e6c2", "--markdown").stdout.startswith(f"## {KEEP_EXCEPTION.title}\n")


def test_history_tells_every_decision_or_those_of_one_card(store):
    assert [entry["number"] for entry in in_json("history", store)] == [1, 2, 3, 4, 5]
    second = next(held for held in in_json("cards", store) if held["card"].get("title") == "Log in once more")
    entries = in_json("history", store, second["card"]["card_id"])
    assert [entry["operation"] for entry in entries] == ["ADD", "PATCH"]
    assert "  refused  " in run("history", store).stdout


def test_revert_undoes_a_decision(store):
    assert in_json("revert", store, "3", "--by", "anna", "--reason", "worse")["reverts"] == 3
    assert "Log in again" in run("cards", store).stdout
    assert in_json("history", store)[-1]["by"]["name"] == "anna"


def test_diff_shows_an_edit_and_import_applies_it(store, tmp_path):
    frozen, edited = tmp_path / "bank.jsonl", tmp_path / "edited.jsonl"
    run("freeze", store, "--out", str(frozen))
    edited.write_text(frozen.read_text().replace("Partition before", "Split before"))
    difference = in_json("diff", str(frozen), str(edited))
    assert (difference["added"], difference["removed"]) == ([], [])
    assert list(difference["changed"][0]["fields"]) == ["skill.core_rule"]
    assert "- Partition before" in run("diff", store, str(edited)).stdout

    (entry,) = in_json("import", store, str(edited), "--by", "anna")
    assert (entry["operation"], entry["by"]["name"]) == ("IMPORT", "anna")
    assert run("diff", store, str(edited)).stdout == "The two banks serve the same cards.\n"
    assert "no differences from the store" in run("import", store, str(edited)).stdout


def test_an_edited_file_is_read_with_a_warning(store, tmp_path):
    frozen = tmp_path / "bank.jsonl"
    run("freeze", store, "--out", str(frozen))
    frozen.write_text(frozen.read_text().replace("Partition before", "Split before"))
    assert "edited after it was frozen" in run("show", str(frozen)).stderr


def test_a_truncated_file_is_refused_and_importing_it_asks_before_retiring_cards(store, tmp_path, capsys):
    frozen = tmp_path / "bank.jsonl"
    run("freeze", store, "--out", str(frozen))
    frozen.write_text("".join(frozen.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(BankFileError, match="holds 2 of the 3 cards that line 1 counts"):
        load_frozen(frozen)
    with pytest.raises(SystemExit):
        main(["bank", "import", store, str(frozen)])
    assert "lacks 1 of 3 cards of the store. Retire them? Say so with --yes" in capsys.readouterr().err
    assert len(in_json("import", store, str(frozen), "--yes")) == 1


def test_a_frozen_bank_can_be_imported_into_a_new_store(store, tmp_path):
    frozen, new = str(tmp_path / "bank.jsonl"), str(tmp_path / "new.db")
    run("freeze", store, "--out", frozen)
    assert len(in_json("import", new, frozen)) == 3
    assert run("diff", store, new).stdout == "The two banks serve the same cards.\n"


def test_export_contains_cards_and_nothing_else(store, tmp_path):
    run("export", store, "json", str(tmp_path / "cards.json"))
    cards = json.loads((tmp_path / "cards.json").read_text())
    assert cards[0]["card_id"] == DELETE_EMAIL.card_id
    assert not {"taught_by", "support", "scope"} & {field for card in cards for field in card}
    assert run("export", store, "markdown", "-").stdout.count("\n## ") == 2


def test_history_says_which_card_each_decision_is_about(store):
    told = run("history", store).stdout
    assert DELETE_EMAIL.tool in told and "skill::e6c2" in told


def test_a_guard_that_does_not_parse_stops_the_whole_import(store, tmp_path, capsys):
    frozen = tmp_path / "bank.jsonl"
    run("freeze", store, "--out", str(frozen))
    frozen.write_text(frozen.read_text().replace('"precedence(', '"precedense(').replace("Deletes one", "Removes one"))
    said = complaint(capsys, "import", store, str(frozen))
    assert "there is no template 'precedense'" in said and "Nothing was imported." in said
    assert len(in_json("history", store)) == 5


def test_an_edit_with_personal_data_is_imported_with_a_warning(store, tmp_path):
    frozen = tmp_path / "bank.jsonl"
    run("freeze", store, "--out", str(frozen))
    frozen.write_text(frozen.read_text().replace("Partition before", "Ask ada@example.org before"))
    assert "core_rule holds an e-mail address. Saved as you wrote it;" in run("import", store, str(frozen)).stderr


def test_review_puts_every_act_in_the_ledger(store):
    counts = in_json("review", store, "--by", "anna", input="x\naccept\nreject too vague\npin\n")
    assert (counts["accept"], counts["reject"], counts["pin"], counts["left"]) == (1, 1, 1, 0)
    acts = [(entry["operation"], entry["reason"]) for entry in in_json("history", store)[5:]]
    assert acts == [("ACCEPT", "accepted by anna"), ("REJECT", "too vague"), ("PIN", "pinned by anna")]
    assert in_json("review", store, input="")["left"] == 0


def test_review_stops_at_quit_and_at_the_end_of_the_input(store):
    assert run("review", store, input="s\nm\nq\n").stdout == "1 skip, 1 mute; 2 left to review\n"
    assert run("review", store, input="").stdout == "nothing done; 2 left to review\n"


def test_review_opens_the_editor_and_reports_an_invalid_card(store, tmp_path, monkeypatch):
    monkeypatch.setenv("EDITOR", editor(tmp_path, "s/EmailClientV2/Calendar/"))
    assert "cannot be rewritten as function::Calendar" in run("review", store, input="s\ns\ne\nq\n").stderr
    monkeypatch.setenv("EDITOR", editor(tmp_path, "s/Deletes one/Removes one/"))
    assert in_json("review", store, "--by", "anna", input="s\ns\ne clearer\nq\n")["edit"] == 1
    entry = in_json("history", store)[-1]
    assert (entry["operation"], entry["reason"]) == ("EDIT", "clearer")
    assert "Removes one" in run("card", store, "function::").stdout


def test_review_reopens_an_invalid_text(store, tmp_path, monkeypatch):
    monkeypatch.setenv("EDITOR", path := editor(tmp_path, ""))
    drop_the_last_line, put_it_back = "sed -i -e 's/Deletes one/Erases one/' -e '$ d' \"$1\"", 'echo } >> "$1"'
    Path(path).write_text(f'#!/bin/sh\nif grep -q Erases "$1"; then {put_it_back}; else {drop_the_last_line}; fi\n')
    reviewed = run("review", store, input="s\ns\ne\ne\nq\n")
    assert "Not saved: Invalid JSON" in reviewed.stderr and "1 edit" in reviewed.stdout
    assert "Erases one" in run("card", store, "function::").stdout


def test_review_explains_its_answers_and_survives_a_missing_editor(store, monkeypatch):
    monkeypatch.setenv("EDITOR", "no-such-editor")
    told = run("review", store, input="?\ne\ns\n")
    assert "no build may change it" in told.stderr and "Set $EDITOR" in told.stderr
    assert told.stdout.startswith("1 skip;")


def editor(folder: Path, script: str) -> str:
    path = folder / "editor"
    path.write_text(f'#!/bin/sh\nsed -i -e "{script}" "$1"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "nowhere.db"), "there is no bank here"),
        (("card", "{store}", "zzz"), "there is no card 'zzz'"),
        (("cards", "{store}", "--ability", "emial"), "no card has the ability 'emial'; did you mean 'email'?"),
        (("revert", "{store}", "5"), "was refused, so there is nothing to revert"),
        (("revert", "{store}", "2"), "Revert the later decisions first"),
        (("history", "{frozen}"), "this needs the store that it came from"),
        (("review", "{frozen}"), "this needs the store that it came from"),
        (("history", "editor"), "is not a frozen bank"),
        (("import", "{store}", "{store}"), "is not a frozen bank"),
        (("freeze", "{store}", "--out", "no/such/folder/bank.jsonl"), "cannot be written"),
        (("export", "{store}", "json", "no/such/folder/x.json"), "cannot be written"),
    ],
)
def test_a_user_error_is_one_clear_line(store, tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(tmp_path)
    run("freeze", store, "--out", "bank.jsonl")
    editor(tmp_path, "no bank")
    filled = [argument.format(store=store, frozen="bank.jsonl") for argument in arguments]
    assert said in complaint(capsys, *filled)
