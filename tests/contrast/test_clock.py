"""The clock: lengths of time that a request names, and runs whose times teach."""

from __future__ import annotations

import pytest
from tests.made_runs import call, run

from contramem.contrast.clock import Duration, durations_in, has_clock


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("If nobody answers within 3 minutes, call.", [180]),
        ("Wait half an hour, then every 90 seconds for two days.", [1_800, 90, 172_800]),
        ("A minute later, and a minute after that.", [60]),
        ("Meet at 14:30 in May.", []),
    ],
)
def test_lengths_of_time_are_read_in_seconds(text: str, seconds: list[float]) -> None:
    assert [duration.seconds for duration in durations_in(text)] == seconds


def test_a_length_keeps_its_words() -> None:
    assert list(durations_in("within 3 minutes")) == [Duration("3 minutes", 180)]


def test_times_of_runs_that_never_wait_do_not_count() -> None:
    assert not has_clock([run("a", True, call("Mail.send"), "done")])
