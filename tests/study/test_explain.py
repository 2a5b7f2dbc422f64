"""The differences that hold up, and what is told beside them."""

from __future__ import annotations

from contramem.monitor.guard import parse_guard
from contramem.study.explain import drop_narrower


def test_a_guard_that_only_adds_a_condition_is_not_told_beside_the_wider_one() -> None:
    first, *others = map(
        parse_guard,
        [
            "absence(Desk.charge) when Desk.find.kind = charity",
            "existence(Desk.waive) when Desk.find.kind = charity",
            "absence(Desk.charge) when Desk.plot.area > 60 and Desk.find.kind = charity",
            "existence(Desk.waive) when Desk.plot.area > 60 and Desk.find.kind = charity",
            "absence(Desk.charge) when Desk.plot.area > 60",
        ],
    )
    assert list(drop_narrower(first, others)) == [others[0], others[3]]
