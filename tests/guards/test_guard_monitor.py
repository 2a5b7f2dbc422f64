"""Guards on a live run: what is owed, and what the next call would break."""

from __future__ import annotations

import io
import json
import re
import shlex
from pathlib import Path
from typing import get_args

import pytest
from click.testing import CliRunner
from rich.console import Console
from tests.made_runs import TASK, call, run

from contramem.bank.bank import Bank, BankEntry
from contramem.bank.card import Skill, SkillCard
from contramem.bank.frozen import write_frozen
from contramem.cli import cli
from contramem.cli.monitor import show_run
from contramem.errors import ContramemError
from contramem.guards.actions import Action
from contramem.guards.guard import parse_guard
from contramem.guards.templates import Automaton, Template
from contramem.guards.watch import GuardMonitor, guards_of_card, replay_run
from contramem.traces.trajectory import Event, Trajectory
from contramem.traces.write import write_traces

SEARCH = call("Mail.search", {"query": "newsletter"}, [{"id": "m-1234"}, {"id": "m-5678"}])
DELETE = call("Mail.delete", {"id": "m-1234"})


def card(title: str, *guards: str, ability: str = "execution") -> SkillCard:
    return SkillCard(
        title=title,
        applies_when="A task that asks to delete a newsletter.",
        solves="Runs that stop early.",
        tags=("delete", "newsletter"),
        skill=Skill(core_rule="Delete what was found.", completion=("it is gone",)),
        guards=guards,
        card_id=f"skill::{title.lower().replace(' ', '-')}",
        ability=ability,
    )


FINISH = card("Finish the deletion", "response(Mail.search, Mail.delete)", "known_value(Mail.delete.id)")


def events(*calls: object) -> tuple[Event, ...]:
    return run("a", None, *calls).events  # type: ignore[arg-type]


def test_a_pending_obligation_cites_its_card_until_it_is_met() -> None:
    watch = GuardMonitor.of_cards([FINISH], TASK)
    assert watch.pending() == ()
    before, after = events(SEARCH, DELETE)[:2], events(SEARCH, DELETE)[2:]
    for event in before:
        watch.observe(event)
    (owed,) = watch.pending()
    assert (owed.card_id, owed.title) == ("skill::finish-the-deletion", "Finish the deletion")
    assert owed.text == "`search` has succeeded; `delete` still has to be called."
    for event in after:
        watch.observe(event)
    assert watch.pending() == ()


def test_a_call_that_would_break_a_guard_is_reported_before_it_is_made() -> None:
    watch = GuardMonitor.of_cards([FINISH], TASK)
    for event in events(SEARCH):
        watch.observe(event)
    guess = Event(9, "agent", "call", function="Mail.delete", arguments={"id": "m-9999"})
    found = Event(9, "agent", "call", function="Mail.delete", arguments={"id": "m-5678"})
    assert [one.text for one in watch.would_break(guess)] == ["Every `id` given to `delete` was seen before the call."]
    assert watch.would_break(found) == ()


def test_a_broken_guard_is_reported_once() -> None:
    watch = GuardMonitor.of_cards([FINISH], TASK)
    guess = events(call("Mail.delete", {"id": "m-9999"}))[-1]
    assert [str(one.guard) for one in watch.observe(guess)] == ["known_value(Mail.delete.id)"]
    assert watch.observe(guess) == ()


def test_a_guard_that_does_not_parse_does_not_stop_a_run() -> None:
    watch = GuardMonitor.of_cards([card("By hand", "delete it soon", "existence(Mail.delete)")], TASK)
    assert [str(one.guard) for one in watch.pending()] == ["existence(Mail.delete)"]


@pytest.mark.parametrize("template", get_args(Template))
def test_every_kind_of_guard_says_in_words_what_it_still_owes(template: Template) -> None:
    two = {"precedence", "response", "not_succession"}
    counted = {"at_most": "Mail.delete, 2", "at_least": "Mail.delete, 2"}
    inside = {"known_value": "Mail.delete.id", "covers": "Mail.search.id, Mail.delete.id"} | counted
    text = f"{template}({inside.get(template) or ('Mail.search, Mail.delete' if template in two else 'Mail.delete')})"
    watch = GuardMonitor([(parse_guard(text), "skill::x", "X")], TASK)
    for event in events(call("Mail.delete", {"id": "made-up"}, error="No such mail"), SEARCH, DELETE, DELETE):
        watch.observe(event)
        (one,) = watch.obligations()
        assert "`delete`" in one.text


def test_after_a_refused_guess_a_value_that_was_shown_is_owed() -> None:
    watch = GuardMonitor.of_cards([FINISH], TASK)
    for event in events(call("Mail.delete", {"id": "made-up"}, error="No such mail")):
        watch.observe(event)
    assert [one.text for one in watch.pending()] == [
        "`delete` was refused; give it a value of `id` that the task or a result has shown."
    ]


def test_a_message_that_the_user_answers_counts_as_a_question() -> None:
    watch = GuardMonitor([(parse_guard("existence(ask)"), "skill::x", "Ask")], TASK)
    for event in run("a", None, "Which one?", ("user", "The first."), "Done.").events:
        watch.observe(event)
    assert watch.pending() == ()


def test_a_replayed_run_has_the_state_of_every_guard_after_every_action() -> None:
    replayed = replay_run(run("a", False, SEARCH, "Done."), guards_of_card(FINISH))
    assert [moment.states for moment in replayed.moments] == [("pending", "holding"), ("pending", "holding")]
    assert [str(one.guard) for one in replayed.pending] == ["response(Mail.search, Mail.delete)"]


def test_a_call_goes_only_to_the_guards_it_is_relevant_to() -> None:
    guards = ["response(Mail.search, Mail.delete)", "existence(writes(Mail))"]
    guards += [f"response(Shop.find_{number}, Shop.buy_{number})" for number in range(100)]
    watch = GuardMonitor([(parse_guard(text), "skill::x", "x") for text in guards], TASK)
    reached: list[str] = []
    for watcher in watch.automata:
        _record_calls(watcher, reached)
    for event in events(SEARCH):
        watch.observe(event)
    assert set(reached) == set(guards[:2])


def _record_calls(watcher: Automaton, reached: list[str]) -> None:
    observe = watcher.observe

    def observe_and_record(action: Action) -> bool:
        reached.append(str(watcher.guard))
        return observe(action)

    watcher.observe = observe_and_record  # type: ignore[method-assign]


@pytest.fixture
def watched(tmp_path: Path) -> tuple[str, str]:
    """Two runs, one of which stops before it has deleted anything, and a bank with one guarded card."""
    stops: Trajectory = run("hasty", False, SEARCH, "All deleted.")
    write_traces([stops, run("thorough", True, SEARCH, DELETE, "Done.")], tmp_path / "runs.jsonl")
    write_frozen(tmp_path / "bank.jsonl", Bank({FINISH.card_id: BankEntry(card=FINISH)}))
    return str(tmp_path / "runs.jsonl"), str(tmp_path / "bank.jsonl")


def test_the_command_shows_what_was_still_owed_when_a_run_stopped(watched: tuple[str, str]) -> None:
    runs, bank = watched
    shown = CliRunner().invoke(cli, ["monitor", runs, "--bank", bank, "--source", "hasty"])
    assert shown.exit_code == 0, shown.output
    words = " ".join(shown.output.replace("│", " ").split())
    assert "still owed" in words and "`delete` still has to be called" in words
    assert (
        "No obligation was open"
        in CliRunner().invoke(cli, ["monitor", runs, "--bank", bank, "--source", "thorough"]).output
    )


def test_for_several_runs_the_command_lists_violated_rules_and_then_the_runs_that_violated_them(
    watched: tuple[str, str],
) -> None:
    runs, bank = watched
    listed = CliRunner().invoke(cli, ["monitor", runs, "--bank", bank]).output
    assert "2 runs: 1 left an obligation open or broke a guard." in listed
    (rule,) = (line for line in listed.splitlines() if "After `search` succeeds" in line)
    assert rule.split()[-6:] == ["1", "of", "1", "0", "of", "1"]
    assert "· hasty · run 0" in listed
    assert "thorough" not in listed
    chosen = shlex.split(listed.splitlines()[-1])
    alone = CliRunner().invoke(cli, ["monitor", runs, "--bank", bank, *chosen]).output
    assert "when the run stopped" in alone


def test_a_guard_can_be_tried_on_runs_without_a_bank(watched: tuple[str, str]) -> None:
    runs, _ = watched
    tried = CliRunner().invoke(cli, ["monitor", runs, "--guard", "existence(Mail.delete)", "--json"])
    since = {one["source"]: [owed["since"] for owed in one["pending"]] for one in json.loads(tried.output)}
    assert since == {"hasty": [None], "thorough": []}


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ((), "nothing to check. Give --bank BANK"),
        (("--guard", "exists(Mail.delete)"), "there is no template 'exists'. Perhaps existence?"),
        (("--guard", "existence(Mail.delet)"), "no run calls Mail.delet. Perhaps Mail.delete?"),
        (("--guard", "existence(Post.delete)"), "no run calls Post.delete. Perhaps Mail.delete?"),
        (("--guard", "existence(delete)"), "Write Mail.delete."),
        (("--guard", "known_value(Mail.delete.ids)"), "no call of Mail.delete has an argument ids. Perhaps id?"),
        (("--guard", "existence(Mail.delete)", "--run", "7"), "no run matches"),
    ],
)
def test_a_guard_that_cannot_be_checked_is_refused_with_a_suggestion(
    watched: tuple[str, str], options: tuple[str, ...], complaint: str
) -> None:
    with pytest.raises(ContramemError, match=re.escape(complaint)):
        CliRunner().invoke(cli, ["monitor", watched[0], *options], catch_exceptions=False)


def test_a_broken_guard_is_reported_with_the_event_and_the_value() -> None:
    guess = run("a", False, call("Mail.delete", {"id": "m-99"}), SEARCH, "Done.")
    replayed = replay_run(guess, [(parse_guard("known_value(Mail.delete.id)"), "skill::x", "X")])
    (broken,) = replayed.broken
    assert broken.text == "`delete` got a value for `id` that had not been seen before."
    since = replayed.since(broken)
    assert since is not None
    assert since.event.arguments == {"id": "m-99"}
    with Console(width=80, record=True, file=io.StringIO()) as console:
        show_run(replayed, console)
    picture = console.export_text()
    assert "✗ broken at 1:" in picture
    assert "'m-99'" in picture
    assert max(map(len, picture.splitlines())) <= 80


def test_the_command_prints_json(watched: tuple[str, str]) -> None:
    runs, bank = watched
    told = json.loads(CliRunner().invoke(cli, ["monitor", runs, "--bank", bank, "--json"]).output)
    assert {one["source"]: len(one["pending"]) for one in told} == {"hasty": 1, "thorough": 0}


def test_a_bank_without_guards_is_refused(tmp_path: Path, watched: tuple[str, str]) -> None:
    plain = card("Plain")
    write_frozen(tmp_path / "plain.jsonl", Bank({plain.card_id: BankEntry(card=plain)}))
    with pytest.raises(ContramemError, match="no card of this bank has a guard"):
        CliRunner().invoke(
            cli, ["monitor", watched[0], "--bank", str(tmp_path / "plain.jsonl")], catch_exceptions=False
        )
