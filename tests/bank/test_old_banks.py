"""Old banks live: what 0.1.0 wrote still loads, and each guard says of each recorded run what it said then."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from contramem.bank.check import check_store
from contramem.bank.frozen import load_frozen
from contramem.bank.store import open_store
from contramem.guards.actions import actions_of_run
from contramem.guards.guard import parse_guard
from contramem.traces.read import read_traces
from contramem.traces.trajectory import Trajectory

EXAMPLES = Path(__file__).parents[2] / "examples"
GOLDEN = Path(__file__).parent / "golden"
VERDICTS: dict[str, dict[str, str]] = json.loads((GOLDEN / "verdicts.json").read_text(encoding="utf-8"))
"""By bank and guard: the first letter of the verdict on each of MAX_RUNS runs, recorded with 0.1.0."""
MAX_RUNS = 40


def verdicts(bank: Path, runs: Sequence[Trajectory]) -> dict[str, str]:
    cards = load_frozen(bank).skills
    return {text: _on_runs(text, runs) for card in cards for text in card.guards}


def _on_runs(text: str, runs: Iterable[Trajectory]) -> str:
    guard = parse_guard(text)
    assert parse_guard(str(guard)) == guard
    return "".join(guard.replay(actions_of_run(run), run.task)[0] for run in runs)


def some_runs(path: Path) -> list[Trajectory]:
    """At most MAX_RUNS, evenly spread."""
    runs = list(read_traces([path]))
    return runs[:: -(-len(runs) // MAX_RUNS)]


@pytest.mark.parametrize("name", [name for name in VERDICTS if "/" in name])
def test_every_guard_of_an_example_bank_gives_the_verdicts_it_always_gave(name: str) -> None:
    bank = EXAMPLES / name
    assert verdicts(bank, some_runs(bank.parent / "runs.jsonl.xz")) == VERDICTS[name]


def test_the_recorded_verdicts_cover_every_example_bank() -> None:
    banks = {path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.bank.jsonl")}
    assert banks == {name for name in VERDICTS if "/" in name}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in VERDICTS if "/" not in name])
def test_every_guard_of_an_authored_bank_gives_the_verdicts_it_always_gave(name: str, shared_data: Path) -> None:
    """Those about WorkBench are only read: its results are not in a format of ours."""
    runs = some_runs(shared_data / "agentdojo/runs_no_attack.tar.xz") if name.startswith("ad-") else []
    assert verdicts(shared_data / "authored" / name, runs) == VERDICTS[name]


def test_a_store_of_0_1_0_opens_and_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "quillbrook.db"
    path.write_bytes(lzma.decompress((GOLDEN / "quillbrook-0.1.0.db.xz").read_bytes()))
    with open_store(path) as store:
        bank = store.bank()
        decisions = store.last_decision()
    assert (len(bank.functions), len(bank.skills)) == (19, 19)
    assert decisions == 81
    assert check_store(path).is_whole
    guards = [parse_guard(text) for skill in bank.skills for text in skill.guards]
    assert len(guards) == 18
