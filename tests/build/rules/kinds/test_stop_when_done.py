"""Stop when done: a write that worked needs no second look. Stories from a depot where every run passes."""

from __future__ import annotations

from pathlib import Path

from tests.build.skill_builds import build_skills
from tests.made_runs import call, packet, run

from contramem.contrast.packet import Packet


def shipping(number: int, write: str = "Depot.send_pallet", look: str = "Depot.count_pallets") -> Packet:
    """Three runs end after the write, a fourth looks again."""
    task = {"task": f"Send pallet {number}.", "task_id": f"{write} {number}"}
    made, looked = call(write, {"pallet": f"pl-{number}-88"}), call(look, {}, 3)
    ends = [run(source, True, made, "Sent.", **task) for source in "abc"]
    return packet(*ends, run("d", True, made, looked, "Sent.", **task))


def test_nothing_is_superfluous_where_most_runs_look_again(tmp_path: Path) -> None:
    task = {"task": "Send it.", "task_id": "send"}
    made, looked = call("Depot.send_pallet", {"pallet": "pl-1-88"}), call("Depot.count_pallets", {}, 3)
    story = packet(
        run("a", True, made, "Sent.", **task),
        run("b", True, made, looked, "Sent.", **task),
    )
    assert build_skills(tmp_path, story).cards == []
