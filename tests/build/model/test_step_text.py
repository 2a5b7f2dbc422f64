"""Calls and results in the words that a model reads."""

from __future__ import annotations

from tests.guard_builds import DELETE, SEARCH, task

from contramem.build.model.step_text import call_text, flatten, shorten


def test_a_call_is_written_with_its_arguments() -> None:
    search, *_ = (step for step in task("one", (True, (SEARCH, DELETE)), (False, (DELETE,))).runs[0].actions)
    assert call_text(search, origins=False).startswith("Mail.search(query=")


def test_lines_become_one_and_long_texts_are_cut() -> None:
    assert "\n" not in flatten("first\n\n  second")
    assert shorten("short", 10) == "short"
    assert len(shorten("word " * 50, 20)) < 40
