"""The topics of an agent's conversations: one for each kind of task worth studying."""

from __future__ import annotations

from string import ascii_lowercase

from tests.made_runs import call, run
from tests.study.office import note_office

from contramem.build.agent.topics import MAX_LISTED, choose_topics
from contramem.study.run_set import RunSet
from contramem.traces.trajectory import Trajectory


def single_task_kind(number: int) -> list[Trajectory]:
    """A task with words and a function of its own, with one passing and one failing run."""
    word = ascii_lowercase[number // 26] + ascii_lowercase[number % 26]
    task = f"{word}ify {word}land {word}ward {word}mark {word}ton"
    action = call(f"{word}App.{word}_act", {"name": word})
    return [
        run(source, passed, action, "Done.", task=task, task_id=word) for source, passed in (("a", True), ("b", False))
    ]


def test_a_kind_of_several_tasks_gets_a_conversation_and_one_that_always_passes_gets_none() -> None:
    (topic,) = choose_topics(RunSet.of(note_office()))
    assert "create_note" in topic.name
    assert "16 tasks, 48 runs" in topic.text
    assert "Office.look" not in topic.text


def test_kinds_of_one_task_share_a_conversation() -> None:
    (topic,) = choose_topics(RunSet.of(single_task_kind(1) + single_task_kind(2)))
    assert topic.name == "small kinds"
    assert topic.text.startswith("2 kinds of one task each")
    assert "abApp.ab_act" in topic.text and "acApp.ac_act" in topic.text


def test_only_the_first_small_kinds_are_listed_and_the_rest_is_counted() -> None:
    runs = [trajectory for number in range(MAX_LISTED + 3) for trajectory in single_task_kind(number)]
    (topic,) = choose_topics(RunSet.of(runs))
    assert "and 3 more" in topic.text


def test_runs_that_all_passed_give_no_topic() -> None:
    assert choose_topics(RunSet.of([run("a", True, call("App.act"), "Done.")])) == []
