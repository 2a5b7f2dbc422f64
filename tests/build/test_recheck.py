"""Cards in service, held once more against the runs that taught them."""

from __future__ import annotations

from pathlib import Path

from tests.guard_builds import DELETE, GUARD, SEARCH, learn, shows_it, task, taught_by
from tests.model_replies import Runs, new_store

from contramem.build.recheck import Finding, recheck
from contramem.contrast.packet import Packet
from contramem.contrast.vocabulary import Vocabulary


def _recheck(tmp_path: Path, packets: list[Packet]) -> Finding:
    """A card that the task `one` taught, held against these packets."""
    with new_store(tmp_path) as store:
        learn(store, [shows_it("one")], taught_by("one"))
        (finding,) = recheck(store.bank(), list(store.ledger()), packets, Runs(packets, Vocabulary()).checks)
    return finding


def test_a_card_passes_on_the_runs_that_taught_it(tmp_path: Path) -> None:
    finding = _recheck(tmp_path, [shows_it("one")])
    assert finding.refusals == ()
    assert finding.checked


def test_a_card_whose_runs_are_gone_is_not_called_checked(tmp_path: Path) -> None:
    finding = _recheck(tmp_path, [shows_it("two")])
    assert len(finding.missing) == finding.tasks == 1
    assert not finding.checked


def test_a_guard_that_the_runs_do_not_show_any_more_is_refused(tmp_path: Path) -> None:
    finding = _recheck(tmp_path, [task("one", (True, (SEARCH, DELETE)), (False, (SEARCH, DELETE)))])
    assert GUARD in " ".join(refusal.reason for refusal in finding.refusals if refusal.check == "guard")
    assert not finding.checked  # other runs than those that taught it
