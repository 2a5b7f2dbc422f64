"""What the runs of a task did, call by call."""

from __future__ import annotations

from tests.made_runs import call, run

from contramem.study.run_set import RunSet
from contramem.study.side_by_side import MAX_RESULT, lay_side_by_side

BOATS = [{"id": f"B-{number}", "state": "moored at the long pier", "seats": number} for number in range(20)]
LOG = [{"entry": f"E-{number}", "text": "the gate was closed for the night"} for number in range(20)]


def show(*results: object) -> str:
    """A task in which two runs look at these results and take different boats."""
    looks = [call(f"Port.look_{number}", {}, result) for number, result in enumerate(results)]
    return lay_side_by_side(
        RunSet.of([run(boat, boat == "B-4", *looks, call("Port.take", {"boat": boat})) for boat in ("B-4", "B-19")]),
        task="t1",
    )


def test_a_list_that_runs_chose_from_is_shown_to_its_end() -> None:
    told = show(BOATS)
    assert '"id":"B-19"' in told
    assert "are cut" not in told


def test_another_long_result_is_cut_and_it_is_said_how_to_see_it_whole() -> None:
    told = show(BOATS, LOG)
    assert "E-1" in told and "E-19" not in told
    assert "SELECT call, result FROM calls JOIN runs USING (run_id) WHERE task = 'test/t1" in told
    assert max(len(line) for line in told.splitlines() if "E-1" in line) < MAX_RESULT + 80
