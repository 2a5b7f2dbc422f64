"""Precedence: what has to have worked before a call. Stories from a release pipeline."""

from __future__ import annotations

from pathlib import Path

from tests.build.skill_builds import FROZEN, build_skills, refusing


def test_calls_that_are_refused_in_other_words_stay_two_rules(tmp_path: Path) -> None:
    built = build_skills(tmp_path, refusing("push_tag", 1), refusing("publish_tag", 2, error=FROZEN))
    assert built.guards == {
        ("precedence(Pipeline.unlock_branch, Pipeline.push_tag)",),
        ("precedence(Pipeline.unlock_branch, Pipeline.publish_tag)",),
    }


def test_a_long_refusal_is_quoted_once_several_tasks_show_it(tmp_path: Path) -> None:
    error = "The branch of this release has to be unlocked before tags are pushed."
    (card,) = build_skills(tmp_path, refusing("push_tag", 1, error=error)).cards
    assert error not in card.skill.core_rule
    (card,) = build_skills(tmp_path, refusing("push_tag", 1, error=error), refusing("push_tag", 2, error=error)).cards
    assert error in card.skill.core_rule
