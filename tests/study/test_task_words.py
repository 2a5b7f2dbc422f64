"""Words of requests that tell when a function is needed."""

from __future__ import annotations

from tests.made_runs import call, run

from contramem.study.run_set import RunSet
from contramem.study.task_words import TaskWords


def words_about(function: str, *tasks: str) -> list[str]:
    runs = [
        run("a", True, call("Chat.get_channels", {}), "Done.", task=task, task_id=str(number))
        for number, task in enumerate(tasks)
    ]
    return [atom.text for atom in TaskWords(RunSet.of(runs).runs).about(function)]


def test_words_that_name_something_of_the_function_are_conditions_alone_and_in_pairs() -> None:
    tasks = (
        "Post it to the channel starting with Ext.",
        "Write to every channel of the firm.",
        "Summarize the article.",
    )
    assert words_about("Chat.get_channels", *tasks) == ["task contains channel", "task contains channel starting"]


def test_phrases_can_be_limited_to_single_words() -> None:
    tasks = ("Post it to the channel starting with Ext.", "Write to every channel.", "Summarize the article.")
    runs = [run("a", True, task=task, task_id=task) for task in tasks]
    conditions = TaskWords(RunSet.of(runs).runs).about("Chat.get_channels", max_words=1)
    assert [atom.text for atom in conditions] == ["task contains channel"]


def test_names_and_quoted_values_are_no_conditions() -> None:
    tasks = ('Ask Channel Four about "the channel budget".', "Summarize the article.")
    assert words_about("Chat.get_channels", *tasks) == []


def test_a_call_that_no_word_of_the_request_names_is_told_by_the_word_that_is_missing() -> None:
    runs = RunSet.of(
        run("a", True, call("Mail.get_unread"), task=task, task_id=task)
        for task in ("Show the unread mail.", "Find the invoice.", "Find the address.")
    ).runs
    (atom,) = TaskWords(runs).not_naming("Mail.get_unread")
    assert atom.text == "task lacks unread"
    assert atom.mask.bit_count() == 2
