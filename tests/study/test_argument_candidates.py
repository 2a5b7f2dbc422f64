"""Candidates about arguments: what texts say, when dates fall, what adds up; counted as a replay counts it."""

from __future__ import annotations

import pytest
from tests.study.box_office import box_office

from contramem.study.candidates import GuardCandidate, propose_candidates
from contramem.study.masks import GuardMasks
from contramem.study.recorded_actions import replay_on_all
from contramem.study.run_set import RunSet, StudyRun


@pytest.fixture(scope="module")
def runs() -> tuple[StudyRun, ...]:
    return RunSet.of(box_office()).runs


@pytest.fixture(scope="module")
def proposed(runs: tuple[StudyRun, ...]) -> dict[str, GuardCandidate]:
    return {candidate.text: candidate for candidate in propose_candidates(runs)}


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param('existence(Box.write_letter[body contains "somebody will call within five days"])', id="phrase"),
        pytest.param("absence(Box.write_letter[body contains compensation])", id="word that nobody should write"),
        pytest.param("existence(Box.invoice[due falls 14 days before Box.find_booking.date])", id="deadline"),
        pytest.param("absence(Box.invoice[due falls on Wednesday])", id="day of the week"),
        pytest.param("existence(Box.settle[amount sums Box.list_sales.amount where channel = door])", id="sum of some"),
        pytest.param("existence(Box.settle[amount <= Box.find_booking.paid])", id="at most as much as was seen"),
        pytest.param("absence(Box.write_letter[body has at most 60 characters])", id="length"),
    ],
)
def test_a_difference_between_arguments_is_a_candidate(pattern: str, proposed: dict[str, GuardCandidate]) -> None:
    function = pattern.partition("(")[2].partition("[")[0]
    assert f"{pattern} when {function}" in proposed


def test_what_is_counted_is_what_a_replay_gives(
    runs: tuple[StudyRun, ...], proposed: dict[str, GuardCandidate]
) -> None:
    for candidate in proposed.values():
        guard = candidate.parse()
        assert guard is not None
        replayed = GuardMasks.of_verdicts(replay_on_all(guard, (run.recorded for run in runs)))
        assert replayed.within(candidate.masks.spoken) == candidate.masks, candidate.text


def test_words_that_the_request_or_a_result_has_are_no_wording(proposed: dict[str, GuardCandidate]) -> None:
    texts = [text for text in proposed if " contains " in text]
    assert not [text for text in texts if "guest" in text.split() or "q127" in text]


def test_a_choice_among_some_records_is_told_only_where_it_says_more(proposed: dict[str, GuardCandidate]) -> None:
    assert not [text for text in proposed if "counts Box.list_sales where" in text]
